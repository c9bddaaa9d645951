//! The last lines of a run: what took how long, what was left out, and what it comes to.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::disk;
use super::figures::{DOCUMENT, Figures, Kind};
use super::outcomes::{self, Outcomes};
use super::report::Report;
use super::table::{self, By};
use crate::progress;
use crate::times::{Spent, log, shim};

/// How many crates and tests are named.
const NAMED: usize = 10;

/// How many reasons why tests left themselves out are named, and how long one may be.
const REASONS_MAX: usize = 12;
const REASON_CHARS_MAX: usize = 120;

/// Tests that leave themselves out for a reason, and the check that runs them nevertheless.
const RUN_ELSEWHERE: [(&str, &str); 1] = [("this kernel has no virtual USB controller", "usb")];

/// What was measured beside the checks themselves.
#[derive(Default)]
struct Measured {
    crates: BTreeMap<String, Spent>,
    tests: BTreeMap<String, Spent>,
    /// Tests that left themselves out, by reason.
    left_out: BTreeMap<String, usize>,
    /// Why nothing is known about tests.
    no_tests: Option<String>,
}

impl Measured {
    /// Reads what compilers and tests wrote.
    fn read(folder: &Path, root: &Path) -> Self {
        let crates = log::read(&folder.join(shim::OF_COMPILERS));
        let logged = log::read(&folder.join(shim::OF_TESTS));
        match Outcomes::read(&outcomes::file(root)) {
            Ok(outcomes) => Self {
                crates,
                tests: tests(outcomes.took, &logged),
                left_out: outcomes.left_out,
                no_tests: None,
            },
            Err(error) => Self {
                crates,
                no_tests: Some(format!(
                    "single tests are known from nextest only: {error:#}"
                )),
                ..Self::default()
            },
        }
    }
}

/// Processor time is the runner's, of all attempts; wall time nextest's, which has tests too that were ended.
fn tests(
    took: BTreeMap<String, std::time::Duration>,
    logged: &BTreeMap<String, Spent>,
) -> BTreeMap<String, Spent> {
    let spent = |(name, wall)| {
        let processor = logged.get(&name).and_then(|spent| spent.processor);
        (name, Spent { wall, processor })
    };
    took.into_iter().map(spent).collect()
}

/// Prints all of it but the verdict, which it returns. What is wanted most comes last, where a terminal still shows it.
pub(super) fn print(report: &Report, root: &Path, folder: &Path) -> Result<&'static str> {
    let measured = Measured::read(folder, root);
    let (kept, mut warnings) = match Figures::read(root) {
        Ok(kept) => (kept, Vec::new()),
        Err(error) => (Figures::default(), vec![format!("{error:#}")]),
    };
    progress::step(&format!("seconds, beside what {DOCUMENT} keeps"));
    let parts = report.spent();
    for (kind, spent, by, rows_max) in [
        (Kind::Test, &measured.tests, By::Wall, NAMED),
        (Kind::Crate, &measured.crates, By::Processor, NAMED),
        (Kind::Part, &parts, By::Wall, usize::MAX),
    ] {
        if !spent.is_empty() {
            let lines = table::lines(kind, spent, &kept, by, rows_max);
            lines.iter().for_each(|line| progress::detail(line));
        }
        warnings.extend(kept.warnings(kind, spent));
    }
    if let Some(why) = &measured.no_tests {
        progress::detail(why);
    }
    warnings.extend(disk::after(root));
    warnings.iter().for_each(|line| progress::warning(line));
    let checks = report.left_out();
    let tests = left_out(&measured.left_out, |check| report.has_passed(check));
    for line in checks.into_iter().chain(tests) {
        progress::step(&line);
    }
    report.verdict()
}

