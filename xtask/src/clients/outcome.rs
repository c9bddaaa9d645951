//! The result of one run of pytest, read from the summary it prints.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result};

/// Counts, and a line for every item that did not pass.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) passed: u32,
    /// Items that failed, or whose set-up or clean-up did.
    pub(super) failed: u32,
    pub(super) skipped: u32,
    /// Item and first line of the reason.
    failures: Vec<String>,
    /// Number of skipped items by reason.
    skips: BTreeMap<String, u32>,
    /// Observations of our own tests, to be printed.
    notes: Vec<String>,
}

impl Outcome {
    /// Reads the output of `pytest -q -rfEs`.
    pub(super) fn parse(printed: &str) -> Result<Self> {
        let mut outcome = Self::default();
        let counts = printed
            .lines()
            .rev()
            .find_map(counts)
            .with_context(|| format!("pytest printed no summary:\n{printed}"))?;
        for (count, what) in counts {
            match what {
                "passed" => outcome.passed += count,
                "failed" | "error" | "errors" => outcome.failed += count,
                "skipped" => outcome.skipped += count,
                // Warnings, deselected items.
                _ => {}
            }
        }
        for line in printed.lines() {
            if line.starts_with("FAILED ") || line.starts_with("ERROR ") {
                outcome.failures.push(line.to_owned());
            } else if let Some(note) = line.strip_prefix("NOTE ") {
                outcome.notes.push(note.to_owned());
            } else if let Some((count, reason)) = skip(line) {
                *outcome.skips.entry(reason.to_owned()).or_default() += count;
            }
        }
        Ok(outcome)
    }

    /// The lines of a report about a tier.
    pub(super) fn report(&self, tier: &str, minimum: u32, duration: Duration) -> String {
        let mut text = format!(
            "{tier:<9} {:>3} passed {:>3} failed {:>3} skipped (at least {minimum} pass) {:.1} s\n",
            self.passed,
            self.failed,
            self.skipped,
            duration.as_secs_f64()
        );
        for line in &self.failures {
            let _ = writeln!(text, "    {line}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "    {note}");
        }
        for (reason, count) in &self.skips {
            let _ = writeln!(text, "    SKIPPED {count}: {reason}");
        }
        if self.passed > minimum {
            let passed = self.passed;
            let _ = writeln!(
                text,
                "    raise {tier} to {passed} in tests/clients/expected.txt"
            );
        }
        text
    }
}

/// The counts of a line such as `1 failed, 2 passed in 0.10s`.
fn counts(line: &str) -> Option<Vec<(u32, &str)>> {
    let (counts, duration) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    // Long runs are followed by (h:mm:ss).
    let seconds = duration.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if counts == "no tests ran" {
        return Some(Vec::new());
    }
    let pair = |text: &'_ str| -> Option<u32> { text.parse().ok() };
    counts
        .split(", ")
        .map(|text| {
            text.split_once(' ')
                .and_then(|(n, what)| Some((pair(n)?, what)))
        })
        .collect()
}

/// Count and reason of `SKIPPED [2] file.py:12: reason`.
fn skip(line: &str) -> Option<(u32, &str)> {
    let (count, place) = line.strip_prefix("SKIPPED [")?.split_once("] ")?;
    // After the file and its line number.
    let (_, reason) = place.split_once(": ")?;
    Some((count.parse().ok()?, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
....F.s                                                                  [100%]
=========================== short test summary info ============================
NOTE the first run held it for 2.00 s
SKIPPED [1] tests/e2e/test_e2e_pod.py:180: no current_out: firmware
SKIPPED [2] tests/e2e/test_e2e_pod.py:222: no current_out: firmware
FAILED tests/e2e/test_e2e_pod.py::test_can - errors.UnsupportedFeatureError: can_config
ERROR tests/e2e/test_e2e_pod.py::test_gps - RuntimeError: 3 passed in 1s
1 failed, 51 passed, 3 skipped, 2 warnings, 1 error in 78.54s (0:01:18)
";

    #[test]
    fn counts_and_reasons_are_read() {
        let outcome = Outcome::parse(PRINTED).unwrap();
        assert_eq!(
            (outcome.passed, outcome.failed, outcome.skipped),
            (51, 2, 3)
        );
        assert_eq!(outcome.failures.len(), 2);
        assert_eq!(outcome.skips["no current_out: firmware"], 3);
        let report = outcome.report("pod", 50, Duration::from_secs(78));
        assert!(report.contains("FAILED tests/e2e/test_e2e_pod.py::test_can"));
        assert!(report.contains("SKIPPED 3: no current_out"));
        assert!(report.contains("\n    the first run held it for 2.00 s\n"));
        assert!(report.contains("raise pod to 51"));
    }

    #[test]
    fn the_decorated_summary_and_an_empty_run_are_read_too() {
        let decorated = Outcome::parse("===== 12 passed in 0.23s =====\n").unwrap();
        assert_eq!(decorated.passed, 12);
        assert!(
            !decorated
                .report("pod", 12, Duration::ZERO)
                .contains("raise")
        );
        let empty = Outcome::parse("no tests ran in 0.01s\n").unwrap();
        assert_eq!(empty, Outcome::default());
    }

    #[test]
    fn a_run_that_did_not_get_to_its_summary_is_an_error() {
        let error = Outcome::parse("ImportError while loading conftest\n").unwrap_err();
        assert!(error.to_string().contains("ImportError"));
    }
}
