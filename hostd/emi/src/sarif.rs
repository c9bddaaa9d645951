//! `findings.sarif`: findings as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the lines of a file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::check::Report;
use crate::finding::{Finding, Severity};
use crate::plain::{SENTENCE_CHARS_MAX, clip, plain};
use crate::rules::{RULES, Rule};
use crate::source::SourceFile;

/// Where rules are explained.
const RULES_PAGE: &str = "docs/emi-rules.md";

/// What the fingerprint is made of; another name when that changes.
const FINGERPRINT: &str = "emiRuleNetLayerMillimetre/v1";

/// The file.
pub(crate) fn sarif(report: &Report, source: &SourceFile) -> String {
    let uri = uri(&source.file);
    let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let count = nth.entry(&finding.fingerprint).or_default();
            *count += 1;
            result(finding, *count, &uri, source)
        })
        .collect();
    let notices: Vec<Value> = notices(report)
        .map(|text| json!({"level": "note", "message": {"text": text}}))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hostd emi",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "fullDescription": {"text": "Names known mistakes that make a board radiate. That there are no others is not said."},
                "rules": RULES.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "artifacts": [{"location": {"uri": uri}}],
            "invocations": [{"executionSuccessful": report.unfinished.is_empty(), "toolExecutionNotifications": notices}],
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

/// What is to be known about the report as a whole.
fn notices(report: &Report) -> impl Iterator<Item = String> + '_ {
    let cut = report
        .rules
        .iter()
        .filter(|(_, counts)| counts.shown < counts.found);
    let cut = cut.map(|(rule, counts)| {
        format!(
            "{rule}: {} findings, of which the worst {} are listed",
            counts.found, counts.shown
        )
    });
    cut.chain(report.notes.iter().map(|note| text(note)))
}

fn descriptor(rule: &Rule) -> Value {
    let page = format!("{RULES_PAGE}#{}", rule.id);
    let said = [
        ("Looks for", rule.formula),
        ("Source", rule.source),
        ("Severity", rule.severity),
        ("Can say something about", rule.validity),
    ];
    let lines = |mark: &str| -> String {
        said.iter()
            .map(|(name, text)| format!("{mark}{name}: {text}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    json!({
        "id": rule.id,
        "name": pascal(rule.id),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.about},
        "help": {
            "text": format!("{}\n{}\nSee {page}.", rule.about, lines("")),
            "markdown": format!("{}\n\n{}\n\nSee [{}]({page}).", rule.about, lines("- "), rule.id),
        },
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["emi"], "page": page},
    })
}

fn result(finding: &Finding, nth: usize, uri: &str, source: &SourceFile) -> Value {
    // Hosts want a line of every result: what is about no copper is about the file as a whole, which begins at 1.
    let (line, column) = finding.at.line.map_or((1, 1), |line| {
        let place = source.place(line);
        (place.line, place.column)
    });
    let mut logical = Vec::new();
    let named = [
        ("net", finding.net.as_str()),
        ("layer", finding.layer.as_str()),
        ("part", finding.at.footprint.as_deref().unwrap_or_default()),
    ];
    for (kind, name) in named.into_iter().filter(|(_, name)| !name.is_empty()) {
        logical.push(json!({"name": text(name), "kind": kind}));
    }
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": uri, "index": 0},
        "region": {"startLine": line, "startColumn": column},
    }});
    if !logical.is_empty() {
        location["logicalLocations"] = Value::Array(logical);
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule),
        "level": match finding.severity {
            Severity::Critical => "error",
            Severity::Warning => "warning",
            Severity::Info => "note",
        },
        "message": {"text": message(finding)},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: format!("{}:{nth}", finding.fingerprint)},
        "properties": {
            "id": finding.id,
            "x": finding.at.x,
            "y": finding.at.y,
            "value": finding.value,
            "limit": finding.limit,
            "unit": finding.unit,
            "assumed": finding.assumed,
        },
    })
}

fn message(finding: &Finding) -> String {
    let net = if finding.net.is_empty() {
        String::new()
    } else {
        format!(" (net {})", finding.net)
    };
    let at = format!("at {}, {} mm", finding.at.x, finding.at.y);
    text(&format!(
        "{}{net}: {}; {at}.",
        finding.title, finding.detail
    ))
}

fn text(text: &str) -> String {
    plain(&clip(text, SENTENCE_CHARS_MAX)).into_owned()
}

/// `plane-gap` as `PlaneGap`.
fn pascal(id: &str) -> String {
    id.split('-')
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters)
        })
        .collect()
}

/// A relative path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    if uri.is_empty() {
        "board".to_owned()
    } else {
        uri
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_format_wants() {
        assert_eq!(uri("./a b/ü.kicad_pcb"), "a%20b/%C3%BC.kicad_pcb");
        assert_eq!(uri(""), "board");
        assert_eq!(pascal("plane-gap"), "PlaneGap");
        assert_eq!(pascal("esd-protection"), "EsdProtection");
    }
}
