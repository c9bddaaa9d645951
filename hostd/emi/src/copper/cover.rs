//! Which parts of a line lie over a fill. Parts are exact: found where the line crosses the fill's sides, not by samples.

use super::grid::SegmentGrid;
use super::rows::Rows;
use crate::board::Fill;
use crate::geometry::{Bounds, Point, Segment};
use crate::observer::Stop;

/// A part of a line, 0 to 1, over one fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Index of the fill.
    pub(crate) fill: usize,
}

/// Fills of one layer, for questions about points and lines.
pub(crate) struct FillIndex {
    /// Indices of the fills in the board.
    fills: Vec<usize>,
    bounds: Vec<Bounds>,
    pens: Vec<f64>,
    pen_max: f64,
    /// Of each fill.
    insides: Vec<Rows<Segment>>,
    /// The fills by height.
    by_height: Rows<u32>,
    sides: SegmentGrid,
    /// For each side of the grid, whose it is.
    owners: Vec<u32>,
}

impl FillIndex {
    /// If `stop` says so, some of it is left empty.
    pub(crate) fn new(fills: &[Fill], chosen: Vec<usize>, stop: Stop<'_>) -> Self {
        let heights: Vec<(f64, f64, u32)> = (0_u32..)
            .zip(&chosen)
            .map(|(owner, index)| {
                (
                    fills[*index].bounds.min.y,
                    fills[*index].bounds.max.y,
                    owner,
                )
            })
            .collect();
        let mut sides = Vec::new();
        let mut owners = Vec::new();
        for (owner, index) in (0_u32..).zip(&chosen) {
            for side in fills[*index].shape.sides() {
                sides.push(side);
                owners.push(owner);
            }
        }
        let pens: Vec<f64> = chosen
            .iter()
            .map(|index| fills[*index].shape.radius)
            .collect();
        Self {
            bounds: chosen.iter().map(|index| fills[*index].bounds).collect(),
            pen_max: pens.iter().copied().fold(0.0, f64::max),
            insides: chosen
                .iter()
                .map(|index| sides_by_height(&fills[*index], stop))
                .collect(),
            by_height: Rows::new(&heights, stop),
            pens,
            sides: SegmentGrid::new(sides, stop),
            owners,
            fills: chosen,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fills.is_empty()
    }

    /// The fills that `point` is over.
    pub(crate) fn at(&self, point: Point) -> impl Iterator<Item = usize> + '_ {
        let here = self
            .by_height
            .at(point.y)
            .iter()
            .map(|owner| *owner as usize);
        let near = here.filter(move |owner| self.bounds[*owner].contains(point));
        let over = near.filter(move |owner| {
            encloses(&self.insides[*owner], point) || self.is_on_pen(*owner, point)
        });
        over.map(|owner| self.fills[owner])
    }

    fn is_on_pen(&self, fill: usize, point: Point) -> bool {
        let pen = self.pens[fill];
        if pen <= 0.0 {
            return false;
        }
        let mut found = Vec::new();
        self.sides
            .along(&Segment::new(point, point), pen, &mut found);
        let mut own = found
            .into_iter()
            .filter(|side| self.owners[*side] as usize == fill);
        own.any(|side| self.sides.segment(side).distance(point) <= pen)
    }

    /// The distance to the nearest edge of a fill, within `within`.
    pub(crate) fn edge_distance(&self, point: Point, within: f64) -> Option<f64> {
        let (side, distance) = self.sides.nearest(point, within + self.pen_max)?;
        Some((distance - self.pens[self.owners[side] as usize]).abs())
    }

    /// The fills that `point` is over, or that have an edge within `within` of it, each once.
    pub(crate) fn near(&self, point: Point, within: f64) -> Vec<usize> {
        let mut found = Vec::new();
        self.sides.along(
            &Segment::new(point, point),
            within + self.pen_max,
            &mut found,
        );
        found.retain(|side| {
            let pen = self.pens[self.owners[*side] as usize];
            self.sides.segment(*side).distance(point) <= within + pen
        });
        let owners = found
            .into_iter()
            .map(|side| self.fills[self.owners[side] as usize]);
        let mut fills: Vec<usize> = owners.chain(self.at(point)).collect();
        fills.sort_unstable();
        fills.dedup();
        fills
    }

    /// The parts of `line` that are over a fill, by fill, then along the line.
    pub(crate) fn cover(&self, line: &Segment) -> Vec<Stretch> {
        let mut near = Vec::new();
        self.sides.along(line, self.pen_max, &mut near);
        near.sort_by_key(|side| self.owners[*side]);
        let around = line.bounds();
        let mut here: Vec<u32> = self.by_height.between(around.min.y, around.max.y).collect();
        here.sort_unstable();
        here.dedup();
        let mut stretches = Vec::new();
        for owner in here.into_iter().map(|owner| owner as usize) {
            if !self.bounds[owner].meets(&around) {
                continue;
            }
            let from = near.partition_point(|side| (self.owners[*side] as usize) < owner);
            let count = near[from..].partition_point(|side| self.owners[*side] as usize == owner);
            let parts = self.parts(owner, line, &near[from..from + count]);
            let fill = self.fills[owner];
            stretches.extend(
                parts
                    .into_iter()
                    .map(|(from, to)| Stretch { from, to, fill }),
            );
        }
        stretches
    }

