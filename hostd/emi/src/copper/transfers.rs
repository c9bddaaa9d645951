//! Where a return current changes from one plane to another: at vias and plated holes of grounds and supplies, and through
//! capacitors between two of them.

use super::Places;
use crate::board::{Board, Fill, Hole, LayerSet, NetId, NetKind};
use crate::observer::Stop;

/// Something that joins planes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// The nets that it joins, the same one twice if it is a via.
    nets: [NetId; 2],
    /// On these layers.
    span: LayerSet,
}

impl Transfer {
    /// Whether it reaches a plane.
    pub(crate) fn reaches(&self, fill: &Fill) -> bool {
        self.nets.contains(&fill.net) && self.span.has(fill.layer)
    }

    /// Whether it joins two planes.
    pub(crate) fn joins(&self, x: &Fill, y: &Fill) -> bool {
        let [first, second] = self.nets;
        let is_both = (x.net, y.net) == (first, second) || (y.net, x.net) == (first, second);
        is_both && self.span.has(x.layer) && self.span.has(y.layer)
    }
}

/// All of a board, by place.
pub(crate) fn transfers(board: &Board, stop: Stop<'_>) -> Places<Transfer> {
    let is_reference =
        |net: NetId| matches!(board.nets[net].kind, NetKind::Ground | NetKind::Power);
    let vias = board.vias.iter().filter(|via| is_reference(via.net));
    let vias = vias.map(|via| {
        let transfer = Transfer {
            nets: [via.net; 2],
            span: via.span,
        };
        (via.at, transfer)
    });
    let all = board.all_layers();
    let holes = board
        .pads
        .iter()
        .filter(|pad| pad.hole == Hole::Plated && is_reference(pad.net));
    let holes = holes.map(|pad| {
        let transfer = Transfer {
            nets: [pad.net; 2],
            span: all,
        };
        (pad.at, transfer)
    });
    let capacitors = board.footprints.iter().filter_map(|part| {
        let [first, second] = part.nets[..] else {
            return None;
        };
        let is_between = part.is_capacitor() && is_reference(first) && is_reference(second);
        let transfer = Transfer {
            nets: [first, second],
            span: all,
        };
        is_between.then(|| (part.bounds.center(), transfer))
    });
    Places::new(vias.chain(holes).chain(capacitors), stop)
}
