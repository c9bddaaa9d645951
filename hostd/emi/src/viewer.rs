//! `board.json`: the board's geometry and what it is made of, for viewers. Lengths are millimetres in board space: from the
//! bottom left of the outline, y up, as findings have them.

use serde::Serialize;

use crate::board::{Board, LayerId, NetKind, Speed};
use crate::drawing::{Dot, Drawing, Kind, Piece, UNITS_PER_MM};

/// Goes up with every change that a viewer would have to know.
const FORMAT_VERSION: u32 = 1;

#[derive(Serialize)]
struct View<'a> {
    format_version: u32,
    layer_count: usize,
    net_count: usize,
    /// Width and height of the box around the outline.
    outline_mm: [f64; 2],
    /// Where the origin of board space is in the file: `x + X`, `Y - y`.
    origin: [f64; 2],
    layers: Vec<Layer<'a>>,
    stackup: Stackup<'a>,
    nets: Vec<Net<'a>>,
    /// Chains of points: x, y, x, y, …
    outline: Vec<Vec<f64>>,
    copper: Vec<Copper>,
    parts: Vec<Part<'a>>,
    /// How far outlines of pours are from what they are at most.
    tolerance_mm: f64,
    /// How many of the smallest pieces are left out.
    left_out: usize,
}

#[derive(Serialize)]
struct Layer<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Stackup<'a> {
    declared: bool,
    copper_mm: &'a [f64],
    gaps: Vec<Gap>,
}

#[derive(Serialize)]
struct Gap {
    thickness_mm: f64,
    epsilon_r: f64,
}

#[derive(Serialize)]
struct Net<'a> {
    name: &'a str,
    kind: &'static str,
    speed: &'static str,
}

/// A piece of copper or a hole.
#[derive(Serialize)]
struct Copper {
    kind: &'static str,
    /// Index in `layers`; left out of what goes through several.
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<LayerId>,
    /// Index in `nets`.
    net: usize,
    /// A point, a line, or a ring to be filled: x, y, x, y, …
    points: Vec<f64>,
    /// Of the line along the points.
    width: f64,
}

#[derive(Serialize)]
struct Part<'a> {
    reference: &'a str,
    value: &'a str,
    at: [f64; 2],
}

/// The file.
pub(crate) fn json(drawing: &Drawing, board: &Board) -> String {
    let corner = board.origin + drawing.origin;
    let view = View {
        format_version: FORMAT_VERSION,
        layer_count: board.layers.len(),
        net_count: board.nets.iter().filter(|net| !net.name.is_empty()).count(),
        outline_mm: [mm(drawing.width), mm(drawing.height)],
        origin: [corner.x, corner.y + mm(drawing.height)],
        layers: board
            .layers
            .iter()
            .map(|layer| Layer {
                name: &layer.name,
                user_name: layer.user_name.as_deref(),
            })
            .collect(),
        stackup: Stackup {
            declared: board.stackup.is_declared,
            copper_mm: &board.stackup.copper,
            gaps: board
                .stackup
                .gaps
                .iter()
                .map(|gap| Gap {
                    thickness_mm: gap.thickness,
                    epsilon_r: gap.epsilon_r,
                })
                .collect(),
        },
        nets: board
            .nets
            .iter()
            .map(|net| Net {
                name: &net.name,
                kind: kind_of(net.kind),
                speed: speed_of(net.speed),
            })
            .collect(),
        outline: drawing
            .outline
            .iter()
            .map(|chain| flat(drawing, chain))
            .collect(),
        copper: drawing
            .pieces
            .iter()
            .map(|piece| copper(drawing, piece))
            .collect(),
        parts: parts(drawing, board),
        tolerance_mm: drawing.tolerance_mm,
        left_out: drawing.left_out,
    };
    serde_json::to_string(&view).unwrap_or_default()
}

fn copper(drawing: &Drawing, piece: &Piece) -> Copper {
    Copper {
        kind: match piece.kind {
            Kind::Pour => "pour",
            Kind::Track => "track",
            Kind::Pad => "pad",
            Kind::Via => "via",
            Kind::Hole => "hole",
        },
        layer: piece.layer,
        net: piece.net,
        points: flat(drawing, &piece.points),
        width: f64::from(piece.width_um) / 1e3,
    }
}

fn parts<'a>(drawing: &Drawing, board: &'a Board) -> Vec<Part<'a>> {
    let parts = board.footprints.iter();
    parts
        .map(|part| {
            let from = part.at - drawing.origin;
            Part {
                reference: &part.reference,
                value: &part.value,
                at: [hundredths(from.x), hundredths(mm(drawing.height) - from.y)],
            }
        })
        .collect()
}

fn flat(drawing: &Drawing, points: &[Dot]) -> Vec<f64> {
    points
        .iter()
        .flat_map(|(x, y)| [mm(*x), mm(drawing.height.saturating_sub(*y))])
        .collect()
}

fn mm(units: i32) -> f64 {
    f64::from(units) / UNITS_PER_MM
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn kind_of(kind: NetKind) -> &'static str {
    match kind {
        NetKind::Ground => "ground",
        NetKind::Power => "power",
        NetKind::Signal => "signal",
        NetKind::None => "none",
    }
}

fn speed_of(speed: Speed) -> &'static str {
    match speed {
        Speed::Fast => "fast",
        Speed::Unknown => "unknown",
        Speed::Slow => "slow",
    }
}
