//! What of a net touches what: tracks, vias, pads and fills.

use std::sync::OnceLock;

use super::{FillIndex, Reaching, Rows, SegmentGrid};
use crate::board::{Board, Fill, LayerId, LayerSet, NetId, Pad, Track, Via};
use crate::geometry::{Bounds, Point, Segment};
use crate::observer::Stop;

/// Copper that is nearer than this touches, in mm: what rounding leaves.
const TOUCH_MM: f64 = 0.002;

/// Wider tracks are kept apart from the others, in mm, so that one of them does not make every search a wide one.
const WIDE_MM: f64 = 1.0;

/// Nets with more fills have them sorted by height.
const FILLS_MAX: usize = 16;

/// Fills with more sides are asked through an index.
const SIDES_MAX: usize = 256;

/// Tracks of one layer of which none is wider than `width_max`.
struct Tracks {
    grid: SegmentGrid,
    /// Indices in the board.
    indices: Vec<usize>,
    width_max: f64,
}

impl Tracks {
    fn new(board: &Board, indices: Vec<usize>, stop: Stop<'_>) -> Self {
        let tracks = || indices.iter().map(|index| &board.tracks[*index]);
        Self {
            grid: SegmentGrid::new(tracks().map(|track| track.line).collect(), stop),
            width_max: tracks().map(|track| track.width).fold(0.0, f64::max),
            indices,
        }
    }

    /// Adds the tracks whose middle line is within `reach` of `line`, and a few more.
    fn along(&self, line: &Segment, reach: f64, found: &mut Vec<usize>) {
        if self.indices.is_empty() {
            return;
        }
        let mut near = Vec::new();
        self.grid.along(line, reach, &mut near);
        found.extend(near.into_iter().map(|index| self.indices[index]));
    }
}

/// The fills of a net.
struct Fills {
    /// Indices in the board.
    all: Vec<usize>,
    by_height: Option<Rows<usize>>,
}

impl Fills {
    fn new(board: &Board, all: Vec<usize>, stop: Stop<'_>) -> Self {
        let by_height = (FILLS_MAX < all.len()).then(|| {
            let heights = all.iter().map(|index| {
                let bounds = board.fills[*index].bounds;
                (bounds.min.y, bounds.max.y, *index)
            });
            Rows::new(&heights.collect::<Vec<_>>(), stop)
        });
        Self { all, by_height }
    }

    /// Whether `is` holds for one of those that may be in a box; it may be asked about some of them more than once.
    fn any(&self, within: &Bounds, mut is: impl FnMut(usize) -> bool) -> bool {
        match &self.by_height {
            Some(rows) => rows.between(within.min.y, within.max.y).any(is),
            None => self.all.iter().any(|index| is(*index)),
        }
    }
}

/// Which copper of a board touches which.
pub(crate) struct Contacts<'a> {
    board: &'a Board,
    /// Of each layer: narrow ones and wide ones.
    tracks: Vec<[Tracks; 2]>,
    vias: Reaching<usize>,
    pads: Reaching<usize>,
    /// Of each net.
    fills: Vec<Fills>,
    /// Fills of each layer with many sides, once somebody has asked for one.
    large: OnceLock<Vec<FillIndex>>,
}

impl<'a> Contacts<'a> {
    pub(crate) fn new(board: &'a Board, stop: Stop<'_>) -> Self {
        let mut fills = vec![Vec::new(); board.nets.len()];
        for (index, fill) in board.fills.iter().enumerate() {
            fills[fill.net].push(index);
        }
        let mut tracks = vec![[Vec::new(), Vec::new()]; board.layers.len()];
        for (index, track) in board.tracks.iter().enumerate() {
            tracks[track.layer][usize::from(WIDE_MM < track.width)].push(index);
        }
        let vias = board.vias.iter().enumerate();
        let pads = board.pads.iter().enumerate();
        Self {
            tracks: tracks
                .into_iter()
                .map(|of_layer| of_layer.map(|indices| Tracks::new(board, indices, stop)))
                .collect(),
            vias: Reaching::new(
                vias.map(|(index, via)| (via.at, via.size / 2.0, index)),
                stop,
            ),
            pads: Reaching::new(
                pads.map(|(index, pad)| (pad.bounds.center(), pad.reach(), index)),
                stop,
            ),
            fills: fills
                .into_iter()
                .map(|of_net| Fills::new(board, of_net, stop))
                .collect(),
            large: OnceLock::new(),
            board,
        }
    }

    /// Whether a fill's copper is within `reach` of `point`.
    fn is_near_fill(&self, index: usize, point: Point, reach: f64) -> bool {
        let fill = &self.board.fills[index];
        if !fill.bounds.grown(reach).contains(point) {
            return false;
        }
        if fill.shape.points.len() <= SIDES_MAX {
            return fill.shape.distance(point) <= reach;
        }
        let large = self.large.get_or_init(|| self.large_fills());
        large[fill.layer].near(point, reach).contains(&index)
    }

