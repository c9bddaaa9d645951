//! Times and limits against the server's configuration.

use super::Check;
use crate::caps::{Caps, DEFAULTS};
use crate::definition::{Definition, Step};
use crate::limits::ALWAYS_MS_MAX;
use crate::path::Path;
use crate::problem::Code;
use crate::units::{Bytes, Duration, SIZES, TIMES, shown};

pub(super) fn check(check: &mut Check<'_>, caps: &Caps) {
    let definition = check.definition;
    for asked in times(definition, caps)
        .into_iter()
        .chain(amounts(definition, caps))
    {
        asked.compare(check);
    }
    steps(check, caps);
}

/// What a definition asks for, and the most it may.
struct Asked {
    group: &'static str,
    key: &'static str,
    asked: Option<u64>,
    most: u64,
    show: fn(u64) -> String,
}

impl Asked {
    fn compare(&self, check: &mut Check<'_>) {
        let Self {
            group, key, most, ..
        } = *self;
        if let Some(asked) = self.asked.filter(|asked| *asked > most) {
            let (most, asked) = ((self.show)(most), (self.show)(asked));
            let message =
                format!("this server allows at most {most} for `{group}.{key}`, not {asked}");
            check.find(Path::default().key(group).key(key), Code::OverCap, message);
        }
    }
}

fn times(definition: &Definition, caps: &Caps) -> [Asked; 5] {
    let times = &definition.timeouts;
    let time = |key, asked: Option<Duration>, most| Asked {
        group: "timeouts",
        key,
        asked: asked.map(|time| time.0),
        most,
        show: |ms| shown(ms, TIMES),
    };
    [
        time("queue", times.queue, caps.queue_ms),
        time("build", times.build, caps.build_ms),
        time("flash", times.flash, caps.flash_ms),
        time("test", times.test, caps.test_ms),
        time("job", times.job, caps.job_ms),
    ]
}

fn amounts(definition: &Definition, caps: &Caps) -> [Asked; 5] {
    let limits = &definition.limits;
    let size = |key, asked: Option<Bytes>, most| Asked {
        group: "limits",
        key,
        asked: asked.map(|size| size.0),
        most,
        show: |bytes| shown(bytes, SIZES),
    };
    let count = |group, key, asked, most| Asked {
        group,
        key,
        asked,
        most,
        show: |count| count.to_string(),
    };
    let processes = limits.processes.map(|count| count.0);
    let retries = definition.retry.infra.map(|count| count.0);
    [
        size("memory", limits.memory, caps.memory_bytes),
        size("disk", limits.disk, caps.disk_bytes),
        size("log", limits.log, caps.log_bytes),
        count("limits", "processes", processes, caps.processes),
        count("retry", "infra", retries, caps.infra_retries),
    ]
}

/// The time that steps of one list have.
struct Phase {
    path: Path,
    ms: u64,
    /// What to raise for more, unless the server's cap is in the way.
    hint: &'static str,
}

/// A step's own timeout is within its run's.
fn steps(check: &mut Check<'_>, caps: &Caps) {
    let definition = check.definition;
    let times = &definition.timeouts;
    let phase = |asked: Option<Duration>, default: u64, cap: u64, hint| {
        let ms = asked.map_or(default, |asked| asked.0);
        (ms.min(cap), if ms < cap { hint } else { "" })
    };
    let (build_ms, build_hint) = phase(
        times.build,
        DEFAULTS.build_ms,
        caps.build_ms,
        "; raise `timeouts.build` for more",
    );
    let (test_ms, test_hint) = phase(
        times.test,
        DEFAULTS.test_ms,
        caps.test_ms,
        "; raise `timeouts.test` for more",
    );
    let list = |key: &str, at| Path::default().key(key).index(at);
    for (at, build) in definition.builds.iter().enumerate() {
        let phase = Phase {
            path: list("builds", at).key("steps"),
            ms: build_ms,
            hint: build_hint,
        };
        phase.check(check, &build.steps, caps);
    }
    for (at, bench) in definition.benches.iter().enumerate() {
        let phase = Phase {
            path: list("benches", at).key("steps"),
            ms: test_ms,
            hint: test_hint,
        };
        phase.check(check, &bench.steps, caps);
        let phase = Phase {
            path: list("benches", at).key("always"),
            ms: ALWAYS_MS_MAX,
            hint: "",
        };
        phase.check(check, &bench.always, caps);
    }
}

impl Phase {
    fn check(&self, check: &mut Check<'_>, steps: &[Step], caps: &Caps) {
        for (index, step) in steps.iter().enumerate() {
            let (most, hint) = match step.flash {
                Some(_) if caps.flash_ms < self.ms => (caps.flash_ms, ""),
                _ => (self.ms, self.hint),
            };
            if let Some(asked) = step.timeout.filter(|asked| asked.0 > most) {
                let most = Duration(most);
                let message = format!("a step may take at most {most} here, not {asked}{hint}");
                check.find(
                    self.path.index(index).key("timeout"),
                    Code::OverCap,
                    message,
                );
            }
        }
    }
}
