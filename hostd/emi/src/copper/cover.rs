//! Which parts of a line lie over a fill. Parts are exact: found where the line crosses the fill's sides, not by samples.
//!
//! A fill has its edge, and [`ROUNDING_MM`] beyond it, so that rounding does not decide about traces exactly along an edge: they
//! are over the fill, whichever way they run and wherever they lie.

use std::sync::OnceLock;

use super::ROUNDING_MM;
use super::grid::SegmentGrid;
use super::rims::Rims;
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
    /// Indices of the fills in the board, in order.
    fills: Vec<usize>,
    /// The boxes around them with their edges.
    bounds: Vec<Bounds>,
    pub(super) pens: Vec<f64>,
    pen_max: f64,
    /// Of each fill.
    insides: Vec<Rows<Segment>>,
    /// The fills by height.
    by_height: Rows<u32>,
    pub(super) sides: SegmentGrid,
    /// For each side of the grid, whose it is.
    pub(super) owners: Vec<u32>,
    /// Where the sides of each fill begin in the grid, and the end of the last one's.
    firsts: Vec<usize>,
    /// Of each fill, once somebody asks.
    rims: Vec<OnceLock<Rims>>,
}

impl FillIndex {
    /// If `stop` says so, some of it is left empty.
    pub(crate) fn new(fills: &[Fill], chosen: Vec<usize>, stop: Stop<'_>) -> Self {
        let bounds: Vec<Bounds> = chosen
            .iter()
            .map(|index| fills[*index].bounds.grown(ROUNDING_MM))
            .collect();
        let heights: Vec<(f64, f64, u32)> = (0_u32..)
            .zip(&bounds)
            .map(|(owner, bounds)| (bounds.min.y, bounds.max.y, owner))
            .collect();
        let mut sides = Vec::new();
        let mut owners = Vec::new();
        let mut firsts = vec![0];
        for (owner, index) in (0_u32..).zip(&chosen) {
            for side in fills[*index].shape.sides() {
                sides.push(side);
                owners.push(owner);
            }
            firsts.push(sides.len());
        }
        let pens: Vec<f64> = chosen
            .iter()
            .map(|index| fills[*index].shape.radius)
            .collect();
        Self {
            bounds,
            pen_max: pens.iter().copied().fold(0.0, f64::max),
            insides: chosen
                .iter()
                .map(|index| sides_by_height(&fills[*index], stop))
                .collect(),
            by_height: Rows::new(&heights, stop),
            pens,
            sides: SegmentGrid::new(sides, stop),
            owners,
            firsts,
            rims: chosen.iter().map(|_| OnceLock::new()).collect(),
            fills: chosen,
        }
    }

    /// Where a fill of the board is among those of this layer.
    pub(super) fn owner(&self, fill: usize) -> Option<usize> {
        self.fills.binary_search(&fill).ok()
    }

    /// The first of the sides of a fill of this layer in the grid, and all of them.
    pub(super) fn sides_of(&self, owner: usize) -> (usize, &[Segment]) {
        let (first, end) = (self.firsts[owner], self.firsts[owner + 1]);
        let sides = self.sides.segments().get(first..end);
        (first, sides.unwrap_or_default())
    }

    /// The rims of a fill of this layer.
    pub(super) fn rims(&self, owner: usize) -> &Rims {
        self.rims[owner].get_or_init(|| Rims::new(self.sides_of(owner).1))
    }

    /// The parts of `line` that are over one fill of this layer, in order.
    pub(super) fn cover_of(&self, owner: usize, line: &Segment) -> Vec<(f64, f64)> {
        let mut near = Vec::new();
        self.sides
            .along(line, self.pens[owner] + ROUNDING_MM, &mut near);
        near.retain(|side| self.owners[*side] as usize == owner);
        self.parts(owner, line, &near)
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
            encloses(&self.insides[*owner], point) || self.is_at_edge(*owner, point)
        });
        over.map(|owner| self.fills[owner])
    }

    fn is_at_edge(&self, fill: usize, point: Point) -> bool {
        let reach = self.pens[fill] + ROUNDING_MM;
        let mut found = Vec::new();
        self.sides
            .along(&Segment::new(point, point), reach, &mut found);
        let mut own = found
            .into_iter()
            .filter(|side| self.owners[*side] as usize == fill);
        own.any(|side| self.sides.segment(side).distance(point) <= reach)
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
            within + self.pen_max + ROUNDING_MM,
            &mut found,
        );
        found.retain(|side| {
            let pen = self.pens[self.owners[*side] as usize];
            self.sides.segment(*side).distance(point) <= within + pen + ROUNDING_MM
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
        self.sides
            .along(line, self.pen_max + ROUNDING_MM, &mut near);
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
        let reach = self.pens[owner] + ROUNDING_MM;
        let above = Above::of(line);
        let mut strokes = Vec::new();
        let mut crossings = Vec::new();
        for side in sides {
            let core = self.sides.segment(*side);
            let (a, b) = (above.height(core.a), above.height(core.b));
            if above.are_aside(a, b, reach) {
                continue;
            }
            if let Some(stroke) = line.inside_stroke(core, reach) {
                strokes.push(stroke);
                if (a < 0.0) != (b < 0.0) {
                    crossings.push(stroke.0);
                }
            }
        }
        let mut parts = union(strokes);
        let between = self.between(owner, line, &parts, crossings);
        parts.extend(between);
        union(parts)
    }

    /// What is over the fill between its edges. A stretch between two edges crosses none, so it is inside or outside as a whole:
    /// the first one is looked up, and each crossing within the edges before another one goes from one to the other.
    fn between(
        &self,
        owner: usize,
        line: &Segment,
        edges: &[(f64, f64)],
        mut crossings: Vec<f64>,
    ) -> Vec<(f64, f64)> {
        crossings.sort_by(f64::total_cmp);
        let begins = std::iter::once(0.0).chain(edges.iter().map(|edge| edge.1));
        let ends = edges.iter().map(|edge| edge.0).chain(std::iter::once(1.0));
        let mut between = Vec::new();
        // How many crossings were before the first stretch, and whether that is inside.
        let mut first: Option<(usize, bool)> = None;
        for (from, to) in begins.zip(ends).filter(|(from, to)| from < to) {
            let crossed = crossings.partition_point(|crossing| *crossing <= from);
            let (before, is_inside) = *first.get_or_insert_with(|| {
                let middle = line.at(from.midpoint(to));
                (crossed, encloses(&self.insides[owner], middle))
            });
            if is_inside == (crossed - before).is_multiple_of(2) {
                between.push((from, to));
            }
        }
        between
    }
}

