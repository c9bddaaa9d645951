//! Boards in the syntax of KiCad 5 to 10, pads of all shapes, outlines of all drawings, projects.

use emi::board::{Board, Hole, NetKind, Side};
use emi::geometry::Point;
use emi::{Limits, Settings, kicad};

use crate::sheet::{Style, four_layers, pad, plate};

/// A board with what is given, in the syntax of KiCad 9.
fn read(items: &str) -> Board {
    try_read(items).unwrap()
}

fn try_read(items: &str) -> Result<Board, String> {
    let text = format!(
        "(kicad_pcb (version 20241229)\n(layers (0 \"F.Cu\" signal) (4 \"In1.Cu\" power) (2 \"B.Cu\" signal))\n{items})"
    );
    kicad::read(text.as_bytes(), &Limits::default()).map_err(|refusal| refusal.to_string())
}

fn near(a: Point, b: (f64, f64)) {
    assert!(
        a.distance(Point::new(b.0, b.1)) < 1e-6,
        "{a:?} is not {b:?}"
    );
}

/// A board without where in its file things are, which other syntaxes and orders change.
fn without_lines(mut board: Board) -> Board {
    board
        .tracks
        .iter_mut()
        .for_each(|track| track.source_line = 0);
    board.vias.iter_mut().for_each(|via| via.source_line = 0);
    board.pads.iter_mut().for_each(|pad| pad.source_line = 0);
    board.fills.iter_mut().for_each(|fill| fill.source_line = 0);
    board
}

#[test]
fn copper_knows_its_line() {
    let board = read(
        "(net 1 \"A\")\n(segment (start 0 0) (end 1 0) (width 0.2) (layer \"F.Cu\") (net 1))\n\n(via (at 1 0) (net 1))\n\
         (footprint \"x\" (layer \"F.Cu\") (at 9 9)\n(pad \"1\" smd rect (at 0 0) (size 1 1) (layers \"F.Cu\") (net 1)))\n\
         (zone (net 1) (layer \"F.Cu\")\n(filled_polygon (layer \"F.Cu\") (pts (xy 0 0) (xy 2 0) (xy 2 2))))",
    );
    let lines = (
        board.tracks[0].source_line,
        board.vias[0].source_line,
        board.pads[0].source_line,
        board.fills[0].source_line,
    );
    assert_eq!(lines, (4, 6, 8, 10));
}

#[test]
fn one_board_in_five_syntaxes_is_one_board() {
    let two = vec![pad("1", (-0.5, 0.0), "+3V3"), pad("2", (0.5, 0.0), "GND")];
    let sheet = four_layers()
        .fill("GND", "In1.Cu", plate((0.5, 0.5), (59.5, 39.5)))
        .track("A", "F.Cu", &[(10.0, 20.0), (30.0, 20.0)])
        .via("A", (30.0, 20.0))
        .part("C1", "100n", (20.0, 10.0), two);
    let read = |version, seed| {
        let text = sheet.text(&Style {
            version,
            seed,
            ..Style::default()
        });
        let board = kicad::read(text.as_bytes(), &Limits::default()).unwrap();
        Board {
            version: 0,
            ..without_lines(board)
        }
    };
    let first = read(20_171_130, None);
    assert_eq!(
        first
            .layers
            .iter()
            .map(|l| l.name.as_str())
            .collect::<Vec<_>>(),
        ["F.Cu", "In1.Cu", "In2.Cu", "B.Cu"]
    );
    for version in [20_211_014, 20_221_018, 20_240_108, 20_241_229, 20_260_206] {
        assert_eq!(read(version, Some(5)), first, "{version}");
    }
}

