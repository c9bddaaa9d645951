//! The loops that the current of a net makes with its return.

use super::Context;
use super::walk::{DETOUR_MM_MAX, GAP_HEIGHTS_MIN, Under, detour, places, walk};
use crate::board::NetId;
use crate::copper::TrackRun;
use crate::observer::Cancelled;

/// The loops of a net.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Loops {
    /// Tracks over planes: length times height, in mm².
    pub(crate) covered_mm2: f64,
    /// Stretches without plane: length times detour, in mm².
    pub(crate) gaps_mm2: f64,
    /// Length of all tracks in mm.
    pub(crate) length_mm: f64,
    /// Length of tracks on layers without a plane beside, which are reckoned as gaps of the longest detour, in mm.
    pub(crate) open_mm: f64,
}

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

/// The loops of a net.
pub(crate) fn loops(context: &Context<'_>, net: NetId) -> Result<Loops, Cancelled> {
    let mut all = Loops::default();
    for run in context.runs_of(net) {
        context.go_on()?;
        all = all.with(of_run(context, run));
    }
    Ok(all)
}

fn of_run(context: &Context<'_>, run: &TrackRun) -> Loops {
    let length_mm = run.length();
    let Some(nearest) = context.planes.references(run.layer).first() else {
        return Loops {
            gaps_mm2: length_mm * DETOUR_MM_MAX,
            length_mm,
            open_mm: length_mm,
            ..Loops::default()
        };
    };
    let mut covered_mm2: f64 = run
        .lines
        .iter()
        .flat_map(|line| {
            let length = line.length();
            let pieces = context.planes.pieces(run.layer, line).into_iter();
            pieces.filter_map(move |piece| {
                let plane = context.board.fills[*piece.over.first()?].layer;
                let height = context.board.stackup.distance(run.layer, plane);
                Some((piece.to - piece.from) * length * height)
            })
        })
        .sum();
    let mut gaps_mm2 = 0.0;
    for ground in walk(context, run) {
        let is_bridged = ground.length() <= GAP_HEIGHTS_MIN * nearest.height;
        match ground.under {
            Under::Planes(_) => {}
            Under::Nothing if !is_bridged => {
                let around = detour(context, run, &places(run, &ground)).max(nearest.height);
                gaps_mm2 += ground.length() * around;
            }
            Under::Nothing | Under::Antipad => covered_mm2 += ground.length() * nearest.height,
        }
    }
    Loops {
        covered_mm2,
        gaps_mm2,
        length_mm,
        open_mm: 0.0,
    }
}
