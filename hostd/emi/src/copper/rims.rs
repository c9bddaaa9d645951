//! The rims of a fill: its outer edge and the edges of its holes, each a closed way along the copper.
//!
//! Holes are bridged into the ring of a fill. Where the ring runs there and back along the same line, there is copper on both
//! sides, so that no rim is there.

use super::ROUNDING_MM;
use crate::geometry::{Point, Segment};

/// No side.
const NONE: u32 = u32::MAX;

/// How many sides that have the same hash are compared with each other. Sides lie on one another in pairs.
const TWINS_MAX: usize = 8;

/// The rims of one fill. Its sides are counted as its ring has them.
pub(super) struct Rims {
    /// The sides, rim by rim, each where the one before ends.
    order: Vec<u32>,
    /// How far along its rim each of them begins, in mm.
    starts: Vec<f64>,
    /// Where each side is in `order`; [`NONE`] of bridges.
    places: Vec<u32>,
    /// Where each rim begins in `order`, and the end of the last one.
    firsts: Vec<usize>,
    /// The length of each rim in mm.
    lengths: Vec<f64>,
}

/// A place on a rim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    rim: usize,
    /// In `order`.
    place: usize,
    /// How far along the rim, in mm.
    along: f64,
    pub(super) at: Point,
}

impl Rims {
    /// Of the sides of a ring, in its order.
    pub(super) fn new(sides: &[Segment]) -> Self {
        let twins = twins(sides);
        let next = |side: usize| {
            let mut next = (side + 1) % sides.len();
            // A bridge leads there and back, so what follows its other half is what follows on the rim. Each step leads to
            // another side, so that it ends.
            while let Ok(twin) = usize::try_from(twins[next])
                && twins[next] != NONE
            {
                next = (twin + 1) % sides.len();
            }
            next
        };
        let mut rims = Self {
            order: Vec::with_capacity(sides.len()),
            starts: Vec::with_capacity(sides.len()),
            places: vec![NONE; sides.len()],
            firsts: vec![0],
            lengths: Vec::new(),
        };
        for (first, twin) in twins.iter().enumerate() {
            if *twin != NONE || rims.places[first] != NONE {
                continue;
            }
            let (mut side, mut length) = (first, 0.0);
            while rims.places[side] == NONE {
                rims.places[side] = small(rims.order.len());
                rims.order.push(small(side));
                rims.starts.push(length);
                length += sides[side].length();
                side = next(side);
            }
            rims.firsts.push(rims.order.len());
            rims.lengths.push(length);
        }
        rims
    }

    /// The place of a side that is nearest to `point`; `None` if it is a bridge.
    pub(super) fn spot(&self, side: usize, line: &Segment, point: Point) -> Option<Spot> {
        let place = self.places[side];
        let place = usize::try_from(place).ok().filter(|_| place != NONE)?;
        let rim = self.firsts.partition_point(|first| *first <= place) - 1;
        let part = line.nearest(point);
        Some(Spot {
            rim,
            place,
            along: self.starts[place] + part * line.length(),
            at: line.at(part),
        })
    }

    /// The lengths of both ways along a rim from one place to another: as the ring runs, and against it. `None` if they are on
    /// two rims.
    pub(super) fn lengths(&self, from: &Spot, to: &Spot) -> Option<(f64, f64)> {
        let length = *self.lengths.get(from.rim).filter(|_| from.rim == to.rim)?;
        let forward = (to.along - from.along).rem_euclid(length.max(f64::MIN_POSITIVE));
        Some((forward, length - forward))
    }

    /// The corners of the way along a rim from one place to another, as the ring runs, both places included.
    pub(super) fn way(&self, sides: &[Segment], from: &Spot, to: &Spot) -> Vec<Point> {
        let (first, end) = (self.firsts[from.rim], self.firsts[from.rim + 1]);
        let mut points = vec![from.at];
        let mut place = from.place;
        // On one side, the way is along it, or all around.
        if place != to.place || to.along < from.along - ROUNDING_MM {
            loop {
                let side = usize::try_from(self.order[place]).unwrap_or_default();
                points.push(sides[side].b);
                place = if place + 1 < end { place + 1 } else { first };
                if place == to.place {
                    break;
                }
            }
        }
        points.push(to.at);
        points
    }
}

fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

