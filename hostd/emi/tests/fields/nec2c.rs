//! Wires against `nec2c`, the reference program for thin wires.

use std::fmt::Write as _;

use emi::fields::Complex;
use emi::fields::wire::{Solution, Wire};

use crate::oracle;

/// What nec2c finds: impedance at the source, and |Ex|, |Ey|, |Ez| at each place.
struct Reference {
    impedance: Complex,
    fields: Vec<[f64; 3]>,
}

/// Runs nec2c for `wire`, whose source is in the middle of its second and third leg together.
fn reference(wire: &Wire, frequency: f64, places: &[[f64; 3]]) -> Option<Reference> {
    let mut deck = String::from("CM\nCE\n");
    let points = &wire.points_m;
    // The two legs beside the source are one wire with an odd number of segments and the source in the middle one.
    let mut legs: Vec<(usize, usize)> = (1..points.len()).map(|k| (k - 1, k)).collect();
    let source = wire.source;
    let mut tag = 0;
    if source > 0 {
        legs.retain(|leg| leg.1 != source && leg.0 != source);
        legs.push((source - 1, source + 1));
        legs.sort_unstable();
    }
    let mut excited = (1, 1);
    for (index, (from, to)) in legs.iter().enumerate() {
        let (a, b) = (points[*from], points[*to]);
        let length: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        let wanted = (length * frequency / 299_792_458.0 * 60.0).clamp(61.0, 199.0);
        let segments = (0..)
            .map(|k| 2 * k + 1)
            .find(|n| f64::from(*n) >= wanted)
            .unwrap();
        tag = index + 1;
        if source > 0 && *from < source && source < *to {
            excited = (tag, (segments + 1) / 2);
        }
        writeln!(
            deck,
            "GW {tag} {segments} {} {} {} {} {} {} {}",
            a[0], a[1], a[2], b[0], b[1], b[2], wire.radius_m
        )
        .unwrap();
    }
    assert!(tag > 0);
    deck.push_str(if wire.floor { "GE 1\nGN 1\n" } else { "GE 0\n" });
    writeln!(deck, "FR 0 1 0 0 {} 0", frequency / 1e6).unwrap();
    writeln!(deck, "EX 0 {} {} 0 1 0", excited.0, excited.1).unwrap();
    for [x, y, z] in places {
        writeln!(deck, "NE 0 1 1 1 {x} {y} {z} 0 0 0").unwrap();
    }
    deck.push_str("XQ\nEN\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wire.nec"), deck).unwrap();
    oracle::run(
        "nec2c",
        &["-i", "wire.nec", "-o", "wire.out"],
        folder.path(),
    )?;
    let printed = std::fs::read_to_string(folder.path().join("wire.out")).unwrap();
    Some(parse(&printed, places.len()))
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect()
}

fn parse(printed: &str, places: usize) -> Reference {
    let (_, input) = printed.split_once("ANTENNA INPUT PARAMETERS").unwrap();
    let row = input
        .lines()
        .map(numbers)
        .find(|row| row.len() >= 11)
        .unwrap();
    let fields: Vec<[f64; 3]> = printed
        .split("NEAR ELECTRIC FIELDS")
        .skip(1)
        .map(|part| {
            let row = part
                .lines()
                .map(numbers)
                .find(|row| row.len() >= 9)
                .unwrap();
            [row[3], row[5], row[7]]
        })
        .collect();
    assert_eq!(fields.len(), places, "{printed}");
    Reference {
        impedance: Complex::new(row[6], row[7]),
        fields,
    }
}

fn solve(wire: &Wire, frequency: f64) -> Solution {
    let solved = wire.solve(frequency, &|| false).unwrap();
    assert!(!solved.outside_validity(), "{:?}", solved.outside);
    solved.value
}

fn total(field: [f64; 3]) -> f64 {
    field.iter().map(|part| part * part).sum::<f64>().sqrt()
}

/// Compares fields in dB and impedances, relative to their size.
fn compare(wire: &Wire, frequency: f64, most_db: f64, most_impedance: f64) {
    let places = [
        [3.0, 0.0, 1.0],
        [0.0, 3.0, 1.5],
        [-2.0, 2.2, 4.0],
        [6.0, 8.0, 2.0],
    ];
    let Some(expected) = reference(wire, frequency, &places) else {
        return;
    };
    let own = solve(wire, frequency);
    let off = (own.impedance_ohm - expected.impedance).abs() / expected.impedance.abs();
    assert!(
        off < most_impedance,
        "{frequency}: {:?} {:?}",
        own.impedance_ohm,
        expected.impedance
    );
    for (place, field) in places.iter().zip(&expected.fields) {
        let found = total(own.field(*place).map(Complex::abs));
        let difference = 20.0 * (found / total(*field)).log10();
        assert!(
            difference.abs() < most_db,
            "{frequency} at {place:?}: {difference} dB"
        );
    }
}

/// A cable of 1.2 m on a table, with a board of 16 cm at its end, and the source between both.
fn cable_on_a_table() -> Wire {
    Wire {
        points_m: vec![
            [-0.16, 0.0, 0.8],
            [0.0, 0.0, 0.8],
            [0.16, 0.0, 0.8],
            [1.2, 0.0, 0.8],
        ],
        radius_m: 0.5e-3,
        source: 1,
        loads: vec![],
        floor: true,
    }
}

#[test]
fn dipoles_have_the_same_impedance() {
    for radius in [1e-6, 1e-5, 1e-4] {
        let wire = Wire {
            points_m: vec![[0.0, 0.0, -0.5], [0.0; 3], [0.0, 0.0, 0.5]],
            radius_m: radius,
            source: 1,
            loads: vec![],
            floor: false,
        };
        for frequency in [30e6, 100e6, 149.896_229e6] {
            compare(&wire, frequency, 0.3, 0.03);
        }
        // Near its greatest impedance, which depends on how wide the gap of the source is.
        compare(&wire, 220e6, 0.3, 0.08);
    }
}

#[test]
fn a_cable_below_its_resonance_has_the_same_field() {
    for frequency in [30e6, 50e6, 80e6, 95e6] {
        compare(&cable_on_a_table(), frequency, 0.3, 0.03);
    }
}

#[test]
fn a_cable_at_and_above_its_resonance_has_the_same_field() {
    for frequency in [105e6, 110e6, 115e6, 150e6, 240e6, 300e6] {
        compare(&cable_on_a_table(), frequency, 0.3, 0.06);
    }
}

#[test]
fn a_bent_cable_that_hangs_from_a_table_agrees() {
    let wire = Wire {
        points_m: vec![
            [-0.2, 0.0, 0.8],
            [0.0, 0.0, 0.8],
            [0.2, 0.0, 0.8],
            [0.4, 0.0, 0.8],
            [0.4, 0.3, 0.8],
            [0.4, 0.3, 0.1],
        ],
        radius_m: 1e-3,
        source: 1,
        loads: vec![],
        floor: true,
    };
    for frequency in [30e6, 60e6, 200e6] {
        compare(&wire, frequency, 0.3, 0.05);
    }
}
