//! Boards as they come in: by what they hold, from KiCad and from Gerbers, and what is refused at the door.

use std::sync::atomic::{AtomicUsize, Ordering};

use emi::board::Board;
use emi::fuzz::{SET, zipped};
use emi::{Finding, Limits, Observer, OpenError, Opened, Settings, Source};

use crate::plotter::{self, Export, Nets};
use crate::sheet::{Sheet, Style, four_layers, pad, plated};

const SLOT: &[u8] = include_bytes!("../../testdata/slot.kicad_pcb");

fn open(bytes: &[u8]) -> Opened {
    emi::open(bytes, &Limits::default(), &()).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    refused_within(bytes, &Limits::default())
}

fn refused_within(bytes: &[u8], limits: &Limits) -> String {
    emi::open(bytes, limits, &()).unwrap_err().to_string()
}

/// What rules find, without places' rounding.
fn findings(board: Board) -> Vec<String> {
    let report = emi::check(board, &Settings::default(), &()).unwrap();
    let line = |f: &Finding| {
        let at = (f.at.x * 10.0, f.at.y * 10.0);
        format!(
            "{:?} {} [{}] {} ({:.0}, {:.0})",
            f.severity, f.rule, f.net, f.layer, at.0, at.1
        )
    };
    let mut lines: Vec<String> = report.findings.iter().map(line).collect();
    lines.sort();
    lines
}

/// The room around a via of another net, and around a pin, in millimetres.
const AROUND_VIA: f64 = 0.6;
const AROUND_PIN: f64 = 1.2;

/// A pour between two `x`, with a notch around each hole of another net: where it is, and how much room it has.
fn notched(left: f64, right: f64, holes: &[((f64, f64), f64)]) -> Vec<(f64, f64)> {
    let (low, high) = (0.5, 39.5);
    let notch = |((x, y), around): &((f64, f64), f64)| {
        let (from, to, top) = (x - around, x + around, y + around);
        [(from, low), (from, top), (to, top), (to, low)]
    };
    let mut ring = vec![(left, low)];
    ring.extend(holes.iter().flat_map(notch));
    ring.extend([(right, low), (right, high), (left, high)]);
    ring
}

/// A board with parts, pins, vias in pads, planes on two nets, and tracks on both sides.
fn sheet() -> Sheet {
    let pins = |a, b| vec![pad("1", (-1.0, 0.0), a), pad("2", (1.0, 0.0), b)];
    let through = |a, b| vec![plated("1", (-1.27, 0.0), a), plated("2", (1.27, 0.0), b)];
    let via = |at: (f64, f64)| (at, AROUND_VIA);
    let pin = ((50.0, 10.0), AROUND_PIN);
    let ground = notched(0.5, 59.5, &[via((9.0, 4.0)), via((20.0, 10.0)), pin]);
    let supply = notched(0.5, 29.0, &[via((4.0, 10.0)), via((20.0, 10.0))]);
    let sheet = four_layers()
        .fill("GND", "In1.Cu", ground)
        .fill("+3V3", "In2.Cu", supply)
        .fill("GND", "In2.Cu", notched(30.0, 59.5, &[pin]))
        .track("SCK", "F.Cu", &[(6.0, 10.0), (20.0, 10.0)])
        .via("SCK", (20.0, 10.0))
        .track("SCK", "B.Cu", &[(20.0, 10.0), (50.0, 10.0)])
        .via("GND", (40.0, 30.0))
        .part("U1", "", (5.0, 10.0), pins("GND", "SCK"))
        .part("C1", "100n", (10.0, 4.0), pins("+3V3", "GND"))
        .via("+3V3", (9.0, 4.0))
        .part("J1", "", (51.27, 10.0), through("SCK", "GND"));
    sheet.via("GND", (4.0, 10.0))
}

#[test]
fn the_same_board_as_gerbers_has_the_same_findings() {
    let kicad = open(SLOT);
    assert_eq!(kicad.source, Source::KicadBoard);
    let gerbers = open(&plotter::zip(&kicad.board, Export::default()));
    assert_eq!(gerbers.source, Source::Gerbers);
    let (a, b) = (&kicad.board, &gerbers.board);
    assert_eq!(
        (a.tracks.len(), a.vias.len(), a.fills.len()),
        (b.tracks.len(), b.vias.len(), b.fills.len())
    );
    assert_eq!(a.nets, b.nets);
    assert_eq!(a.stackup, b.stackup);
    let expected = findings(kicad.board);
    assert!(
        expected.iter().any(|line| line.contains("plane-gap [SCK]")),
        "{expected:?}"
    );
    assert_eq!(findings(gerbers.board), expected);
}

