//! Arbitrary bytes as what strangers send: what fuzzers and the seeded tests call.

use crate::kicad::{self, Project};
use crate::limits::Limits;
use crate::page::BYTES_MAX as PAGE_BYTES_MAX;
use crate::settings::{RulesFile, Settings};
use crate::source::SourceFile;
use crate::stored::Stored;

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
    let Ok(mut board) = kicad::read(bytes, &LIMITS) else {
        return;
    };
    let rules = RulesFile::read(CLOCKS.as_bytes()).expect("they are well formed");
    let settings = Settings::default().with(rules);
    let report = crate::check(&mut board, &settings, &()).expect("nobody stops it");
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
    let source = SourceFile::new("board.kicad_pcb", bytes, &report);
    // One of them each time, so that each input stays quick.
    let texts = ["report.html", "overlay.svg", "board.json", "findings.sarif"];
    let name = texts[bytes.len() % texts.len()];
    let artifact =
        crate::artifact(&board, &report, &source, name).expect("there is one of that name");
    let text = std::str::from_utf8(&artifact.bytes).expect("it is text");
    assert!(text.len() < PAGE_BYTES_MAX, "{name}");
}

/// Reads `bytes` as a stored report: it is refused with a reason, or nothing changed from it to itself.
///
/// # Panics
/// If that does not hold.
pub fn stored(bytes: &[u8]) {
    match Stored::read(bytes) {
        Ok(stored) => {
            let same = crate::diff(&stored, &stored);
            assert!(
                same.new.is_empty()
                    && same.gone.is_empty()
                    && same.kept.len() == stored.findings.len()
            );
            let from_nothing = crate::diff(
                &Stored {
                    findings: Vec::new(),
                    ..stored.clone()
                },
                &stored,
            );
            assert_eq!(from_nothing.new.len(), stored.findings.len());
            assert!(
                from_nothing.page().ends_with("</html>\n")
                    && !from_nothing.text().contains('\u{1b}')
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
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
