//! Resonances of cables and planes beside harmonics of clocks.

use emi::{Finding, Severity};

use crate::sheet::{Sheet, four_layers, pad, plate};

pub(crate) fn with_jack() -> Sheet {
    let pads = vec![pad("1", (0.0, 0.0), "SCK"), pad("2", (0.0, 2.0), "GND")];
    four_layers()
        .plane("GND", "In1.Cu")
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
        .part("J1", "", (50.0, 20.0), pads)
}

/// What a cable of that length finds with a clock of that frequency.
fn cable(length_m: f64, mhz: f64, more: &str) -> Vec<Finding> {
    let rules = format!(
        "clocks: [{{net: SCK, hz: {mhz}e6, rise_s: 1e-9}}]\ncables: [{{connector: J1, length_m: {length_m}{more}}}]"
    );
    with_jack().finds_with("cable-resonance", &rules)
}

#[test]
fn a_cable_of_a_quarter_wave_at_a_harmonic_is_found() {
    // c/4 is 74.948 MHz: the third harmonic of 25 MHz.
    let found = cable(1.0, 25.0, "");
    assert_eq!(found.len(), 1);
    let found = &found[0];
    assert_eq!(
        (found.value, found.limit, found.unit),
        (Some(75.0), Some(74.9481), Some("MHz"))
    );
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(found.at.footprint.as_deref(), Some("J1"));
    assert!(found.detail.contains("harmonic 3 at 75.0 MHz"));
    assert_eq!(
        cable(1.0, 25.0, ", shielded: true")[0].severity,
        Severity::Info
    );
    // Half a wave: 149.9 MHz, the third harmonic of 50 MHz.
    assert_eq!(cable(1.0, 50.0, "")[0].limit, Some(149.8962));
}

#[test]
fn a_cable_beside_all_harmonics_is_not() {
    assert_eq!(cable(1.0, 60.0, ""), []);
    // Its resonances are above whatever the clock has.
    assert_eq!(cable(0.02, 25.0, ""), []);
    assert_eq!(with_jack().finds("cable-resonance"), []);
}

#[test]
fn a_cable_at_no_connector_is_noted() {
    let report = with_jack().report("cables: [{connector: J9, length_m: 1}]");
    let note = "the cable at `J9` is at no part of this board";
    assert!(report.notes.iter().any(|known| known == note));
    assert!(report.findings.iter().all(|f| !f.rule.contains("cable")));
}

/// Two planes over each other.
pub(crate) fn planes(upper: &'static str, lower: &'static str) -> Sheet {
    four_layers()
        .plane(upper, "In1.Cu")
        .plane(lower, "In2.Cu")
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
}

pub(crate) fn rules(mhz: f64) -> String {
    format!("board: {{max_frequency_hz: 2e9}}\nclocks: [{{net: SCK, hz: {mhz}e6, rise_s: 1e-9}}]")
}

#[test]
pub(crate) fn planes_that_resonate_at_a_harmonic_are_found() {
    let found = planes("GND", "+3V3").finds_with("plane-cavity", &rules(100.0));
    assert_eq!(found.len(), 1);
    // 59 mm, εr 4.5: c/(2·√4.5·59 mm) = 1197.66 MHz.
    let first = 299.792_458 / (2.0 * 4.5f64.sqrt() * 0.059);
    assert_eq!(found[0].value, Some(1200.0));
    assert!((found[0].limit.unwrap() - first).abs() < 1e-3);
    assert_eq!(found[0].severity, Severity::Info);
    assert!(found[0].detail.contains("mode 1,0"), "{}", found[0].detail);
    assert_eq!((found[0].x, found[0].y), (30.0, 20.0));
    assert!(!found[0].detail.contains("validity"));
}

#[test]
pub(crate) fn planes_of_one_net_or_beside_all_harmonics_are_not() {
    let of = |sheet: &Sheet, rules: &str| sheet.finds_with("plane-cavity", rules).len();
    assert_eq!(of(&planes("GND", "+3V3"), &rules(350.0)), 0);
    assert_eq!(of(&planes("GND", "GND"), &rules(100.0)), 0);
    assert_eq!(of(&planes("GND", "+3V3"), ""), 0);
    let small = four_layers()
        .plane("GND", "In1.Cu")
        .fill("+3V3", "In2.Cu", plate((1.0, 1.0), (11.0, 11.0)))
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    assert_eq!(of(&small, &rules(100.0)), 0);
}

#[test]
pub(crate) fn planes_that_are_no_rectangles_are_marked() {
    let corner = vec![
        (0.5, 0.5),
        (59.5, 0.5),
        (59.5, 10.0),
        (10.0, 10.0),
        (10.0, 39.5),
        (0.5, 39.5),
    ];
    let sheet = four_layers()
        .plane("GND", "In1.Cu")
        .fill("+3V3", "In2.Cu", corner)
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    let found = sheet.finds_with("plane-cavity", &rules(100.0));
    assert!(found[0].detail.contains("outside the formula's validity"));
}
