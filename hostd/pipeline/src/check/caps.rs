//! Times and limits against the server's configuration.

use super::Check;
use crate::caps::Caps;
use crate::definition::Definition;
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

/// A step's own timeout is within its phase's cap.
fn steps(check: &mut Check<'_>, caps: &Caps) {
    let definition = check.definition;
    let builds = definition.builds.iter().enumerate();
    let builds = builds.map(|(at, build)| ("builds", at, "steps", &*build.steps, caps.build_ms));
    let benches = definition.benches.iter().enumerate();
    let benches = benches.flat_map(|(at, bench)| {
        let steps = ("benches", at, "steps", &*bench.steps, caps.test_ms);
        [
            steps,
            ("benches", at, "always", &*bench.always, ALWAYS_MS_MAX),
        ]
    });
    for (list, at, key, steps, cap) in builds.chain(benches) {
        for (index, step) in steps.iter().enumerate() {
            let most = match step.flash {
                Some(_) => cap.min(caps.flash_ms),
                None => cap,
            };
            if let Some(asked) = step.timeout.filter(|asked| asked.0 > most) {
                let path = Path::default().key(list).index(at).key(key).index(index);
                let message = format!(
                    "a step may take at most {} here, not {asked}",
                    Duration(most)
                );
                check.find(path.key("timeout"), Code::OverCap, message);
            }
        }
    }
}
