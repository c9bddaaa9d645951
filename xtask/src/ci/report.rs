//! The checks that have run, and what was left out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::progress;
use crate::times::{self, Spent};

/// The name of all checks together.
const ALL: &str = "all";

/// The checks that have run so far.
pub(super) struct Report {
    begun: Instant,
    checks: Vec<Check>,
    left_out: Vec<String>,
}

struct Check {
    name: &'static str,
    spent: Spent,
    has_passed: bool,
}

impl Report {
    pub(super) fn begin() -> Self {
        Self {
            begun: Instant::now(),
            checks: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(super) fn check(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) {
        progress::step(&format!("== {name}"));
        let (outcome, spent) = times::spent(work);
        self.add(name, outcome, spent);
    }

    /// Adds a check that has run.
    pub(super) fn add(&mut self, name: &'static str, outcome: Result<()>, spent: Spent) {
        if let Err(error) = &outcome {
            progress::failure(error);
        }
        self.checks.push(Check {
            name,
            spent,
            has_passed: outcome.is_ok(),
        });
    }

    /// Notes a check that this machine cannot do, with the reason.
    pub(super) fn leave_out(&mut self, check: &str) {
        self.left_out.push(check.to_owned());
    }

    pub(super) fn has_failed(&self, name: &str) -> bool {
        self.failed().any(|failed| failed == name)
    }

    pub(super) fn has_passed(&self, name: &str) -> bool {
        let mut checks = self.checks.iter();
        checks.any(|check| check.name == name && check.has_passed)
    }

    fn failed(&self) -> impl Iterator<Item = &'static str> {
        let failed = self.checks.iter().filter(|check| !check.has_passed);
        failed.map(|check| check.name)
    }

    /// What each check took, and all of them.
    pub(super) fn spent(&self) -> BTreeMap<String, Spent> {
        let checks = self.checks.iter();
        let mut spent: BTreeMap<_, _> = checks
            .map(|check| (check.name.to_owned(), check.spent))
            .collect();
        let known = self.checks.iter().filter_map(|check| check.spent.processor);
        let known: Vec<Duration> = known.collect();
        let processor = (!known.is_empty()).then(|| known.iter().sum());
        let wall = self.begun.elapsed();
        spent.insert(ALL.to_owned(), Spent { wall, processor });
        spent
    }

    /// What was left out, with the number of it, if anything was.
    pub(super) fn left_out(&self) -> Option<String> {
        let left_out = &self.left_out;
        (!left_out.is_empty())
            .then(|| format!("left out: {}: {}", left_out.len(), left_out.join(", ")))
    }

    /// What it comes to. A failure names the checks that did not pass.
    pub(super) fn verdict(&self) -> Result<&'static str> {
        let failed: Vec<&str> = self.failed().collect();
        if !failed.is_empty() {
            bail!("these checks did not pass: {}", failed.join(", "));
        }
        Ok(match self.left_out.is_empty() {
            true => "every check passed",
            false => "every check that ran passed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_check_fails_the_run_and_is_named() {
        let mut report = Report::begin();
        report.check("good", || Ok(()));
        report.check("bad", || bail!("broken"));
        report.check("later", || Ok(()));
        assert!(report.has_failed("bad") && !report.has_failed("good"));
        assert!(report.has_passed("good") && !report.has_passed("bad"));
        assert!(!report.has_failed("other") && !report.has_passed("other"));
        assert_eq!(
            report.verdict().unwrap_err().to_string(),
            "these checks did not pass: bad"
        );
    }

    #[test]
    fn a_run_without_a_failure_passes() {
        let mut report = Report::begin();
        report.check("good", || Ok(()));
        assert_eq!(report.verdict().unwrap(), "every check passed");
        assert_eq!(report.left_out(), None);
        report.leave_out("clients (there is no python3)");
        report.leave_out("usb (there is no QEMU)");
        assert_eq!(report.verdict().unwrap(), "every check that ran passed");
        assert_eq!(
            report.left_out().unwrap(),
            "left out: 2: clients (there is no python3), usb (there is no QEMU)"
        );
    }

    #[test]
    fn all_checks_took_what_each_took() {
        let spent = |processor| Spent {
            wall: Duration::from_secs(5),
            processor: Some(Duration::from_secs(processor)),
        };
        let mut report = Report::begin();
        report.add("usb", Ok(()), spent(2));
        report.add("doc", Ok(()), spent(3));
        let all = report.spent();
        assert_eq!(all["usb"], spent(2));
        assert_eq!(all[ALL].processor, Some(Duration::from_secs(5)));
        // They ran beside each other.
        assert!(all[ALL].wall < Duration::from_secs(5));
    }
}
