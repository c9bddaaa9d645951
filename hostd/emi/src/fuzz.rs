//! Arbitrary bytes as what strangers send: what fuzzers and the seeded tests call.

use crate::kicad::{self, Project};
use crate::limits::Limits;
use crate::settings::{RulesFile, Settings};
use crate::solve::{Model, Outcome};

/// Small enough to keep every input quick.
const LIMITS: Limits = Limits {
    bytes_max: 1 << 20,
    nesting_max: 64,
    nodes_max: 200_000,
    objects_max: 20_000,
    edges_max: 50_000,
    layers_max: 64,
    coordinate_mm_max: 2000.0,
};

/// Clocks on nets that seeds have.
const CLOCKS: &str = "version: 1\nclocks:\n\
    - {net: D+, hz: 240.0e+6, rise_s: 0.3e-9, volts: 3.3, load_ohm: 45}\n\
    - {net: SCK, hz: 500.0e+6, rise_s: 0.1e-9, volts: 1.8, load_ohm: 50, spread: 0.005}\n";

/// Reads `bytes` as a board and checks it: it is refused, or every number of the report is finite and every place is
/// within bounds.
///
/// # Panics
/// If that does not hold.
pub fn board(bytes: &[u8]) {
    let Ok(board) = kicad::read(bytes, &LIMITS) else {
        return;
    };
    let rules = RulesFile::read(CLOCKS.as_bytes()).expect("they are well formed");
    let settings = Settings::default().with(rules);
    let report = crate::check(board, &settings, &()).expect("nobody stops it");
    let listed: usize = report.rules.values().map(|counts| counts.shown).sum();
    assert_eq!(listed, report.findings.len());
    for finding in &report.findings {
        let numbers = [finding.x, finding.y, finding.at.x, finding.at.y];
        let numbers = numbers
            .into_iter()
            .chain(finding.value)
            .chain(finding.limit);
        let mut numbers = numbers.chain(finding.bbox.into_iter().flatten());
        assert!(numbers.all(f64::is_finite), "{finding:?}");
    }
    let spectrum = report.emission.spectrum.iter();
    let mut points = spectrum.flat_map(|spectrum| &spectrum.points);
    assert!(points.all(|point| point.total_dbuv_per_m.is_finite()));
    assert!(!report.text().is_empty() && report.json().starts_with('{'));
}

/// Reads `bytes` as a rules file: it is read, or refused with a reason.
///
/// # Panics
/// If that does not hold.
pub fn rules(bytes: &[u8]) {
    match RulesFile::read(bytes) {
        Ok(file) => assert!(Settings::default().with(file).max_frequency_hz().0 > 0.0),
        Err(refusal) => assert!(!refusal.message.is_empty()),
    }
}

/// Reads `bytes` as a project: it is read, or refused with a reason.
///
/// # Panics
/// If that does not hold.
pub fn project(bytes: &[u8]) {
    if let Err(refusal) = Project::read(bytes) {
        assert!(!refusal.message.is_empty());
    }
}

/// Reads `bytes` as the parameters of a run: they are read, or refused with a reason.
///
/// # Panics
/// If that does not hold.
pub fn params(bytes: &[u8]) {
    match RulesFile::of_params(bytes) {
        Ok(file) => assert!(Settings::default().with(file).max_frequency_hz().0 > 0.0),
        Err(refusal) => assert!(!refusal.message.is_empty()),
    }
}

/// Reads `bytes` as what all four probes of a model wrote: they are read, and every number of the result is finite, or
/// refused with a reason.
///
/// # Panics
/// If that does not hold.
pub fn probes(bytes: &[u8]) {
    let model = Model {
        xml: String::new(),
        net: "A".to_owned(),
        ports: ["U1.1", "U2.1"].map(str::to_owned),
        port_ohm: 50.0,
        highest_hz: 5e9,
        cells: 0,
        steps: 0,
        notes: Vec::new(),
    };
    match Outcome::read(&model, [bytes; 4]) {
        Ok(found) => {
            let points = found.points.iter();
            let mut numbers =
                points.flat_map(|p| [p.hz, p.s11.0, p.s11.1, p.s21.0, p.s21.1, p.ohm.0, p.ohm.1]);
            assert!(!found.points.is_empty() && numbers.all(f64::is_finite));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