#[test]
fn versions_that_are_too_old_are_refused_and_newer_ones_noted() {
    let board = |version: &str| {
        let text = format!("(kicad_pcb\n {version}\n(layers (0 \"F.Cu\" signal)))");
        kicad::read(text.as_bytes(), &Limits::default())
    };
    let message = |version| board(version).unwrap_err().to_string();
    assert_eq!(
        message("(version 20160815)"),
        "line 2, column 2: the board is of format 20160815, older than 20171130; save it with KiCad 5 or newer"
    );
    assert!(
        message("(version x)").starts_with("line 2, column 2: the board's version is no number")
    );
    assert!(message("").starts_with("line 1, column 1: the board has no version"));
    assert!(board("(version 20290101)").unwrap().notes[0].contains("newer than 20260206"));
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let refused = |items: &str| try_read(items).unwrap_err();
    let segment =
        |start: &str| format!("(segment (start {start}) (end 1 1) (width 0.2) (layer \"F.Cu\"))");
    for (word, why) in [
        ("nan", "`nan` is no number"),
        ("inf", "`inf` is no number"),
        ("-1e999", "`-1e999` is no number"),
        ("2000.1", "`2000.1` is beyond 2000 mm"),
        ("-3000", "`-3000` is beyond 2000 mm"),
        ("x", "`x` is no number"),
        ("(xy", "`` is no number"),
    ] {
        let text = segment(&format!("{word} 0{}", if word == "(xy" { ")" } else { "" }));
        assert_eq!(refused(&text), format!("line 3, column 17: {why}"));
    }
    assert_eq!(
        refused("(segment (start 1) (end 1 1) (layer \"F.Cu\"))"),
        "line 3, column 10: `start` needs a number"
    );
    assert_eq!(
        refused("(via (size 0.6))"),
        "line 3, column 1: `via` needs `(at X Y)`"
    );
    assert_eq!(
        refused("(via (at 1 1) (net 7))"),
        "line 3, column 20: net 7 is not in the board's table of nets"
    );
    assert_eq!(
        refused("(net x \"A\")"),
        "line 3, column 1: a net needs a number and a name"
    );
    assert!(refused("(footprint \"x\" (at 0 0 nan))").ends_with("`nan` is no angle"));
    assert!(try_read("(footprint \"x\" (at 0 0 unlocked))").is_ok());
}

#[test]
fn arcs_are_chains_that_keep_their_ends() {
    let board = read(
        "(net 1 \"A\") (arc (start 0 0) (mid 1 1) (end 2 0) (width 0.2) (layer \"F.Cu\") (net 1))",
    );
    let length: f64 = board.tracks.iter().map(|track| track.line.length()).sum();
    assert!((length - std::f64::consts::PI).abs() < 0.02, "{length}");
    assert!(
        board
            .tracks
            .iter()
            .all(|track| track.line.a.distance(Point::new(1.0, 0.0)) <= 1.0 + 1e-6)
    );
    let ends: Vec<Point> = board
        .tracks
        .iter()
        .flat_map(|track| [track.line.a, track.line.b])
        .collect();
    assert!(ends.contains(&Point::new(0.0, 0.0)) && ends.contains(&Point::new(2.0, 0.0)));
}

#[test]
fn vias_join_the_layers_that_they_say() {
    let board = read(
        "(via (at 1 1) (size 0.6) (layers \"F.Cu\" \"B.Cu\")) (via blind (at 2 1) (size 0.6) (layers \"F.Cu\" \"In1.Cu\"))",
    );
    let spans: Vec<u64> = board.vias.iter().map(|via| via.span.0).collect();
    assert_eq!(spans, [0b011, 0b111]);
}

#[test]
fn pads_turn_with_their_footprint_and_angles_are_absolute() {
    let part = |at: &str, pads: &str| {
        read(&format!(
            "(footprint \"L:x\" (layer \"F.Cu\") (at {at}) {pads})"
        ))
        .pads
    };
    let pads = part(
        "10 20 90",
        "(pad \"1\" smd rect (at 2 0 90) (size 3 1) (layers \"F.Cu\"))",
    );
    // A quarter turn to the left: what was to the right is above, where y is smaller.
    near(pads[0].at, (10.0, 18.0));
    near(pads[0].bounds.min, (9.5, 16.5));
    near(pads[0].bounds.max, (10.5, 19.5));
    let eighth = part(
        "0 0 45",
        "(pad \"1\" smd rect (at 1 0 45) (size 2 2) (layers \"F.Cu\"))",
    );
    near(eighth[0].at, (0.5_f64.sqrt(), -(0.5_f64.sqrt())));
    assert!((eighth[0].reach() - 2.0).abs() < 1e-6);
    let offset = part(
        "0 0 90",
        "(pad 1 thru_hole oval (at 0 0 90) (size 3 1) (drill 0.8 (offset 1 0)) (layers *.Cu))",
    );
    near(offset[0].at, (0.0, -1.0));
    assert_eq!(
        (offset[0].hole, offset[0].layers.count()),
        (Hole::Plated, 3)
    );
}

