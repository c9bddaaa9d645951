//! The order of a board's parts, which depends on nothing but the board.

use super::{Board, NetId};
use crate::geometry::{Bounds, Point};

impl Board {
    /// Puts everything in the board's own order and drops nets that nothing is on.
    pub(crate) fn put_in_order(&mut self) {
        self.snap();
        self.order_nets();
        let names: Vec<String> = self.nets.iter().map(|net| net.name.clone()).collect();
        let point = |p: Point, q: Point| p.order(q);
        self.tracks.sort_by(|x, y| {
            (x.net, x.layer)
                .cmp(&(y.net, y.layer))
                .then(point(x.line.a, y.line.a))
                .then(point(x.line.b, y.line.b))
        });
        self.outline
            .sort_by(|x, y| point(x.a, y.a).then(point(x.b, y.b)));
        self.vias.sort_by(|x, y| {
            (x.net, x.span)
                .cmp(&(y.net, y.span))
                .then(point(x.at, y.at))
        });
        self.fills.sort_by(|x, y| {
            // In µm²: the last digits of equal areas depend on where they are.
            let size = |area: f64| (area * 1e6).round();
            let by_size = size(y.area).total_cmp(&size(x.area));
            x.layer
                .cmp(&y.layer)
                .then(names[x.net].cmp(&names[y.net]))
                .then(by_size)
                .then(point(x.bounds.min, y.bounds.min))
                .then(point(x.bounds.max, y.bounds.max))
        });
        self.order_footprints();
    }

    fn order_nets(&mut self) {
        let mut is_used = vec![false; self.nets.len()];
        let nets = self
            .tracks
            .iter()
            .map(|t| t.net)
            .chain(self.vias.iter().map(|v| v.net));
        for net in nets
            .chain(self.pads.iter().map(|p| p.net))
            .chain(self.fills.iter().map(|f| f.net))
        {
            is_used[net] = true;
        }
        let mut order: Vec<NetId> = (0..self.nets.len()).filter(|net| is_used[*net]).collect();
        order.sort_by(|x, y| self.nets[*x].name.cmp(&self.nets[*y].name));
        let mut place = vec![0; self.nets.len()];
        for (to, from) in order.iter().enumerate() {
            place[*from] = to;
        }
        self.nets = order
            .iter()
            .map(|net| std::mem::take(&mut self.nets[*net]))
            .collect();
        self.tracks
            .iter_mut()
            .for_each(|track| track.net = place[track.net]);
        self.vias
            .iter_mut()
            .for_each(|via| via.net = place[via.net]);
        self.pads
            .iter_mut()
            .for_each(|pad| pad.net = place[pad.net]);
        self.fills
            .iter_mut()
            .for_each(|fill| fill.net = place[fill.net]);
    }

    fn order_footprints(&mut self) {
        let mut order: Vec<usize> = (0..self.footprints.len()).collect();
        order.sort_by(|x, y| {
            let (x, y) = (&self.footprints[*x], &self.footprints[*y]);
            x.reference.cmp(&y.reference).then(x.at.order(y.at))
        });
        let mut place = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            place[*from] = to;
        }
        for pad in &mut self.pads {
            pad.footprint = place[pad.footprint];
        }
        self.pads.sort_by(|x, y| {
            x.footprint
                .cmp(&y.footprint)
                .then_with(|| x.number.cmp(&y.number))
                .then(x.at.order(y.at))
        });
        self.footprints = order
            .iter()
            .map(|at| std::mem::take(&mut self.footprints[*at]))
            .collect();
        for footprint in &mut self.footprints {
            footprint.pads.clear();
            footprint.nets.clear();
            footprint.bounds = Bounds::EMPTY;
        }
        for (index, pad) in self.pads.iter().enumerate() {
            let footprint = &mut self.footprints[pad.footprint];
            footprint.pads.push(index);
            footprint.bounds.add(pad.bounds.min);
            footprint.bounds.add(pad.bounds.max);
            if !self.nets[pad.net].name.is_empty() {
                footprint.nets.push(pad.net);
            }
        }
        for footprint in &mut self.footprints {
            footprint.nets.sort_unstable();
            footprint.nets.dedup();
        }
    }
}
