//! What pytest says when something is missing that no test can do anything about.

use std::path::Path;

use crate::outcome::Failure;

/// What comes in its output without pytest, and without the SDK.
pub(crate) const SIGNS: [&str; 2] = ["No module named pytest", "No module named 'embeddedci"];

/// Python's exit code for a module that is not there; pytest has it for failed tests, which leave a report.
const NO_MODULE: i32 = 1;

/// pytest's when it could not collect the tests, so that none was run, and when it could not begin.
const NOT_COLLECTED: [i32; 2] = [2, 4];

/// What was missing, going by which of [`SIGNS`] came, the exit code, and whether the report is there.
pub(crate) fn lack(signs: &[bool], exit_code: Option<i32>, report: &Path) -> Option<Failure> {
    let came = |sign: usize| signs.get(sign) == Some(&true);
    let code = exit_code?;
    if code == NO_MODULE && came(0) && !report.exists() {
        return Some(Failure::NoPytest);
    }
    (NOT_COLLECTED.contains(&code) && came(1)).then_some(Failure::NoSdk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ran_is_judged_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path();
        let nowhere = folder.path().join("report.xml");
        let judged = |pytest, sdk, code, report: &Path| lack(&[pytest, sdk], Some(code), report);
        assert_eq!(judged(true, false, 1, &nowhere), Some(Failure::NoPytest));
        assert_eq!(judged(false, true, 2, there), Some(Failure::NoSdk));
        assert_eq!(judged(false, true, 4, &nowhere), Some(Failure::NoSdk));
        // Tests that failed, and what they may have printed.
        assert_eq!(judged(true, true, 1, there), None);
        assert_eq!(judged(false, false, 2, there), None);
        assert_eq!(judged(true, true, 0, there), None);
        assert_eq!(lack(&[true, true], None, &nowhere), None);
    }
}
