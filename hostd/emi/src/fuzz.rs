//! Arbitrary bytes as what strangers send: what fuzzers and the seeded tests call.

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

use crate::board::Board;
use crate::kicad::{self, Project};
use crate::limits::Limits;
use crate::open::{OpenError, open};
use crate::page::BYTES_MAX as PAGE_BYTES_MAX;
use crate::settings::{RulesFile, Settings};
use crate::solve::{Model, Outcome};
use crate::source::SourceFile;
use crate::stored::Stored;

/// Small enough to keep every input quick.
const LIMITS: Limits = Limits {
    bytes_max: 1 << 20,
    unpacked_bytes_max: 2 << 20,
    entries_max: 40,
    nesting_max: 64,
    nodes_max: 200_000,
    objects_max: 20_000,
    pairs_max: 1_000_000,
    pairs_per_thing_max: 20,
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
    if let Ok(board) = kicad::read(bytes, &LIMITS) {
        checked(board, bytes);
    }
}

/// Checks a board that came as `bytes`: every number of the report is finite and every place is within bounds.
fn checked(mut board: Board, bytes: &[u8]) {
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

/// Opens `bytes`, as whatever they are.
///
/// # Panics
/// If they are neither refused with a reason, nor a board that can be checked.
pub fn opened(bytes: &[u8]) {
    match open(bytes, &LIMITS, &()) {
        Ok(opened) => checked(opened.board, bytes),
        Err(OpenError::Refused { refusal, .. }) => assert!(!refusal.message.is_empty()),
        Err(OpenError::Cancelled) => panic!("nobody stops it"),
    }
}

/// Opens a set of Gerbers whose top layer is `bytes`.
///
/// # Panics
/// As [`opened`].
pub fn gerber(bytes: &[u8]) {
    opened(&set(("a.gtl", bytes)));
}

/// Opens a set of Gerbers whose drill file is `bytes`.
///
/// # Panics
/// As [`opened`].
pub fn excellon(bytes: &[u8]) {
    opened(&set(("a.drl", bytes)));
}

/// Opens a set of Gerbers whose netlist is `bytes`.
///
/// # Panics
/// As [`opened`].
pub fn netlist(bytes: &[u8]) {
    opened(&set(("a.ipc", bytes)));
}

/// Opens a set of Gerbers whose job file is `bytes`.
///
/// # Panics
/// As [`opened`].
pub fn job(bytes: &[u8]) {
    opened(&set(("a.gbrjob", bytes)));
}

/// The files of a small board, by name: what sets are made of, and what mutations begin with.
pub const SET: [(&str, &[u8]); 6] = [
    ("a.gtl", include_bytes!("../testdata/set/a.gtl")),
    ("a.gbl", include_bytes!("../testdata/set/a.gbl")),
    ("a.gko", include_bytes!("../testdata/set/a.gko")),
    ("a.drl", include_bytes!("../testdata/set/a.drl")),
    ("a.ipc", include_bytes!("../testdata/set/a.ipc")),
    ("a.gbrjob", include_bytes!("../testdata/set/a.gbrjob")),
];

/// A zip of [`SET`] with one file in place of another.
///
/// # Panics
/// If memory cannot be written.
pub fn set(with: (&str, &[u8])) -> Vec<u8> {
    let files = SET.map(|(name, bytes)| if name == with.0 { with } else { (name, bytes) });
    zipped(&files)
}

/// A zip of some files, which are not compressed, so that mutations reach them.
///
/// # Panics
/// If memory cannot be written.
pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let plain = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, plain).expect("the name is good");
        zip.write_all(bytes).expect("there is memory");
    }
    zip.finish().expect("there is memory").into_inner()
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
