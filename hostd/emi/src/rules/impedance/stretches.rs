//! Stretches of a net that have one cross-section.

use super::Scope;
use super::beside::{Beside, Look};
use crate::board::{LayerId, NetId};
use crate::copper::TrackRun;

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
    /// What is beside it on its own layer.
    pub(super) beside: Beside,
}

impl Shape {
    pub(super) fn width_mm(&self) -> f64 {
        self.width_nm as f64 / 1e6
    }

    /// How many steps of rounding the gaps of two shapes are apart; `None` unless they differ in nothing else.
    pub(super) fn apart(&self, other: &Self) -> Option<u32> {
        let trace = |shape: &Self| (shape.layer, shape.width_nm, shape.above, shape.below);
        let is_same = trace(self) == trace(other);
        is_same.then(|| self.beside.apart(&other.beside)).flatten()
    }
}

/// A stretch in one piece, in mm from the beginning of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) shape: Shape,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Piece {
    pub(super) fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// The stretches of a net over planes, run by run.
pub(super) fn stretches(scope: &Scope<'_>, net: NetId, mate: Option<NetId>) -> Vec<Vec<Piece>> {
    let mut found = Vec::new();
    for run in scope.runs_of(net) {
        if scope.is_stopped() {
            break;
        }
        found.push(pieces(scope, run, mate));
    }
    found
}

fn pieces(scope: &Scope<'_>, run: &TrackRun, mate: Option<NetId>) -> Vec<Piece> {
    let Some(nearest) = scope.planes.references(run.layer).first() else {
        return Vec::new();
    };
    let look = Look {
        scope,
        net: run.net,
        layer: run.layer,
        mate,
        height: nearest.height,
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut start = 0.0;
    for (line, width) in run.lines.iter().zip(&run.widths) {
        let length = line.length();
        if scope.is_stopped() {
            break;
        }
        for part in scope.planes.pieces(run.layer, line) {
            let has = |layer: Option<LayerId>| {
                part.over
                    .iter()
                    .any(|fill| Some(scope.board.fills[*fill].layer) == layer)
            };
            let (above, below) = (has(run.layer.checked_sub(1)), has(Some(run.layer + 1)));
            if !(above || below) || part.to <= part.from {
                continue;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "widths are bounded and not negative"
            )]
            let width_nm = (width.max(0.0) * 1e6).round() as u64;
            for part in look.parts(line, *width, part.from, part.to) {
                let shape = Shape {
                    layer: run.layer,
                    width_nm,
                    above,
                    below,
                    beside: part.beside,
                };
                let (from, to) = (start + part.from * length, start + part.to * length);
                if from < to {
                    push(&mut pieces, Piece { shape, from, to });
                }
            }
        }
        start += length;
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        Some(last) if last.shape == piece.shape && touch(last, &piece) => last.to = piece.to,
        _ => pieces.push(piece),
    }
}

/// Whether a piece goes on where another one ends.
pub(super) fn touch(last: &Piece, piece: &Piece) -> bool {
    piece.from <= last.to + 1e-9
}
