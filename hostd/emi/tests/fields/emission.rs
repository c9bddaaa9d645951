//! Reports of declared clocks, and budgets of cables.

use emi::fields::emission::{Clock, Driver, EmissionError, Report, Setting, budget, report};
use emi::fields::limits::{Detector, table};
use emi::fields::radiation::{CurrentLoop, Site};
use emi::fields::spectrum::Spread;
use emi::fields::wire::{Scan, Wire};

use crate::close;

fn clock(frequency_hz: f64) -> Clock {
    Clock {
        frequency_hz,
        rise_s: 1e-9,
        duty: 0.5,
        volts: 3.3,
        load_ohm: 50.0,
        spread: None,
    }
}

fn driver(name: &str, clock: Option<Clock>) -> Driver {
    Driver {
        name: name.to_owned(),
        clock,
        loops: vec![CurrentLoop {
            area_m2: 1e-5,
            length_m: 0.02,
        }],
    }
}

fn setting(id: &str, distance_m: f64) -> Setting<'static> {
    Setting {
        table: table(id).unwrap(),
        distance_m,
        site: Site::Reflecting,
        highest_hz: Some(1e9),
    }
}

fn of(drivers: &[Driver]) -> Report {
    report(drivers, &setting("cispr-32-b", 3.0), &|| false).unwrap()
}

#[test]
fn without_clocks_there_is_no_margin() {
    for drivers in [vec![], vec![driver("CLK", None)]] {
        let report = of(&drivers);
        assert!(!report.complete && report.points.is_empty());
        let json = serde_json::to_value(&report).unwrap();
        assert!(!json.to_string().contains("margin_db"), "{json}");
        assert!(json.get("smallest_margins").is_none());
    }
    let mixed = of(&[driver("A", Some(clock(50e6))), driver("B", None)]);
    assert!(!mixed.complete && mixed.smallest_margins.is_none());
    assert_eq!(mixed.undeclared, ["B"]);
    assert!(!mixed.points.is_empty());
}

#[test]
fn one_line_by_hand() {
    let report = of(&[driver("CLK", Some(clock(50e6)))]);
    assert!(report.complete);
    let third = report.points.iter().find(|point| point.order == 3).unwrap();
    // 66 mA, 50 %, third harmonic at 150 MHz: √2 · 66 mA · 0.5 · 1/(1.5π) · sinc(0.15π).
    let x = 0.15 * std::f64::consts::PI;
    let rms = std::f64::consts::SQRT_2 * 0.066 * 0.5 / (1.5 * std::f64::consts::PI) * x.sin() / x;
    let field = 2.0 * 1.3168e-14 * 150e6f64.powi(2) * 1e-5 * rms / 3.0;
    assert!((third.dbuv_per_m - 20.0 * (field * 1e6).log10()).abs() < 0.01);
    assert_eq!(third.margins.len(), 1);
    assert!((third.margins[0].margin_db - (40.0 - third.total_dbuv_per_m)).abs() < 1e-9);
    assert!(third.valid);
}

#[test]
fn the_smallest_margin_is_the_smallest() {
    let report = report(
        &[driver("CLK", Some(clock(100e6)))],
        &Setting {
            highest_hz: None,
            ..setting("fcc-15.109-b", 3.0)
        },
        &|| false,
    )
    .unwrap();
    assert_eq!(report.highest_hz, 1e9);
    let smallest = report.smallest_margins.unwrap();
    for found in &smallest {
        let least = report
            .points
            .iter()
            .flat_map(|point| &point.margins)
            .filter(|margin| margin.limit.detector == found.detector)
            .map(|margin| margin.margin_db)
            .fold(f64::MAX, f64::min);
        assert_eq!(found.margin_db, least);
    }
    assert_eq!(smallest[0].detector, Detector::QuasiPeak);
}