/// How many tests left themselves out and why, the most frequent reason first, without those that a check has run.
fn left_out(
    reasons: &BTreeMap<String, usize>,
    has_passed: impl Fn(&str) -> bool,
) -> Option<String> {
    let ran = |reason: &str| {
        let mut elsewhere = RUN_ELSEWHERE.iter();
        elsewhere.any(|(why, check)| *why == reason && has_passed(check))
    };
    let mut reasons: Vec<_> = reasons.iter().filter(|(why, _)| !ran(why)).collect();
    if reasons.is_empty() {
        return None;
    }
    let tests: usize = reasons.iter().map(|(_, tests)| *tests).sum();
    reasons.sort_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
    let named = reasons.iter().take(REASONS_MAX).map(|(why, tests)| {
        let why: String = why.chars().take(REASON_CHARS_MAX).collect();
        format!("{} ({tests})", why.trim_end_matches(':'))
    });
    let mut named: Vec<String> = named.collect();
    if reasons.len() > REASONS_MAX {
        named.push(format!("{} more reasons", reasons.len() - REASONS_MAX));
    }
    let word = if tests == 1 { "test" } else { "tests" };
    Some(format!("left out: {tests} {word}: {}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tests_that_leave_themselves_out_are_counted_by_reason() {
        let long = "x".repeat(500);
        let usb = RUN_ELSEWHERE[0].0;
        let reasons = [("sigrok-cli is not installed", 7), (usb, 90), (&long, 1)];
        let reasons = reasons.map(|(why, tests)| (why.to_owned(), tests));
        let mut reasons = BTreeMap::from(reasons);
        let ran = left_out(&reasons, |check| check == "usb").unwrap();
        assert!(ran.starts_with("left out: 8 tests: sigrok-cli is not installed (7), xxx"));
        assert!(ran.len() < 300 && ran.ends_with("x (1)"), "{ran}");
        let none_ran = left_out(&reasons, |_| false).unwrap();
        assert!(
            none_ran.starts_with("left out: 98 tests: this kernel"),
            "{none_ran}"
        );
        reasons.extend((0..20).map(|number| (format!("r{number}"), 1)));
        let many = left_out(&reasons, |_| false).unwrap();
        assert!(many.ends_with(", 11 more reasons"), "{many}");
        assert_eq!(left_out(&BTreeMap::new(), |_| false), None);
    }

    #[test]
    fn what_runs_elsewhere_is_said_by_the_tests() {
        let trials = include_str!("../../../hostd/usb-trials/src/lib.rs");
        let [(why, _)] = RUN_ELSEWHERE;
        assert!(trials.contains(&format!("\"{why}, so these tests are left out\"")));
    }

    #[test]
    fn a_test_has_the_wall_time_of_nextest_and_the_processor_time_of_its_runner() {
        let seconds = Duration::from_secs;
        let took = BTreeMap::from([("a", seconds(3)), ("ended", seconds(600))]);
        let took = took
            .into_iter()
            .map(|(name, t)| (name.to_owned(), t))
            .collect();
        let logged = Spent {
            wall: seconds(2),
            processor: Some(seconds(1)),
        };
        let logged = BTreeMap::from([("a".to_owned(), logged), ("b".to_owned(), logged)]);
        let tests = tests(took, &logged);
        let spent = |wall, processor| Spent { wall, processor };
        assert_eq!(tests.len(), 2);
        assert_eq!(tests["a"], spent(seconds(3), Some(seconds(1))));
        assert_eq!(tests["ended"], spent(seconds(600), None));
    }

    #[test]
    fn without_nextest_crates_are_still_known() {
        let folder = std::env::temp_dir().join(format!("xtask-ending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        log::add(
            &folder.join(shim::OF_COMPILERS),
            "emi (lib)",
            &Spent::default(),
        )
        .unwrap();
        let measured = Measured::read(&folder, &folder);
        assert_eq!(measured.crates.len(), 1);
        let why = measured.no_tests.unwrap();
        assert!(
            why.starts_with("single tests are known from nextest only"),
            "{why}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
