//! JUnit, as CI systems actually read it.
//!
//! GitLab shows `classname` as the suite, drops a case with a name that it has already seen there, and reads
//! the content of `<failure>`, not its attributes. Jenkins and GitLab both take attachments from
//! `[[ATTACHMENT|path]]` in `<system-out>`, GitLab only from the first one. So the class is
//! `bench.variant.pack`, names are made unique, and each case has one `<system-out>`. A fault of the bench is
//! an `<error>`, a fault of the firmware a `<failure>`.

mod read;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

pub use read::{Bounds, ReadError, read};

use crate::result::{Case, Fault, JobResult, Outcome, RunResult};

/// Writes the cases of a job.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(job: &JobResult, out: impl io::Write) -> io::Result<()> {
    let mut report = Report::new(clean(&job.name));
    report.set_time(Duration::from_micros(job.duration_us));
    for run in &job.runs {
        report.add_test_suite(suite(job, run));
    }
    report.serialize(out).map_err(io::Error::other)
}

fn suite(job: &JobResult, run: &RunResult) -> TestSuite {
    let mut suite = TestSuite::new(clean(&run.class));
    suite.set_time(Duration::from_micros(run.duration_us));
    suite.add_property(Property::new("hostd.job", clean(&job.id)));
    if let Some(device) = &run.device {
        suite.add_property(Property::new("hostd.device", clean(device)));
    }
    if let Some(network) = &run.network {
        suite.add_property(Property::new("hostd.network", clean(network)));
    }
    if run.attempts > 1 {
        suite.add_property(Property::new("hostd.attempts", run.attempts.to_string()));
    }
    if let Some(commit) = &job.commit {
        suite.add_property(Property::new("hostd.commit", clean(commit)));
    }
    let mut names = HashSet::new();
    for case in run.told() {
        let name = unused_name(&clean(&case.name), &mut names);
        suite.add_test_case(test_case(run, case, &name));
    }
    suite
}

/// `name`, or if it was used before, `name` with a number after it.
fn unused_name(name: &str, names: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut possible = std::iter::once(name.to_owned()).chain(numbered);
    let unused = possible.find(|name| !names.contains(name));
    let unused = unused.unwrap_or_default();
    names.insert(unused.clone());
    unused
}

fn test_case(run: &RunResult, case: &Case, name: &str) -> TestCase {
    let mut test = TestCase::new(name, status(&case.outcome));
    test.set_classname(clean(&run.class));
    test.set_time(Duration::from_micros(case.duration_us));
    for (name, address) in &case.links {
        test.add_property(Property::new(clean(name), clean(address)));
    }
    let mut output = clean(&case.output);
    for attachment in &case.attachments {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(output, "[[ATTACHMENT|{}]]", clean(attachment));
    }
    if !output.is_empty() {
        test.set_system_out(output);
    }
    test
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    let fault = |kind, fault: &Fault| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(clean(&fault.kind));
        status.set_message(clean(&fault.message));
        // Some readers show only the content, so it contains the message too.
        let inside = format!("{}\n{}", fault.message, fault.detail);
        status.set_description(clean(inside.trim_end()));
        status
    };
    match outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Failed(why) => fault(NonSuccessKind::Failure, why),
        Outcome::BenchFailed(why) => fault(NonSuccessKind::Error, why),
        Outcome::Skipped(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(clean(why));
            status
        }
    }
}

/// Without the two characters that no XML may contain but the library leaves in.
fn clean(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
