//! Emission of clocks and budgets of cables: worked examples, what is not declared, hostile values, and stopping.

use std::sync::atomic::{AtomicUsize, Ordering};

use emi::fields::emission::{Point, budget};
use emi::fields::limits::table;
use emi::fields::wire::{Scan, Wire};
use emi::{Cancelled, Observer, Report, Severity};

use crate::sheet::{Sheet, four_layers, pad, plate_with_hole, rules_of};

/// 40 mm over a plane, 0.2 mm above it, with a slot of that width in the plane, and a connector.
pub(crate) fn over_slot(width: f64) -> Sheet {
    let slot = ((30.0 - width / 2.0, 10.0), (30.0 + width / 2.0, 30.0));
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
    let sheet = if 0.0 < width {
        four_layers().fill("GND", "In1.Cu", ring)
    } else {
        four_layers().plane("GND", "In1.Cu")
    };
    let pads = vec![pad("1", (0.0, 0.0), "SCK"), pad("2", (0.0, 2.0), "GND")];
    sheet
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
        .part("J1", "", (50.0, 20.0), pads)
}

pub(crate) const CLOCK: &str =
    "clocks: [{net: SCK, hz: 50e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]";

fn third(report: &Report) -> Point {
    let points = &report.emission.spectrum.as_ref().unwrap().points;
    points
        .iter()
        .find(|point| point.order == 3)
        .unwrap()
        .clone()
}

#[test]
fn a_clock_over_a_plane_by_hand() {
    let report = over_slot(0.0).report(CLOCK);
    assert!(report.emission.complete());
    assert_eq!(report.emission.missing, [""; 0]);
    let point = third(&report);
    // 40 mm · 0.2 mm; 66 mA; an edge of 1 ns from 10 % to 90 % has 1.25 ns; third harmonic, 150 MHz, 3 m.
    let x = std::f64::consts::PI * 1.25e-9 * 150e6;
    let rms = std::f64::consts::SQRT_2 * 0.066 * 0.5 / (1.5 * std::f64::consts::PI) * x.sin() / x;
    let field = 263e-16 * 150e6f64.powi(2) * 8e-6 * rms / 3.0;
    let expected = 20.0 * (field * 1e6).log10();
    assert!((point.dbuv_per_m - expected).abs() < 0.02, "{point:?}");
    assert!((point.margins[0].margin_db - (40.0 - expected)).abs() < 0.02);
    assert!(point.valid);
    // 40 mm are a tenth of the wavelength at 749.5 MHz.
    let points = &report.emission.spectrum.as_ref().unwrap().points;
    let last_valid = points.iter().rfind(|point| point.valid).unwrap();
    assert!(
        (last_valid.frequency_hz - 650e6).abs() < 1.0,
        "{last_valid:?}"
    );
    // A clock of 50 % has no even harmonics.
    assert!(points.iter().all(|point| point.order % 2 == 1));
    assert!(!report.rules.contains_key("emission-dm"));
}

#[test]
fn a_gap_adds_its_detour() {
    // 40 mm · 0.2 mm over the plane; the loop around the slot, 6 mm · 10 mm, and what a slot of 10 mm adds.
    let whole = third(&over_slot(0.0).report(CLOCK)).dbuv_per_m;
    let slotted = third(&over_slot(6.0).report(CLOCK)).dbuv_per_m;
    let slot = 100.0 * 50f64.ln() / std::f64::consts::TAU;
    let expected = 20.0 * ((8.0 + 60.0 + slot) / 8.0f64).log10();
    assert!((slotted - whole - expected).abs() < 1e-4);
    // A narrow slot is as long.
    let narrow = third(&over_slot(0.7).report(CLOCK)).dbuv_per_m;
    let expected = 20.0 * ((8.0 + 7.0 + slot) / 8.0f64).log10();
    assert!((narrow - whole - expected).abs() < 1e-4);
}

#[test]
fn a_loop_above_the_limit_is_critical_and_one_below_is_none() {
    let strong = "clocks: [{net: SCK, hz: 100e6, rise_s: 0.5e-9, volts: 5, load_ohm: 10}]";
    let found = over_slot(6.0).finds_with("emission-dm", strong);
    assert_eq!((found.len(), found[0].severity), (1, Severity::Critical));
    assert!(found[0].value > found[0].limit && found[0].unit == Some("dBµV/m"));
    assert!(
        found[0]
            .assumed
            .iter()
            .any(|a| a == "limits of CISPR 32:2015 / EN 55032:2015 class B at 3 m")
    );
    assert_eq!(over_slot(0.0).finds_with("emission-dm", CLOCK).len(), 0);
    assert_eq!(over_slot(6.0).finds("emission-dm"), []);
    let asked = format!("{CLOCK}\nrules: {{emission-dm: {{params: {{min_margin_db: 60}}}}}}");
    let near = over_slot(0.0).finds_with("emission-dm", &asked);
    assert_eq!((near.len(), near[0].severity), (1, Severity::Warning));
    let slow = format!("{strong}\ngroups: [{{match: SCK, speed: slow}}]");
    assert_eq!(
        over_slot(6.0).finds_with("emission-dm", &slow)[0].severity,
        Severity::Info
    );
}

