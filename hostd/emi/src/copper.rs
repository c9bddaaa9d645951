//! Where copper is: indices of a board, and what its planes cover.

mod antipads;
mod contacts;
mod cover;
mod grid;
#[cfg(test)]
mod oracle;
mod places;
mod planes;
mod reaching;
mod rims;
mod rows;
mod runs;
mod transfers;
mod ways;

pub(crate) use antipads::Antipads;
pub(crate) use contacts::Contacts;
pub(crate) use cover::{FillIndex, union};
pub(crate) use grid::{SegmentGrid, steps, whole};
pub(crate) use places::Places;
pub(crate) use planes::{Planes, Reference, nets as nets_of};
pub(crate) use reaching::Reaching;
pub(crate) use rows::Rows;
pub(crate) use runs::{TrackRun, chains, key, runs};
pub(crate) use transfers::{Transfer, transfers};
pub(crate) use ways::Way;

use std::collections::HashMap;

use crate::board::{Board, Hole, LayerSet, Net, NetId, NetKind};
use crate::geometry::Point;
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
pub(crate) struct Joints {
    all: Places<Joint>,
    /// Of grounds and supplies, and of nets with many.
    of_nets: HashMap<NetId, Places<Joint>>,
    /// Which nets have an index of their own if they have any joint.
    is_apart: Vec<bool>,
    none: Places<Joint>,
}

/// Nets with so many joints have an index of their own: among thousands of joints of other nets, theirs are far between.
const JOINTS_MIN: usize = 64;

impl Joints {
    pub(crate) fn new(board: &Board, stop: Stop<'_>) -> Self {
        let mut of_nets: HashMap<NetId, Vec<(Point, Joint)>> = HashMap::new();
        for (at, joint) in all_joints(board) {
            of_nets.entry(joint.net).or_default().push((at, joint));
        }
        let carries = |net: &Net| matches!(net.kind, NetKind::Ground | NetKind::Power);
        let is_apart: Vec<bool> = board.nets.iter().map(carries).collect();
        of_nets.retain(|net, joints| is_apart[*net] || JOINTS_MIN <= joints.len());
        let of_nets = of_nets.into_iter();
        Self {
            is_apart,
            none: Places::new([], stop),
            all: Places::new(all_joints(board), stop),
            of_nets: of_nets
                .map(|(net, joints)| (net, Places::new(joints, stop)))
                .collect(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &Places<Joint> {
        &self.all
    }

    /// Those of a net, and perhaps those of others.
    pub(crate) fn among(&self, net: NetId) -> &Places<Joint> {
        match self.of_nets.get(&net) {
            Some(own) => own,
            None if self.is_apart[net] => &self.none,
            None => &self.all,
        }
    }
}

/// All joints of a board, with their places.
pub(crate) fn all_joints(board: &Board) -> impl Iterator<Item = (Point, Joint)> + '_ {
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
    let pads = plated.map(move |pad| {
        let joint = Joint {
            net: pad.net,
            span: all,
            radius: pad.reach(),
        };
        (pad.at, joint)
    });
    vias.chain(pads)
}
