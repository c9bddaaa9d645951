//! The loops that the current of a net makes with its return.

use super::Context;
use super::around::{Wanted, gaps};
use super::plane_gap::LEAST_MM;
use super::walk::EDGE_MM_MAX;
use crate::board::NetId;
use crate::copper::{TrackRun, whole};
use crate::observer::Cancelled;

/// The loops of a net.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Loops {
    /// Tracks over planes: length times height, in mm².
    pub(crate) covered_mm2: f64,
    /// The ways of the return current around stretches without plane, in mm².
    pub(crate) gaps_mm2: f64,
    /// Length of all tracks in mm.
    pub(crate) length_mm: f64,
    /// Length of tracks on layers without a plane beside, which are reckoned as if a plane were far away, in mm.
    pub(crate) open_mm: f64,
}

/// Ways around gaps that are no longer than this are not looked at any closer, in mm.
const ENOUGH_MM: f64 = 0.2;

impl Loops {
    fn with(self, other: Self) -> Self {
        Self {
            covered_mm2: self.covered_mm2 + other.covered_mm2,
            gaps_mm2: self.gaps_mm2 + other.gaps_mm2,
            length_mm: self.length_mm + other.length_mm,
            open_mm: self.open_mm + other.open_mm,
        }
    }
}

/// The loops of a clock's net, and of the nets on which it goes on behind a resistor.
pub(crate) fn loops(context: &Context<'_>, net: NetId) -> Result<Loops, Cancelled> {
    let mut all = Loops::default();
    let behind = context.behind.iter().filter(|(clock, _)| *clock == net);
    let nets = std::iter::once(net).chain(behind.map(|(_, other)| *other));
    for run in nets.flat_map(|net| context.runs_of(net)) {
        context.go_on()?;
        all = all.with(of_run(context, run));
    }
    // A run that was left early has not all of its gaps.
    context.go_on()?;
    Ok(all)
}

fn of_run(context: &Context<'_>, run: &TrackRun) -> Loops {
    let length_mm = run.length();
    let Some(nearest) = context.planes.references(run.layer).first() else {
        return beside(context, run);
    };
    let (mut covered_mm2, mut covered_mm) = (0.0, 0.0);
    for line in &run.lines {
        for piece in context.planes.pieces(run.layer, line) {
            let Some(fill) = piece.over.first() else {
                continue;
            };
            let length = (piece.to - piece.from) * line.length();
            let plane = context.board.fills[*fill].layer;
            covered_mm2 += length * context.board.stackup.distance(run.layer, plane);
            covered_mm += length;
        }
    }
    // Over gaps, too, the trace is above the plane of its return.
    covered_mm2 += (length_mm - covered_mm).max(0.0) * nearest.height;
    let wanted = Wanted {
        least: LEAST_MM,
        enough: ENOUGH_MM,
    };
    let mut gaps_mm2 = 0.0;
    for gap in gaps(context, run, wanted) {
        gaps_mm2 += gap.around.loop_mm2;
    }
    Loops {
        covered_mm2,
        gaps_mm2,
        length_mm,
        open_mm: 0.0,
    }
}

/// How often it is looked beside a run, in mm.
const STEP_MM: f64 = 1.0;

/// Without planes above and below: the plane beside the trace on its own layer carries the return.
fn beside(context: &Context<'_>, run: &TrackRun) -> Loops {
    let mut loops = Loops {
        length_mm: run.length(),
        ..Loops::default()
    };
    for line in &run.lines {
        let count = whole(line.length() / STEP_MM) + 1;
        let length = line.length() / count as f64;
        for place in 0..count {
            let at = line.at((place as f64 + 0.5) / count as f64);
            match context.planes.edge_on(run.layer, at, EDGE_MM_MAX) {
                Some(distance) => loops.covered_mm2 += length * distance,
                None => {
                    loops.gaps_mm2 += length * EDGE_MM_MAX;
                    loops.open_mm += length;
                }
            }
        }
    }
    loops
}