    /// The parts of `line` over one fill; `sides` are those of its sides that are near.
    fn parts(&self, owner: usize, line: &Segment, sides: &[usize]) -> Vec<(f64, f64)> {
        let crossings = sides
            .iter()
            .filter_map(|side| crossing(line, self.sides.segment(*side)));
        let mut cuts: Vec<f64> = crossings.filter(|t| 0.0 < *t && *t < 1.0).collect();
        cuts.extend([0.0, 1.0]);
        cuts.sort_by(f64::total_cmp);
        // Inside or out is asked in the middle of the longest part, far from the sides, and alternates from there.
        let lengths = cuts.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
        let longest = lengths
            .max_by(|x, y| x.1.total_cmp(&y.1))
            .map_or(0, |(index, _)| index);
        let middle = line.at(cuts[longest].midpoint(cuts[longest + 1]));
        let is_inside = encloses(&self.insides[owner], middle);
        let inside = |index: usize| (index % 2 == longest % 2) == is_inside;
        let pairs = cuts
            .windows(2)
            .enumerate()
            .filter(|(index, _)| inside(*index));
        let mut parts: Vec<(f64, f64)> = pairs.map(|(_, pair)| (pair[0], pair[1])).collect();
        if self.pens[owner] > 0.0 {
            let strokes = sides.iter().map(|side| self.sides.segment(*side));
            parts.extend(strokes.filter_map(|core| line.inside_stroke(core, self.pens[owner])));
        }
        union(parts)
    }
}

/// The part of the way of `line` at which `side` crosses its carrier, if it does.
fn crossing(line: &Segment, side: &Segment) -> Option<f64> {
    let along = line.b - line.a;
    let above = |p: Point| along.cross(p - line.a);
    let (a, b) = (above(side.a), above(side.b));
    // An end on the line belongs to one half-plane, so that a ring crosses an even number of times.
    if (a > 0.0) == (b > 0.0) {
        return None;
    }
    let at = side.at(a / (a - b));
    let square = along.dot(along);
    (square > 0.0).then(|| (at - line.a).dot(along) / square)
}

/// Parts that do not overlap, in order.
pub(crate) fn union(mut parts: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    parts.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, to) in parts {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The sides of a fill by height, for the question whether a point is inside.
fn sides_by_height(fill: &Fill, stop: Stop<'_>) -> Rows<Segment> {
    if stop() {
        return Rows::new(&[], stop);
    }
    let sides = fill.shape.sides();
    let sides: Vec<(f64, f64, Segment)> = sides
        .map(|side| (side.a.y.min(side.b.y), side.a.y.max(side.b.y), side))
        .collect();
    Rows::new(&sides, stop)
}

/// Whether a ring with these sides has `point` inside.
fn encloses(sides: &Rows<Segment>, point: Point) -> bool {
    let crossed = sides
        .at(point.y)
        .iter()
        .filter(|side| side.crosses_ray(point));
    crossed.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;

    /// A star with sides of many directions, which crosses itself.
    fn star(random: &mut fastrand::Rng, radius: f64) -> Fill {
        let points = (0..12)
            .map(|_| Point::new(random.f64() * 20.0, random.f64() * 20.0))
            .collect();
        let shape = Shape::polygon(points, radius);
        Fill {
            bounds: shape.bounds(),
            area: shape.area(),
            shape,
            layer: 0,
            net: 0,
            source_line: 0,
        }
    }

    #[test]
    fn parts_of_lines_agree_with_points() {
        let mut random = fastrand::Rng::with_seed(3);
        for radius in [0.0, 0.2] {
            let fills: Vec<Fill> = (0..3).map(|_| star(&mut random, radius)).collect();
            let index = FillIndex::new(&fills, vec![0, 1, 2], &|| false);
            for _ in 0..400 {
                let mut end = || Point::new(random.f64() * 24.0 - 2.0, random.f64() * 24.0 - 2.0);
                let line = Segment::new(end(), end());
                let parts = index.cover(&line);
                for step in 0..40 {
                    let t = (f64::from(step) + 0.5) / 40.0;
                    let is_near = |x: f64| (x - t).abs() < 1e-9;
                    let of_points: Vec<usize> = index.at(line.at(t)).collect();
                    for (fill, shape) in fills.iter().map(|fill| &fill.shape).enumerate() {
                        let over = parts
                            .iter()
                            .any(|p| p.fill == fill && p.from <= t && t <= p.to);
                        let at_edge = parts
                            .iter()
                            .any(|p| p.fill == fill && (is_near(p.from) || is_near(p.to)));
                        assert_eq!(of_points.contains(&fill), shape.distance(line.at(t)) <= 0.0);
                        assert!(
                            over == of_points.contains(&fill) || at_edge,
                            "{line:?} {t} {fill}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn lines_along_sides_and_through_corners_do_not_turn_inside_out() {
        let corners =
            [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)].map(|(x, y)| Point::new(x, y));
        let shape = Shape::polygon(corners.to_vec(), 0.0);
        let fill = Fill {
            bounds: shape.bounds(),
            area: 100.0,
            shape,
            layer: 0,
            net: 0,
            source_line: 0,
        };
        let index = FillIndex::new(&[fill], vec![0], &|| false);
        let length = |a: (f64, f64), b: (f64, f64)| -> f64 {
            let line = Segment::new(Point::new(a.0, a.1), Point::new(b.0, b.1));
            index
                .cover(&line)
                .iter()
                .map(|part| (part.to - part.from) * line.length())
                .sum()
        };
        assert!((length((0.0, 5.0), (12.0, 5.0)) - 10.0).abs() < 1e-9);
        assert!((length((-5.0, -5.0), (15.0, 15.0)) - 200.0_f64.sqrt()).abs() < 1e-9);
        assert!((length((5.0, 0.0), (5.0, 10.0)) - 10.0).abs() < 1e-9);
        assert_eq!(length((-5.0, 5.0), (-1.0, 5.0)), 0.0);
        assert_eq!(length((3.0, 3.0), (3.0, 3.0)), 0.0);
    }
}
