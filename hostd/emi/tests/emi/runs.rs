//! The runs that compute emission alone.

use emi::{Cancelled, Observer, cable, compliance};

use crate::emission::{CLOCK, over_slot};
use crate::sheet::rules_of;

const CABLE: &str = "cables: [{connector: J1, length_m: 0.5}]";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn compliance_has_the_margins_of_the_whole_check() {
    let rules = format!("{CLOCK}\nstandard: fcc-15.109\nclass: A\ndistance_m: 10");
    let alone = compliance(over_slot(6.0).board(), &rules_of(&rules), &()).unwrap();
    let whole = over_slot(6.0).report(&rules).emission.spectrum.unwrap();
    assert!(alone.complete && alone.missing.is_empty());
    assert_eq!(alone.lines, whole.points);
    assert_eq!(alone.smallest_margins, whole.smallest_margins);
    assert_eq!(
        (alone.limits.table.as_str(), alone.limits.distance_m),
        ("fcc-15.109-a", 10.0)
    );
    assert_eq!(alone.limits.status, "public law");
    let found = json(&alone.json());
    assert_eq!(found["complete"], true);
    assert!(found["smallest_margins"][0]["margin_db"].is_number());
    assert!(alone.csv().lines().count() > 5);
}

#[test]
fn without_all_that_is_needed_there_is_no_margin_anywhere() {
    let half = "clocks: [{net: SCK, hz: 50e6, rise_s: 1e-9}]";
    let mixed = "clocks: [{net: SCK, hz: 50e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}, {net: NO, hz: 1e6, rise_s: 1e-9}]";
    for rules in ["", half, mixed, CABLE] {
        let found = compliance(over_slot(6.0).board(), &rules_of(rules), &()).unwrap();
        assert!(!found.complete && !found.missing.is_empty(), "{rules}");
        let text = found.json();
        assert_eq!(json(&text)["complete"], false);
        assert!(!text.contains("margin"), "{rules}: {text}");
        for line in found.csv().lines().skip(1) {
            assert_eq!(line.split(',').nth(4), Some(""), "{line}");
        }
    }
}

#[test]
fn every_table_and_distance_can_be_asked_for() {
    let mut least = Vec::new();
    for (standard, status) in [
        ("cispr-32", "secondary sources"),
        ("fcc-15.109", "public law"),
    ] {
        for class in ["A", "B"] {
            for distance in [3, 10] {
                let rules = format!(
                    "{CLOCK}\nstandard: {standard}\nclass: {class}\ndistance_m: {distance}"
                );
                let found = compliance(over_slot(0.0).board(), &rules_of(&rules), &()).unwrap();
                assert_eq!(
                    (found.limits.class.as_str(), found.limits.status.as_str()),
                    (class, status)
                );
                assert!(found.limits.version >= 1 && !found.limits.sources.is_empty());
                assert!(!found.limits.verified.is_empty());
                let margins = found.smallest_margins.unwrap();
                least.push((class, margins[0].margin_db));
            }
        }
    }
    let of = |class| least.iter().filter(move |l| l.0 == class).map(|l| l.1);
    // Class A allows more, whatever the standard and distance.
    for (a, b) in of("A").zip(of("B")) {
        assert!(a > b + 5.0, "{a} {b}");
    }
}

#[test]
fn cables_have_margins_where_something_is_declared() {
    let plain = cable(over_slot(6.0).board(), &rules_of(CABLE), &()).unwrap();
    assert!(plain.complete && plain.cables.len() == 1);
    assert!(!plain.json().contains("margin_db"));
    let permitted = |report: &emi::CableReport| {
        let lines = report.cables[0].lines.iter().filter(|line| line.valid);
        lines
            .map(|line| line.permitted_a)
            .fold(f64::INFINITY, f64::min)
    };
    let least = permitted(&plain);
    // Half of what is permitted leaves 6 dB.
    let rules = format!(
        "cables: [{{connector: J1, length_m: 0.5, common_mode_a: {:e}}}]",
        least / 2.0
    );
    let found = cable(over_slot(6.0).board(), &rules_of(&rules), &()).unwrap();
    let margin = found.cables[0].smallest_margin_db.unwrap();
    assert!((margin - 6.02).abs() < 0.01, "{margin}");
    assert_eq!(permitted(&found), least);
    assert!(found.csv().lines().count() == 1 + found.cables[0].lines.len());
    // A voltage that drives more than that is what counts.
    let both = rules.replace("}]", ", common_mode_v: 1}]");
    let found = cable(over_slot(6.0).board(), &rules_of(&both), &()).unwrap();
    assert!(found.cables[0].smallest_margin_db.unwrap() < 0.0);
    assert!(
        found
            .assumed
            .iter()
            .any(|text| text.contains("table of 0.8 m"))
    );
}

#[test]
fn cables_of_no_connector_and_no_cables_are_missing() {
    for (rules, missing) in [
        (
            "",
            "no cables are declared, so nothing is said about their currents",
        ),
        (
            "cables: [{connector: J9, length_m: 1}]",
            "the cable at `J9` is at no part of this board",
        ),
    ] {
        let found = cable(over_slot(6.0).board(), &rules_of(rules), &()).unwrap();
        assert_eq!(
            (found.complete, found.missing),
            (false, vec![missing.to_owned()])
        );
    }
}

/// Nobody waits for it.
struct Gone;

impl Observer for Gone {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn both_can_be_stopped() {
    let rules = rules_of(&format!("{CLOCK}\n{CABLE}"));
    assert_eq!(
        compliance(over_slot(6.0).board(), &rules, &Gone),
        Err(Cancelled)
    );
    assert_eq!(cable(over_slot(6.0).board(), &rules, &Gone), Err(Cancelled));
}
