//! A board as a picture: what SVG, PNG and the geometry for viewers are written from. However large a board is, its picture
//! is bounded: outlines of pours become coarser, then the smallest pieces are left out.

mod outline;
mod simplify;

use crate::board::{Board, LayerId, NetId, Pad, Side};
use crate::geometry::{Point, Shape};
use crate::plain::NAME_CHARS_MAX;
use outline::chains;
use simplify::simplified;

/// Units of a picture's coordinates in a millimetre.
pub(crate) const UNITS_PER_MM: f64 = 100.0;

/// Most points of a picture; each piece counts as one more.
pub const POINTS_MAX: usize = 400_000;

/// How far outlines may be from what they are, in mm: the first with which the picture is small enough, or the last.
const TOLERANCES_MM: [f64; 7] = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// Most parts whose references are shown.
const LABELS_MAX: usize = 5000;

/// Width of a letter as a part of its height.
const LETTER_WIDTH: f64 = 0.65;

/// A point in units, from the top left, y down.
pub(crate) type Dot = (i32, i32);

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Pour,
    Track,
    Pad,
    Via,
    Hole,
}

/// A piece of copper, or a hole.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// `None`: it goes through several.
    pub(crate) layer: Option<LayerId>,
    pub(crate) net: NetId,
    /// A dot, a line or a ring.
    pub(crate) points: Vec<Dot>,
    /// How thick its line is drawn, in thousandths of a millimetre.
    pub(crate) width_um: i32,
    /// Its extent in units.
    extent: i32,
}

/// The reference of a part.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) at: Dot,
    /// Height of its letters in units.
    pub(crate) height: i32,
    pub(crate) side: Side,
}

/// A picture of a board.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) width: i32,
    pub(crate) height: i32,
    /// In order of layer, kind, net and width, what goes through last.
    pub(crate) pieces: Vec<Piece>,
    /// The board's edge, as chains of points.
    pub(crate) outline: Vec<Vec<Dot>>,
    pub(crate) labels: Vec<Label>,
    /// How far outlines are from what they are at most, in mm.
    pub(crate) tolerance_mm: f64,
    /// How many pieces are left out.
    pub(crate) left_out: usize,
    /// The place of its top left corner on the board.
    pub(crate) origin: Point,
}

impl Drawing {
    /// The picture of a board.
    pub(crate) fn of(board: &Board) -> Self {
        let bounds = board.bounds();
        let (origin, size) = if bounds.is_empty() {
            (Point::default(), Point::default())
        } else {
            (bounds.min, Point::new(bounds.width(), bounds.height()))
        };
        let frame = Frame { origin };
        let mut drawing = Self {
            width: units(size.x),
            height: units(size.y),
            pieces: Vec::new(),
            outline: chains(
                board
                    .outline
                    .iter()
                    .map(|side| (frame.dot(side.a), frame.dot(side.b))),
            ),
            labels: labels(board, &frame),
            tolerance_mm: 0.0,
            left_out: 0,
            origin,
        };
        for tolerance in TOLERANCES_MM {
            drawing.pieces = pieces(board, &frame, tolerance);
            drawing.tolerance_mm = tolerance;
            if cost(&drawing.pieces) <= POINTS_MAX {
                break;
            }
        }
        drawing.leave_out();
        drawing.pieces.sort_by(|x, y| {
            let order = |piece: &Piece| {
                (
                    piece.layer.is_none(),
                    piece.layer,
                    piece.kind,
                    piece.net,
                    piece.width_um,
                )
            };
            order(x).cmp(&order(y))
        });
        drawing
    }

    /// Drops the smallest pieces until the rest is few enough.
    fn leave_out(&mut self) {
        let mut cost = cost(&self.pieces);
        if cost <= POINTS_MAX {
            return;
        }
        self.pieces.sort_by_key(|piece| piece.extent);
        let mut dropped = 0;
        while POINTS_MAX < cost && dropped < self.pieces.len() {
            cost -= cost_of(&self.pieces[dropped]);
            dropped += 1;
        }
        self.pieces.drain(..dropped);
        self.left_out = dropped;
    }

    /// Whether the outline consists of rings, so that inside and outside are told apart.
    pub(crate) fn is_closed(&self) -> bool {
        !self.outline.is_empty()
            && self
                .outline
                .iter()
                .all(|chain| chain.first() == chain.last())
    }

    /// A place in board space, which is millimetres from the bottom left, y up.
    pub(crate) fn dot(&self, x: f64, y: f64) -> Dot {
        (units(x), self.height.saturating_sub(units(y)))
    }

    /// What to say about what it does not show; empty if it shows everything as it is.
    pub(crate) fn note(&self) -> Option<String> {
        (0 < self.left_out).then(|| {
            format!(
                "The picture leaves out the {} smallest pieces of copper of this board, and outlines are up to {} mm off.",
                self.left_out, self.tolerance_mm
            )
        })
    }
}