/// On which side of the carrier of a line points are, and how far from it.
struct Above {
    start: Point,
    along: Point,
    length: f64,
}

impl Above {
    fn of(line: &Segment) -> Self {
        let along = line.b - line.a;
        Self {
            start: line.a,
            along,
            length: along.length(),
        }
    }

    /// The distance to the carrier times the length of the line, negative on one side.
    fn height(&self, point: Point) -> f64 {
        self.along.cross(point - self.start)
    }

    /// Whether everything between two heights is farther than `reach` from the carrier.
    fn are_aside(&self, a: f64, b: f64, reach: f64) -> bool {
        let least = reach * self.length;
        least < a.min(b) || a.max(b) < -least
    }
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
                        assert_eq!(
                            of_points.contains(&fill),
                            shape.distance(line.at(t)) <= ROUNDING_MM
                        );
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
        let corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        let index = FillIndex::new(&[plate(&corners)], vec![0], &|| false);
        let length = |a: (f64, f64), b: (f64, f64)| covered_mm(&index, a, b);
        let close = 4.0 * ROUNDING_MM;
        assert!((length((0.0, 5.0), (12.0, 5.0)) - 10.0).abs() < close);
        assert!((length((-5.0, -5.0), (15.0, 15.0)) - 200.0_f64.sqrt()).abs() < close);
        assert!((length((5.0, 0.0), (5.0, 10.0)) - 10.0).abs() < close);
        assert_eq!(length((-5.0, 5.0), (-1.0, 5.0)), 0.0);
        assert_eq!(length((3.0, 3.0), (3.0, 3.0)), 0.0);
    }

    /// A fill with these corners.
    fn plate(corners: &[(f64, f64)]) -> Fill {
        let points = corners.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        let shape = Shape::polygon(points, 0.0);
        Fill {
            bounds: shape.bounds(),
            area: shape.area(),
            shape,
            layer: 0,
            net: 0,
            source_line: 0,
        }
    }

    /// How much of a line is over a fill, in mm.
    fn covered_mm(index: &FillIndex, a: (f64, f64), b: (f64, f64)) -> f64 {
        let line = Segment::new(Point::new(a.0, a.1), Point::new(b.0, b.1));
        let parts = index.cover(&line).into_iter();
        parts
            .map(|part| (part.to - part.from) * line.length())
            .sum()
    }

    /// A plate with a slot from its left edge. A trace runs along an edge of the slot, out of the plate at its end, or turned.
    #[test]
    fn a_trace_along_an_edge_is_over_the_plate_wherever_and_whichever_way_it_lies() {
        let corners = [
            (0.0, 0.0),
            (30.0, 0.0),
            (30.0, 20.0),
            (0.0, 20.0),
            (0.0, 12.3),
            (17.1, 12.3),
            (17.1, 9.7),
            (0.0, 9.7),
        ];
        let traces = [
            // Along an edge of the slot, then within the plate, then out of it.
            ((-3.0, 9.7), (35.0, 9.7), 30.0),
            ((2.0, 12.3), (12.0, 12.3), 10.0),
            // Along the outer edge, beyond both ends.
            ((30.0, -4.0), (30.0, 24.0), 20.0),
            // Along the bottom of the slot.
            ((17.1, -1.0), (17.1, 25.0), 20.0),
            // In the middle of the slot.
            ((-3.0, 11.0), (35.0, 11.0), 12.9),
        ];
        let mut random = fastrand::Rng::with_seed(6);
        for degrees in [0.0, 90.0, 180.0, 270.0, 45.0, 30.0, 7.0] {
            for mirrored in [1.0, -1.0] {
                let by = Point::new(random.f64() * 300.0, random.f64() * -300.0);
                let place = |(x, y): (f64, f64)| {
                    let at = Point::new(mirrored * x, y).rotated(degrees) + by;
                    (at.x, at.y)
                };
                let index = FillIndex::new(&[plate(&corners.map(place))], vec![0], &|| false);
                for (a, b, wanted) in traces {
                    for (a, b) in [(a, b), (b, a)] {
                        let found = covered_mm(&index, place(a), place(b));
                        assert!(
                            (found - wanted).abs() < 4.0 * ROUNDING_MM,
                            "{a:?} {b:?}, {degrees}°, {mirrored}: {found} mm"
                        );
                    }
                }
                for corner in corners {
                    let (x, y) = place(corner);
                    assert_eq!(index.at(Point::new(x, y)).count(), 1, "{corner:?}");
                }
            }
        }
    }
}