#[test]
fn equal_loops_add_six_decibels_equal_drivers_three() {
    let one = of(&[driver("A", Some(clock(50e6)))]);
    let mut twice = driver("A", Some(clock(50e6)));
    twice.loops.push(twice.loops[0]);
    let loops = of(&[twice]);
    let drivers = of(&[
        driver("A", Some(clock(50e6))),
        driver("B", Some(clock(50e6))),
    ]);
    let first = |report: &Report| report.points[0].total_dbuv_per_m;
    assert!((first(&loops) - first(&one) - 6.02).abs() < 0.01);
    assert!((first(&drivers) - first(&one) - 3.01).abs() < 0.01);
    // Clocks a megahertz apart are heard one at a time, clocks 10 kHz apart together.
    let apart = of(&[
        driver("A", Some(clock(50e6))),
        driver("B", Some(clock(51e6))),
    ]);
    assert!((first(&apart) - first(&one)).abs() < 1e-9);
    let together = of(&[
        driver("A", Some(clock(50e6))),
        driver("B", Some(clock(50.01e6))),
    ]);
    assert!((first(&together) - first(&one) - 3.01).abs() < 0.01);
}

#[test]
fn lines_that_formulas_do_not_cover_are_marked() {
    let mut long = driver("CLK", Some(clock(50e6)));
    long.loops[0].length_m = 0.1;
    let report = of(&[long]);
    for point in &report.points {
        assert_eq!(point.valid, point.frequency_hz < 299.8e6, "{point:?}");
        assert_eq!(point.valid, point.outside.is_empty());
    }
}

#[test]
fn spreading_lowers_high_harmonics_only() {
    let mut spread = clock(25e6);
    spread.spread = Some(Spread {
        deviation: 0.005,
        modulation_hz: 32e3,
    });
    let (plain, spread) = (
        of(&[driver("A", Some(clock(25e6)))]),
        of(&[driver("A", Some(spread))]),
    );
    let difference = |order: u32| {
        let level = |report: &Report| {
            report
                .points
                .iter()
                .find(|point| point.order == order)
                .unwrap()
                .dbuv_per_m
        };
        level(&plain) - level(&spread)
    };
    assert!(
        difference(3) < 2.3 && difference(39) > 10.0,
        "{} {}",
        difference(3),
        difference(39)
    );
    assert_eq!(spread.methods.len(), plain.methods.len() + 1);
}

#[test]
fn reports_never_speak_of_passing() {
    let report = of(&[driver("A", Some(clock(50e6)))]);
    let text = serde_json::to_string(&report).unwrap().to_lowercase();
    for word in ["pass", "compliant", "conform"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains("cables"));
}

#[test]
fn bounds_hold() {
    let many: Vec<Driver> = (0..1001).map(|k| driver(&k.to_string(), None)).collect();
    assert!(matches!(
        report(&many, &setting("cispr-32-b", 3.0), &|| false),
        Err(EmissionError::TooManyDrivers { count: 1001 })
    ));
    let slow: Vec<Driver> = (0..500)
        .map(|k| driver(&k.to_string(), Some(clock(0.9e6))))
        .collect();
    assert_eq!(
        report(&slow, &setting("cispr-32-b", 3.0), &|| false).unwrap_err(),
        EmissionError::TooManyLines
    );
    let bad = Clock {
        load_ohm: 0.0,
        ..clock(1e6)
    };
    let error = report(
        &[driver("SCK", Some(bad))],
        &setting("cispr-32-b", 3.0),
        &|| false,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "SCK: load (Ω) is 0; give a number from 0.01 to 1000000000"
    );
}

#[test]
fn a_cable_may_carry_microamperes() {
    let wire = Wire {
        points_m: vec![[-0.1, 0.0, 0.8], [0.0, 0.0, 0.8], [1.0, 0.0, 0.8]],
        radius_m: 1e-3,
        source: 1,
        loads: vec![],
        floor: true,
    };
    let scan = Scan::mast([0.0, 0.0], 3.0);
    let limits = table("cispr-32-b").unwrap();
    let frequencies = [20e6, 50e6, 100e6, 200e6];
    let found = budget(&wire, &frequencies, &scan, limits, &|| false).unwrap();
    // 20 MHz has no limit.
    assert_eq!(found.len(), 3);
    for one in &found {
        // A few microamperes, as every book says.
        assert!((1e-6..100e-6).contains(&one.value.permitted_a), "{one:?}");
        assert!(!one.outside_validity());
    }
    let solved = wire.solve(50e6, &|| false).unwrap().value;
    let field = solved.peak(&scan).unwrap().volts_per_m;
    close(found[0].value.permitted_v * field, 100e-6, 1e-9);
}
