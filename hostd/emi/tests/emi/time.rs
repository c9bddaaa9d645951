//! Checks whose time is up: what the rules that had ended found is kept, and what is missing is said.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use emi::{Cancelled, Limits, Observer, OpenError, RULES, Report, Settings, Stored};

use crate::sheet::{Sheet, Style, four_layers, pad};

/// Time is up after some questions; somebody else may not want the report any more.
struct Late {
    questions: AtomicUsize,
    is_cancelled: bool,
}

impl Late {
    fn after(questions: usize) -> Self {
        Self {
            questions: AtomicUsize::new(questions),
            is_cancelled: false,
        }
    }
}

impl Observer for Late {
    fn is_late(&self) -> bool {
        let left = |left: usize| left.checked_sub(1);
        let asked = self
            .questions
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        asked.is_err()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }
}

fn sheet() -> Sheet {
    four_layers()
        .plane("GND", "In1.Cu")
        .plane("GND", "In2.Cu")
        .track("A", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
        .track("B", "F.Cu", &[(10.0, 20.4), (50.0, 20.4)])
        .part("U1", "", (5.0, 10.0), vec![pad("1", (0.0, 0.0), "A")])
}

fn check(questions: usize) -> Report {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    one.unwrap().install(|| {
        let late = Late::after(questions);
        emi::check(sheet().board(), &Settings::default(), &late).unwrap()
    })
}

#[test]
fn rules_that_had_ended_are_kept_and_the_others_named() {
    let whole = check(usize::MAX);
    assert!(whole.unfinished.is_empty() && !whole.json().contains("unfinished"));
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let mut counts = BTreeSet::new();
    for questions in std::iter::successors(Some(0), |n| Some(n + 1 + n / 4)).take(40) {
        let report = check(questions);
        let missing: BTreeSet<&str> = report.unfinished.iter().copied().collect();
        assert!(missing.is_subset(&all));
        counts.insert(missing.len());
        for (rule, counts) in &report.rules {
            assert!(!missing.contains(rule));
            assert_eq!(whole.rules[rule], *counts, "{rule} after {questions}");
        }
        let found: BTreeSet<&str> = whole.rules.keys().copied().collect();
        let kept: BTreeSet<&str> = report.rules.keys().copied().collect();
        let expected: BTreeSet<&str> = found.difference(&missing).copied().collect();
        assert_eq!(kept, expected, "after {questions}");
        if !missing.is_empty() {
            let note = &report.notes[0];
            assert!(note.starts_with("time was up") && report.text().contains(note.as_str()));
            assert!(report.unfinished.iter().all(|rule| note.contains(rule)));
        }
    }
    assert!(counts.contains(&all.len()), "{counts:?}");
    assert!(
        counts.iter().any(|count| 0 < *count && *count < all.len()),
        "{counts:?}"
    );
}

#[test]
fn what_nobody_wants_is_no_report_and_what_was_not_read_is_none() {
    let late = Late {
        is_cancelled: true,
        ..Late::after(0)
    };
    let found = emi::check(sheet().board(), &Settings::default(), &late);
    assert_eq!(found.unwrap_err(), Cancelled);
    let text = sheet().text(&Style::default());
    let found = emi::open(text.as_bytes(), &Limits::default(), &Late::after(0));
    assert_eq!(found.unwrap_err(), OpenError::Cancelled);
}

#[test]
fn what_is_missing_is_neither_new_nor_gone_for_certain() {
    let whole = Stored::from(&check(usize::MAX));
    let nothing = check(0);
    let stored = Stored::read(nothing.json().as_bytes()).unwrap();
    assert_eq!(stored, Stored::from(&nothing));
    assert_eq!(stored.unfinished.len(), RULES.len());
    for (before, now) in [(&whole, &stored), (&stored, &whole)] {
        let diff = emi::diff(before, now);
        assert_eq!(
            (diff.summary.new.count(), diff.summary.gone.count()),
            (0, 0)
        );
        let perhaps = diff.summary.perhaps_new.count() + diff.summary.perhaps_gone.count();
        assert_eq!(perhaps, whole.findings.len());
        assert!(diff.notes.iter().any(|note| note.contains("time was up")));
    }
}
