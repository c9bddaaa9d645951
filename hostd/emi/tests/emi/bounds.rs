//! Bombs, floods, and checks that are stopped.

use std::sync::atomic::{AtomicUsize, Ordering};

use emi::{Cancelled, Limits, Observer, SHOWN_MAX, Settings, kicad};

use crate::sheet::{Style, four_layers, plate, plate_with_hole};

#[test]
fn bombs_are_refused_before_they_are_kept() {
    let refused = |text: &str, limits: &Limits| {
        kicad::read(text.as_bytes(), limits)
            .unwrap_err()
            .to_string()
    };
    let head = "(kicad_pcb (version 20241229) (layers (0 \"F.Cu\" signal))\n";
    let limits = Limits {
        objects_max: 10,
        edges_max: 50,
        nodes_max: 5000,
        layers_max: 2,
        ..Limits::default()
    };
    let vias = format!("{head}{})", "(via (at 1 1))\n".repeat(11));
    assert_eq!(
        refused(&vias, &limits),
        "line 12, column 1: the board has more than 10 objects"
    );
    let points = "(xy 1 1) (xy 2 2) ".repeat(30);
    let zone =
        format!("{head}(zone (layer \"F.Cu\") (filled_polygon (layer \"F.Cu\") (pts {points}))))");
    assert!(refused(&zone, &limits).ends_with("the board's polygons have more than 50 sides"));
    assert!(
        refused(&format!("{head}{})", "(a) ".repeat(5000)), &limits)
            .ends_with("more than 5000 words and lists")
    );
    assert!(
        refused(&format!("{head}{}", "(a".repeat(70)), &limits).ends_with("nested deeper than 64")
    );
    let layers: String = (1..=3)
        .map(|i| format!("(1 \"In{i}.Cu\" signal)"))
        .collect();
    let many = format!("(kicad_pcb (version 20241229) (layers (0 \"F.Cu\" signal) {layers}))");
    assert!(refused(&many, &limits).ends_with("the board has more than 2 copper layers"));
    let small = Limits {
        bytes_max: 100,
        ..Limits::default()
    };
    assert_eq!(
        refused(&vias, &small),
        format!("the board has {} bytes, more than 100", vias.len())
    );
    // An arc whose middle is nowhere has a radius beyond all bounds, and still few chords.
    let arc =
        format!("{head}(arc (start 0 0) (mid 1000 0.0000001) (end 2000 0) (layer \"F.Cu\")))");
    assert!(
        kicad::read(arc.as_bytes(), &Limits::default())
            .unwrap()
            .tracks
            .len()
            <= 256
    );
}

#[test]
fn a_flood_of_findings_is_counted_and_cut() {
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), ((27.0, 1.0), (33.0, 39.0)));
    let mut sheet = four_layers().fill("GND", "In1.Cu", ring);
    let names: Vec<&'static str> = (0..60).map(|i| &*format!("N{i:02}").leak()).collect();
    for (index, name) in names.into_iter().enumerate() {
        let y = 5.0 + 0.5 * index as f64;
        sheet = sheet.track(name, "F.Cu", &[(10.0, y), (50.0, y)]);
    }
    let report = sheet.report("");
    let counts = report.rules["plane-gap"];
    assert_eq!((counts.found, counts.shown), (60, SHOWN_MAX));
    assert_eq!(
        report
            .findings
            .iter()
            .filter(|f| f.rule == "plane-gap")
            .count(),
        SHOWN_MAX
    );
    assert_eq!(
        report.summary.critical + report.summary.warning + report.summary.info,
        report.rules.values().map(|c| c.found).sum::<usize>()
    );
    assert!(
        report
            .text()
            .contains("plane-gap: 20 more, 60 in all; 40 are shown")
    );
}

/// Stops after some questions.
struct Stopping(AtomicUsize);

impl Observer for Stopping {
    fn is_cancelled(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_err()
    }
}

#[test]
fn a_check_stops_wherever_it_is_told_to() {
    let sheet = four_layers()
        .plane("GND", "In1.Cu")
        .plane("GND", "In2.Cu")
        .track("A", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
        .track("B", "F.Cu", &[(10.0, 20.4), (50.0, 20.4)]);
    let run = |questions| {
        emi::check(
            sheet.board(),
            &Settings::default(),
            &Stopping(AtomicUsize::new(questions)),
        )
    };
    assert!(run(1_000_000).is_ok());
    for questions in 0..20 {
        assert_eq!(run(questions).unwrap_err(), Cancelled);
    }
}

#[test]
fn names_of_strangers_do_not_reach_the_terminal_as_they_are() {
    let sheet = four_layers().plane("GND", "In1.Cu").track(
        "A\u{1b}[2J",
        "F.Cu",
        &[(10.0, 20.0), (50.0, 20.0)],
    );
    let report = sheet.report("");
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.net.contains('\u{1b}'))
    );
    assert!(!report.text().contains('\u{1b}'));
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["format_version"], 1);
    assert_eq!(json["summary"]["assumed_max_frequency_hz"], 1e9);
    assert_eq!(json["findings"][0]["id"], "f1");
}

#[test]
fn a_board_of_nothing_is_checked() {
    let empty = crate::sheet::Sheet {
        layers: vec!["F.Cu"],
        ..crate::sheet::Sheet::default()
    };
    let report = empty.report("");
    assert_eq!((report.findings.len(), report.summary.warning), (0, 0));
    let text = four_layers()
        .fill("GND", "In1.Cu", plate((0.0, 0.0), (0.0, 0.0)))
        .text(&Style::default());
    assert!(
        kicad::read(text.as_bytes(), &Limits::default())
            .unwrap()
            .fills
            .is_empty()
    );
}
