//! Reports that people and programs read.

use std::fmt::Write as _;

use crate::check::Report;
use crate::found::SHOWN_MAX;
use crate::plain::plain;
use crate::source::SourceFile;

impl Report {
    /// `rules.json`.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// As lines for a terminal: the worst first, one finding a line. Names of a board are shown without control characters.
    pub fn text(&self) -> String {
        self.text_in(&SourceFile::default())
    }

    /// As [`text`](Self::text), with the place in the file in front of findings that have one, as compilers write it.
    pub fn text_in(&self, source: &SourceFile) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let net = if finding.net.is_empty() {
                String::new()
            } else {
                format!(" [{}]", plain(&finding.net))
            };
            let part = finding
                .at
                .footprint
                .as_ref()
                .map(|name| format!(" {}", plain(name)))
                .unwrap_or_default();
            let _ = writeln!(
                text,
                "{}{} {}{net}{part} {} ({}, {}): {}: {}",
                source.prefix(finding.at.line),
                finding.severity.name(),
                finding.rule,
                plain(&finding.layer),
                finding.at.x,
                finding.at.y,
                finding.title,
                plain(&finding.detail),
            );
        }
        for (rule, counts) in &self.rules {
            let hidden = counts.found - counts.shown;
            if hidden > 0 {
                let _ = writeln!(
                    text,
                    "{rule}: {hidden} more, {} in all; {SHOWN_MAX} are shown",
                    counts.found
                );
            }
            if counts.suppressed > 0 {
                let _ = writeln!(
                    text,
                    "{rule}: {} more were decided about in the rules file",
                    counts.suppressed
                );
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {}", plain(note));
        }
        let summary = &self.summary;
        let _ = writeln!(
            text,
            "{} critical, {} warnings, {} infos. These are known mistakes; that there are no others is not said.",
            summary.critical, summary.warning, summary.info
        );
        text
    }
}