#[test]
fn pads_of_all_shapes_have_their_copper() {
    let pad = |shape: &str, more: &str| {
        let text = format!(
            "(footprint \"x\" (layer \"F.Cu\") (at 0 0) (pad \"1\" smd {shape} (at 0 0) (size 2 1) (layers \"F.Cu\") {more}))"
        );
        read(&text).pads.remove(0)
    };
    let has = |pad: &emi::board::Pad, x: f64, y: f64| pad.distance(Point::new(x, y)) <= 0.0;
    let rect = pad("rect", "");
    assert!(has(&rect, 0.99, 0.49) && !has(&rect, 1.01, 0.0) && (rect.area() - 2.0).abs() < 1e-9);
    let oval = pad("oval", "");
    assert!(has(&oval, 0.99, 0.0) && !has(&oval, 0.95, 0.45) && has(&oval, 0.5, 0.49));
    assert!((oval.area() - (1.0 + std::f64::consts::PI / 4.0)).abs() < 1e-9);
    let round = pad("roundrect", "(roundrect_rratio 0.25)");
    assert!(has(&round, 0.99, 0.2) && !has(&round, 0.99, 0.49) && has(&round, 0.75, 0.49));
    let cut = pad(
        "roundrect",
        "(roundrect_rratio 0) (chamfer_ratio 0.4) (chamfer top_left)",
    );
    assert!(!has(&cut, -0.95, -0.45) && has(&cut, 0.95, -0.45) && has(&cut, -0.95, 0.45));
    let circle = pad("circle", "");
    assert!(has(&circle, 0.7, 0.7) && !has(&circle, 0.8, 0.8));
    let trapezoid = pad("trapezoid", "(rect_delta 0 0.4)");
    assert!(has(&trapezoid, -0.99, 0.65) != has(&trapezoid, 0.99, 0.65));
    let custom = pad(
        "custom",
        "(options (anchor circle)) (primitives (gr_poly (pts (xy 0 0) (xy 4 0) (xy 4 4)) (width 0.2)) \
         (gr_line (start 0 0) (end -5 0) (width 0.4)) (gr_circle (center 0 6) (end 0 7) (width 0)))",
    );
    assert!(has(&custom, 3.5, 3.0) && has(&custom, 4.09, 2.0) && !has(&custom, 1.0, 3.0));
    assert!(has(&custom, -5.1, 0.1) && has(&custom, 0.0, 6.9) && !has(&custom, 0.0, 4.5));
}

#[test]
fn bare_holes_have_no_copper_and_backs_are_backs() {
    let board = read(
        "(footprint \"x\" (layer \"B.Cu\") (at 0 0) (property \"Reference\" \"H1\") \
         (pad \"\" np_thru_hole circle (at 0 0) (size 3 3) (drill 3) (layers \"*.Cu\")))",
    );
    assert!(board.pads[0].layers.is_empty() && board.pads[0].hole == Hole::Bare);
    assert_eq!(
        (
            board.footprints[0].side,
            board.footprints[0].reference.as_str()
        ),
        (Side::Bottom, "H1")
    );
}

