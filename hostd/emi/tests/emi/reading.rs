//! Forms of boards that are read as what they are: copper that is drawn, fills with and without a pen, pads of several forms, holes
//! without copper, stack-ups given several times.

use emi::board::{Board, Hole, LayerSet};
use emi::geometry::Point;
use emi::{Limits, Report, Settings, kicad};

/// A board of KiCad 8 with two layers, GND and SIG.
const HEAD: &str = "(kicad_pcb (version 20240108) (general (thickness 1.6))
(layers (0 \"F.Cu\" signal) (31 \"B.Cu\" signal) (44 \"Edge.Cuts\" user)) (net 0 \"\") (net 1 \"GND\") (net 2 \"SIG\")
(gr_rect (start 100 100) (end 140 130) (stroke (width 0.1) (type default)) (fill none) (layer \"Edge.Cuts\"))
";

const ZONE: &str = "(zone (net 1) (net_name \"GND\") (layer \"B.Cu\") (min_thickness 0.2) (filled_areas_thickness no) (fill yes)
(filled_polygon (layer \"B.Cu\") (pts (xy 100.5 100.5) (xy 139.5 100.5) (xy 139.5 129.5) (xy 100.5 129.5))))";

const SEGMENT: &str =
    "(segment (start 105 115) (end 135 115) (width 0.25) (layer \"F.Cu\") (net 2))";

fn read(text: &str) -> Board {
    let mut board = kicad::read(text.as_bytes(), &Limits::default()).unwrap();
    board.tracks.iter_mut().for_each(|of| of.source_line = 0);
    board.fills.iter_mut().for_each(|of| of.source_line = 0);
    board
}

fn with(items: &str) -> Board {
    read(&format!("{HEAD}{items})"))
}

fn report(board: &Board) -> Report {
    emi::check(board.clone(), &Settings::default(), &()).unwrap()
}

#[test]
fn copper_that_is_drawn_with_a_net_is_what_it_would_be_as_zone_and_track() {
    let usual = with(&format!("{ZONE}\n{SEGMENT}"));
    let drawn = with(
        "(gr_poly (pts (xy 100.5 100.5) (xy 139.5 100.5) (xy 139.5 129.5) (xy 100.5 129.5))
         (stroke (width 0) (type solid)) (fill solid) (layer \"B.Cu\") (net 1))
         (gr_line (start 105 115) (end 135 115) (stroke (width 0.25) (type solid)) (layer \"F.Cu\") (net 2))",
    );
    assert_eq!(drawn, usual);
    assert_eq!(report(&drawn), report(&usual));
    // A rectangle is the same area; so is what is on the solder mask, too, or in a footprint that is turned.
    for rectangle in [
        "(gr_rect (start 100.5 100.5) (end 139.5 129.5) (stroke (width 0) (type solid)) (fill yes) (layer \"B.Cu\") (net 1))",
        "(gr_rect (start 100.5 100.5) (end 139.5 129.5) (stroke (width 0)) (fill yes) (layers \"B.Cu\" \"B.Mask\") (net 1))",
    ] {
        let other = with(&format!("{rectangle}\n{SEGMENT}"));
        assert_eq!(other.fills[0].area, usual.fills[0].area);
        assert_eq!(other.fills[0].bounds, usual.fills[0].bounds);
    }
    let masked = SEGMENT.replace("(layer \"F.Cu\")", "(layers \"F.Cu\" \"F.Mask\")");
    assert_eq!(with(&format!("{ZONE}\n{masked}")), usual);
}

#[test]
fn drawings_of_all_kinds_on_copper_are_areas_or_lines() {
    let of = |item: &str| with(item);
    let length = |board: &Board| -> f64 { board.tracks.iter().map(|t| t.line.length()).sum() };
    let end = "(layer \"F.Cu\") (net 2)";
    let pen = |width: f64| format!("(stroke (width {width}) (type solid))");
    let frame = of(&format!(
        "(gr_rect (start 110 110) (end 114 112) {} (fill none) {end})",
        pen(0.3)
    ));
    assert_eq!((frame.fills.len(), frame.tracks.len()), (0, 4));
    assert!((length(&frame) - 12.0).abs() < 1e-9 && frame.tracks[0].width == 0.3);
    let pi = std::f64::consts::PI;
    let ring = of(&format!(
        "(gr_circle (center 120 115) (end 123 115) {} (fill none) {end})",
        pen(0.2)
    ));
    assert!(ring.fills.is_empty() && (length(&ring) - 6.0 * pi).abs() < 0.05);
    let disc = of(&format!(
        "(gr_circle (center 120 115) (end 123 115) {} (fill solid) {end})",
        pen(0.2)
    ));
    assert!(disc.tracks.is_empty() && (disc.fills[0].area - 3.1 * 3.1 * pi).abs() < 0.1);
    let arc = of(&format!(
        "(gr_arc (start 110 115) (mid 112 113) (end 114 115) {} {end})",
        pen(0.2)
    ));
    assert!((length(&arc) - 2.0 * pi).abs() < 0.02);
    let curve = of(&format!(
        "(gr_curve (pts (xy 110 115) (xy 112 115) (xy 114 115) (xy 116 115)) {} {end})",
        pen(0.2)
    ));
    assert!((length(&curve) - 6.0).abs() < 1e-6);
    // In a footprint, which is turned.
    let part = of(&format!(
        "(footprint \"a\" (layer \"F.Cu\") (at 120 115 90) (fp_line (start 0 0) (end 2 0) {} {end}))",
        pen(0.2)
    ));
    assert_eq!(part.tracks[0].line.b, Point::new(120.0, 113.0));
    let board = of(&format!(
        "(gr_line (start 110 110) (end 111 110) {} (layer \"F.Cu\"))
         (gr_line (start 110 110) (end 111 110) {} (layer \"F.SilkS\"))",
        pen(0.2),
        pen(0.2)
    ));
    assert!(board.tracks.is_empty());
    assert_eq!(
        board.notes,
        ["1 drawings on copper layers are on no net; they are left out"]
    );
}

#[test]
fn fills_have_a_pen_unless_the_file_says_otherwise() {
    let radius = |version: u32, flag: &str| {
        let text = format!("{HEAD}{ZONE})");
        let text = text.replace("20240108", &version.to_string());
        read(&text.replace("(filled_areas_thickness no)", flag)).fills[0]
            .shape
            .radius
    };
    let (yes, no) = (
        "(filled_areas_thickness yes)",
        "(filled_areas_thickness no)",
    );
    assert_eq!(radius(20_171_130, ""), 0.1);
    for version in [20_211_014, 20_221_018, 20_240_108, 20_241_229] {
        let found = (
            radius(version, ""),
            radius(version, yes),
            radius(version, no),
        );
        assert_eq!(found, (0.1, 0.1, 0.0), "{version}");
    }
    assert_eq!((radius(20_260_206, ""), radius(20_260_206, no)), (0.0, 0.0));
}

/// A board of KiCad 9 with four layers and one part.
fn part(pad: &str) -> Board {
    let text = format!(
        "(kicad_pcb (version 20241229) (layers (0 \"F.Cu\" signal) (4 \"In1.Cu\" signal) (6 \"In2.Cu\" signal) (2 \"B.Cu\" signal))
         (net 0 \"\") (net 2 \"SIG\") (footprint \"x\" (layer \"F.Cu\") (at 120 110) {pad}))"
    );
    read(&text)
}

#[test]
fn a_pad_has_on_each_layer_the_form_that_its_stack_gives() {
    let board = part(
        "(pad \"1\" thru_hole circle (at 0 0) (size 1.5 1.5) (drill 0.8) (layers \"*.Cu\" \"*.Mask\") (net 2 \"SIG\")
         (padstack (mode front_inner_back) (layer \"Inner\" (shape circle) (size 1 1))
         (layer \"B.Cu\" (shape rect) (size 3 3) (offset 0.5 0))))",
    );
    let pad = &board.pads[0];
    assert_eq!(
        (board.pads.len(), pad.hole, pad.layers.count()),
        (1, Hole::Plated, 4)
    );
    let reach = |layer: usize, at: (f64, f64)| {
        let point = Point::new(120.0 + at.0, 110.0 + at.1);
        pad.distance_within(LayerSet::only(layer), point)
    };
    assert!((reach(0, (2.0, 0.0)) - 1.25).abs() < 1e-9);
    for inner in [1, 2] {
        assert!((reach(inner, (2.0, 0.0)) - 1.5).abs() < 1e-9);
    }
    assert_eq!(reach(3, (1.9, 1.4)), 0.0);
    assert!((reach(3, (-2.0, 0.0)) - 1.0).abs() < 1e-9);
    assert_eq!(pad.bounds.max, Point::new(122.0, 111.5));
    // Layers that a stack of any mode does not name have the usual form.
    let custom = part(
        "(pad \"1\" thru_hole rect (at 0 0) (size 2 2) (drill 0.8) (layers \"*.Cu\") (net 2 \"SIG\")
         (padstack (mode custom) (layer \"In2.Cu\" (shape oval) (size 3 1))))",
    );
    let sizes: Vec<f64> = (0..4)
        .map(|layer| custom.pads[0].shapes_on(layer)[0].bounds().width())
        .collect();
    assert_eq!(sizes, [2.0, 2.0, 3.0, 2.0]);
    let via = format!(
        "{HEAD}(via (at 110 110) (size 0.6) (drill 0.3) (layers \"F.Cu\" \"B.Cu\") (net 2)
         (padstack (mode front_inner_back) (layer \"B.Cu\" (size 0.9)))))"
    );
    assert_eq!(read(&via).vias[0].size, 0.9);
    // What is drawn has each form on its layer.
    let report = report(&board);
    let source = emi::SourceFile::default();
    let view = emi::artifact(&board, &report, &source, "board.json").unwrap();
    let view: serde_json::Value = serde_json::from_slice(&view.bytes).unwrap();
    let copper = view["copper"].as_array().unwrap();
    let layers: Vec<_> = copper.iter().map(|piece| piece["layer"].as_u64()).collect();
    assert_eq!(layers, [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn a_bare_hole_as_large_as_its_pad_leaves_no_copper() {
    let layers = |pad: &str| {
        part(&format!("(pad \"\" np_thru_hole {pad} (layers \"*.Cu\"))")).pads[0]
            .layers
            .count()
    };
    assert_eq!(layers("circle (at 0 0) (size 2 2) (drill 2)"), 0);
    assert_eq!(layers("oval (at 0 0) (size 3 2) (drill oval 3 2)"), 0);
    assert_eq!(layers("oval (at 0 0) (size 3 2) (drill oval 2 1)"), 4);
    assert_eq!(layers("oval (at 0 0) (size 3 2) (drill 2)"), 4);
    assert_eq!(layers("circle (at 0 0) (size 2 2) (drill 1)"), 4);
}

#[test]
fn what_is_drawn_in_a_pad_is_filled_only_if_it_says_so() {
    let board = part(
        "(pad \"1\" smd custom (at 0 0) (size 0.4 0.4) (layers \"F.Cu\") (net 2 \"SIG\") (options (anchor circle))
         (primitives (gr_circle (center 0 0) (end 3 0) (width 0.2) (fill no))
         (gr_rect (start -1 4.5) (end 1 5.5) (width 0.1) (fill yes)) (gr_rect (start -1 6.5) (end 1 8) (width 0.1) (fill none))
         (gr_circle (center 6 0) (end 6 1) (width 0))
         (gr_poly (pts (xy 8 0) (xy 9 0) (xy 9 1)) (width 0) (fill none)) (gr_poly (pts (xy 8 3) (xy 9 3) (xy 9 4)) (width 0))))",
    );
    let pad = &board.pads[0];
    let has = |x: f64, y: f64| pad.distance(Point::new(120.0 + x, 110.0 + y)) <= 0.0;
    assert!(
        has(3.0, 0.0) && has(3.09, 0.0) && has(-2.11, 2.11),
        "the ring"
    );
    assert!(
        !has(1.5, 0.0) && !has(2.85, 0.0) && !has(3.15, 0.0),
        "around it"
    );
    assert!(
        has(0.0, 0.15) && has(0.0, 5.0),
        "the anchor, and what is filled"
    );
    assert!(has(0.0, 6.5) && has(-1.0, 7.0) && !has(0.0, 7.2), "a frame");
    assert!(has(6.0, 0.5), "a circle without a pen");
    assert!(!has(8.8, 0.5) && has(8.8, 3.5), "polygons");
    // A ring, a disc, two rectangles and a polygon; a frame's sides overlap at its corners.
    let pi = std::f64::consts::PI;
    let ring = pi * (3.1 * 3.1 - 2.9 * 2.9);
    let expected = ring + pi * 0.04 + (2.0 + 6.0 * 0.05) + pi + 0.5;
    let frame = 7.0 * 0.1 + 4.0 * pi * 0.0025;
    assert!(
        (pad.area() - expected - frame).abs() < 0.2,
        "{}",
        pad.area()
    );
}

#[test]
fn a_stackup_that_is_given_several_times_is_one() {
    let sheets = |n: usize| {
        format!(
            "(layer \"F.Mask\" (type \"Top Solder Mask\") (thickness 0.01)) (layer \"F.Cu\" (type \"copper\") (thickness 0.035))
             (layer \"dielectric {n}\" (type \"core\") (thickness 1.51) (epsilon_r 4.5))
             (layer \"B.Cu\" (type \"copper\") (thickness 0.035)) (layer \"B.Mask\" (type \"Bottom Solder Mask\") (thickness 0.02))"
        )
    };
    let of = |times: usize| {
        let sheets: String = (1..=times).map(sheets).collect();
        with(&format!("(setup (stackup {sheets}))"))
    };
    let (once, thrice) = (of(1), of(3));
    assert_eq!(thrice.stackup, once.stackup);
    assert_eq!(thrice.masks, once.masks);
    assert_eq!((thrice.assumed.len(), once.notes.len()), (0, 0));
    assert!(
        thrice.notes[0].contains("more than once"),
        "{:?}",
        thrice.notes
    );
    let gap = thrice.stackup.gaps[0];
    assert_eq!(
        (gap.thickness, gap.epsilon_r, thrice.stackup.gaps.len()),
        (1.51, 4.5, 1)
    );
}

#[test]
fn four_layers_without_a_stackup_are_two_sheets_of_prepreg_about_a_core() {
    let board = part("");
    let gaps: Vec<f64> = board.stackup.gaps.iter().map(|gap| gap.thickness).collect();
    assert_eq!((gaps[0], gaps[2]), (0.2, 0.2));
    assert!((1.0..=1.2).contains(&gaps[1]), "{gaps:?}");
    assert!(!board.stackup.is_declared);
    let said = report(&board);
    let note = said.notes.iter().find(|note| note.contains("stack-up"));
    let note = note.unwrap();
    assert!(
        note.starts_with("assumed: ") && note.contains("0.2 / 1.06 / 0.2 mm"),
        "{note}"
    );
    assert!(
        said.text()
            .contains("0.2 / 1.06 / 0.2 mm apart (prepreg and cores in turn)")
    );
}
