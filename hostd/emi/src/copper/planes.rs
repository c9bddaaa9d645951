//! Planes and which of them carry the return current of a layer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::cover::FillIndex;
use super::ways::{AT_EDGE_MM, Way};
use crate::board::{Board, Fill, LayerId, NetId, NetKind};
use crate::geometry::{Point, Segment};
use crate::observer::Stop;

/// A fill of a supply or ground is a plane from this area on, in mm².
const PLANE_MM2_MIN: f64 = 4.0;

/// The planes of a board.
pub(crate) struct Planes {
    layers: Vec<FillIndex>,
    references: Vec<Vec<Reference>>,
    /// The area of planes on each layer, in mm².
    areas: Vec<f64>,
    /// Which pairs of fills touch, as far as it was asked.
    touching: Mutex<HashMap<(usize, usize), bool>>,
}

/// Most corners of a fill that are looked at to see whether it touches another one.
const CORNERS_MAX: usize = 4096;

/// A neighbouring layer with planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) layer: LayerId,
    /// The insulation in between, in mm.
    pub(crate) height: f64,
}

/// A part of a line, 0 to 1, over the same planes throughout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The fills, the nearest layer's first.
    pub(crate) over: Vec<usize>,
}

impl Planes {
    pub(crate) fn new(board: &Board, stop: Stop<'_>) -> Self {
        let is_plane = |fill: &Fill| {
            let kind = board.nets[fill.net].kind;
            matches!(kind, NetKind::Ground | NetKind::Power) && PLANE_MM2_MIN < fill.area
        };
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new(); board.layers.len()];
        for (index, fill) in board.fills.iter().enumerate() {
            if is_plane(fill) {
                chosen[fill.layer].push(index);
            }
        }
        let area = |fills: &Vec<usize>| fills.iter().map(|index| board.fills[*index].area).sum();
        let areas = chosen.iter().map(area).collect();
        let layers: Vec<FillIndex> = chosen
            .into_par_iter()
            .map(|chosen| FillIndex::new(&board.fills, chosen, stop))
            .collect();
        let references = (0..layers.len())
            .map(|layer| references(board, &layers, layer))
            .collect();
        Self {
            layers,
            references,
            areas,
            touching: Mutex::default(),
        }
    }

    /// The layers that carry the return current of `layer`, nearest first.
    pub(crate) fn references(&self, layer: LayerId) -> &[Reference] {
        &self.references[layer]
    }

    /// The area of planes on `layer` in mm².
    pub(crate) fn area(&self, layer: LayerId) -> f64 {
        self.areas[layer]
    }

    /// The planes on `layer` at `point`.
    pub(crate) fn on(&self, layer: LayerId, point: Point) -> impl Iterator<Item = usize> + '_ {
        self.layers[layer].at(point)
    }

    /// The planes on `layer` at `point` or within `within` of it.
    pub(crate) fn near(&self, layer: LayerId, point: Point, within: f64) -> Vec<usize> {
        self.layers[layer].near(point, within)
    }

    /// The planes that are references of `layer` and have `point` in them or at their edge, the nearest layer's first.
    pub(crate) fn beside(&self, layer: LayerId, point: Point) -> Vec<usize> {
        let near = self.references[layer].iter();
        near.flat_map(|r| self.near(r.layer, point, AT_EDGE_MM))
            .collect()
    }

    /// The lengths of both ways along the rim of a fill on `layer` between two places at it, the shorter one first.
    pub(crate) fn rim_lengths(
        &self,
        layer: LayerId,
        fill: usize,
        a: Point,
        b: Point,
    ) -> Option<(f64, f64)> {
        let index = &self.layers[layer];
        index.rim_lengths(index.owner(fill)?, a, b)
    }

    /// The shortest ways in a fill on `layer` on both sides of what is between two places at one of its rims.
    pub(crate) fn ways_around(
        &self,
        layer: LayerId,
        fill: usize,
        a: Point,
        b: Point,
    ) -> Option<[Way; 2]> {
        let index = &self.layers[layer];
        index.ways_around(index.owner(fill)?, a, b)
    }

    /// A way in a fill on `layer`, with its detours cut off.
    pub(crate) fn shortened(&self, layer: LayerId, fill: usize, points: &[Point]) -> Option<Way> {
        let index = &self.layers[layer];
        Some(index.shortened(index.owner(fill)?, points))
    }

    /// The length of `line` in mm if a fill on `layer` has it but for antipads, and if it is no longer than `most`. As much of
    /// its ends as `loose` says may be outside.
    pub(crate) fn straight(
        &self,
        layer: LayerId,
        fill: usize,
        line: &Segment,
        most: f64,
        loose: [f64; 2],
    ) -> Option<f64> {
        let index = &self.layers[layer];
        index.straight(index.owner(fill)?, line, most, loose)
    }

    /// Whether two planes on one layer touch at a corner of one of them.
    pub(crate) fn touch(&self, board: &Board, x: usize, y: usize) -> bool {
        let pair = (x.min(y), x.max(y));
        let known = |planes: &Self| {
            let touching = planes.touching.lock();
            let touching = touching.unwrap_or_else(PoisonError::into_inner);
            touching.get(&pair).copied()
        };
        if let Some(known) = known(self) {
            return known;
        }
        let (first, second) = (&board.fills[x], &board.fills[y]);
        let has_corner = |of: &Fill, other: usize| {
            let near = board.fills[other].bounds.grown(AT_EDGE_MM);
            let corners = of
                .shape
                .points
                .iter()
                .filter(|corner| near.contains(**corner));
            let mut corners = corners.take(CORNERS_MAX);
            corners.any(|corner| {
                self.near(of.layer, *corner, of.shape.radius + AT_EDGE_MM)
                    .contains(&other)
            })
        };
        let touch = first.layer == second.layer && (has_corner(first, y) || has_corner(second, x));
        let mut touching = self.touching.lock().unwrap_or_else(PoisonError::into_inner);
        touching.insert(pair, touch);
        touch
    }

    /// The planes that are references of `layer` at `point`, the nearest layer's first.
    pub(crate) fn over(&self, layer: LayerId, point: Point) -> Vec<usize> {
        self.references[layer]
            .iter()
            .flat_map(|r| self.on(r.layer, point))
            .collect()
    }

    /// The distance from `point` to the nearest edge of a plane that is a reference of `layer`.
    pub(crate) fn edge_distance(&self, layer: LayerId, point: Point, within: f64) -> Option<f64> {
        let near = self.references[layer].iter();
        let distances = near.filter_map(|r| self.layers[r.layer].edge_distance(point, within));
        distances.min_by(f64::total_cmp)
    }

    /// The distance from `point` to the nearest edge of a plane on `layer` itself.
    pub(crate) fn edge_on(&self, layer: LayerId, point: Point, within: f64) -> Option<f64> {
        self.layers[layer].edge_distance(point, within)
    }

    /// The parts of `line` over planes of `layer` itself.
    pub(crate) fn cover(&self, layer: LayerId, line: &Segment) -> Vec<(f64, f64)> {
        super::union(
            self.layers[layer]
                .cover(line)
                .iter()
                .map(|s| (s.from, s.to))
                .collect(),
        )
    }

    /// Where along `line`, 0 to 1, planes on `layer` begin that are not of `net`.
    pub(crate) fn begin_on(
        &self,
        board: &Board,
        layer: LayerId,
        line: &Segment,
        net: NetId,
    ) -> Option<f64> {
        let covered = self.layers[layer].cover(line);
        let of_others = covered
            .iter()
            .filter(|stretch| board.fills[stretch.fill].net != net);
        of_others.map(|stretch| stretch.from).min_by(f64::total_cmp)
    }

    /// The whole of `line`, which is on `layer`, in parts by what is under it.
    pub(crate) fn pieces(&self, layer: LayerId, line: &Segment) -> Vec<Piece> {
        let references = self.references[layer].iter();
        let stretches: Vec<_> = references
            .flat_map(|r| self.layers[r.layer].cover(line))
            .collect();
        let mut cuts: Vec<f64> = stretches
            .iter()
            .flat_map(|s| [s.from, s.to])
            .chain([0.0, 1.0])
            .collect();
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let mut pieces: Vec<Piece> = Vec::new();
        for pair in cuts.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let under = stretches.iter().filter(|s| s.from <= from && to <= s.to);
            let over: Vec<usize> = under.map(|s| s.fill).collect();
            match pieces.last_mut() {
                Some(last) if last.over == over => last.to = to,
                _ => pieces.push(Piece { from, to, over }),
            }
        }
        if pieces.is_empty() {
            pieces.push(Piece {
                from: 0.0,
                to: 1.0,
                over: self.over(layer, line.a),
            });
        }
        pieces
    }
}

/// The neighbours of a layer that have planes. A layer of signals in between shields what is behind it.
fn references(board: &Board, layers: &[FillIndex], layer: LayerId) -> Vec<Reference> {
    let neighbours = [
        layer.checked_sub(1),
        Some(layer + 1).filter(|below| *below < layers.len()),
    ];
    let with_planes = neighbours
        .into_iter()
        .flatten()
        .filter(|near| !layers[*near].is_empty());
    // Where a zone was not filled, what looks like a gap may be none.
    if neighbours
        .into_iter()
        .flatten()
        .any(|near| board.unfilled.has(near))
    {
        return Vec::new();
    }
    let mut references: Vec<Reference> = with_planes
        .map(|near| Reference {
            layer: near,
            height: board.stackup.distance(layer, near),
        })
        .collect();
    references.sort_by(|x, y| x.height.total_cmp(&y.height));
    references
}

/// The nets of some fills, in order, each once.
pub(crate) fn nets(board: &Board, fills: &[usize]) -> Vec<NetId> {
    let mut nets: Vec<NetId> = fills.iter().map(|fill| board.fills[*fill].net).collect();
    nets.sort_unstable();
    nets.dedup();
    nets
}
