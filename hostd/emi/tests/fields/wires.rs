//! Wires against what every textbook says of antennas.

use std::f64::consts::PI;

use emi::fields::Complex;
use emi::fields::constants::LIGHT_SPEED;
use emi::fields::wire::{Load, Polarisation, Scan, Wire, WireError};

use crate::close;

/// A straight dipole along z, in free space.
fn dipole(length: f64, radius: f64) -> Wire {
    Wire {
        points_m: vec![
            [0.0, 0.0, -0.5 * length],
            [0.0; 3],
            [0.0, 0.0, 0.5 * length],
        ],
        radius_m: radius,
        source: 1,
        loads: vec![],
        floor: false,
    }
}

fn impedance(wire: &Wire, frequency: f64) -> Complex {
    wire.solve(frequency, &|| false)
        .unwrap()
        .value
        .impedance_ohm
}

#[test]
fn a_very_thin_half_wave_dipole_comes_near_73_and_42_ohms() {
    // 73.1 + j42.5 Ω for a sinusoidal current, which the current becomes ever slower with ln(1/radius).
    let thin = impedance(&dipole(0.5, 1e-9), LIGHT_SPEED);
    close(thin.re, 73.1, 0.04);
    close(thin.im, 42.5, 0.04);
    let thick = impedance(&dipole(0.5, 1e-4), LIGHT_SPEED);
    assert!(thin.re < thick.re && thick.re < 82.0);
}

#[test]
fn a_quarter_wave_over_a_floor_is_half_of_a_dipole() {
    let whole = impedance(&dipole(0.5, 1e-6), LIGHT_SPEED);
    let half = Wire {
        points_m: vec![[0.0; 3], [0.0, 0.0, 0.25]],
        radius_m: 1e-6,
        source: 0,
        loads: vec![],
        floor: true,
    };
    let half = impedance(&half, LIGHT_SPEED);
    close(half.re, 0.5 * whole.re, 1e-6);
    close(half.im, 0.5 * whole.im, 1e-6);
    close(half.re, 36.5, 0.06);
}

#[test]
fn a_short_dipole_has_the_radiation_resistance_and_capacitance_of_textbooks() {
    let (length, radius) = (0.02, 1e-7);
    let found = impedance(&dipole(length, radius), LIGHT_SPEED);
    // 20π² (L/λ)² for a triangular current; the exact current is a few per cent from it.
    close(found.re, 20.0 * PI * PI * length * length, 0.08);
    // −j 120 (ln(L/2a) − 1)/tan(πL/λ).
    let reactance = -120.0 * ((0.5 * length / radius).ln() - 1.0) / (PI * length).tan();
    close(found.im, reactance, 0.04);
}

#[test]
fn power_at_the_source_is_power_in_the_far_field() {
    let wire = dipole(0.5, 1e-5);
    let solution = wire.solve(LIGHT_SPEED, &|| false).unwrap().value;
    let current = (Complex::from(1.0) / solution.impedance_ohm).norm();
    let fed = 0.5 * current * solution.impedance_ohm.re;
    let (distance, steps) = (1000.0, 400);
    let step = PI / f64::from(steps);
    let radiated: f64 = (0..steps)
        .map(|k| {
            let theta = (f64::from(k) + 0.5) * step;
            let field = solution.field([distance * theta.sin(), 0.0, distance * theta.cos()]);
            let square: f64 = field.iter().map(|part| part.norm()).sum();
            2.0 * PI * distance * distance * theta.sin() * step * square / (2.0 * 376.730_313_668)
        })
        .sum();
    close(radiated, fed, 0.01);
}

#[test]
fn far_field_of_a_half_wave_is_60_volts_per_ampere() {
    let solution = dipole(0.5, 1e-6)
        .solve(LIGHT_SPEED, &|| false)
        .unwrap()
        .value;
    let field = solution.field([500.0, 0.0, 0.0]);
    // 60 for a sinusoidal current, to which it comes ever closer with ln(1/radius).
    close(
        field[2].abs() * 500.0 / solution.greatest_current(),
        60.0,
        0.04,
    );
    assert!(field[0].abs() < 0.01 * field[2].abs());
}

#[test]
fn a_short_wire_agrees_with_the_closed_form() {
    // The closed form takes the current as constant: put capacitive plates in its place by comparing the moment.
    let frequency = 30e6;
    let solution = dipole(0.2, 1e-4).solve(frequency, &|| false).unwrap().value;
    let moment: f64 = solution
        .nodes_m
        .windows(2)
        .zip(solution.currents_a.windows(2))
        .map(|(nodes, currents)| {
            (nodes[1][2] - nodes[0][2]) * 0.5 * (currents[0] + currents[1]).abs()
        })
        .sum();
    let closed = emi::fields::radiation::wire_field(1.0, moment, frequency, 100.0)
        .unwrap()
        .value;
    // The closed form counts a reflection from the floor; this wire is in free space.
    close(
        solution.field([100.0, 0.0, 0.0])[2].abs(),
        0.5 * closed,
        0.01,
    );
}

