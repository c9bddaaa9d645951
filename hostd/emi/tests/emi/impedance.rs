//! Steps of impedance, against the closed forms and the solver.

use emi::fields::line;
use emi::fields::section::{Above, Section};
use emi::{Finding, Severity};

use crate::sheet::{Sheet, four_layers};

/// 40 mm of 0.2 mm over a plane, and then that length of that width.
pub(crate) fn widened(width: f64, length: f64) -> Sheet {
    four_layers()
        .plane("GND", "In1.Cu")
        .track("A", "F.Cu", &[(5.0, 20.0), (45.0 - length, 20.0)])
        .track_of(width, "A", "F.Cu", &[(45.0 - length, 20.0), (45.0, 20.0)])
}

fn microstrip(width: f64) -> line::Line {
    let found = line::microstrip(width * 1e-3, 0.2e-3, 35e-6, 4.5).unwrap();
    assert!(!found.outside_validity());
    found.value
}

/// What a stretch of that impedance is worth against another.
fn weighed(of: &line::Line, against_ohm: f64, length_mm: f64) -> f64 {
    let rise_s = 1.0 / (std::f64::consts::PI * 1e9);
    let part = 2.0 * length_mm * 1e-3 * of.delay_s_per_m() / rise_s;
    100.0 * (of.impedance_ohm / against_ohm - 1.0).abs() * part.min(1.0)
}

fn one(found: Vec<Finding>) -> Finding {
    let [one] = <[Finding; 1]>::try_from(found).unwrap();
    one
}

#[test]
fn a_wide_stretch_is_a_step_by_the_closed_form() {
    for length in [10.0, 15.0] {
        let found = one(widened(1.0, length).finds("impedance"));
        let expected = weighed(&microstrip(1.0), microstrip(0.2).impedance_ohm, length);
        assert!((found.value.unwrap() - expected).abs() < 0.01, "{found:?}");
        assert_eq!((found.limit, found.unit), (Some(20.0), Some("%")));
        assert_eq!((found.x, found.y), (45.0 - length / 2.0, 20.0));
        assert!(found.detail.contains("microstrip-hammerstad-jensen"));
        assert_eq!(found.severity, Severity::Info);
        assert!(found.assumed.iter().any(|a| a.contains("solder mask")));
    }
}

#[test]
fn equal_widths_short_stretches_and_small_steps_are_none() {
    assert_eq!(widened(0.2, 15.0).finds("impedance"), []);
    assert_eq!(widened(0.25, 15.0).finds("impedance"), []);
    assert_eq!(widened(1.0, 2.0).finds("impedance"), []);
    // A faster edge sees it.
    let fast = "board: {max_frequency_hz: 5e9}";
    assert_eq!(widened(1.0, 2.0).finds_with("impedance", fast).len(), 1);
    // Without a plane there is no impedance.
    let bare = four_layers()
        .track("A", "F.Cu", &[(5.0, 20.0), (30.0, 20.0)])
        .track_of(1.0, "A", "F.Cu", &[(30.0, 20.0), (45.0, 20.0)]);
    assert_eq!(bare.finds("impedance"), []);
}

#[test]
fn wider_is_worse_and_fast_nets_are_warned_about() {
    let mut last = 0.0;
    for width in [0.5, 0.8, 1.5, 3.0] {
        let value = one(widened(width, 15.0).finds("impedance")).value.unwrap();
        assert!(last < value);
        last = value;
    }
    let clock = "clocks: [{net: A, hz: 25e6, rise_s: 0.3e-9}]";
    let found = one(widened(1.0, 15.0).finds_with("impedance", clock));
    assert_eq!(found.severity, Severity::Warning);
    let slow = "groups: [{match: A, speed: slow, params: {target_ohm: 50}}]";
    let found = one(widened(1.0, 15.0).finds_with("impedance", slow));
    assert_eq!(found.severity, Severity::Info);
}

#[test]
fn a_net_is_compared_with_its_target() {
    let line = microstrip(0.2);
    let sheet = widened(0.2, 15.0);
    let target = |ohm: f64| format!("groups: [{{match: A, params: {{target_ohm: {ohm}}}}}]");
    let found = one(sheet.finds_with("impedance", &target(50.0)));
    let expected = weighed(&line, 50.0, 40.0);
    assert!((found.value.unwrap() - expected).abs() < 0.01, "{found:?}");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.detail.contains("50 Ω are wanted"));
    let near = target(line.impedance_ohm.round());
    assert_eq!(sheet.finds_with("impedance", &near), []);
}

#[test]
fn inner_layers_are_solved() {
    // Between planes 0.2 mm above and 1.035 mm below: no closed form holds.
    let sheet = Sheet {
        layers: vec!["F.Cu", "In1.Cu", "In2.Cu", "B.Cu"],
        gaps: vec![0.2, 1.035, 0.2],
        ..four_layers()
    };
    let sheet = sheet.plane("GND", "F.Cu").plane("GND", "In2.Cu").track(
        "A",
        "In1.Cu",
        &[(5.0, 20.0), (45.0, 20.0)],
    );
    let section = Section {
        above: Above::Plane {
            height_m: 1.07e-3,
            permittivity: 4.5,
        },
        ..Section::microstrip(0.2e-3, 0.2e-3, 35e-6, 4.5)
    };
    let solved = section.solve().unwrap().value.line(0).unwrap();
    let found = one(sheet.finds_with(
        "impedance",
        "groups: [{match: A, params: {target_ohm: 20}}]",
    ));
    assert!((found.value.unwrap() - weighed(&solved, 20.0, 40.0)).abs() < 0.01);
    assert!(found.detail.contains("boundary-elements"));
    // In the middle of one dielectric: Cohn's formula.
    let middle = Sheet {
        gaps: vec![0.3, 0.3, 0.2],
        ..four_layers()
    };
    let middle = middle.plane("GND", "F.Cu").plane("GND", "In2.Cu").track_of(
        0.4,
        "A",
        "In1.Cu",
        &[(5.0, 20.0), (45.0, 20.0)],
    );
    let cohn = line::stripline(0.4e-3, 0.635e-3, 35e-6, 4.5).unwrap().value;
    let found = one(middle.finds_with(
        "impedance",
        "groups: [{match: A, params: {target_ohm: 20}}]",
    ));
    assert!((found.value.unwrap() - weighed(&cohn, 20.0, 40.0)).abs() < 0.01);
    assert!(found.detail.contains("stripline-cohn"));
}

#[test]
fn hostile_stackups_and_widths_do_no_harm() {
    for (gap, width) in [
        (1e-9, 0.2),
        (900.0, 0.2),
        (0.2, 1e-9),
        (0.2, 30.0),
        (0.0, 0.0),
    ] {
        let sheet = Sheet {
            gaps: vec![gap, gap, gap],
            ..widened(width, 15.0)
        };
        for rules in [
            "",
            "board: {epsilon_r: 1e9}",
            "board: {max_frequency_hz: 1e300}",
        ] {
            for finding in sheet.finds_with("impedance", rules) {
                assert!(finding.value.unwrap().is_finite());
            }
        }
    }
}
