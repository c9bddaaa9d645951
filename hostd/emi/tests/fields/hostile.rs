//! Whatever numbers come in, functions return, and what they return is finite.

use emi::fields::radiation::{CurrentLoop, Site, loop_field, wire_current, wire_field};
use emi::fields::section::{Above, Section, Trace};
use emi::fields::spectrum::{Spread, Trapezoid, knee_hz, spread_reduction};
use emi::fields::wire::{Load, Scan, Wire};
use emi::fields::{Complex, crosstalk, inductance, limits, line, resonance};

const ODD: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    -1.0,
    0.0,
    -0.0,
    1e-8,
    1e-4,
    1e-3,
    0.3,
    1.0,
    4.3,
    10.0,
    1e8,
];

/// A number that is odd half of the time, and otherwise of a size that occurs.
fn number(random: &mut fastrand::Rng) -> f64 {
    if random.bool() {
        ODD[random.usize(..ODD.len())]
    } else {
        10f64.powf(random.f64() * 12.0 - 6.0)
    }
}

#[test]
fn closed_forms() {
    let mut random = fastrand::Rng::with_seed(15);
    for _ in 0..50_000 {
        let [a, b, c, d, e] = std::array::from_fn(|_| number(&mut random));
        let single = |value: f64| assert!(value.is_finite(), "{a} {b} {c} {d} {e}: {value}");
        let of_line = |line: line::Line| {
            single(line.impedance_ohm);
            single(line.permittivity);
            assert!(
                line.impedance_ohm > 0.0 && line.permittivity >= 0.99,
                "{a} {b} {c} {d}: {line:?}"
            );
        };
        let _ = line::microstrip(a, b, c, d).map(|found| of_line(found.value));
        let _ = line::stripline(a, b, c, d).map(|found| of_line(found.value));
        let _ = line::coupled_stripline(a, b, c, d).map(|found| {
            of_line(found.value.0);
            of_line(found.value.1);
        });
        let one = CurrentLoop {
            area_m2: a,
            length_m: b,
        };
        let _ = loop_field(&one, c, d, e, Site::Reflecting).map(|found| single(found.value));
        let _ = wire_field(a, b, c, d).map(|found| single(found.value));
        let _ = wire_current(a, b, c, d).map(|found| single(found.value));
        let _ = knee_hz(a).map(single);
        let _ = inductance::over_plane(a, b, c).map(|found| single(found.value));
        let _ = inductance::of_via_pair(a, b, c).map(|found| single(found.value));
        let _ = crosstalk::backward(a, b, c, d, e).map(|found| single(found.value));
        let _ = resonance::stub(a, b).map(|found| single(found.value));
        let spread = Spread {
            deviation: a,
            modulation_hz: b,
        };
        let _ = spread_reduction(&spread, c, d).map(|found| single(found.value));
        for table in limits::tables() {
            let _ = table
                .limits(a, b)
                .map(|all| all.iter().for_each(|one| single(one.dbuv_per_m)));
        }
    }
}

#[test]
fn lists() {
    let mut random = fastrand::Rng::with_seed(16);
    for _ in 0..2_000 {
        let [a, b, c, d, e] = std::array::from_fn(|_| number(&mut random));
        let clock = Trapezoid {
            frequency_hz: a,
            rise_s: b,
            duty: c,
            amplitude: d,
        };
        if let Ok(found) = clock.harmonics(e) {
            assert!(found.value.iter().all(|harmonic| harmonic.rms.is_finite()));
        }
        let _ = clock.envelope(e).map(|found| assert!(found.is_finite()));
        if let Ok(found) = resonance::plane_modes(a, b, c, d.min(1e9)) {
            assert!(found.value.len() <= resonance::RESONANCES_MAX);
        }
        if let Ok(found) = resonance::cable(a, resonance::Ends::OneOpen, b) {
            assert!(found.value.len() <= resonance::RESONANCES_MAX);
        }
    }
}

#[test]
fn sections() {
    let mut random = fastrand::Rng::with_seed(17);
    let mut solved = 0;
    for _ in 0..400 {
        let mut size = || {
            if random.u8(..20) == 0 {
                number(&mut random)
            } else {
                10f64.powf(random.f64() * 2.0 - 4.5)
            }
        };
        let traces = [
            Trace {
                left_m: 0.0,
                width_m: size(),
            },
            Trace {
                left_m: size() * 20.0,
                width_m: size(),
            },
        ];
        let above = [
            Above::Air,
            Above::Mask {
                thickness_m: 0.2 * size(),
                permittivity: 3.5,
            },
            Above::Plane {
                height_m: size(),
                permittivity: 1.0 + 1e4 * size(),
            },
        ];
        let section = Section {
            traces: traces[..random.usize(1..=2)].to_vec(),
            thickness_m: [0.0, 18e-6, 35e-6, 1e-3][random.usize(..4)],
            height_m: 10f64.powf(random.f64() * 2.0 - 4.5),
            permittivity: [1.0, 2.2, 4.3, 10.0][random.usize(..4)],
            above: above[random.usize(..3)],
            coplanar_gap_m: [None, Some(0.2e-3)][random.usize(..2)],
        };
        let Ok(found) = section.solve() else { continue };
        let line = found.value.line(0).unwrap();
        assert!(line.impedance_ohm.is_finite(), "{section:?}");
        if !found.outside_validity() {
            let highest = match section.above {
                Above::Air => section.permittivity,
                Above::Mask { permittivity, .. } | Above::Plane { permittivity, .. } => {
                    permittivity.max(section.permittivity)
                }
            };
            let range = 0.97..=1.03 * highest;
            assert!(range.contains(&line.permittivity), "{section:?} {line:?}");
            solved += 1;
        }
    }
    assert!(solved > 80, "{solved}");
}

#[test]
fn wires() {
    let mut random = fastrand::Rng::with_seed(18);
    let mut solved = 0;
    for _ in 0..600 {
        let mut size = || {
            if random.u8(..60) == 0 {
                number(&mut random)
            } else {
                random.f64()
            }
        };
        let wire = Wire {
            points_m: (0..3).map(|_| [size(), size(), size()]).collect(),
            radius_m: 1e-3 * size(),
            source: 1,
            loads: vec![Load {
                point: 1,
                ohm: Complex::new(size(), size()),
            }],
            floor: true,
        };
        let Ok(found) = wire.solve(3e7 * (1.0 + 5.0 * size()), &|| false) else {
            continue;
        };
        assert!(found.value.impedance_ohm.is_finite(), "{wire:?}");
        if !found.outside_validity() {
            // A passive wire takes power; rounding may leave a very short one with nearly none.
            assert!(found.value.impedance_ohm.re > -0.02, "{wire:?} {found:?}");
        }
        let peak = found.value.peak(&Scan {
            directions: 4,
            heights: 2,
            ..Scan::mast([0.0; 2], 3.0)
        });
        assert!(peak.unwrap().volts_per_m.is_finite());
        solved += 1;
    }
    assert!(solved > 200, "{solved}");
}