#[test]
fn a_floor_is_an_image() {
    let over = Wire {
        points_m: vec![[0.0, 0.0, 0.3], [0.4, 0.0, 0.3], [0.8, 0.0, 0.9]],
        radius_m: 1e-4,
        source: 1,
        loads: vec![],
        floor: true,
    };
    let solution = over.solve(200e6, &|| false).unwrap().value;
    for place in [[2.0, 1.0, 0.0], [-1.0, 0.5, 0.0]] {
        let field = solution.field(place);
        assert!(field[0].abs() < 1e-9 * field[2].abs() && field[1].abs() < 1e-9 * field[2].abs());
    }
}

#[test]
fn loads_are_in_series() {
    let bare = impedance(&dipole(0.5, 1e-5), LIGHT_SPEED);
    let mut wire = dipole(0.5, 1e-5);
    wire.loads.push(Load {
        point: 1,
        ohm: Complex::new(50.0, -20.0),
    });
    let loaded = impedance(&wire, LIGHT_SPEED);
    close(loaded.re, bare.re + 50.0, 1e-9);
    close(loaded.im, bare.im - 20.0, 1e-9);
}

#[test]
fn a_scan_finds_the_polarisation_of_a_wire() {
    let upright = Wire {
        points_m: vec![[0.0, 0.0, 0.2], [0.0, 0.0, 0.7], [0.0, 0.0, 1.2]],
        radius_m: 1e-4,
        source: 1,
        loads: vec![],
        floor: true,
    };
    let scan = Scan::mast([0.0, 0.0], 3.0);
    let peak = upright
        .solve(100e6, &|| false)
        .unwrap()
        .value
        .peak(&scan)
        .unwrap();
    assert_eq!(peak.polarisation, Polarisation::Vertical);
    let level = Wire {
        points_m: vec![[-0.5, 0.0, 0.8], [0.0, 0.0, 0.8], [0.5, 0.0, 0.8]],
        ..upright
    };
    let solution = level.solve(140e6, &|| false).unwrap().value;
    let peak = solution.peak(&scan).unwrap();
    assert_eq!(peak.polarisation, Polarisation::Horizontal);
    // Across the wire, and no lower than every single place.
    assert!(peak.azimuth_rad.cos().abs() < 0.3);
    let single = solution.field([0.0, 3.0, 2.0])[0].abs();
    assert!(peak.volts_per_m >= 0.999 * single);
}

#[test]
fn a_sweep_is_the_same_on_one_and_on_several_threads() {
    let wire = dipole(1.0, 1e-4);
    let frequencies: Vec<f64> = (1..20).map(|k| f64::from(k) * 20e6).collect();
    let scan = Scan::mast([0.0, 0.0], 3.0);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| wire.sweep(&frequencies, &scan, &|| false).unwrap())
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn a_sweep_stops_when_asked() {
    let wire = dipole(5.0, 1e-4);
    let scan = Scan::mast([0.0, 0.0], 3.0);

    assert_eq!(wire.solve(100e6, &|| true).unwrap_err(), WireError::Stopped);
    assert_eq!(
        wire.sweep(&[100e6], &scan, &|| true).unwrap_err(),
        WireError::Stopped
    );
}

#[test]
fn solving_stops_at_whatever_question_is_answered_yes() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let wire = dipole(1.0, 1e-4);
    let asked = AtomicUsize::new(0);
    let count = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    wire.solve(300e6, &count).unwrap();
    let questions = asked.load(Ordering::Relaxed);
    assert!(questions > 100, "{questions}");
    for last in [0, 1, questions / 2, questions - 1] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= last;
        assert_eq!(wire.solve(300e6, &stop).unwrap_err(), WireError::Stopped);
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let mut wire = dipole(1.0, 1e-4);
    wire.source = 0;
    assert_eq!(
        wire.solve(1e8, &|| false).unwrap_err(),
        WireError::NoCurrent { index: 0 }
    );
    wire.source = 9;
    assert_eq!(
        wire.solve(1e8, &|| false).unwrap_err(),
        WireError::NoCurrent { index: 9 }
    );
    wire.source = 1;
    wire.floor = true;
    assert_eq!(
        wire.solve(1e8, &|| false).unwrap_err(),
        WireError::Floor { index: 0 }
    );
    assert!(matches!(
        dipole(100.0, 1e-4).solve(1e9, &|| false),
        Err(WireError::TooLong { .. })
    ));
    assert!(matches!(
        dipole(0.0, 1e-4).solve(1e9, &|| false),
        Err(WireError::Input(_))
    ));
    let thick = dipole(1.0, 0.02).solve(100e6, &|| false).unwrap();
    assert!(
        thick
            .outside
            .iter()
            .all(|excess| excess.quantity != "segment / radius")
    );
    let thick = dipole(1.0, 0.02).solve(600e6, &|| false).unwrap();
    assert!(thick.outside_validity());
}
