//! Boards with very many nets, tracks, vias, pads or pours: what a check takes must grow with the board and not with its square.
//! Each is measured at a quarter of its size and at all of it; four times as long is in proportion.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use emi::{Limits, Settings, kicad};

/// A kind of board, how many of its things there are, and its text.
type Crowd = (&'static str, usize, fn(usize) -> String);

const CROWDS: [Crowd; 6] = [
    ("nets of a track and two pins", 20_000, nets),
    (
        "nets of one long track, beside each other",
        20_000,
        parallel,
    ),
    ("tracks of 2,000 nets", 400_000, tracks),
    ("vias between two planes", 20_000, vias),
    ("pours of one net", 20_000, pours),
    ("pins of one net, one as large as the board", 20_000, pins),
];

/// Measures all of them, at a part of their size if `divisor` is above 1.
pub(crate) fn measure(divisor: usize) {
    println!(
        "{:<44} {:>8} {:>9} {:>9} {:>6}",
        "crowd", "count", "a quarter", "all", "ratio"
    );
    for (name, count, text) in CROWDS {
        let count = (count / divisor).max(4);
        let (quarter, all) = (check(&text(count / 4)), check(&text(count)));
        let ratio = all.as_secs_f64() / quarter.as_secs_f64();
        println!(
            "{name:<44} {count:>8} {:>6.0} ms {:>6.0} ms {ratio:>6.1}",
            quarter.as_secs_f64() * 1e3,
            all.as_secs_f64() * 1e3
        );
    }
}

fn check(text: &str) -> Duration {
    let start = Instant::now();
    let board = kicad::read(text.as_bytes(), &Limits::default()).expect("it is well formed");
    emi::check(board, &Settings::default(), &()).expect("nobody stops it");
    start.elapsed()
}

/// A board of so many layers, of that width and height, with nets called GND, +3V3, and N2 and so on.
fn sheet(layers: usize, nets: usize, (width, height): (f64, f64)) -> String {
    let inner: String = (1..layers - 1)
        .map(|n| format!(" ({n} In{n}.Cu signal)"))
        .collect();
    let mut text = format!(
        "(kicad_pcb (version 20211014) (general (thickness 1.6))\n(layers (0 F.Cu signal){inner} (31 B.Cu signal) (44 Edge.Cuts user))\n\
         (net 0 \"\")\n(net 1 GND)\n(net 2 +3V3)\n(gr_rect (start 0 0) (end {width} {height}) (layer Edge.Cuts) (width 0.1))\n"
    );
    for net in 3..nets + 3 {
        let _ = writeln!(text, "(net {net} N{net})");
    }
    text
}

fn plane(text: &mut String, net: usize, layer: &str, (width, height): (f64, f64)) {
    zone(text, net, layer, (0.0, 0.0), (width, height));
}

fn zone(text: &mut String, net: usize, layer: &str, (x, y): (f64, f64), (right, low): (f64, f64)) {
    let _ = writeln!(
        text,
        "(zone (net {net}) (layer {layer}) (min_thickness 0.1) (filled_areas_thickness no) (fill yes)\
         (filled_polygon (layer {layer}) (pts (xy {x} {y}) (xy {right} {y}) (xy {right} {low}) (xy {x} {low}))))"
    );
}

fn track(text: &mut String, net: usize, layer: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        text,
        "(segment (start {} {}) (end {} {}) (width 0.15) (layer {layer}) (net {net}))",
        from.0, from.1, to.0, to.1
    );
}

/// Places in a square grid.
fn places(count: usize, pitch: f64) -> (impl Iterator<Item = (f64, f64)>, (f64, f64)) {
    let columns = (count as f64).sqrt().ceil();
    let size = (columns + 1.0) * pitch;
    let at = move |index: usize| {
        let row = (index as f64 / columns).floor();
        let column = index as f64 - row * columns;
        ((column + 0.5) * pitch, (row + 0.5) * pitch)
    };
    ((0..count).map(at), (size, size))
}