/// Where the picture is in the file.
struct Frame {
    origin: Point,
}

impl Frame {
    fn dot(&self, point: Point) -> Dot {
        let from = point - self.origin;
        (units(from.x), units(from.y))
    }

    fn dots(&self, points: &[Point]) -> Vec<Dot> {
        points.iter().map(|point| self.dot(*point)).collect()
    }
}

/// Millimetres in units.
#[expect(
    clippy::cast_possible_truncation,
    reason = "coordinates are within bounds, and it saturates"
)]
pub(crate) fn units(mm: f64) -> i32 {
    (mm * UNITS_PER_MM).round() as i32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "measures are within bounds, and it saturates"
)]
fn thousandths(mm: f64) -> i32 {
    (mm * 1e3).round() as i32
}

fn cost(pieces: &[Piece]) -> usize {
    pieces.iter().map(cost_of).sum()
}

fn cost_of(piece: &Piece) -> usize {
    piece.points.len() + 1
}

fn piece(kind: Kind, layer: Option<LayerId>, net: NetId, points: Vec<Dot>, width_mm: f64) -> Piece {
    let range = |of: fn(&Dot) -> i32| {
        let low = points.iter().map(of).min().unwrap_or_default();
        let high = points.iter().map(of).max().unwrap_or_default();
        high.saturating_sub(low)
    };
    let extent = range(|dot| dot.0).max(range(|dot| dot.1));
    Piece {
        kind,
        layer,
        net,
        extent: extent.saturating_add(units(width_mm)),
        points,
        width_um: thousandths(width_mm),
    }
}

fn pieces(board: &Board, frame: &Frame, tolerance: f64) -> Vec<Piece> {
    let pours = board.fills.iter().map(|fill| {
        let points = simplified(&fill.shape.points, tolerance);
        let width = 2.0 * fill.shape.radius;
        piece(
            Kind::Pour,
            Some(fill.layer),
            fill.net,
            frame.dots(&points),
            width,
        )
    });
    let tracks = board.tracks.iter().map(|track| {
        let points = frame.dots(&[track.line.a, track.line.b]);
        piece(
            Kind::Track,
            Some(track.layer),
            track.net,
            points,
            track.width,
        )
    });
    let pads = board
        .pads
        .iter()
        .flat_map(|pad| of_pad(pad, frame, tolerance));
    let vias = board.vias.iter().flat_map(|via| {
        let dot = |kind, width| piece(kind, None, via.net, frame.dots(&[via.at]), width);
        [dot(Kind::Via, via.size), dot(Kind::Hole, via.drill)]
    });
    pours.chain(tracks).chain(pads).chain(vias).collect()
}

/// A pad of one form is drawn once, on its layer or through several; one of several forms on each of its layers.
fn of_pad<'a>(pad: &'a Pad, frame: &'a Frame, tolerance: f64) -> impl Iterator<Item = Piece> + 'a {
    let has_one_form = pad.elsewhere.is_empty();
    let only = (pad.layers.count() == 1)
        .then(|| pad.layers.top())
        .flatten();
    let usual = pad.shapes.iter().map(move |shape| (only, shape));
    let usual = usual.filter(move |_| has_one_form && !pad.layers.is_empty());
    let layers = pad.layers.layers().filter(move |_| !has_one_form);
    let by_layer = layers.flat_map(|layer| {
        let shapes = pad.shapes_on(layer).iter();
        shapes.map(move |shape| (Some(layer), shape))
    });
    usual.chain(by_layer).map(move |(layer, shape)| {
        let points = of_shape(shape, tolerance);
        piece(
            Kind::Pad,
            layer,
            pad.net,
            frame.dots(&points),
            2.0 * shape.radius,
        )
    })
}

/// The points of a shape, rings in one direction: pads of several overlapping shapes are drawn as one path.
fn of_shape(shape: &Shape, tolerance: f64) -> Vec<Point> {
    let mut points = simplified(&shape.points, tolerance);
    let turns: f64 = points
        .iter()
        .zip(points.iter().cycle().skip(1))
        .map(|(a, b)| a.cross(*b))
        .sum();
    if turns < 0.0 {
        points.reverse();
    }
    points
}

/// The references of parts, so high that they fit into their parts.
fn labels(board: &Board, frame: &Frame) -> Vec<Label> {
    let parts = board.footprints.iter().take(LABELS_MAX);
    let named = parts.filter(|part| !part.reference.is_empty() && !part.bounds.is_empty());
    named
        .map(|part| {
            let (width, height) = (part.bounds.width(), part.bounds.height());
            let letters = part.reference.chars().take(NAME_CHARS_MAX).count() as f64;
            let fitting = (width / (LETTER_WIDTH * letters)).min(0.6 * width.min(height));
            Label {
                text: part.reference.clone(),
                at: frame.dot(part.bounds.center()),
                height: units(fitting.clamp(0.4, 1.5)),
                side: part.side,
            }
        })
        .collect()
}
