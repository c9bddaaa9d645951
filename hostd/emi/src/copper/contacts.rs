//! What of a net touches what: tracks, vias, pads and fills.

use super::{Places, SegmentGrid};
use crate::board::{Board, Fill, LayerId, LayerSet, NetId, Pad, Via};
use crate::geometry::{Point, Segment};
use crate::observer::Stop;

/// Copper that is nearer than this touches, in mm: what rounding leaves.
const TOUCH_MM: f64 = 0.002;

/// Which copper of a board touches which.
pub(crate) struct Contacts<'a> {
    board: &'a Board,
    tracks: SegmentGrid,
    width_max: f64,
    vias: Places<usize>,
    pads: Places<usize>,
    reach_max: f64,
    size_max: f64,
    /// Fills of each net.
    fills: Vec<Vec<usize>>,
}

impl<'a> Contacts<'a> {
    pub(crate) fn new(board: &'a Board, stop: Stop<'_>) -> Self {
        let mut fills = vec![Vec::new(); board.nets.len()];
        for (index, fill) in board.fills.iter().enumerate() {
            fills[fill.net].push(index);
        }
        Self {
            tracks: SegmentGrid::new(board.tracks.iter().map(|track| track.line).collect(), stop),
            width_max: board
                .tracks
                .iter()
                .map(|track| track.width)
                .fold(0.0, f64::max),
            vias: Places::new(
                board
                    .vias
                    .iter()
                    .enumerate()
                    .map(|(index, via)| (via.at, index)),
                stop,
            ),
            size_max: board.vias.iter().map(|via| via.size).fold(0.0, f64::max),
            pads: Places::new(
                board
                    .pads
                    .iter()
                    .enumerate()
                    .map(|(index, pad)| (pad.bounds.center(), index)),
                stop,
            ),
            reach_max: board.pads.iter().map(Pad::reach).fold(0.0, f64::max),
            board,
            fills,
        }
    }

    /// The tracks whose copper has `point`, by index.
    pub(crate) fn tracks_at(&self, net: NetId, layers: LayerSet, point: Point) -> Vec<usize> {
        let mut found = Vec::new();
        let reach = self.width_max / 2.0 + TOUCH_MM;
        self.tracks
            .along(&Segment::new(point, point), reach, &mut found);
        found.retain(|index| {
            let track = &self.board.tracks[*index];
            let near = track.width / 2.0 + TOUCH_MM;
            track.net == net && layers.has(track.layer) && track.line.distance(point) <= near
        });
        found
    }

    /// The tracks within `reach` of `line` on a layer.
    pub(crate) fn tracks_along(&self, layer: LayerId, line: &Segment, reach: f64) -> Vec<usize> {
        let mut found = Vec::new();
        self.tracks.along(line, reach, &mut found);
        found.retain(|index| self.board.tracks[*index].layer == layer);
        found
    }

