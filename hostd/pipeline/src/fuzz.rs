//! Entries for fuzzers: any bytes as a pipeline, and as a pattern with a path.

use crate::limits::PROBLEMS_MAX;
use crate::{Caps, Pattern, expand, parse};

/// Reads a document, expands it if it is right and renders its report if it is not.
///
/// # Panics
/// When a report is empty, too long or points outside of the document, or a plan has a run before one that it needs.
/// Nothing else may panic.
pub fn document(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let caps = Caps::default();
    match parse(&text, &caps) {
        Ok(pipeline) => {
            let plan = expand(&pipeline, &caps);
            for (at, run) in plan.runs.iter().enumerate() {
                let is_before =
                    |need: &String| plan.runs[..at].iter().any(|earlier| earlier.id == *need);
                assert!(
                    run.needs.iter().all(is_before),
                    "{} comes too early",
                    run.id
                );
            }
        }
        Err(report) => {
            let count = report.problems.len();
            assert!(0 < count && count <= PROBLEMS_MAX);
            let lines = text.lines().count().max(1) + 1;
            for problem in &report.problems {
                assert!(problem.line >= 1 && problem.column >= 1 && problem.line as usize <= lines);
                assert!(!problem.message.is_empty());
            }
            assert!(report.render("ci.yml").len() < 1 << 20);
        }
    }
}

/// Any text as a pattern and a path, separated by a line break: it answers, and soon.
///
/// # Panics
/// When a pattern without signs does not match itself.
pub fn pattern(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, path) = text.split_once('\n').unwrap_or((&text, "a/b/c.elf"));
    if let Ok(pattern) = Pattern::parse(pattern) {
        pattern.matches(path);
    }
    // What has no sign in it matches itself.
    if let Ok(itself) = Pattern::parse(path)
        && !path.contains(['*', '?'])
        && !path.split('/').any(|part| part.is_empty() || part == ".")
    {
        assert!(itself.matches(path));
    }
}
