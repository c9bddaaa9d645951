//! A difference as lines for a terminal.

use std::fmt::Write as _;

use super::{Diff, PerSeverity};
use crate::plain::plain;
use crate::stored::StoredFinding;

impl Diff {
    /// One finding a line: `+` new, `-` gone, `!` worse than before; a `?` behind it says that the other report does not list
    /// everything of that rule. What is still there is counted.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for change in &self.new {
            line(&mut text, '+', change.certain, &change.finding, "");
        }
        for kept in self.kept.iter().filter(|kept| kept.is_worse()) {
            let was = kept
                .was
                .map_or_else(String::new, |was| format!(" (was {})", was.name()));
            line(&mut text, '!', true, &kept.finding, &was);
        }
        for change in &self.gone {
            line(&mut text, '-', change.certain, &change.finding, "");
        }
        for cut in &self.cut {
            let _ = writeln!(
                text,
                "{}: {} of {} were listed before, {} of {} now: what is listed once may have been there twice",
                plain(&cut.rule),
                cut.listed_before,
                cut.found_before,
                cut.listed_now,
                cut.found_now,
            );
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {}", plain(note));
        }
        let of = &self.summary;
        let _ = writeln!(
            text,
            "new: {}{}; worse: {}; gone: {}{}; still there: {}",
            Counted(of.new),
            Perhaps(of.perhaps_new),
            Counted(of.worse),
            Counted(of.gone),
            Perhaps(of.perhaps_gone),
            Counted(of.kept),
        );
        text
    }
}

fn line(text: &mut String, sign: char, certain: bool, finding: &StoredFinding, more: &str) {
    let net = if finding.net.is_empty() {
        String::new()
    } else {
        format!(" [{}]", plain(&finding.net))
    };
    let _ = writeln!(
        text,
        "{sign}{} {} {}{net} {} ({}, {}): {}{more}: {}",
        if certain { ' ' } else { '?' },
        finding.severity.name(),
        plain(&finding.rule),
        plain(&finding.layer),
        finding.at.x,
        finding.at.y,
        plain(&finding.title),
        plain(&finding.detail),
    );
}

/// `3 (1 critical, 2 warnings, 0 infos)`
struct Counted(PerSeverity);

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = &self.0;
        write!(f, "{}", of.count())?;
        if 0 < of.count() {
            write!(
                f,
                " ({} critical, {} warnings, {} infos)",
                of.critical, of.warning, of.info
            )?;
        }
        Ok(())
    }
}

/// `, perhaps 2 more`, or nothing
struct Perhaps(PerSeverity);

impl std::fmt::Display for Perhaps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.count() {
            0 => Ok(()),
            count => write!(f, ", perhaps {count} more"),
        }
    }
}
