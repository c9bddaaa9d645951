//! `report.html`: one page about a board, to attach or to send. It contains everything, needs no network, follows the reader's
//! choice of light or dark, prints, and is a readable list where no script runs. Its script and style are named by their
//! digests, so that nothing that a board's names smuggle in could run.

mod board;
mod cables;
mod chart;
mod findings;
mod rules;
mod spectrum;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::board::Board;
use crate::check::Report;
use crate::diff::Diff;
use crate::drawing::Drawing;
use crate::finding::Severity;
use crate::plain::{Name, Sentence};
use crate::source::SourceFile;

/// Most bytes of a page: what it shows is bounded, each by its own bound.
pub const BYTES_MAX: usize = 16 << 20;

/// Most notes that are shown.
const NOTES_MAX: usize = 200;

/// What every report says of itself.
pub(crate) const HONEST: &str = "These are known mistakes. That there are no others is not said, and nothing here says that a board passes a test: \
     that is for a test chamber to say. What radiates most usually are cables, not loops over planes.";

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The page about a board.
pub(crate) fn report(
    drawing: &Drawing,
    board: &Board,
    report: &Report,
    source: &SourceFile,
    diff: Option<&Diff>,
) -> String {
    let style = format!("{STYLE}{}", board::style(drawing, board));
    let mut page = head(
        &format!("EMI: {}", Name(source.short())),
        &style,
        Some(SCRIPT),
    );
    intro(&mut page, board, report, source);
    page.push_str("<div class=\"main\">\n");
    board::section(&mut page, drawing, board, report);
    findings::section(&mut page, drawing, board, report, source);
    page.push_str("</div>\n");
    if let Some(diff) = diff {
        page.push_str("<h2 id=\"changes\">Changes</h2>\n");
        diff.section(&mut page);
    }
    spectrum::section(&mut page, &report.emission);
    cables::section(&mut page, &report.emission);
    notes(&mut page, report);
    rules::section(&mut page, report);
    let _ = writeln!(page, "<script>{SCRIPT}</script></body></html>");
    page
}

/// A page about a difference alone.
pub(crate) fn changes(diff: &Diff) -> String {
    let mut page = head("EMI: changes", STYLE, None);
    page.push_str("<h1>Changes</h1>\n");
    diff.section(&mut page);
    page.push_str("</body></html>\n");
    page
}

/// Everything up to the body's begin. `title` is escaped already.
fn head(title: &str, style: &str, script: Option<&str>) -> String {
    let script = script.map_or_else(|| "'none'".to_owned(), digest);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {script}; \
         base-uri 'none'; form-action 'none'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>{title}</title><style>{style}</style></head><body>\n",
        digest(style),
    )
}

/// A text as the source of a policy.
fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

fn intro(page: &mut String, board: &Board, report: &Report, source: &SourceFile) {
    let bounds = board.bounds();
    let size = if bounds.is_empty() {
        String::new()
    } else {
        format!("{:.1} × {:.1} mm, ", bounds.width(), bounds.height())
    };
    let _ = write!(
        page,
        "<h1>{}</h1>\n<p class=\"facts\">{size}{} copper layers, {} nets, {} parts, {} vias; looked at up to {}</p>\n\
         <ul class=\"counts\">",
        Name(source.short()),
        board.layers.len(),
        board.nets.iter().filter(|net| !net.name.is_empty()).count(),
        board.footprints.len(),
        board.vias.len(),
        frequency(report.summary.assumed_max_frequency_hz),
    );
    for severity in Severity::ALL {
        let found = report.summary.of(severity);
        let listed = report
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count();
        let hidden = if listed < found {
            format!(", {listed} listed")
        } else {
            String::new()
        };
        let _ = write!(
            page,
            "<li class=\"{}\"><b>{found}</b>{}{hidden}</li>",
            severity.name(),
            severity.counted(found),
        );
    }
    let _ = writeln!(page, "</ul>\n<p class=\"honest\">{HONEST}</p>");
}

fn notes(page: &mut String, report: &Report) {
    let notes: Vec<&String> = report
        .notes
        .iter()
        .chain(&report.emission.missing)
        .chain(&report.emission.assumed)
        .collect();
    page.push_str("<h2 id=\"notes\">Notes and assumptions</h2>\n<ul class=\"notes\">\n");
    let mut seen = std::collections::BTreeSet::new();
    let said = notes.into_iter().filter(|note| seen.insert(note.as_str()));
    for note in said.take(NOTES_MAX) {
        let _ = writeln!(page, "<li>{}</li>", Sentence(note));
    }
    page.push_str("</ul>\n");
}

/// A frequency as people write it.
pub(super) fn frequency(hz: f64) -> String {
    let (value, unit) = match hz {
        hz if 1e9 <= hz => (hz / 1e9, "GHz"),
        hz if 1e6 <= hz => (hz / 1e6, "MHz"),
        hz if 1e3 <= hz => (hz / 1e3, "kHz"),
        hz => (hz, "Hz"),
    };
    let digits = format!("{value:.3}");
    let short = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{short} {unit}")
}
