//! Points in copper against Shapely, on boards that `cargo xtask emi-boards` fetches. A program in Python reads the boards
//! by itself, so that neither reader nor geometry are shared with what is tested.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cover::FillIndex;
use crate::board::Board;
use crate::geometry::Point;
use crate::kicad;
use crate::limits::Limits;

/// Points on each board.
const POINTS: usize = 20_000;

/// Reads a board and, from its input, a layer and a point a line; prints a digit for each.
const PROGRAM: &str = r#"
import re, sys
import numpy, shapely

def read(text):
    open_lists = [[]]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+', text):
        if word == "(":
            open_lists.append([])
        elif word == ")":
            done = open_lists.pop()
            open_lists[-1].append(done)
        else:
            open_lists[-1].append(word.strip('"'))
    return open_lists[0][0]

def first(node, name):
    return next((item for item in node if isinstance(item, list) and item and item[0] == name), None)

board = read(open(sys.argv[1], encoding="utf-8").read())
layers = {}
def zones(node):
    for item in node:
        if isinstance(item, list) and item:
            if item[0] == "zone":
                yield item
            elif item[0] in ("module", "footprint"):
                yield from zones(item)
for zone in zones(board):
    least = first(zone, "min_thickness")
    solid = first(zone, "filled_areas_thickness")
    pen = 0.0 if solid and solid[1] == "no" else float(least[1]) / 2 if least else 0.0
    own = first(zone, "layer")
    for fill in zone:
        if isinstance(fill, list) and fill and fill[0] == "filled_polygon":
            layer = first(fill, "layer") or own
            ring = [(float(p[1]), float(p[2])) for p in first(fill, "pts")[1:] if p[0] == "xy"]
            if len(ring) > 2:
                layers.setdefault(layer[1], []).append((ring, pen))
points = {}
for index, line in enumerate(sys.stdin):
    layer, x, y = line.rsplit(" ", 2)
    points.setdefault(layer, []).append((index, float(x), float(y)))
answers = {}
for layer, listed in points.items():
    xs = numpy.array([p[1] for p in listed])
    ys = numpy.array([p[2] for p in listed])
    inside = numpy.zeros(len(listed), dtype=bool)
    for ring, pen in layers.get(layer, []):
        polygon = shapely.Polygon(ring)
        shapely.prepare(polygon)
        inside |= shapely.contains_xy(polygon, xs, ys)
        if pen > 0:
            line = shapely.LinearRing(ring)
            shapely.prepare(line)
            inside |= shapely.dwithin(line, shapely.points(xs, ys), pen)
    for (index, _, _), found in zip(listed, inside):
        answers[index] = found
print("".join("1" if answers[i] else "0" for i in range(len(answers))))
"#;

/// The boards: 0.7 to 7.4 MB, of formats up to KiCad 6 and of KiCad 8.
const BOARDS: [&str; 5] = [
    "kicad-demos/usr/share/kicad/demos/video/video.kicad_pcb",
    "kicad-demos/usr/share/kicad/demos/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb",
    "kicad-demos/usr/share/kicad/demos/stickhub/StickHub.kicad_pcb",
    "kicad-demos/usr/share/kicad/demos/pic_programmer/pic_programmer.kicad_pcb",
    "edea/edea-0.8.4/tests/kicad_projects/leako/ColecoVision Clone.kicad_pcb",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/emi-boards")
}

#[allow(clippy::print_stderr, reason = "says why nothing was tested")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}; `cargo xtask emi-boards` fetches it");
}

/// A Python that has Shapely.
fn python() -> Option<PathBuf> {
    let own = folder().join("python/bin/python3");
    let candidates = [own, PathBuf::from("python3")];
    candidates.into_iter().find(|python| {
        let mut command = Command::new(python);
        let output = command.args(["-c", "import numpy, shapely"]).output();
        output.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn points_are_in_copper_where_shapely_says_so() {
    let Some(python) = python() else {
        return skipped("there is no Python with Shapely");
    };
    for (seed, name) in (0_u64..).zip(BOARDS) {
        let path = folder().join(name);
        let Ok(bytes) = std::fs::read(&path) else {
            skipped(&format!("there is no {name}"));
            continue;
        };
        let board = kicad::read(&bytes, &Limits::default()).expect("the board is whole");
        let points = points(&board, seed);
        let expected = answers(&python, &path, &board, &points);
        let own = own(&board, &points);
        assert_eq!(expected.len(), own.len(), "{name}");
        let apart = expected
            .bytes()
            .zip(&own)
            .filter(|(x, y)| (*x == b'1') != **y);
        assert_eq!(apart.count(), 0, "{name}");
        let inside = own.iter().filter(|inside| **inside).count();
        assert!(POINTS / 50 < inside && inside < POINTS, "{name}: {inside}");
    }
}

/// Points all over the board, on layers with copper.
fn points(board: &Board, seed: u64) -> Vec<(usize, Point)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let bounds = board.bounds().grown(1.0);
    let layers: Vec<usize> = (0..board.layers.len())
        .filter(|layer| board.fills.iter().any(|fill| fill.layer == *layer))
        .collect();
    (0..POINTS)
        .map(|_| {
            let x = bounds.min.x + random.f64() * bounds.width();
            let y = bounds.min.y + random.f64() * bounds.height();
            (layers[random.usize(..layers.len())], Point::new(x, y))
        })
        .collect()
}

fn own(board: &Board, points: &[(usize, Point)]) -> Vec<bool> {
    let of_layer = |layer: usize| {
        let fills = (0..board.fills.len()).filter(|index| board.fills[*index].layer == layer);
        FillIndex::new(&board.fills, fills.collect(), &|| false)
    };
    let indices: Vec<FillIndex> = (0..board.layers.len()).map(of_layer).collect();
    let is_inside = |(layer, point): &(usize, Point)| indices[*layer].at(*point).next().is_some();
    points.iter().map(is_inside).collect()
}

/// What Shapely says of each point: `1` or `0`.
fn answers(python: &Path, path: &Path, board: &Board, points: &[(usize, Point)]) -> String {
    let mut child = Command::new(python)
        .args(["-c", PROGRAM])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it started before");
    let mut asked = String::new();
    for (layer, point) in points {
        let name = &board.layers[*layer].name;
        asked += &format!("{name} {:?} {:?}\n", point.x, point.y);
    }
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(asked.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the program failed");
    let text = String::from_utf8(output.stdout).expect("it prints digits");
    text.trim().to_owned()
}