#[test]
fn nets_of_a_netlist_spread_over_what_touches() {
    let text = sheet().text(&Style::default());
    let kicad = open(text.as_bytes()).board;
    let expected = findings(kicad.clone());
    assert!(
        expected.iter().any(|line| line.contains("return-via")),
        "{expected:?}"
    );
    for zero in [(0.0, 0.0), (71.5, -83.25)] {
        for nets in [Nets::Attributes, Nets::Netlist] {
            let export = Export {
                nets,
                zero,
                ..Export::default()
            };
            let board = open(&plotter::zip(&kicad, export)).board;
            let names = |board: &Board| {
                board
                    .nets
                    .iter()
                    .map(|net| net.name.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&board), names(&kicad));
            assert_eq!(
                (board.vias.len(), board.pads.len()),
                (kicad.vias.len(), kicad.pads.len())
            );
            let parts: Vec<&str> = board
                .footprints
                .iter()
                .map(|part| part.reference.as_str())
                .collect();
            assert_eq!(parts, ["C1", "J1", "U1"]);
            assert_eq!(findings(board.clone()), expected);
            let is_moved = board.notes.iter().any(|note| note.contains("another zero"));
            assert_eq!(is_moved, zero != (0.0, 0.0), "{:?}", board.notes);
        }
    }
}

#[test]
fn painted_pours_are_planes() {
    let text = sheet().text(&Style::default());
    let kicad = open(text.as_bytes()).board;
    let export = Export {
        painted: Some(0.5),
        ..Export::default()
    };
    let board = open(&plotter::zip(&kicad, export)).board;
    assert_eq!(board.fills.len(), kicad.fills.len());
    assert_eq!(board.tracks.len(), kicad.tracks.len());
    for (painted, plain) in board.fills.iter().zip(&kicad.fills) {
        assert!((painted.area / plain.area - 1.0).abs() < 0.05);
    }
}

#[test]
fn a_board_without_names_of_nets_is_refused_with_what_to_do() {
    let kicad = open(SLOT).board;
    let export = Export {
        nets: Nets::Nowhere,
        ..Export::default()
    };
    let message = refused(&plotter::zip(&kicad, export));
    assert!(
        message.contains("%TO.N") && message.contains("IPC-D-356"),
        "{message}"
    );
}

#[test]
fn clear_and_negative_layers_are_what_is_left() {
    let text = |head: &str, body: &str| {
        format!(
            "%TF.FileFunction,Copper,L1,Top*%\n{head}%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,2*%\n%ADD11C,0.5*%\n%TO.N,GND*%\n{body}M02*\n"
        )
    };
    let clear = text(
        "",
        "G36*\nX0Y0D02*\nX20000000D01*\nY-10000000D01*\nX0D01*\nY0D01*\nG37*\n%LPC*%\nD10*\nX5000000Y-5000000D03*\nX9000000Y-5000000D03*\n%LPD*%\nD11*\nX5000000Y-5000000D03*\n",
    );
    let negative = text(
        "%TF.FilePolarity,Negative*%\n",
        "D10*\nX5000000Y-5000000D03*\nX9000000Y-5000000D03*\n",
    );
    let outline = "%TF.FileFunction,Profile*%\n%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.1*%\nD10*\nX0Y0D02*\nX20000000D01*\nY-10000000D01*\nX0D01*\nY0D01*\nM02*\n";
    for layer in [clear, negative] {
        let zip = zipped(&[("a.gbr", layer.as_bytes()), ("b.gbr", outline.as_bytes())]);
        let board = open(&zip).board;
        assert_eq!(board.fills.len(), 1);
        let expected = 200.0 - 2.0 * std::f64::consts::PI;
        assert!(
            (board.fills[0].area - expected).abs() < 0.1,
            "{}",
            board.fills[0].area
        );
        assert_eq!(board.nets[board.fills[0].net].name, "GND");
        assert_eq!(board.outline.len(), 4);
    }
}

#[test]
fn every_command_of_gerbers_is_drawn() {
    let board = open(&zipped(&SET)).board;
    assert_eq!(board.layers.len(), 2);
    // Sixteen lines beside each other are a pour, and the region on top is one.
    assert_eq!(board.fills.iter().filter(|fill| fill.layer == 1).count(), 1);
    assert!(board.stackup.is_declared);
    assert!((board.stackup.thickness() - 0.8).abs() < 1e-9);
    let part = board
        .footprints
        .iter()
        .find(|part| part.reference == "R1")
        .unwrap();
    assert_eq!(board.nets[part.nets[0]].name, "/A_NET_OF_A_LONG_NAME");
    assert!(
        board
            .vias
            .iter()
            .any(|via| via.at.distance(emi::geometry::Point::new(5.0, 5.0)) < 1e-6)
    );
}