#[test]
fn without_a_plane_the_loop_is_marked_and_large() {
    let bare = four_layers().track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    let report = bare.report(CLOCK);
    let found = report
        .findings
        .iter()
        .find(|f| f.rule == "emission-dm")
        .unwrap();
    assert!(
        found.detail.contains("40.0 mm have no plane beside"),
        "{}",
        found.detail
    );
}

#[test]
fn without_clocks_there_is_no_margin_and_cables_are_named() {
    let unknown = "clocks: [{net: CLK, hz: 50e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]";
    let half = "clocks: [{net: SCK, hz: 50e6, rise_s: 1e-9}]";
    for (rules, missing) in [
        (
            "",
            "no clocks are declared, so nothing is said about their emission",
        ),
        (unknown, "the clock `CLK` is no net of this board"),
        (
            half,
            "the clock `SCK` needs volts and load_ohm for its emission",
        ),
    ] {
        let report = over_slot(6.0).report(rules);
        assert_eq!(report.emission.missing, [missing]);
        assert!(!report.emission.complete());
        let json: serde_json::Value = serde_json::from_str(&report.emission.json()).unwrap();
        assert_eq!(json["complete"], false);
        assert!(!json.to_string().contains("margin_db"));
        assert!(json.get("smallest_margins").is_none());
        assert_eq!(report.emission.csv().lines().count(), 1);
        assert!(report.notes.iter().any(|note| note.contains("cables")));
    }
    let mixed = over_slot(6.0).report(&format!(
        "{}, {}]",
        CLOCK.trim_end_matches(']'),
        "{net: CLK, hz: 1e6, rise_s: 1e-9}"
    ));
    assert!(!mixed.emission.complete());
    let row = mixed.emission.csv().lines().nth(1).unwrap().to_owned();
    assert!(
        row.starts_with("50000000,SCK,") && row.ends_with(",,true"),
        "{row}"
    );
    assert!(!mixed.text().contains("passes"));
}

#[test]
fn the_spectrum_is_a_table() {
    let csv = over_slot(6.0).report(CLOCK).emission.csv();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("f_hz,path,e_dbuv_m,limit,margin_db,valid")
    );
    let mut last = 0.0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().unwrap();
        assert_eq!((cells.len(), cells[1]), (6, "SCK"));
        assert!(last <= number(0));
        last = number(0);
        assert!((number(3) - number(2) - number(4)).abs() < 0.011, "{line}");
        assert!(["true", "false"].contains(&cells[5]));
    }
    assert!(last > 5.9e9);
}

#[test]
fn standard_class_and_distance_are_taken() {
    let limit = |rules: &str| {
        let report = over_slot(0.0).report(&format!("{CLOCK}\n{rules}"));
        (third(&report).margins[0].limit.dbuv_per_m * 10.0).round() / 10.0
    };
    assert_eq!(limit(""), 40.0);
    assert_eq!(limit("standard: cispr-32\nclass: A"), 50.0);
    assert_eq!(limit("distance_m: 10"), 30.0);
    assert_eq!(limit("standard: fcc-15.109\nclass: b\ndistance_m: 3"), 43.5);
    let declared = "standard: cispr-32\nclass: B\ndistance_m: 3";
    let report = over_slot(0.0).report(&format!("{CLOCK}\n{declared}"));
    assert!(
        report
            .emission
            .assumed
            .iter()
            .all(|a| !a.contains("limits of"))
    );
    let spread = CLOCK.replace("50}]", "50, spread: 0.02}]");
    let report = over_slot(0.0).report(&spread);
    assert!(third(&report).dbuv_per_m < third(&over_slot(0.0).report(CLOCK)).dbuv_per_m);
    assert!(
        report
            .emission
            .assumed
            .iter()
            .any(|a| a.contains("30 thousand"))
    );
}

