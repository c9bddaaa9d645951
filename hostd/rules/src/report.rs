//! What rules come to.

use serde::Serialize;

use crate::limits::PLACES_MAX;

/// What all rules of a list come to on one capture. Its JSON form is documented in `docs/assertions.md`; keys are only added
/// to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Rules that hold.
    pub passed: usize,
    /// Rules that do not hold.
    pub failed: usize,
    /// Rules that cannot be judged on this capture.
    pub errors: usize,
    /// Each rule, in the order of the list.
    pub rules: Vec<Judged>,
}

impl Report {
    pub(crate) fn new(rules: Vec<Judged>) -> Self {
        let count = |verdict| rules.iter().filter(|rule| rule.verdict == verdict).count();
        Self {
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            errors: count(Verdict::Error),
            rules,
        }
    }

    /// Whether every rule holds.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.failed == 0 && self.errors == 0
    }
}

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Passed,
    /// It does not.
    Failed,
    /// The capture lacks what it takes to say: the channel, the time, the samples.
    Error,
}

/// What one rule comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The rule.
    pub name: String,
    /// Its kind, as it is written.
    pub kind: &'static str,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What it asks for, in a sentence.
    pub wanted: String,
    /// What was seen, in a sentence; of an error what is the matter and what to do.
    pub seen: String,
    /// Where: of a rule that fails the worst place, of one that holds where it was nearest to failing.
    pub place: Option<Place>,
    /// How far it was from the other verdict: negative if it fails.
    pub margin: Option<Margin>,
    /// How many places fail.
    pub found: u64,
    /// The first of them, at most [`PLACES_MAX`].
    pub places: Vec<Place>,
    /// Channels that a picture shows, by their names in the capture.
    #[serde(skip)]
    pub(crate) lanes: Vec<String>,
    /// Values at which a picture has a line, by channel.
    #[serde(skip)]
    pub(crate) guides: Vec<(String, f64)>,
    /// Places that a picture marks otherwise: where edges should be.
    #[serde(skip)]
    pub(crate) due: Vec<(String, f64)>,
}

/// A part of a capture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The channel, by its name in the capture.
    pub channel: String,
    /// Its first sample.
    pub from_sample: u64,
    /// Its last sample.
    pub to_sample: u64,
    /// Seconds from the trigger to the first sample.
    pub from_s: f64,
    /// Seconds from the trigger to the last sample.
    pub to_s: f64,
}

/// How near a rule was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Margin {
    /// How far from its bound: negative if it fails.
    pub value: f64,
    /// `s`, `Hz`, `V`, `A`, `%` (of a duty) or `count`.
    pub unit: &'static str,
}

/// What the evaluation of one kind gives.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    pub(crate) passed: bool,
    pub(crate) seen: String,
    pub(crate) place: Option<Place>,
    pub(crate) margin: Option<Margin>,
    pub(crate) wrong: Wrong,
    pub(crate) lanes: Vec<String>,
    pub(crate) guides: Vec<(String, f64)>,
    pub(crate) due: Vec<(String, f64)>,
}

/// Places that fail, counted, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    pub(crate) found: u64,
    pub(crate) places: Vec<Place>,
}

impl Wrong {
    pub(crate) fn add(&mut self, place: impl FnOnce() -> Place) {
        self.found += 1;
        if self.places.len() < PLACES_MAX {
            self.places.push(place());
        }
    }
}