    fn large_fills(&self) -> Vec<FillIndex> {
        let fills = &self.board.fills;
        let is_large = |index: &usize| SIDES_MAX < fills[*index].shape.points.len();
        let mut of_layers = vec![Vec::new(); self.board.layers.len()];
        for index in (0..fills.len()).filter(is_large) {
            of_layers[fills[index].layer].push(index);
        }
        let of_layers = of_layers.into_iter();
        of_layers
            .map(|chosen| FillIndex::new(fills, chosen, &|| false))
            .collect()
    }

    /// The tracks whose copper has `point`, by index.
    pub(crate) fn tracks_at(&self, net: NetId, layers: LayerSet, point: Point) -> Vec<usize> {
        let mut found = self.tracks_near(layers, point, TOUCH_MM);
        found.retain(|index| {
            let track = &self.board.tracks[*index];
            let near = track.width / 2.0 + TOUCH_MM;
            track.net == net && track.line.distance(point) <= near
        });
        found.sort_unstable();
        found
    }

    /// The tracks on some layers whose copper is within `reach` of `point`, and a few more.
    fn tracks_near(&self, layers: LayerSet, point: Point, reach: f64) -> Vec<usize> {
        let mut found = Vec::new();
        let at = Segment::new(point, point);
        let of_layers = self.tracks.iter().enumerate();
        for (_, of_layer) in of_layers.filter(|(layer, _)| layers.has(*layer)) {
            for tracks in of_layer {
                tracks.along(&at, tracks.width_max / 2.0 + reach, &mut found);
            }
        }
        found
    }

    /// The tracks whose middle line is within `reach` of `line` on a layer, and a few more, in order.
    pub(crate) fn tracks_along(&self, layer: LayerId, line: &Segment, reach: f64) -> Vec<usize> {
        let mut found = Vec::new();
        for tracks in self.tracks.get(layer).into_iter().flatten() {
            tracks.along(line, reach, &mut found);
        }
        found.sort_unstable();
        found
    }

    /// Those of the tracks within `reach` of `line` on a layer, and of a few more, that `is` likes, in order, by index.
    pub(crate) fn tracks_along_that(
        &self,
        layer: LayerId,
        line: &Segment,
        reach: f64,
        is: impl Fn(&Track) -> bool,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        for tracks in self.tracks.get(layer).into_iter().flatten() {
            tracks.grid.each_near(line, reach, |near| {
                let index = tracks.indices[near];
                if is(&self.board.tracks[index]) {
                    found.push(index);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
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
        let near = self.vias.within(point, TOUCH_MM);
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
        let near = self.pads.within(point, reach + TOUCH_MM);
        let mut near: Vec<usize> = near.map(|(_, index)| *index).collect();
        near.sort_unstable();
        let pads = near.into_iter().map(|index| &board.pads[index]);
        pads.filter(move |pad| {
            pad.net == net
                && !pad.layers.common(layers).is_empty()
                && pad.distance_within(layers, point) <= reach + TOUCH_MM
        })
    }

    /// Whether a fill of `net` on one of the layers has `point`.
    pub(crate) fn is_in_fill(&self, net: NetId, layers: LayerSet, point: Point) -> bool {
        self.fills[net].any(&Bounds::of([point]), |index| {
            let fill = &self.board.fills[index];
            layers.has(fill.layer)
                && fill.bounds.contains(point)
                && self.is_near_fill(index, point, TOUCH_MM)
        })
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
        let at = Segment::new(via.at, via.at);
        let mut near = Vec::new();
        for tracks in self.tracks.iter().flatten() {
            tracks.along(&at, reach + TOUCH_MM, &mut near);
        }
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
        self.fills[via.net].any(&Bounds::of([via.at]), |index| {
            let fill = &self.board.fills[index];
            let is_new = !used.has(fill.layer) && fill.bounds.contains(via.at);
            if is_new && self.is_near_fill(index, via.at, reach) {
                used = used.with(LayerSet::only(fill.layer));
            }
            // All of them are asked.
            false
        });
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
            .within(middle, reach)
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
            .within(middle, reach)
            .map(|(_, index)| &self.board.pads[*index]);
        if pads.any(|pad| {
            pad.net == fill.net && !pad.layers.common(layer).is_empty() && touches(fill, pad)
        }) {
            return true;
        }
        let near = self.tracks_near(layer, middle, reach);
        let mut tracks = near.into_iter().map(|index| &self.board.tracks[index]);
        tracks.any(|track| {
            let is_here = track.net == fill.net && track.layer == fill.layer;
            is_here && fill.shape.distance_to(&track.line) <= track.width / 2.0
        }) || self.touches_fill(index)
    }

    /// Whether another fill of the same net has one of its corners, or the other way round.
    fn touches_fill(&self, index: usize) -> bool {
        let fill = &self.board.fills[index];
        let has_corner = |x: &Fill, y: &Fill| {
            let mut near = y
                .shape
                .points
                .iter()
                .filter(|corner| x.bounds.grown(TOUCH_MM).contains(**corner));
            near.any(|corner| x.shape.distance(*corner) <= TOUCH_MM)
        };
        let around = fill.bounds.grown(TOUCH_MM);
        self.fills[fill.net].any(&around, |other| {
            if other == index {
                return false;
            }
            let other = &self.board.fills[other];
            let is_near = other.layer == fill.layer && other.bounds.meets(&around);
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