#[test]
fn fills_of_version_5_are_drawn_with_a_pen() {
    let zone = |more: &str| {
        read(&format!(
            "(net 1 GND) (zone (net 1) (layer F.Cu) (min_thickness 0.2) {more} (filled_polygon (pts (xy 0 0) (xy 2 0) (xy 2 2) (xy 0 2) (xy 0 0))))"
        ))
    };
    let (new, old) = (
        zone("(filled_areas_thickness no)"),
        zone("(filled_areas_thickness yes)"),
    );
    assert_eq!(
        (new.fills[0].shape.points.len(), new.fills[0].area),
        (4, 4.0)
    );
    assert_eq!(old.fills[0].shape.distance(Point::new(2.09, 1.0)), 0.0);
    assert!(new.fills[0].shape.distance(Point::new(2.09, 1.0)) > 0.08);
    let empty =
        read("(net 1 GND) (zone (net 1) (layer F.Cu) (polygon (pts (xy 0 0) (xy 1 0) (xy 1 1))))");
    assert!(
        empty
            .notes
            .iter()
            .any(|note| note.starts_with("1 zones are not filled"))
    );
    let area =
        read("(zone (net 0) (layer F.Cu) (keepout (tracks not_allowed)) (polygon (pts (xy 0 0))))");
    assert!(!area.notes.iter().any(|note| note.contains("filled")));
}

#[test]
fn outlines_of_all_drawings_are_one() {
    let board = read(
        "(gr_rect (start 0 0) (end 10 10) (layer \"Edge.Cuts\")) (gr_circle (center 20 5) (end 22 5) (layer \"Edge.Cuts\")) \
         (gr_arc (start 30 5) (mid 31 4) (end 32 5) (layer \"Edge.Cuts\")) (gr_arc (start 40 5) (end 41 5) (angle 90) (layer \"Edge.Cuts\")) \
         (gr_poly (pts (xy 50 0) (xy 51 0) (xy 51 1)) (layer \"Edge.Cuts\")) (gr_line (start 0 0) (end 999 0) (layer \"F.SilkS\")) \
         (gr_curve (pts (xy 60 0) (xy 60 1) (xy 61 1) (xy 61 0)) (layer \"Edge.Cuts\")) \
         (footprint \"x\" (layer \"F.Cu\") (at 70 0 90) (fp_line (start 0 0) (end 3 0) (layer \"Edge.Cuts\")))",
    );
    let ends: Vec<Point> = board
        .outline
        .iter()
        .flat_map(|side| [side.a, side.b])
        .collect();
    for (x, y) in [
        (10.0, 10.0),
        (22.0, 5.0),
        (32.0, 5.0),
        (40.0, 6.0),
        (51.0, 1.0),
        (61.0, 0.0),
        (70.0, -3.0),
    ] {
        assert!(
            ends.iter().any(|end| end.distance(Point::new(x, y)) < 1e-9),
            "{x} {y}"
        );
    }
    assert_eq!(board.bounds().max.x, 70.0);
}

#[test]
fn stackups_are_read_and_what_is_missing_is_assumed_and_said() {
    let stackup = |dielectric: &str| {
        read(&format!(
            "(general (thickness 1)) (setup (stackup (layer \"F.Mask\" (type \"Top Solder Mask\") (thickness 0.01)) \
             (layer \"F.Cu\" (type \"copper\") (thickness 0.05)) {dielectric} (layer \"In1.Cu\" (type \"copper\") (thickness 0.02)) \
             (layer \"d2\" (type \"core\") (thickness 0.5) (epsilon_r 4)) (layer \"B.Cu\" (type \"copper\") (thickness 0.05)) \
             (layer \"B.Mask\" (type \"Bottom Solder Mask\") (thickness 0.01))))"
        ))
    };
    let two = stackup(
        "(layer \"d1\" (type \"prepreg\") (thickness 0.1 locked) (epsilon_r 4) addsublayer (thickness 0.1) (epsilon_r 2))",
    );
    assert_eq!((two.assumed.len(), two.stackup.is_declared), (0, true));
    assert!((two.stackup.distance(0, 1) - 0.2).abs() < 1e-9);
    assert!((two.stackup.epsilon_between(0, 1) - 0.2 / (0.1 / 4.0 + 0.1 / 2.0)).abs() < 1e-9);
    assert!((two.stackup.distance(0, 2) - 0.72).abs() < 1e-9);
    let without = stackup("(layer \"d1\" (type \"prepreg\") (thickness 0.1))");
    assert_eq!(without.assumed, ["the permittivity of d1: 4.3"]);
    let none = read("(general (thickness 1))");
    let text = &none.assumed[0];
    assert!(text.starts_with("the stack-up is not in the file: 3 copper layers of 0.035 mm"));
    assert!(!none.stackup.is_declared);
    assert!((none.stackup.thickness() - 1.0).abs() < 1e-9);
    let wrong = "(setup (stackup (layer \"F.Cu\" (type \"copper\")) (layer \"d\" (type \"core\") (thickness 1) (epsilon_r 0.5))))";
    assert!(
        try_read(wrong)
            .unwrap_err()
            .ends_with("a permittivity is at least 1")
    );
}

