//! Reports of two versions of a board compared.

use emi::{Severity, Stored, diff};

use crate::sheet::{Sheet, four_layers, plate_with_hole};

/// Tracks of nets over a slot, at these heights.
fn crossing(nets: &[(&'static str, f64)]) -> Sheet {
    let slot = ((28.0, 2.0), (33.0, 38.0));
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
    let sheet = four_layers()
        .fill("GND", "In1.Cu", ring)
        .plane("GND", "In2.Cu");
    nets.iter().fold(sheet, |sheet, (net, y)| {
        sheet.track(net, "F.Cu", &[(10.0, *y), (50.0, *y)])
    })
}

const GAPS_ALONE: &str = "rules: {radiator: false, crosstalk: false, stitching: false, edge-stitching: false, edge-proximity: false}";

fn stored(sheet: &Sheet, rules: &str) -> Stored {
    Stored::read(sheet.report(rules).json().as_bytes()).unwrap()
}

#[test]
fn new_gone_and_kept_are_told_apart_from_stored_reports_alone() {
    let before = stored(&crossing(&[("A", 10.0), ("B", 20.0)]), GAPS_ALONE);
    let now = stored(&crossing(&[("B", 20.0), ("C", 30.0)]), GAPS_ALONE);
    let found = diff(&before, &now);
    let nets = |findings: &[emi::Change]| -> Vec<String> {
        let of_gaps = findings
            .iter()
            .filter(|change| change.finding.rule == "plane-gap" && change.certain);
        of_gaps.map(|change| change.finding.net.clone()).collect()
    };
    assert_eq!(
        (nets(&found.new), nets(&found.gone)),
        (vec!["C".to_owned()], vec!["A".to_owned()])
    );
    assert!(
        found
            .kept
            .iter()
            .any(|kept| kept.finding.net == "B" && kept.was.is_none())
    );
    assert!(found.cut.is_empty());
    assert_eq!(found.summary.new.from(Severity::Info), found.new.len());
    let text = found.text();
    assert!(
        text.contains("+  warning plane-gap [C]") && text.contains("-  warning plane-gap [A]"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&found.json()).unwrap();
    assert_eq!(json["new"][0]["certain"], true);
    assert_eq!(json["summary"]["new"]["critical"], 0);
    let same = diff(&before, &before);
    assert_eq!(
        (same.new.len(), same.gone.len(), same.kept.len()),
        (0, 0, before.findings.len())
    );
}

#[test]
fn what_became_worse_is_kept_and_said() {
    let sheet = crossing(&[("A", 10.0)]);
    let now = stored(
        &sheet,
        &format!("{GAPS_ALONE}\ngroups: [{{match: A, speed: fast}}]"),
    );
    let found = diff(&stored(&sheet, GAPS_ALONE), &now);
    let gap = found
        .kept
        .iter()
        .find(|kept| kept.finding.rule == "plane-gap")
        .unwrap();
    assert_eq!((gap.was, gap.is_worse()), (Some(Severity::Warning), true));
    assert_eq!(found.summary.worse.from(Severity::Critical), 1);
    assert!(
        found.text().contains("!  critical plane-gap [A]"),
        "{}",
        found.text()
    );
    // The other way round it became better, which is no mistake.
    let back = diff(&now, &stored(&sheet, GAPS_ALONE));
    assert_eq!(back.summary.worse.count(), 0);
}

#[test]
fn findings_that_share_a_fingerprint_are_counted() {
    let mut before = stored(&crossing(&[("A", 10.0)]), GAPS_ALONE);
    let gap = before
        .findings
        .iter()
        .find(|finding| finding.rule == "plane-gap")
        .unwrap()
        .clone();
    before.findings = vec![gap.clone(), gap.clone()];
    let mut now = before.clone();
    now.findings = vec![gap.clone(), gap.clone(), gap];
    let grown = diff(&before, &now);
    assert_eq!(
        (grown.new.len(), grown.kept.len(), grown.gone.len()),
        (1, 2, 0)
    );
    let shrunk = diff(&now, &before);
    assert_eq!(
        (shrunk.new.len(), shrunk.kept.len(), shrunk.gone.len()),
        (0, 2, 1)
    );
}

#[test]
fn a_cut_list_claims_nothing() {
    let names: Vec<(&'static str, f64)> = (0..50)
        .map(|index| {
            (
                &*format!("N{index:02}").leak(),
                3.0 + 0.6 * f64::from(index),
            )
        })
        .collect();
    let (before, now) = (
        stored(&crossing(&names), GAPS_ALONE),
        stored(&crossing(&names[5..]), GAPS_ALONE),
    );
    assert!(before.rules["plane-gap"].shown < before.rules["plane-gap"].found);
    let found = diff(&before, &now);
    let of_gaps = |changes: &[emi::Change]| -> Vec<bool> {
        let of_gaps = changes
            .iter()
            .filter(|change| change.finding.rule == "plane-gap");
        of_gaps.map(|change| change.certain).collect()
    };
    assert!(
        of_gaps(&found.new)
            .iter()
            .chain(&of_gaps(&found.gone))
            .all(|certain| !certain)
    );
    let cut = found
        .cut
        .iter()
        .find(|cut| cut.rule == "plane-gap")
        .unwrap();
    assert_eq!(
        (
            cut.found_before,
            cut.listed_before,
            cut.found_now,
            cut.listed_now
        ),
        (50, 40, 45, 40)
    );
    assert!(
        found
            .text()
            .contains("40 of 50 were listed before, 40 of 45 now"),
        "{}",
        found.text()
    );
}

#[test]
fn reports_of_other_versions_and_settings_are_compared_and_others_refused() {
    let report = crossing(&[("A", 10.0)]).report(GAPS_ALONE).json();
    let later = report
        .replace("\"plane-gap\"", "\"plane-hole\"")
        .replace("\"title\"", "\"colour\": 3, \"title\"");
    let later = Stored::read(later.as_bytes()).unwrap();
    let before = Stored::read(report.as_bytes()).unwrap();
    let found = diff(&before, &later);
    assert!(
        found
            .kept
            .iter()
            .any(|kept| kept.finding.rule == "plane-hole")
    );
    let other = stored(
        &crossing(&[("A", 10.0)]),
        &format!("{GAPS_ALONE}\nboard: {{max_frequency_hz: 2e9}}"),
    );
    assert!(diff(&before, &other).notes[0].contains("1000 and 2000 MHz"));
    let decided = stored(
        &crossing(&[("A", 10.0)]),
        &format!("{GAPS_ALONE}\nsuppress: [{{rule: plane-gap, net: A, reason: known}}]"),
    );
    assert!(
        diff(&before, &decided)
            .notes
            .iter()
            .any(|note| note.contains("decided about 0 findings before and about 1 now"))
    );
    for (text, message) in [
        ("{}", "this is no rules.json"),
        ("[1]", "this is no rules.json"),
        (
            &*report.replace("\"format_version\": 1", "\"format_version\": 2"),
            "its format_version is 2",
        ),
    ] {
        let error = Stored::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
