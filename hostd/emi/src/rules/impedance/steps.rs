//! Where the impedance of a net differs from what it should be, in one piece.

use std::collections::BTreeMap;

use super::lines::Solved;
use super::stretches::{Piece, Shape, touch};
use crate::fields::constants::LIGHT_SPEED;

/// Pieces of one run, one behind the other, all with too much impedance or all with too little.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Index of the run within its net.
    pub(super) run: usize,
    /// In mm from the beginning of the run.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The shape that most of it has, and how much.
    pub(super) shape: Shape,
    shape_mm: f64,
    /// Least and greatest impedance, in Ω.
    pub(super) ohm: (f64, f64),
    /// Of all pieces, in s.
    delay: f64,
    /// Σ length · |Z/wanted − 1|, in mm.
    sum: f64,
    /// Whether it is above what is wanted.
    is_high: bool,
}

impl Step {
    /// How much of an edge goes back, in per cent: the mean deviation, weighed by the time it lasts.
    pub(super) fn value(&self, rise_s: f64) -> f64 {
        100.0 * self.sum / (self.to - self.from) * (2.0 * self.delay / rise_s).min(1.0)
    }
}

/// The steps of a net of more than `limit` (1 is 100 %).
pub(super) fn steps(
    runs: &[Vec<Piece>],
    solved: &BTreeMap<Shape, Solved>,
    wanted: f64,
    limit: f64,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for (run, pieces) in runs.iter().enumerate() {
        let mut open: Option<Step> = None;
        let mut last: Option<&Piece> = None;
        for piece in pieces {
            let next = solved
                .get(&piece.shape)
                .and_then(|line| step(run, piece, line, wanted, limit));
            let goes_on = last.is_some_and(|last| touch(last, piece));
            last = Some(piece);
            match (&mut open, next) {
                (Some(known), Some(next)) if goes_on && known.is_high == next.is_high => {
                    extend(known, next);
                }
                (_, next) => steps.extend(std::mem::replace(&mut open, next)),
            }
        }
        steps.extend(open);
    }
    steps
}

fn step(run: usize, piece: &Piece, line: &Solved, wanted: f64, limit: f64) -> Option<Step> {
    let deviation = line.ohm / wanted - 1.0;
    (limit < deviation.abs()).then(|| Step {
        run,
        from: piece.from,
        to: piece.to,
        shape: piece.shape,
        shape_mm: piece.length(),
        ohm: (line.ohm, line.ohm),
        delay: piece.length() / 1e3 * line.permittivity.sqrt() / LIGHT_SPEED,
        sum: piece.length() * deviation.abs(),
        is_high: deviation > 0.0,
    })
}

fn extend(known: &mut Step, next: Step) {
    known.to = next.to;
    known.ohm = (known.ohm.0.min(next.ohm.0), known.ohm.1.max(next.ohm.1));
    known.delay += next.delay;
    known.sum += next.sum;
    if known.shape_mm + 1e-9 < next.shape_mm {
        (known.shape, known.shape_mm) = (next.shape, next.shape_mm);
    }
}
