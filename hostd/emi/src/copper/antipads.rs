//! The holes that a net's own vias and plated pads leave in planes. They are no gaps of its return path: the current
//! changes layers there anyway.

use super::{Joint, Reaching, all_joints};
use crate::board::{Board, NetId};
use crate::geometry::Segment;
use crate::observer::Stop;

/// How far a plane usually stays away from a hole's copper, in mm.
const CLEARANCE_MM: f64 = 0.7;

/// Antipads of a board.
pub(crate) struct Antipads {
    joints: Reaching<Joint>,
}

impl Antipads {
    pub(crate) fn new(board: &Board, stop: Stop<'_>) -> Self {
        let joints = all_joints(board);
        let joints = joints.map(|(at, joint)| (at, joint.radius, joint));
        Self {
            joints: Reaching::new(joints, stop),
        }
    }

    /// The parts of `line`, 0 to 1, in antipads of `net`.
    pub(crate) fn cut(&self, net: NetId, line: &Segment) -> Vec<(f64, f64)> {
        let near = self
            .joints
            .along(line, CLEARANCE_MM)
            .filter(|(_, joint)| joint.net == net);
        near.filter_map(|(at, joint)| line.inside_disc(at, joint.radius + CLEARANCE_MM))
            .collect()
    }
}
