//! Gerber and drill files as several programs make them: commands that Gerber has given up, units in odd words, tools in comments,
//! outlines that do not close, and boards so dense that bounds have to grow with them.

use std::f64::consts::PI;
use std::fmt::Write as _;

use emi::board::{Board, Hole, LayerSet, Pad};
use emi::fuzz::zipped;
use emi::{Limits, OpenError};

/// A netlist with one point on net X, in units of 0.0001 inch.
fn netlist(x: i32, y: i32) -> String {
    format!(
        "P  JOB   x\nP  UNITS CUST 0\n317NETX             VIA   -     D0200PA00X{x:+07}Y{y:+07}X0000Y0000R000S0\n999\n"
    )
}

/// Two pads on both layers, in millionths of a millimetre, with what else a file has in its head.
fn pads(head: &str, at: [(i64, i64); 2]) -> String {
    let mut text =
        format!("G04 by hand*\n{head}%FSLAX46Y46*%\n%MOMM*%\n%LPD*%\n%ADD11C,2*%\nD11*\n");
    for (x, y) in at {
        let _ = writeln!(text, "X{x}Y{y}D03*");
    }
    text + "M02*\n"
}

const OUTLINE: &str = "%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.1*%\nD10*\nX70000000Y-140000000D02*\nX100000000Y-140000000D01*\n\
                       X100000000Y-110000000D01*\nX70000000Y-110000000D01*\nX70000000Y-140000000D01*\nM02*\n";

const TWO: [(i64, i64); 2] = [(83_240_000, -125_400_000), (84_760_000, -125_400_000)];

/// A board of two layers with two pads, such a head in its Gerbers, and that drill file.
fn opened(head: &str, drill: &str) -> Result<Board, OpenError> {
    let copper = pads(head, TWO);
    let netlist = netlist(32_772, -49_370);
    let zip = zipped(&[
        ("b.GTL", copper.as_bytes()),
        ("b.GBL", copper.as_bytes()),
        ("b.GKO", OUTLINE.as_bytes()),
        ("b.drl", drill.as_bytes()),
        ("one.ipc", netlist.as_bytes()),
    ]);
    emi::open(&zip, &Limits::default(), &()).map(|opened| opened.board)
}

const DRILL: &str = "M48\nMETRIC,TZ\nFMAT,2\nT1C1.000\n%\nT1\nX83.24Y-125.4\nX84.76Y-125.4\nM30\n";

/// The middles of all holes with copper in them, y up.
fn holes(board: &Board) -> Vec<(f64, f64)> {
    let pads = board.pads.iter().filter(|pad| pad.hole == Hole::Plated);
    let middles = board.vias.iter().map(|via| via.at);
    let middles = middles.chain(pads.map(|pad| pad.at));
    let mut at: Vec<(f64, f64)> = middles.map(|at| (at.x, -at.y)).collect();
    at.sort_by(|a, b| a.0.total_cmp(&b.0));
    at
}

#[test]
fn commands_that_gerber_has_given_up_are_left_out_with_a_note() {
    let plain = opened("", DRILL).unwrap();
    for (head, said) in [
        ("%ICAS*%\n", "%IC…*%"),
        ("%IJAL*%\n%PFfilm*%\n", "%IJ…*%, %PF…*%"),
        (
            "%ASAXBY*%\n%IR0*%\n%OFA0.0B0.0*%\n%SFA1.0B1.0*%\n%MIA0B0*%\n%INx*%\n",
            "",
        ),
    ] {
        let mut board = opened(head, DRILL).unwrap();
        let notes = std::mem::take(&mut board.notes).into_iter();
        let (notes, others): (Vec<String>, Vec<String>) =
            notes.partition(|note| note.contains("given up"));
        board.notes = others;
        assert_eq!(board, plain, "{head}");
        assert_eq!(
            notes.len(),
            if said.is_empty() { 0 } else { 2 },
            "{notes:?}"
        );
        assert!(notes.iter().all(|note| note.ends_with(said)), "{notes:?}");
    }
    // What would move or invert the image is still no command to leave out.
    for head in ["%KOD*%\n", "%IFother.gbr*%\n", "%OFA1.0B0.0*%\n"] {
        let error = opened(head, DRILL).unwrap_err().to_string();
        assert!(error.contains("export without it"), "{error}");
    }
}

