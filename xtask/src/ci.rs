//! Everything a change must pass, in the order in which mistakes are cheapest to find.

use std::fs;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result};

use crate::args::{Attack, Options, Tests};
use crate::metadata::Metadata;
use crate::test::{self, Profile};
use crate::times::{self, Spent, processor, shim};
use crate::{
    attack, boards, cgroup2, check, clients, deny, fuzz, handlers, host, plugins, progress, server,
    tidy, tool, toolchain, usb, web,
};

mod disk;
mod ending;
mod figures;
mod outcomes;
mod programs;
mod report;
mod table;

use report::Report;

/// Runs all checks and says what each took. A failed check does not hide the ones after it;
/// only a failed build ends the run, since nothing could be tested after it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = Metadata::load()?;
    let folder = watch(&metadata)?;
    for line in disk::before(&metadata.root) {
        progress::warning(&line);
    }
    let mut report = Report::begin();
    let mut missing = None;
    report.check("programs", || {
        missing = programs::provide(&folder);
        Ok(())
    });
    checks(&metadata, options, &mut report);
    let verdict = ending::print(&report, &metadata.root, &folder);
    missing.iter().for_each(|advice| progress::step(advice));
    progress::step(verdict?);
    Ok(())
}

fn checks(metadata: &Metadata, options: &Options, report: &mut Report) {
    report.check("fmt", || check::fmt(metadata));
    // hostd embeds the handlers, so there is nothing to lint before they are built.
    report.check("build", || {
        host::build_ahead(&metadata.root, &[handlers::DESCRIBER, handlers::COMPILER])?;
        server::build(options).map(drop)
    });
    if report.has_failed("build") {
        return;
    }
    // After the build, so that what the fresh components import is checked too.
    report.check("tidy", tidy::run);
    if !deny::is_installed() {
        report.leave_out("deny (there is no cargo-deny; tidy looked at licences and sources)");
    } else {
        report.check("deny", || deny::check(metadata));
        if deny::fetch_advisories(metadata).is_ok() {
            report.check("advisories", || deny::check_advisories(metadata));
        } else {
            report.leave_out("advisories (their database is out of reach)");
        }
    }
    web_checks(report);
    progress::step("== machines");
    let (machines, building) = times::spent(|| machines(report));
    report.add("machines", Ok(()), building);
    let mut missing = Vec::new();
    let tested = beside(machines, || {
        report.check("clippy", || check::clippy(metadata, &["--workspace"]));
        report.check("doc", || check::doc(metadata));
        // Before the tests, which install what it makes.
        report.check("plugins", || plugins::run_prepared(&mut missing));
        report.check("test programs", || test::compile(Profile::Ci));
    });
    for (name, outcome, spent) in tested {
        report.add(name, outcome, spent);
    }
    // Before the tests, which read them where they are.
    report.check("emi-boards", || {
        missing.extend(boards::fetch()?);
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
}

/// The web application: what is committed is what its sources make, and its pages work in a browser.
fn web_checks(report: &mut Report) {
    let missing =
        web::missing_tools().or_else(|| web::install().err().map(|why| format!("{why:#}")));
    if let Some(why) = missing {
        report.leave_out(&format!(
            "web ({why}; tidy looked at what web/dist was made of)"
        ));
        return;
    }
    report.check("web", web::compare_prepared);
    match web::missing_browser() {
        Some(why) => report.leave_out(&format!("web in a browser ({why})")),
        None => report.check("web in a browser", web::browse_prepared),
    }
}

/// A check that is ready to run, on any thread.
type Ready = (&'static str, Box<dyn FnOnce() -> Result<()> + Send>);

/// A check that has run: its outcome, and what it took.
type Done = (&'static str, Result<()>, Spent);

/// Tests in virtual machines, with everything built for them.
fn machines(report: &mut Report) -> Vec<Ready> {
    let mut ready: Vec<Ready> = Vec::new();
    match cgroup2::Parts::find() {
        Ok(parts) => match parts.prepare() {
            Ok(machine) => ready.push(("cgroup2", Box::new(move || machine.run()))),
            Err(error) => report.add("cgroup2", Err(error), Spent::default()),
        },
        Err(why) => report.leave_out(&format!("cgroup2 ({why:#})")),
    }
    match usb::Parts::find() {
        Ok(parts) => match parts.prepare() {
            Ok(machine) => ready.push(("usb", Box::new(move || machine.run(usb::Set::due()?)))),
            Err(error) => report.add("usb", Err(error), Spent::default()),
        },
        Err(why) => report.leave_out(&format!("usb ({why:#})")),
    }
    ready
}

/// Runs tests in machines, one after the other, beside `work`. A machine has one processor and tells its lines at its
/// end; `work` is cargo's, which no clock watches, and takes what processor time the machine leaves. Each counts its own
/// programs.
fn beside(machines: Vec<Ready>, work: impl FnOnce()) -> Vec<Done> {
    let run = |(name, check): Ready| {
        progress::step(&format!("== {name}"));
        let (outcome, spent) = times::spent(check);
        (name, outcome, spent)
    };
    let all = move || machines.into_iter().map(run).collect();
    thread::scope(|scope| {
        let testing = scope.spawn(|| processor::apart(all));
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

/// Lets compilers and tests write what they take, beginning with nothing, and returns the folder where they do.
fn watch(metadata: &Metadata) -> Result<PathBuf> {
    let folder = metadata.target_directory.join("ci");
    let outcomes = outcomes::file(&metadata.root);
    for old in [
        &folder.join(shim::OF_COMPILERS),
        &folder.join(shim::OF_TESTS),
        &outcomes,
    ] {
        if old.exists() {
            fs::remove_file(old).with_context(|| format!("failed to remove {}", old.display()))?;
        }
    }
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create {}", folder.display()))?;
    shim::watch(&metadata.root, &folder, &toolchain::host()?);
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::bail;

    use super::*;

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
}
