//! Two reports of one board compared: what is new, what is gone, what is still there.

mod html;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::Counts;
use crate::finding::Severity;
use crate::stored::{Stored, StoredFinding};

/// What changed from one report to another. Findings are the same if they have the same fingerprint; several may share one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// How many of each.
    pub summary: DiffSummary,
    /// Only in the second report, the worst first.
    pub new: Vec<Change>,
    /// Only in the first.
    pub gone: Vec<Change>,
    /// In both, as the second has them.
    pub kept: Vec<Kept>,
    /// Rules of which not everything is listed in one of both, so that a finding that is listed in one may have been there in
    /// the other.
    pub cut: Vec<Cut>,
    /// What else may look like a change of the board and is none, for people.
    pub notes: Vec<String>,
}

/// How much changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiffSummary {
    /// New for certain.
    pub new: PerSeverity,
    /// New in the list, but perhaps there before.
    pub perhaps_new: PerSeverity,
    /// Gone for certain.
    pub gone: PerSeverity,
    /// Gone from the list, but perhaps still there.
    pub perhaps_gone: PerSeverity,
    /// In both.
    pub kept: PerSeverity,
    /// Of these, those that became worse, by what they are now.
    pub worse: PerSeverity,
}

/// How many of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerSeverity {
    /// Critical ones.
    pub critical: usize,
    /// Warnings.
    pub warning: usize,
    /// Infos.
    pub info: usize,
}

/// A finding that one of the reports lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The finding.
    #[serde(flatten)]
    pub finding: StoredFinding,
    /// `false` if the other report does not list everything of this rule.
    pub certain: bool,
}

/// A finding that both reports list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kept {
    /// As it is now.
    #[serde(flatten)]
    pub finding: StoredFinding,
    /// Its severity before, if it was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Severity>,
}

/// A rule of which not everything is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// Its id.
    pub rule: String,
    /// How many were found before.
    pub found_before: usize,
    /// How many of them are listed.
    pub listed_before: usize,
    /// How many are found now.
    pub found_now: usize,
    /// How many of them are listed.
    pub listed_now: usize,
}

/// Compares two reports.
pub fn diff(before: &Stored, now: &Stored) -> Diff {
    let mut known: BTreeMap<&str, Vec<&StoredFinding>> = BTreeMap::new();
    for finding in before.findings.iter().rev() {
        known.entry(&finding.fingerprint).or_default().push(finding);
    }
    let (mut new, mut kept) = (Vec::new(), Vec::new());
    for finding in &now.findings {
        // Each of those before is met once.
        let was = known
            .get_mut(finding.fingerprint.as_str())
            .and_then(Vec::pop);
        match was {
            Some(was) => kept.push(Kept {
                finding: finding.clone(),
                was: Some(was.severity).filter(|was| *was != finding.severity),
            }),
            None => new.push(Change {
                finding: finding.clone(),
                certain: !is_cut(before, &finding.rule),
            }),
        }
    }
    let unmet: BTreeMap<&str, usize> = known
        .iter()
        .map(|(print, rest)| (*print, rest.len()))
        .collect();
    let gone = gone(before, now, unmet);
    let mut summary = DiffSummary::default();
    for change in &new {
        let counts = if change.certain {
            &mut summary.new
        } else {
            &mut summary.perhaps_new
        };
        counts.add(change.finding.severity);
    }
    for change in &gone {
        let counts = if change.certain {
            &mut summary.gone
        } else {
            &mut summary.perhaps_gone
        };
        counts.add(change.finding.severity);
    }
    for kept in &kept {
        summary.kept.add(kept.finding.severity);
        if kept.is_worse() {
            summary.worse.add(kept.finding.severity);
        }
    }
    Diff {
        summary,
        new,
        gone,
        kept,
        cut: cut(before, now),
        notes: notes(before, now),
    }
}

/// The findings of the first report that none of the second met, in their order. Of several with one fingerprint these are
/// the last.
fn gone(before: &Stored, now: &Stored, mut unmet: BTreeMap<&str, usize>) -> Vec<Change> {
    let mut gone: Vec<Change> = Vec::new();
    for finding in before.findings.iter().rev() {
        let Some(count) = unmet
            .get_mut(finding.fingerprint.as_str())
            .filter(|count| 0 < **count)
        else {
            continue;
        };
        *count -= 1;
        gone.push(Change {
            finding: finding.clone(),
            certain: !is_cut(now, &finding.rule),
        });
    }
    gone.reverse();
    gone
}

fn is_cut(report: &Stored, rule: &str) -> bool {
    let counts = report.rules.get(rule);
    counts.is_some_and(|counts| counts.shown < counts.found)
        || report.unfinished.iter().any(|other| other == rule)
}

const NONE: Counts = Counts {
    found: 0,
    shown: 0,
    suppressed: 0,
};

/// The rules that a report says something about.
fn rules(report: &Stored) -> impl Iterator<Item = &String> {
    report.rules.keys().chain(&report.unfinished)
}

fn cut(before: &Stored, now: &Stored) -> Vec<Cut> {
    let mut rules: Vec<&String> = rules(before).chain(rules(now)).collect();
    rules.sort();
    rules.dedup();
    let cut = rules
        .into_iter()
        .filter(|rule| is_cut(before, rule) || is_cut(now, rule));
    cut.map(|rule| {
        let [before, now] =
            [before, now].map(|report| report.rules.get(rule).copied().unwrap_or(NONE));
        Cut {
            rule: rule.clone(),
            found_before: before.found,
            listed_before: before.shown,
            found_now: now.found,
            listed_now: now.shown,
        }
    })
    .collect()
}

fn notes(before: &Stored, now: &Stored) -> Vec<String> {
    let mut notes = Vec::new();
    for (report, when) in [(before, "before"), (now, "now")] {
        if !report.unfinished.is_empty() {
            notes.push(format!(
                "{when}, time was up before these rules had ended: {}",
                report.unfinished.join(", ")
            ));
        }
    }
    let [low, high] = [before, now].map(|report| report.summary.assumed_max_frequency_hz);
    if low != high {
        notes.push(format!(
            "the reports reckon with different highest frequencies, {} and {} MHz: findings may differ for that alone",
            low / 1e6,
            high / 1e6
        ));
    }
    for (rule, counts) in &now.rules {
        let was = before.rules.get(rule).map_or(0, |counts| counts.suppressed);
        if counts.suppressed != was {
            notes.push(format!(
                "{rule}: the rules file decided about {was} findings before and about {} now; these are not compared",
                counts.suppressed
            ));
        }
    }
    notes
}

impl Kept {
    /// Whether it became worse.
    pub fn is_worse(&self) -> bool {
        self.was.is_some_and(|was| self.finding.severity < was)
    }
}

impl PerSeverity {
    fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Critical => self.critical += 1,
            Severity::Warning => self.warning += 1,
            Severity::Info => self.info += 1,
        }
    }

    /// All of them.
    pub fn count(&self) -> usize {
        self.critical + self.warning + self.info
    }

    /// Those that are at least as bad.
    pub fn from(&self, least: Severity) -> usize {
        match least {
            Severity::Critical => self.critical,
            Severity::Warning => self.critical + self.warning,
            Severity::Info => self.count(),
        }
    }
}

impl Diff {
    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// As a page for people that needs nothing else.
    pub fn page(&self) -> String {
        crate::page::changes(self)
    }
}