#[test]
fn units_of_drill_files_are_read_in_all_their_words() {
    let at = |text: &str| {
        let board = opened("", text).unwrap();
        assert!(
            board.notes.iter().all(|note| !note.contains("zero")),
            "{:?}",
            board.notes
        );
        holes(&board)
    };
    let expected = [(83.24, -125.4), (84.76, -125.4)];
    assert_eq!(at(DRILL), expected);
    for unit in ["M71,TZ", "M71", "M71,LZ,000.000", "METRIC,LZ", "METRIC, TZ"] {
        assert_eq!(at(&DRILL.replace("METRIC,TZ", unit)), expected, "{unit}");
    }
    // The unit after the tools.
    let late = DRILL.replace("METRIC,TZ\n", "").replace("%\n", "M71\n%\n");
    assert_eq!(at(&late), expected);
    let inches = "M48\nM72,TZ\nT1C0.03937\n%\nT1\nX032772Y-049370\nX033370Y-049370\nM30\n";
    let found = at(inches);
    assert!((found[0].0 - 83.24).abs() < 1e-3 && (found[1].1 + 125.4).abs() < 1e-3);
}

#[test]
fn tools_that_stand_in_comments_are_tools() {
    let drill = "\
;LEADER: 12
;HEADER:
;CODE  : ASCII
;FILE  : b.drl for board x.brd
;Holesize 1. = 28.000000 Tolerance = +0.000000/-0.000000 PLATED MILS Quantity = 2
%
G90
T01
X032772Y-049370
X033370Y-049370
M30
";
    let board = opened("", drill).unwrap();
    // Small enough for vias.
    let size = 28.0 * 0.0254;
    let plated: Vec<f64> = board
        .vias
        .iter()
        .map(|via| via.drill)
        .chain(
            board
                .pads
                .iter()
                .filter(|pad| pad.hole == Hole::Plated)
                .map(|_| size),
        )
        .collect();
    assert_eq!(plated.len(), 2);
    assert!(
        plated.iter().all(|drill| (drill - size).abs() < 1e-9),
        "{plated:?}"
    );
    let bare = opened("", &drill.replace("PLATED", "NON_PLATED")).unwrap();
    assert_eq!(
        bare.pads
            .iter()
            .filter(|pad| pad.hole == Hole::Bare)
            .count(),
        2
    );
}

#[test]
fn an_outline_whose_ends_differ_is_closed() {
    let area = |macro_text: &str| {
        let copper = format!(
            "%FSLAX46Y46*%\n%MOIN*%\n%LPD*%\n%AMCOMP4*\n{macro_text}*%\n%ADD32COMP4*%\nD32*\nX3277200Y-4937000D03*\nM02*\n"
        );
        let netlist = netlist(32_772, -49_370);
        let zip = zipped(&[
            ("b.GTL", copper.as_bytes()),
            ("one.ipc", netlist.as_bytes()),
        ]);
        let board = emi::open(&zip, &Limits::default(), &()).unwrap().board;
        board.pads.iter().map(Pad::area).sum::<f64>()
    };
    let corners = "0.0435,0.012,\n-0.0435,0.012,\n-0.0435,-0.012,\n0.0435,-0.012,\n";
    let expected = 0.087 * 0.024 * 25.4 * 25.4;
    let open = area(&format!("4,1,3,\n{corners}0"));
    assert!((open - expected).abs() < 1e-6, "{open} {expected}");
    let closed = area(&format!("4,1,4,\n{corners}0.0435,0.012,\n0"));
    assert!((closed - expected).abs() < 1e-6, "{closed} {expected}");
}

#[test]
fn a_pad_through_layers_has_its_own_form_on_each() {
    let netlist = netlist(0, 0);
    let layer = |aperture: &str| {
        format!("%FSLAX46Y46*%\n%MOMM*%\n%ADD11{aperture}*%\nD11*\nX0Y0D03*\nM02*\n")
    };
    let (round, square) = (layer("C,2"), layer("R,3X3"));
    let drill = "M48\nMETRIC\nT1C1.0\n%\nT1\nX0.Y0.\nM30\n";
    let zip = zipped(&[
        ("b.GTL", square.as_bytes()),
        ("b.G1", round.as_bytes()),
        ("b.G2", round.as_bytes()),
        ("b.GBL", square.as_bytes()),
        ("b.drl", drill.as_bytes()),
        (
            "one.ipc",
            netlist.replace("VIA   -    ", "J1    -1   ").as_bytes(),
        ),
    ]);
    let board = emi::open(&zip, &Limits::default(), &()).unwrap().board;
    let pad = &board.pads[0];
    assert_eq!((board.pads.len(), pad.layers.count()), (1, 4));
    let area = |layer: usize| pad.shapes_on(layer).iter().map(|s| s.area()).sum::<f64>();
    assert!((area(0) - 9.0).abs() < 1e-9 && (area(3) - 9.0).abs() < 1e-9);
    assert!((area(1) - PI).abs() < 1e-9 && (area(2) - PI).abs() < 1e-9);
    assert_eq!(pad.elsewhere[0].0, LayerSet::span(1, 2));
}

