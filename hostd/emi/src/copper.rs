//! Where copper is: indices of a board, and what its planes cover.

mod antipads;
mod contacts;
mod cover;
mod grid;
#[cfg(test)]
mod oracle;
mod places;
mod planes;
mod rows;
mod runs;

pub(crate) use antipads::Antipads;
pub(crate) use contacts::Contacts;
pub(crate) use cover::{FillIndex, union};
pub(crate) use grid::{SegmentGrid, steps, whole};
pub(crate) use places::Places;
pub(crate) use planes::{Planes, Reference, nets as nets_of};
pub(crate) use rows::Rows;
pub(crate) use runs::{TrackRun, chains, runs};

use crate::board::{Board, Hole, LayerSet, NetId};
use crate::observer::Stop;

/// What rounding may take from a distance or add to it, in mm: what is exactly so far as something reaches is within its reach.
/// It is far more than what sums of coordinates lose, and far less than anybody makes; and half a nanometre off whole ones,
/// so that nothing is exactly so far.
pub(crate) const ROUNDING_MM: f64 = 1.5e-6;

/// Copper that joins layers: a via or a plated pad.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    pub(crate) net: NetId,
    pub(crate) span: LayerSet,
    /// Half of its size in mm.
    pub(crate) radius: f64,
}

/// All joints of a board, by place.
pub(crate) fn joints(board: &Board, stop: Stop<'_>) -> Places<Joint> {
    let vias = board.vias.iter().map(|via| {
        let joint = Joint {
            net: via.net,
            span: via.span,
            radius: via.size / 2.0,
        };
        (via.at, joint)
    });
    let all = board.all_layers();
    let plated = board.pads.iter().filter(|pad| pad.hole == Hole::Plated);
    let pads = plated.map(|pad| {
        let joint = Joint {
            net: pad.net,
            span: all,
            radius: pad.reach(),
        };
        (pad.at, joint)
    });
    Places::new(vias.chain(pads), stop)
}