fn nets(count: usize) -> String {
    let (places, size) = places(count, 4.0);
    let mut text = sheet(2, count, size);
    plane(&mut text, 1, "B.Cu", size);
    for (net, (x, y)) in (3..).zip(places) {
        track(&mut text, net, "F.Cu", (x, y), (x + 2.5, y));
        let _ = writeln!(
            text,
            "(footprint a (layer F.Cu) (at {x} {y}) (fp_text reference R{net} (at 0 0))\
             (pad 1 smd rect (at 0 0) (size 0.6 0.6) (layers F.Cu) (net {net} N{net}))\
             (pad 2 smd rect (at 2.5 0) (size 0.6 0.6) (layers F.Cu) (net {net} N{net})))"
        );
    }
    text + ")\n"
}

fn parallel(count: usize) -> String {
    const PITCH: f64 = 0.4;
    let rows = count.div_ceil(8);
    let size = (8.0 * 110.0, (rows + 1) as f64 * PITCH);
    let mut text = sheet(2, count, size);
    plane(&mut text, 1, "B.Cu", size);
    for index in 0..count {
        let (column, row) = (index / rows, index % rows);
        let (x, y) = (5.0 + 110.0 * column as f64, (row as f64 + 0.5) * PITCH);
        track(&mut text, index + 3, "F.Cu", (x, y), (x + 100.0, y));
    }
    text + ")\n"
}

fn tracks(count: usize) -> String {
    const NETS: usize = 2_000;
    let (places, size) = places(count, 1.0);
    let mut text = sheet(2, NETS, size);
    plane(&mut text, 1, "B.Cu", size);
    for (index, (x, y)) in places.enumerate() {
        // Steps, so that nothing is in one line.
        let up = if index.is_multiple_of(2) { 0.3 } else { -0.3 };
        track(
            &mut text,
            3 + index % NETS,
            "F.Cu",
            (x, y),
            (x + 0.6, y + up),
        );
    }
    text + ")\n"
}

fn vias(count: usize) -> String {
    let (places, size) = places(count, 1.5);
    let mut text = sheet(4, count, size);
    plane(&mut text, 1, "In1.Cu", size);
    plane(&mut text, 1, "In2.Cu", size);
    for (net, (x, y)) in (3..).zip(places) {
        track(&mut text, net, "F.Cu", (x - 0.6, y), (x, y));
        track(&mut text, net, "B.Cu", (x, y), (x + 0.6, y));
        let _ = writeln!(
            text,
            "(via (at {x} {y}) (size 0.5) (drill 0.25) (layers F.Cu B.Cu) (net {net}))"
        );
    }
    text + ")\n"
}

fn pours(count: usize) -> String {
    let (places, size) = places(count, 3.0);
    let mut text = sheet(2, 1, size);
    for (x, y) in places {
        zone(&mut text, 1, "F.Cu", (x, y), (x + 2.0, y + 2.0));
    }
    text + ")\n"
}

fn pins(count: usize) -> String {
    let (places, size) = places(count, 2.0);
    let mut text = sheet(2, 1, size);
    plane(&mut text, 1, "B.Cu", size);
    let _ = writeln!(
        text,
        "(footprint b (layer F.Cu) (at 0 0) (fp_text reference U1 (at 0 0))\
         (pad 1 smd rect (at {0} {0}) (size {1} {1}) (layers F.Cu) (net 1 GND)))",
        size.0 / 2.0,
        size.0
    );
    for (index, (x, y)) in places.enumerate() {
        let _ = writeln!(
            text,
            "(footprint c (layer F.Cu) (at {x} {y}) (fp_text reference C{index} (at 0 0))\
             (pad 1 smd rect (at 0 0) (size 0.6 0.6) (layers F.Cu) (net 1 GND))\
             (pad 2 smd rect (at 0.9 0) (size 0.6 0.6) (layers F.Cu) (net 2 +3V3)))"
        );
    }
    text + ")\n"
}
