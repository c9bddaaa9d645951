//! The holes that a net's own vias and plated pads leave in planes. They are no gaps of its return path: the current
//! changes layers there anyway.

use super::{Joint, Places, joints};
use crate::board::{Board, NetId};
use crate::geometry::Segment;
use crate::observer::Stop;

/// How far a plane usually stays away from a hole's copper, in mm.
const CLEARANCE_MM: f64 = 0.7;

/// Antipads of a board.
pub(crate) struct Antipads {
    joints: Places<Joint>,
    radius_max: f64,
}

impl Antipads {
    pub(crate) fn new(board: &Board, stop: Stop<'_>) -> Self {
        let vias = board.vias.iter().map(|via| via.size / 2.0);
        let radii = vias.chain(board.pads.iter().map(crate::board::Pad::reach));
        Self {
            radius_max: radii.fold(0.0, f64::max) + CLEARANCE_MM,
            joints: joints(board, stop),
        }
    }

    /// The parts of `line`, 0 to 1, in antipads of `net`.
    pub(crate) fn cut(&self, net: NetId, line: &Segment) -> Vec<(f64, f64)> {
        let near = self
            .joints
            .along(line, self.radius_max)
            .filter(|(_, joint)| joint.net == net);
        near.filter_map(|(at, joint)| line.inside_disc(at, joint.radius + CLEARANCE_MM))
            .collect()
    }
}