#[test]
fn a_cable_has_a_budget_by_the_solver() {
    let rules = format!("{CLOCK}\ncables: [{{connector: J1, length_m: 1.2}}]");
    let report = over_slot(0.0).report(&rules);
    let found: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.rule == "emission-cm")
        .collect();
    assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
    let cable = &report.emission.cables[0];
    // Harmonics from 50 MHz to the knee of the clock, 318 MHz.
    let frequencies: Vec<f64> = cable.lines.iter().map(|line| line.frequency_hz).collect();
    assert_eq!(frequencies, [50e6, 100e6, 150e6, 200e6, 250e6, 300e6]);
    let wire = Wire {
        points_m: vec![
            [-0.06, 0.0, 0.8],
            [0.0, 0.0, 0.8],
            [1.0, 0.0, 0.8],
            [1.0, 0.0, 0.6],
        ],
        radius_m: 1e-3,
        source: 1,
        loads: vec![],
        floor: true,
    };
    let scan = Scan::mast([0.0, 0.0], 3.0);
    let limits = table("cispr-32-b").unwrap();
    let expected = budget(&wire, &frequencies, &scan, limits, &|| false).unwrap();
    for (line, expected) in cable.lines.iter().zip(&expected) {
        assert!((line.permitted_a / expected.value.permitted_a - 1.0).abs() < 1e-6);
    }
    // Microamperes, as the books say.
    assert!(
        cable
            .lines
            .iter()
            .all(|line| (1e-6..1e-4).contains(&line.permitted_a))
    );
    let off = format!("{rules}\nrules: {{emission-cm: false}}");
    assert!(over_slot(0.0).report(&off).emission.cables.is_empty());
    // Without clocks, and with a cable of which most is bundled.
    let alone = over_slot(0.0).report("cables: [{connector: J1, length_m: 100}]");
    let cable = &alone.emission.cables[0];
    assert_eq!((cable.lines.len(), cable.laid_m), (24, 1.4));
}

#[test]
fn cables_that_hang_alike_have_one_budget() {
    let pads = vec![pad("1", (0.0, 0.0), "SDA"), pad("2", (0.0, 2.0), "GND")];
    let sheet = over_slot(0.0).part("J2", "", (10.0, 10.0), pads);
    let cables =
        "cables: [{connector: J2, length_m: 50}, {connector: J1, length_m: 2, shielded: true}]";
    let report = sheet.report(&format!("{CLOCK}\n{cables}"));
    let [first, second] = report.emission.cables.as_slice() else {
        panic!("{:?}", report.emission.cables)
    };
    assert_eq!(
        (first.connector.as_str(), second.connector.as_str()),
        ("J1", "J2")
    );
    assert_eq!(
        (first.length_m, first.shielded, second.length_m),
        (2.0, true, 50.0)
    );
    assert_eq!(first.lines, second.lines);
    assert_eq!(report.rules["emission-cm"].found, 2);
}

#[test]
fn hostile_values_leave_finite_numbers() {
    let clocks = [
        "hz: 1, rise_s: 1e-15",
        "hz: 1e12, rise_s: 1e-15",
        "hz: 30e6, rise_s: 20e-9",
        "hz: 1e9, rise_s: 0.8e-9",
    ];
    let drives = [
        "volts: 1e-6, load_ohm: 1e9",
        "volts: 10000, load_ohm: 0.01, spread: 0.1",
    ];
    let boards = [
        "epsilon_r: 1",
        "epsilon_r: 1e9",
        "max_frequency_hz: 1e300",
        "max_frequency_hz: 1e-300",
    ];
    for clock in clocks {
        for (drive, distance) in drives.into_iter().zip(["0.1", "1000"]) {
            for board in boards {
                let rules = format!(
                    "board: {{{board}}}\ndistance_m: {distance}\nclocks: [{{net: SCK, {clock}, {drive}}}]\n\
                     cables: [{{connector: J1, length_m: 0.01}}]"
                );
                let report = over_slot(6.0).report(&rules);
                for finding in &report.findings {
                    let numbers = finding.value.into_iter().chain(finding.limit);
                    assert!(numbers.into_iter().all(f64::is_finite), "{finding:?}");
                }
                let points = &report.emission.spectrum.as_ref().unwrap().points;
                assert!(
                    points
                        .iter()
                        .all(|point| point.total_dbuv_per_m.is_finite())
                );
                let lines = report.emission.cables.iter().flat_map(|cable| &cable.lines);
                assert!(
                    lines
                        .map(|line| line.permitted_a)
                        .all(|a| a.is_finite() && 0.0 < a)
                );
            }
        }
    }
}

/// Stops after some questions.
struct Stopping(AtomicUsize);

impl Observer for Stopping {
    fn is_cancelled(&self) -> bool {
        let left = |left: usize| left.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_err()
    }
}

#[test]
fn emission_stops_wherever_it_is_told_to() {
    let rules = format!("{CLOCK}\ncables: [{{connector: J1, length_m: 1.2}}]");
    let settings = rules_of(&rules);
    let whole = over_slot(6.0).report(&rules);
    let run = |questions| {
        let stopping = Stopping(AtomicUsize::new(questions));
        emi::check(over_slot(6.0).board(), &settings, &stopping)
    };
    assert_eq!(run(10_000_000), Ok(whole));
    for questions in (0..20).chain((20..700).step_by(97)) {
        assert_eq!(run(questions), Err(Cancelled), "{questions}");
    }
}