    /// The vias whose copper has `point`.
    pub(crate) fn vias_at(
        &self,
        net: NetId,
        layer: LayerId,
        point: Point,
    ) -> impl Iterator<Item = &'a Via> {
        let board = self.board;
        let near = self.vias.within(point, self.size_max / 2.0 + TOUCH_MM);
        let vias: Vec<&Via> = near.map(|(_, index)| &board.vias[*index]).collect();
        vias.into_iter().filter(move |via| {
            via.net == net
                && via.span.has(layer)
                && via.at.distance(point) <= via.size / 2.0 + TOUCH_MM
        })
    }

    /// The pads whose copper is within `reach` of `point`, on any of the layers.
    pub(crate) fn pads_near(
        &self,
        net: NetId,
        layers: LayerSet,
        point: Point,
        reach: f64,
    ) -> impl Iterator<Item = &'a Pad> {
        let board = self.board;
        let near = self.pads.within(point, self.reach_max + reach + TOUCH_MM);
        let pads: Vec<&Pad> = near.map(|(_, index)| &board.pads[*index]).collect();
        pads.into_iter().filter(move |pad| {
            pad.net == net
                && !pad.layers.common(layers).is_empty()
                && pad.distance_within(layers, point) <= reach + TOUCH_MM
        })
    }

    /// Whether a fill of `net` on one of the layers has `point`.
    pub(crate) fn is_in_fill(&self, net: NetId, layers: LayerSet, point: Point) -> bool {
        let fills = self.fills[net]
            .iter()
            .map(|index| &self.board.fills[*index]);
        let mut near = fills.filter(|f| layers.has(f.layer) && f.bounds.contains(point));
        near.any(|fill| fill.shape.distance(point) <= TOUCH_MM)
    }

    /// Whether the end `point` of track `index` touches no via, pad or fill of its net.
    pub(crate) fn ends_alone(&self, index: usize, point: Point) -> bool {
        let track = &self.board.tracks[index];
        let layers = LayerSet::only(track.layer);
        self.vias_at(track.net, track.layer, point).next().is_none()
            && self
                .pads_near(track.net, layers, point, track.width / 2.0)
                .next()
                .is_none()
            && !self.is_in_fill(track.net, layers, point)
    }

    /// The layers of a via's span on which something of its net touches it.
    pub(crate) fn layers_used(&self, via: &Via) -> LayerSet {
        let reach = via.size / 2.0;
        let mut used = LayerSet::NONE;
        let mut near = Vec::new();
        self.tracks
            .along(&Segment::new(via.at, via.at), reach + TOUCH_MM, &mut near);
        for track in near.into_iter().map(|index| &self.board.tracks[index]) {
            let ends_here = track.line.distance(via.at) <= reach + TOUCH_MM;
            if track.net == via.net && ends_here {
                used = used.with(LayerSet::only(track.layer));
            }
        }
        for pad in self.pads_near(via.net, via.span, via.at, reach) {
            if pad.elsewhere.is_empty() {
                used = used.with(pad.layers);
                continue;
            }
            let touches = |layer: &LayerId| {
                let own = LayerSet::only(*layer);
                pad.distance_within(own, via.at) <= reach + TOUCH_MM
            };
            let layers = pad.layers.layers().filter(touches);
            used = layers.fold(used, |set, layer| set.with(LayerSet::only(layer)));
        }
        for fill in self.fills[via.net]
            .iter()
            .map(|index| &self.board.fills[*index])
        {
            if fill.bounds.contains(via.at) && fill.shape.distance(via.at) <= reach {
                used = used.with(LayerSet::only(fill.layer));
            }
        }
        used.common(via.span)
    }

    /// Whether anything of its net touches a fill.
    pub(crate) fn is_connected(&self, index: usize) -> bool {
        let fill = &self.board.fills[index];
        let layer = LayerSet::only(fill.layer);
        let around = Segment::new(fill.bounds.min, fill.bounds.max);
        let (middle, reach) = (fill.bounds.center(), around.length() / 2.0);
        let mut vias = self
            .vias
            .within(middle, reach + self.size_max)
            .map(|(_, index)| &self.board.vias[*index]);
        if vias.any(|via| {
            via.net == fill.net
                && via.span.has(fill.layer)
                && fill.shape.distance(via.at) <= via.size / 2.0
        }) {
            return true;
        }
        let mut pads = self
            .pads
            .within(middle, reach + self.reach_max)
            .map(|(_, index)| &self.board.pads[*index]);
        if pads.any(|pad| {
            pad.net == fill.net && !pad.layers.common(layer).is_empty() && touches(fill, pad)
        }) {
            return true;
        }
        let mut near = Vec::new();
        self.tracks
            .along(&Segment::new(middle, middle), reach, &mut near);
        let mut tracks = near.into_iter().map(|index| &self.board.tracks[index]);
        tracks.any(|track| {
            let is_here = track.net == fill.net && track.layer == fill.layer;
            is_here && fill.shape.distance_to(&track.line) <= track.width / 2.0
        }) || self.touches_fill(index)
    }

    /// Whether another fill of the same net has one of its corners, or the other way round.
    fn touches_fill(&self, index: usize) -> bool {
        let fill = &self.board.fills[index];
        let of_net = self.fills[fill.net].iter().filter(|other| **other != index);
        let mut others = of_net.map(|other| &self.board.fills[*other]);
        let has_corner = |x: &Fill, y: &Fill| {
            let mut near = y
                .shape
                .points
                .iter()
                .filter(|corner| x.bounds.grown(TOUCH_MM).contains(**corner));
            near.any(|corner| x.shape.distance(*corner) <= TOUCH_MM)
        };
        others.any(|other| {
            let is_near =
                other.layer == fill.layer && other.bounds.meets(&fill.bounds.grown(TOUCH_MM));
            is_near && (has_corner(other, fill) || has_corner(fill, other))
        })
    }
}

fn touches(fill: &Fill, pad: &Pad) -> bool {
    fill.bounds.meets(&pad.bounds)
        && pad
            .shapes_on(fill.layer)
            .iter()
            .any(|shape| fill.shape.gap(shape) <= TOUCH_MM)
}