#[test]
fn layers_are_told_by_canonical_names_or_version_5s_ordinals() {
    let names = |table: &str| -> Result<Vec<String>, String> {
        let text = format!("(kicad_pcb (version 20171130) (layers {table}))");
        let board = kicad::read(text.as_bytes(), &Limits::default()).map_err(|r| r.to_string())?;
        Ok(board.layers.into_iter().map(|layer| layer.name).collect())
    };
    assert_eq!(
        names("(31 Bot signal) (0 Top signal) (1 GND power) (44 Edge.Cuts user)").unwrap(),
        ["F.Cu", "In1.Cu", "B.Cu"]
    );
    assert!(
        names("(44 Edge.Cuts user)")
            .unwrap_err()
            .ends_with("the board has no copper layer")
    );
    assert!(
        names("(77 X signal)")
            .unwrap_err()
            .ends_with("this is no copper layer of KiCad")
    );
}

#[test]
fn a_ground_in_the_class_of_the_supplies_stays_a_ground() {
    let project =
        br#"{"net_settings": {"classes": [{"name": "Power", "nets": ["GND", "/wide", "GND_SENSE"]},
        {"name": "ground", "nets": ["/shield"]}]}}"#;
    let mut board = read(
        "(net 1 \"GND\") (net 2 \"/wide\") (net 3 \"/shield\") (net 4 \"GND_SENSE\") (via (at 0 0) (net 1)) (via (at 1 0) (net 2)) \
         (via (at 2 0) (net 3)) (via (at 3 0) (net 4))",
    );
    kicad::Project::read(project).unwrap().apply(&mut board);
    emi::check(&mut board, &Settings::default(), &()).unwrap();
    let kinds = board.nets.iter().map(|net| (&*net.name, net.kind));
    let mut kinds: Vec<(&str, NetKind)> = kinds.collect();
    kinds.sort_by_key(|(name, _)| *name);
    assert_eq!(
        kinds,
        [
            ("/shield", NetKind::Ground),
            ("/wide", NetKind::Power),
            ("GND", NetKind::Ground),
            ("GND_SENSE", NetKind::Power),
        ]
    );
}

#[test]
fn net_classes_come_from_the_project() {
    let project = br#"{"net_settings": {"classes": [{"name": "Default"}, {"name": "pwr", "nets": ["+5F"]}],
        "netclass_patterns": [{"netclass": "USB fast", "pattern": "/usb/*"}], "netclass_assignments": {"SDA": ["slow"], "X": "one"}}}"#;
    let project = kicad::Project::read(project).unwrap();
    let mut board = read(
        "(net 1 \"+5F\") (net 2 \"/usb/DATA\") (net 3 \"SDA\") (via (at 0 0) (net 1)) (via (at 1 0) (net 2)) (via (at 2 0) (net 3))",
    );
    project.apply(&mut board);
    let classes: Vec<&[String]> = board.nets.iter().map(|net| &net.classes[..]).collect();
    assert_eq!(
        classes,
        [
            &["pwr".to_owned()][..],
            &["USB fast".to_owned()],
            &["slow".to_owned()]
        ]
    );
    assert_eq!(
        board
            .nets
            .iter()
            .filter(|net| net.kind == NetKind::Signal)
            .count(),
        3,
        "kinds are told by a check"
    );
    assert!(emi::check(board, &Settings::default(), &()).is_ok());
    assert_eq!(
        kicad::Project::read(b"{\n x").unwrap_err().to_string(),
        "line 2, column 2: this is no KiCad project"
    );
    assert!(kicad::Project::read(b"{}").is_ok());
}