/// For each side, the one that runs along the same line in the other direction; [`NONE`] if there is none.
fn twins(sides: &[Segment]) -> Vec<u32> {
    let lines = sides.iter().zip(0_u32..);
    let lines = lines.filter(|(line, _)| line.a != line.b);
    let mut hashed: Vec<(u64, u32)> = lines
        .map(|(line, side)| (hash(line.a).wrapping_add(hash(line.b)), side))
        .collect();
    hashed.sort_unstable();
    let mut twins = vec![NONE; sides.len()];
    let at = |side: u32| usize::try_from(side).unwrap_or_default();
    for alike in hashed.chunk_by(|x, y| x.0 == y.0) {
        for (index, (_, side)) in alike.iter().enumerate() {
            let line = sides[at(*side)];
            let mut others = alike[index + 1..].iter().take(TWINS_MAX);
            let is_twin = |other: u32| {
                let back = sides[at(other)];
                twins[at(other)] == NONE && back.a == line.b && back.b == line.a
            };
            let twin = others.find(|(_, other)| is_twin(*other));
            if let Some((_, twin)) = twin.filter(|_| twins[at(*side)] == NONE) {
                (twins[at(*side)], twins[at(*twin)]) = (*twin, *side);
            }
        }
    }
    twins
}

/// A number that equal points have in common. Files tell whole nanometres, so equal points are equal to the last digit.
fn hash(point: Point) -> u64 {
    let mixed = point.x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ point
            .y
            .to_bits()
            .rotate_left(32)
            .wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[(f64, f64)]) -> Vec<Segment> {
        let at = |index: usize| {
            let (x, y) = points[index % points.len()];
            Point::new(x, y)
        };
        (0..points.len())
            .map(|index| Segment::new(at(index), at(index + 1)))
            .collect()
    }

    /// 30 by 20, with two holes: one bridged to a corner, the other one to the first hole.
    fn with_holes() -> Vec<Segment> {
        ring(&[
            (0.0, 0.0),
            (5.0, 5.0),
            (5.0, 8.0),
            (9.0, 8.0),
            (12.0, 8.0),
            (12.0, 9.0),
            (13.0, 9.0),
            (13.0, 8.0),
            (12.0, 8.0),
            (9.0, 8.0),
            (9.0, 5.0),
            (5.0, 5.0),
            (0.0, 0.0),
            (30.0, 0.0),
            (30.0, 20.0),
            (0.0, 20.0),
        ])
    }

    #[test]
    fn bridged_holes_have_rims_of_their_own() {
        let sides = with_holes();
        let rims = Rims::new(&sides);
        let mut lengths = rims.lengths.clone();
        lengths.sort_by(f64::total_cmp);
        assert_eq!(lengths, [4.0, 14.0, 100.0]);
        // Four halves of bridges are on no rim.
        assert_eq!(rims.order.len(), sides.len() - 4);
    }

    #[test]
    fn a_rim_has_two_ways_between_two_places() {
        let sides = with_holes();
        let rims = Rims::new(&sides);
        let spot = |x: f64, y: f64| {
            let point = Point::new(x, y);
            let near = |side: &usize| sides[*side].distance(point) < 1e-9;
            let mut sides_there = (0..sides.len()).filter(near);
            sides_there
                .find_map(|side| rims.spot(side, &sides[side], point))
                .unwrap()
        };
        let (left, right) = (spot(5.0, 6.0), spot(9.0, 6.0));
        let (forward, back) = rims.lengths(&left, &right).unwrap();
        assert_eq!((forward.max(back), forward.min(back)), (8.0, 6.0));
        assert_eq!(rims.lengths(&left, &spot(30.0, 10.0)), None);
        for (from, to) in [(left, right), (right, left)] {
            let way = rims.way(&sides, &from, &to);
            let length: f64 = way.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            assert!((length - rims.lengths(&from, &to).unwrap().0).abs() < 1e-9);
        }
        let here = rims.way(&sides, &left, &left);
        assert_eq!(here.len(), 2);
    }

    #[test]
    fn whatever_a_ring_looks_like_each_side_is_on_at_most_one_rim() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..500 {
            // Few places, so that many sides lie on one another, in both directions.
            let points: Vec<(f64, f64)> = (0..random.usize(3..40))
                .map(|_| (f64::from(random.u32(0..3)), f64::from(random.u32(0..2))))
                .collect();
            let sides = ring(&points);
            let rims = Rims::new(&sides);
            let mut order = rims.order.clone();
            order.sort_unstable();
            order.dedup();
            assert_eq!(order.len(), rims.order.len());
            assert!(rims.order.len() <= sides.len());
        }
    }
}
