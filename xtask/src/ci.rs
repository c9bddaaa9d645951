//! Everything a change must pass, in the order in which mistakes are cheapest to find.

use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::args::{Attack, Options, Tests};
use crate::metadata::Metadata;
use crate::test::{self, Profile};
use crate::{
    attack, boards, cgroup2, check, clients, deny, fuzz, handlers, host, plugins, progress, server,
    tidy, tool, usb,
};

/// Runs all checks and says how long each took. A failed check does not hide the ones after it;
/// only a failed build ends the run, since nothing could be tested after it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = Metadata::load()?;
    let mut report = Report::default();
    report.check("fmt", || check::fmt(&metadata));
    // hostd embeds the handlers, so there is nothing to lint before they are built.
    report.check("build", || {
        host::build_ahead(&metadata.root, &[handlers::DESCRIBER, handlers::COMPILER])?;
        server::build(options).map(drop)
    });
    if report.has_failed("build") {
        return report.conclude();
    }
    // After the build, so that what the fresh components import is checked too.
    report.check("tidy", tidy::run);
    if !deny::is_installed() {
        report.leave_out("deny (there is no cargo-deny; tidy looked at licences and sources)");
    } else {
        report.check("deny", || deny::check(&metadata));
        if deny::fetch_advisories(&metadata).is_ok() {
            report.check("advisories", || deny::check_advisories(&metadata));
        } else {
            report.leave_out("advisories (their database is out of reach)");
        }
    }
    let (machines, building) = progress::timed("== machines", || machines(&mut report));
    report.add("machines", Ok(()), building);
    let tested = beside(machines, || {
        report.check("clippy", || check::clippy(&metadata, &["--workspace"]));
        report.check("doc", || check::doc(&metadata));
    });
    for (name, outcome, duration) in tested {
        report.add(name, outcome, duration);
    }
    // Before the tests, which install what it makes.
    report.check("plugins", plugins::run_prepared);
    // Before the tests, which read them where they are.
    let mut missing = Vec::new();
    report.check("emi-boards", || {
        missing = boards::fetch()?;
        Ok(())
    });
    missing.iter().for_each(|what| report.leave_out(what));
    report.check("test", || {
        test::run_prepared(Profile::Ci, &Tests::default(), options)
    });
    // Alone, since it looks at what honest callers get on a machine that is busy enough.
    let short = Attack {
        short: true,
        ..Attack::default()
    };
    report.check("attack", || attack::run_prepared(&short, options));
    // Last, and alone: the clients compare the pod's clock with the machine's.
    if tool::is_installed("python3") {
        report.check("clients", clients::run_prepared);
    } else {
        report.leave_out("clients (there is no python3)");
    }
    report.conclude()
}