#[test]
fn a_project_brings_its_classes_and_rules() {
    let project = br#"{"net_settings": {"classes": [{"name": "fast", "nets": ["SCK"]}]}}"#;
    let rules = b"version: 1\nrules:\n  radiator: false\n";
    let opened = open(&zipped(&[
        ("a/slot.kicad_pcb", SLOT),
        ("a/slot.kicad_pro", project),
        ("a/_autosave-slot.kicad_pcb", SLOT),
        ("a/readme.txt", b"hello"),
        ("emi.rules.yaml", rules),
    ]));
    assert_eq!(opened.source, Source::KicadProject);
    assert_eq!(opened.source.name(), "kicad");
    let sck = opened.board.net_named("SCK").unwrap();
    assert_eq!(opened.board.nets[sck].classes, ["fast"]);
    assert!(opened.rules.is_some());
    assert_eq!(
        opened.unread,
        ["a/_autosave-slot.kicad_pcb", "a/readme.txt"]
    );
}

#[test]
fn refusals_name_the_file_and_the_place() {
    let cut = &SLOT[..SLOT.len() - 40];
    let message = refused(&zipped(&[("a/slot.kicad_pcb", cut)]));
    assert!(
        message.starts_with("a/slot.kicad_pcb: line ") && message.contains("column"),
        "{message}"
    );
    let gerber = b"%TF.FileFunction,Copper,L1,Top*%\n%FSLAX46Y46*%\n%MOMM*%\nD10*\nX1Y1D03*\n";
    assert_eq!(
        refused(&zipped(&[("x.gbr", gerber)])),
        "x.gbr: line 5, column 1: aperture D10 was not defined"
    );
    let rules = b"version: 1\nrules: [\n";
    let message = refused(&zipped(&[
        ("slot.kicad_pcb", SLOT),
        ("emi.rules.yaml", rules),
    ]));
    assert!(message.starts_with("emi.rules.yaml: line "), "{message}");
    assert!(refused(b"").contains("empty"));
    assert!(refused(b"hello").contains("neither a board of KiCad"));
    assert!(refused(gerber).contains("pack all its Gerber and drill files into a zip"));
    assert!(refused(&zipped(&[("a.txt", b"hello")])).contains("no copper layer was found"));
}

#[test]
fn two_boards_and_two_layers_in_one_place_are_refused() {
    let message = refused(&zipped(&[("a.kicad_pcb", SLOT), ("b/b.kicad_pcb", SLOT)]));
    assert_eq!(
        message,
        "the zip has several boards, a.kicad_pcb and b/b.kicad_pcb; pack one of them"
    );
    let layer = SET[0].1;
    let message = refused(&zipped(&[("a.gbr", layer), ("b.gbr", layer)]));
    assert!(
        message.contains("a.gbr and b.gbr are the same copper layer"),
        "{message}"
    );
    let netlist = SET[4].1;
    let message = refused(&zipped(&[
        ("a.gbr", layer),
        ("b.ipc", netlist),
        ("c.ipc", netlist),
    ]));
    assert!(message.contains("several netlists"), "{message}");
}

#[test]
fn paths_that_escape_and_names_that_repeat_are_refused() {
    for name in [
        "../a.kicad_pcb",
        "/a.kicad_pcb",
        "a/../../b",
        "C:\\a.kicad_pcb",
        "..\\a",
    ] {
        let message = refused(&zipped(&[(name, SLOT)]));
        assert!(
            message.contains("leads out of the zip"),
            "{name}: {message}"
        );
    }
    let mut twice = zipped(&[("a.kicad_pcb", SLOT), ("b.kicad_pcb", SLOT)]);
    while let Some(at) = twice
        .windows(11)
        .position(|window| window == b"b.kicad_pcb")
    {
        twice[at] = b'a';
    }
    assert!(refused(&twice).contains("twice"), "{}", refused(&twice));
    // Names that are one only after folders are written alike.
    let message = refused(&zipped(&[("x/a", b"1"), ("x\\a", b"2")]));
    assert!(message.contains("twice"), "{message}");
}