/// A board of many layers, each with a pour that has an opening for every hole.
fn dense(layers: usize, side: usize) -> Vec<u8> {
    const PITCH: i64 = 1_000_000;
    let edge = |count: usize| i64::try_from(count).unwrap() * PITCH;
    let places =
        || (0..side).flat_map(|row| (0..side).map(move |column| (edge(column), edge(row))));
    let flashes: String = places().map(|(x, y)| format!("X{x}Y{y}D03*\n")).collect();
    let mut copper = "%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.9*%\n%ADD11C,0.6*%\n%LPD*%\n".to_owned();
    let (low, high) = (-PITCH, edge(side));
    let _ = writeln!(
        copper,
        "G36*\nX{low}Y{low}D02*\nX{high}Y{low}D01*\nX{high}Y{high}D01*\nX{low}Y{high}D01*\nX{low}Y{low}D01*\nG37*\n%LPC*%\nD10*"
    );
    copper.push_str(&flashes);
    copper.push_str("%LPD*%\nD11*\n");
    copper.push_str(&flashes);
    copper.push_str("M02*\n");
    let mut drill = "M48\nMETRIC\nT1C0.3\n%\nT1\n".to_owned();
    for (x, y) in places() {
        let _ = writeln!(drill, "X{:.3}Y{:.3}", x as f64 / 1e6, y as f64 / 1e6);
    }
    drill.push_str("M30\n");
    let mut points = "P  UNITS CUST 1\n".to_owned();
    for (index, (x, y)) in places().enumerate() {
        let (x, y) = (x / 1000, y / 1000);
        let _ = writeln!(
            points,
            "317N{index:<13}   VIA   -     D0300PA00X{x:+07}Y{y:+07}X0000Y0000R000S0"
        );
    }
    points.push_str("999\n");
    let names: Vec<String> = (0..layers)
        .map(|layer| match layer {
            0 => "b.GTL".to_owned(),
            last if last + 1 == layers => "b.GBL".to_owned(),
            inner => format!("b.G{inner}"),
        })
        .collect();
    let mut files: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), copper.as_bytes()))
        .collect();
    files.extend([("b.drl", drill.as_bytes()), ("b.ipc", points.as_bytes())]);
    zipped(&files)
}

#[test]
fn a_dense_board_is_no_crowd_on_one_spot_and_a_crowd_is_refused_with_its_limit() {
    // Far below what a board of this size needs in all, and enough for each of its parts.
    let limits = Limits {
        pairs_max: 1000,
        pairs_per_thing_max: 400,
        ..Limits::default()
    };
    let board = emi::open(&dense(6, 12), &limits, &()).unwrap().board;
    assert_eq!((board.layers.len(), board.vias.len()), (6, 144));
    // Every pad is on one spot.
    let spot: String = (0..3000).map(|_| "X0Y0D03*\n").collect();
    let copper = format!("%FSLAX46Y46*%\n%MOMM*%\n%ADD11C,0.6*%\nD11*\n{spot}M02*\n");
    let netlist = netlist(0, 0);
    let drill = format!(
        "M48\nMETRIC\nT1C0.3\n%\nT1\n{}M30\n",
        "X0.Y0.\n".repeat(3000)
    );
    let zip = zipped(&[
        ("b.GTL", copper.as_bytes()),
        ("b.drl", drill.as_bytes()),
        ("one.ipc", netlist.as_bytes()),
    ]);
    let error = emi::open(&zip, &limits, &()).unwrap_err().to_string();
    assert!(
        error.contains("pairs of pieces of copper and holes")
            && error.contains("400 for each of its 6001"),
        "{error}"
    );
}
