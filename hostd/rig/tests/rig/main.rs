//! Runs of benches on a simulated pod with a simulated target, as a server would carry them out. No step of them makes
//! a jail, so any machine will do.

#![allow(clippy::unwrap_used, reason = "a test, though it is its own harness")]

mod bench;
mod decoding;
mod endings;
mod steps;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test, which panics if it fails.
type Case = (&'static str, fn());

fn main() -> ExitCode {
    jail::entry();
    let trial = |(name, case): Case| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    let cases = [decoding::CASES, endings::CASES, steps::CASES]
        .into_iter()
        .flatten();
    let trials = cases.copied().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
