//! Tests of running jobs: how each ends, what is known about it, and that nothing is left of it.
//!
//! This program has several parts to play: it is the tests, the runner's program that makes jails, and a
//! runner that is killed. A machine that cannot isolate leaves the tests out and says why; with
//! `TESTS_NEED_ISOLATION=1` the program fails instead.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

mod benches;
mod builds;
mod caches;
mod cancels;
mod deaths;
mod fake;
mod home;
mod hostile;
mod images;
mod reports;
mod tape;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test, which panics if it fails.
type Case = (&'static str, fn());

/// Environment variable that makes it a failure when no jail can be made.
const NEEDED: &str = "TESTS_NEED_ISOLATION";

fn main() -> ExitCode {
    jail::entry();
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mark, folder] = &arguments[..]
        && mark == deaths::RUNNER
    {
        return deaths::run(folder);
    }
    if let [_, mark, folder] = &arguments[..]
        && mark == images::RUNNER
    {
        return images::run(folder);
    }
    let arguments = Arguments::from_args();
    let isolation = jail::probe(&jail::Options::default()).map(|report| report.isolation);
    if !matches!(isolation, Ok(Ok(()))) && !arguments.list {
        eprintln!("this machine cannot isolate jobs, so these tests are left out: {isolation:?}");
        return match std::env::var_os(NEEDED) {
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        };
    }
    let lists = [
        builds::CASES,
        caches::CASES,
        cancels::CASES,
        deaths::CASES,
        hostile::CASES,
        images::CASES,
        reports::CASES,
    ];
    let trial = |(name, case): Case| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    let trials = lists.into_iter().flatten().copied();
    let trials = trials.chain(benches::cases()).map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
