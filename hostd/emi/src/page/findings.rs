//! The list of findings on the page, by severity, with filters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::board::Board;
use crate::check::Report;
use crate::drawing::{Drawing, units};
use crate::finding::{Finding, Severity};
use crate::plain::{Escaped, Name, Sentence};
use crate::source::SourceFile;

/// From how many on infos are folded at first: whoever wants them opens them.
const UNFOLDED_MAX: usize = 30;

/// Where findings are on the picture.
struct Places<'a> {
    drawing: &'a Drawing,
    source: &'a SourceFile,
    nets: BTreeMap<&'a str, usize>,
    layers: BTreeMap<&'a str, usize>,
}

/// The list.
pub(super) fn section(
    page: &mut String,
    drawing: &Drawing,
    board: &Board,
    report: &Report,
    source: &SourceFile,
) {
    let places = Places {
        drawing,
        source,
        nets: board
            .nets
            .iter()
            .map(|net| net.name.as_str())
            .zip(0..)
            .collect(),
        layers: board
            .layers
            .iter()
            .map(|layer| layer.name.as_str())
            .zip(0..)
            .collect(),
    };
    page.push_str("<section class=\"findings\" aria-label=\"Findings\">\n");
    filters(page, report, &places);
    if report.findings.is_empty() {
        page.push_str(
            "<p>None of the known mistakes was found. That says nothing about others.</p>\n",
        );
    }
    for severity in Severity::ALL {
        group(page, report, severity, &places);
    }
    page.push_str("</section>\n");
}

fn filters(page: &mut String, report: &Report, places: &Places<'_>) {
    page.push_str(
        "<div class=\"filters needs-js\" hidden><input type=\"search\" id=\"search\" placeholder=\"Search\" aria-label=\"Search\">",
    );
    for severity in Severity::ALL {
        let name = severity.name();
        let _ = write!(
            page,
            "<label class=\"{name}\"><input type=\"checkbox\" name=\"severity\" value=\"{name}\" checked> <span class=\"badge\">{name}</span></label>"
        );
    }
    page.push_str("<select id=\"rule\" aria-label=\"Rule\"><option value=\"\">all rules</option>");
    let rules: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule).collect();
    for rule in rules {
        let _ = write!(page, "<option>{}</option>", Escaped(rule));
    }
    page.push_str(
        "</select> <select id=\"net\" aria-label=\"Net\"><option value=\"\">all nets</option>",
    );
    let nets: BTreeSet<&str> = report
        .findings
        .iter()
        .map(|finding| finding.net.as_str())
        .collect();
    for net in nets {
        let value = places.nets.get(net).filter(|_| !net.is_empty());
        let value = value.map_or_else(|| "-".to_owned(), usize::to_string);
        let shown = if net.is_empty() { "no net" } else { net };
        let _ = write!(page, "<option value=\"{value}\">{}</option>", Name(shown));
    }
    page.push_str(
        "</select> <button id=\"all\" type=\"button\">Reset</button> <span id=\"shown\" class=\"soft\" role=\"status\"></span></div>\n",
    );
}

fn group(page: &mut String, report: &Report, severity: Severity, places: &Places<'_>) {
    let listed: Vec<&Finding> = report
        .findings
        .iter()
        .filter(|finding| finding.severity == severity)
        .collect();
    let found = report.summary.of(severity);
    if listed.is_empty() && found == 0 {
        return;
    }
    let is_folded = severity == Severity::Info && UNFOLDED_MAX < listed.len();
    let _ = write!(
        page,
        "<details class=\"group {}\"{}><summary>{} {}",
        severity.name(),
        if is_folded { "" } else { " open" },
        found,
        severity.counted(found),
    );
    if listed.len() < found {
        let _ = write!(
            page,
            " <span class=\"soft\">({} listed, the worst of each rule)</span>",
            listed.len()
        );
    }
    page.push_str("</summary>\n<ol>\n");
    for finding in listed {
        entry(page, finding, places);
    }
    page.push_str("</ol></details>\n");
}

fn entry(page: &mut String, finding: &Finding, places: &Places<'_>) {
    let (x, y) = places.drawing.dot(finding.x, finding.y);
    let _ = write!(
        page,
        "<li id=\"{}\" class=\"finding {}\" data-s=\"{}\" data-r=\"{}\" data-x=\"{x}\" data-y=\"{y}\" data-p=\"{}\"",
        finding.id,
        finding.severity.name(),
        finding.severity.name(),
        Escaped(finding.rule),
        finding.fingerprint,
    );
    if let (false, Some(net)) = (
        finding.net.is_empty(),
        places.nets.get(finding.net.as_str()),
    ) {
        let _ = write!(page, " data-i=\"{net}\"");
    }
    if let Some(layer) = places.layers.get(finding.layer.as_str()) {
        let _ = write!(page, " data-l=\"{layer}\"");
    }
    if let Some([left, bottom, right, top]) = finding.bbox {
        let (x, y) = places.drawing.dot(left, top);
        let (width, height) = (units(right - left), units(top - bottom));
        let _ = write!(page, " data-b=\"{x} {y} {width} {height}\"");
    }
    let _ = write!(
        page,
        "><h4><a href=\"#{}\"><span class=\"badge\">{}</span> {}</a></h4>\n<p class=\"where\">",
        finding.id,
        finding.severity.name(),
        Sentence(&finding.title),
    );
    place(page, finding, places.source);
    let _ = write!(page, "</p><p>{}</p>", Sentence(&finding.detail));
    if !finding.assumed.is_empty() {
        page.push_str("<details><summary>Assumed</summary><ul>");
        for assumed in &finding.assumed {
            let _ = write!(page, "<li>{}</li>", Sentence(assumed));
        }
        page.push_str("</ul></details>");
    }
    page.push_str("</li>\n");
}

/// Rule, net, layer, part, coordinates and line.
fn place(page: &mut String, finding: &Finding, source: &SourceFile) {
    let _ = write!(page, "<a href=\"#rule-{0}\">{0}</a>", Escaped(finding.rule));
    if !finding.net.is_empty() {
        let _ = write!(page, " · net <bdi>{}</bdi>", Name(&finding.net));
    }
    if !finding.layer.is_empty() {
        let _ = write!(page, " · {}", Name(&finding.layer));
    }
    if let Some(part) = &finding.at.footprint {
        let _ = write!(page, " · part <bdi>{}</bdi>", Name(part));
    }
    let _ = write!(page, " · at {}, {} mm", finding.at.x, finding.at.y);
    if let Some(line) = finding.at.line {
        let _ = write!(
            page,
            " · <span title=\"{}\">line {line}</span>",
            Name(source.short())
        );
    }
    if let (Some(value), Some(limit)) = (finding.value, finding.limit) {
        let unit = finding.unit.unwrap_or_default();
        let _ = write!(
            page,
            " · {} {2}, limit {} {2}",
            short(value),
            short(limit),
            Escaped(unit)
        );
    }
}

/// A measure with as many digits as tell something.
fn short(value: f64) -> f64 {
    let unit = if value.abs() < 1.0 { 1e4 } else { 1e2 };
    (value * unit).round() / unit
}