#[test]
fn bombs_overlaps_and_damage_are_refused() {
    let limits = Limits {
        unpacked_bytes_max: 1000,
        entries_max: 3,
        bytes_max: 40_000,
        ..Limits::default()
    };
    let refused = |bytes: &[u8]| refused_within(bytes, &limits);
    assert_eq!(
        refused(&zipped(&[("a", &[0; 600]), ("b", &[0; 600])])),
        "the zip has 1200 bytes unpacked, more than 1000"
    );
    let many = [("a", &b""[..]), ("b", b""), ("c", b""), ("d", b"")];
    assert_eq!(refused(&zipped(&many)), "the zip has 4 files, more than 3");
    assert_eq!(
        refused(&[b' '; 40_001]),
        "the file has 40001 bytes, more than 40000"
    );
    let small = zipped(&[("a", b"one"), ("b", b"two")]);
    assert!(refused(&small[..small.len() - 1]).contains("cut off"));
    assert!(refused(&[&small[..], b"x"].concat()).contains("pack it again"));
    // The second entry of the directory is pointed at the first file.
    let mut overlapping = small.clone();
    let entries: Vec<usize> = (0..small.len() - 4)
        .filter(|at| small[*at..].starts_with(b"PK\x01\x02"))
        .collect();
    let first: [u8; 4] = small[entries[0] + 42..entries[0] + 46].try_into().unwrap();
    overlapping[entries[1] + 42..entries[1] + 46].copy_from_slice(&first);
    assert!(
        refused(&overlapping).contains("pack it again"),
        "{}",
        refused(&overlapping)
    );
    let mut damaged = zipped(&[("slot.kicad_pcb", &SLOT[..900])]);
    damaged[400] ^= 1;
    assert!(refused(&damaged).contains("slot.kicad_pcb: the file cannot be unpacked"));
}

#[test]
fn gerbers_are_bounded_before_they_are_kept() {
    let limits = Limits {
        objects_max: 100,
        edges_max: 500,
        nodes_max: 2000,
        nesting_max: 4,
        ..Limits::default()
    };
    let head = "%TF.FileFunction,Copper,L1,Top*%\n%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,1*%\nD10*\n";
    let refused = |body: &str| {
        let text = format!("{head}{body}");
        refused_within(&zipped(&[("a.gbr", text.as_bytes())]), &limits)
    };
    let bomb = "%SRX100Y100I0.1J0.1*%\nX0Y0D03*\n%SR*%\n";
    assert!(
        refused(bomb).contains("more than 100 objects"),
        "{}",
        refused(bomb)
    );
    let doubled: String = (20..60)
        .map(|n| {
            format!(
                "%ABD{n}*%\nD{0}*\nX0Y0D03*\nX0Y0D03*\n%AB*%\n",
                if n == 20 { 10 } else { n - 1 }
            )
        })
        .collect();
    assert!(refused(&doubled).contains("more than 100 objects"));
    let deep: String = (20..30).map(|n| format!("%ABD{n}*%\n")).collect();
    assert!(refused(&deep).contains("nested deeper than 4"));
    assert!(refused(&"G01*".repeat(2001)).contains("more than 2000 commands"));
    let region: String = (0..600).map(|n| format!("X{n}Y{}D01*\n", n * n)).collect();
    assert!(refused(&format!("G36*\nX0Y0D02*\n{region}")).contains("more than 500 sides"));
    assert!(
        refused("X9999999999Y0D03*\n").contains("line 6, column 1: a coordinate is beyond 2000 mm")
    );
    assert!(refused("%ADD11C,nan*%\n").contains("no number"));
    assert!(refused("%ADD11C,1e300*%\n").contains("larger than 2000 mm"));
    assert!(refused("%AMX*1,1,((((((1))))))*%\n%ADD11X*%\n").contains("no number"));
}

/// Stops after some questions.
struct Stopping(AtomicUsize);

impl Observer for Stopping {
    fn is_cancelled(&self) -> bool {
        let asked = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        asked.is_err()
    }
}

#[test]
fn opening_stops_wherever_it_is_told_to() {
    let text = sheet().text(&Style::default());
    let board = open(text.as_bytes()).board;
    let netlist = Export {
        nets: Nets::Netlist,
        ..Export::default()
    };
    let project = zipped(&[("a.kicad_pcb", text.as_bytes())]);
    for bytes in [text.as_bytes(), &project, &plotter::zip(&board, netlist)] {
        let run = |questions| {
            let observer = Stopping(AtomicUsize::new(questions));
            emi::open(bytes, &Limits::default(), &observer).map(|_| ())
        };
        assert!(run(1_000_000).is_ok());
        for questions in 0..2 {
            assert_eq!(run(questions).unwrap_err(), OpenError::Cancelled);
        }
    }
}