/// A check that is ready to run, on any thread.
type Ready = (&'static str, Box<dyn FnOnce() -> Result<()> + Send>);

/// A check that has run: its outcome, and how long it took.
type Done = (&'static str, Result<()>, Duration);

/// Tests in virtual machines, with everything built for them.
fn machines(report: &mut Report) -> Vec<Ready> {
    let mut ready: Vec<Ready> = Vec::new();
    match cgroup2::Parts::find() {
        Ok(parts) => match parts.prepare() {
            Ok(machine) => ready.push(("cgroup2", Box::new(move || machine.run()))),
            Err(error) => report.add("cgroup2", Err(error), Duration::ZERO),
        },
        Err(why) => report.leave_out(&format!("cgroup2 ({why:#})")),
    }
    match usb::Parts::find() {
        Ok(parts) => match parts.prepare() {
            Ok(machine) => ready.push(("usb", Box::new(move || machine.run(usb::Set::due()?)))),
            Err(error) => report.add("usb", Err(error), Duration::ZERO),
        },
        Err(why) => report.leave_out(&format!("usb ({why:#})")),
    }
    ready
}

/// Runs tests in machines, one after the other, beside `work`. A machine has one processor and tells its lines at its
/// end; `work` is cargo's, which no clock watches, and takes what processor time the machine leaves.
fn beside(machines: Vec<Ready>, work: impl FnOnce()) -> Vec<Done> {
    let run = |(name, check): Ready| {
        let (outcome, duration) = progress::timed(&format!("== {name}"), check);
        (name, outcome, duration)
    };
    thread::scope(|scope| {
        let testing = scope.spawn(move || machines.into_iter().map(run).collect());
        tool::yielding(work);
        testing
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs the tests alone, with checks of arithmetic and assertions compiled into the server and our
/// own crates, which the optimised build leaves out. It compiles everything a second time, so it is
/// for nightly runs.
pub(crate) fn run_checked(options: &Options) -> Result<()> {
    let root = Metadata::load()?.root;
    let profile = Profile::CiChecked;
    handlers::build(options)?;
    progress::step("building hostd with checks");
    host::build_with(&root, profile.of_cargo(), &["hostd"])?;
    test::run_prepared(profile, &Tests::default(), options)?;
    fuzz::run(None)
}

/// The checks that have run so far.
#[derive(Default)]
struct Report {
    checks: Vec<(&'static str, Duration, bool)>,
    left_out: Vec<String>,
}

impl Report {
    fn check(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) {
        let (outcome, duration) = progress::timed(&format!("== {name}"), work);
        self.add(name, outcome, duration);
    }

    /// Adds a check that has run.
    fn add(&mut self, name: &'static str, outcome: Result<()>, duration: Duration) {
        if let Err(error) = &outcome {
            progress::failure(error);
        }
        self.checks.push((name, duration, outcome.is_ok()));
    }

    /// Notes a check that this machine cannot do, with the reason.
    fn leave_out(&mut self, check: &str) {
        self.left_out.push(check.to_owned());
    }

    fn has_failed(&self, name: &str) -> bool {
        self.checks
            .iter()
            .any(|(check, _, passed)| *check == name && !passed)
    }

    fn conclude(&self) -> Result<()> {
        let failed: Vec<&str> = self
            .checks
            .iter()
            .filter(|(_, _, passed)| !passed)
            .map(|(name, ..)| *name)
            .collect();
        let times: Vec<String> = self
            .checks
            .iter()
            .map(|(name, duration, _)| format!("{name} {:.1} s", duration.as_secs_f64()))
            .collect();
        progress::step(&format!("time: {}", times.join(", ")));
        if !failed.is_empty() {
            bail!("these checks did not pass: {}", failed.join(", "));
        }
        progress::step(&self.praise());
        Ok(())
    }

    fn praise(&self) -> String {
        if self.left_out.is_empty() {
            return "every check passed".to_owned();
        }
        let left_out = self.left_out.join(", ");
        format!("every check that ran passed; left out: {left_out}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_check_fails_the_run_and_is_named() {
        let mut report = Report::default();
        report.check("good", || Ok(()));
        report.check("bad", || bail!("broken"));
        report.check("later", || Ok(()));
        assert!(report.has_failed("bad") && !report.has_failed("good"));
        assert_eq!(
            report.conclude().unwrap_err().to_string(),
            "these checks did not pass: bad"
        );
    }

    #[test]
    fn checks_in_machines_run_beside_others_and_are_all_told() {
        let (begun, wait) = std::sync::mpsc::channel();
        let machines: Vec<Ready> = vec![
            ("first", Box::new(move || Ok(begun.send(())?))),
            ("second", Box::new(|| bail!("broken"))),
        ];
        let limit = Duration::from_secs(10);
        let done = beside(machines, || wait.recv_timeout(limit).unwrap());
        let told: Vec<_> = done
            .iter()
            .map(|(name, end, _)| (*name, end.is_ok()))
            .collect();
        assert_eq!(told, [("first", true), ("second", false)]);
    }

    #[test]
    fn a_run_without_a_failure_passes() {
        let mut report = Report::default();
        report.check("good", || Ok(()));
        assert!(report.conclude().is_ok());
        assert_eq!(report.praise(), "every check passed");
        report.leave_out("clients");
        assert!(report.conclude().is_ok());
        assert!(report.praise().ends_with("left out: clients"));
    }
}
