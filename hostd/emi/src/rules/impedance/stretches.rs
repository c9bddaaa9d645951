//! Stretches of a net that have one cross-section.

use std::collections::BTreeMap;

use super::Scope;
use crate::board::{LayerId, NetId};
use crate::copper::Run;
use crate::geometry::Point;

/// What decides the impedance of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) layer: LayerId,
    /// In nanometres.
    width_nm: u64,
    /// Whether there is a plane on the layer above.
    pub(super) above: bool,
    /// Whether there is a plane on the layer below.
    pub(super) below: bool,
}

impl Shape {
    pub(super) fn width_mm(&self) -> f64 {
        self.width_nm as f64 / 1e6
    }
}

/// All stretches of a net with one shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stretch {
    /// Of all of them.
    pub(super) total_mm: f64,
    /// Of the longest in one piece.
    pub(super) longest_mm: f64,
    /// The middle of that one.
    pub(super) at: Point,
}

/// A stretch in one piece, in mm from the beginning of its run.
struct Piece {
    shape: Shape,
    from: f64,
    to: f64,
}

/// The stretches of a net over planes, by their shape.
pub(super) fn stretches(scope: &Scope<'_>, net: NetId) -> BTreeMap<Shape, Stretch> {
    let mut found: BTreeMap<Shape, Stretch> = BTreeMap::new();
    for run in scope.runs_of(net) {
        if scope.is_stopped() {
            break;
        }
        for piece in pieces(scope, run) {
            let length = piece.to - piece.from;
            let stretch = found.entry(piece.shape).or_default();
            stretch.total_mm += length;
            // Equal to a rounding error is equal, so that it does not matter which end of a net comes first in its file.
            if stretch.longest_mm + 1e-9 < length {
                stretch.longest_mm = length;
                stretch.at = run.at(piece.from.midpoint(piece.to));
            }
        }
    }
    found
}

fn pieces(scope: &Scope<'_>, run: &Run) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut start = 0.0;
    for (line, width) in run.lines.iter().zip(&run.widths) {
        let length = line.length();
        for part in scope.planes.pieces(run.layer, line) {
            let (from, to) = (start + part.from * length, start + part.to * length);
            let has = |layer: Option<LayerId>| {
                part.over
                    .iter()
                    .any(|fill| Some(scope.board.fills[*fill].layer) == layer)
            };
            let (above, below) = (has(run.layer.checked_sub(1)), has(Some(run.layer + 1)));
            if !(above || below) || to <= from {
                continue;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "widths are bounded and not negative"
            )]
            let width_nm = (width.max(0.0) * 1e6).round() as u64;
            let shape = Shape {
                layer: run.layer,
                width_nm,
                above,
                below,
            };
            match pieces.last_mut() {
                Some(last) if last.shape == shape && from <= last.to + 1e-9 => last.to = to,
                _ => pieces.push(Piece { shape, from, to }),
            }
        }
        start += length;
    }
    pieces
}
