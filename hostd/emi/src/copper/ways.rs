//! Ways of a current in the copper of a fill: along its rims, and straight where there is copper.

use super::ROUNDING_MM;
use super::cover::FillIndex;
use super::rims::Spot;
use crate::geometry::{Point, Segment};

/// How far from the edge of a fill a place may be that is at its edge, in mm.
pub(super) const AT_EDGE_MM: f64 = 0.002;

/// How long the way around a hole may be for a straight way to go around it, in mm: antipads, no slots.
const AROUND_MM: f64 = 4.0;

/// Most corners of a way along a rim that are tried for straight ways.
const CORNERS_MAX: usize = 20;

/// A corner is as far from the straight line, in mm, or this part of the way.
const CORNER_MM: f64 = 0.05;
const CORNER_PART: f64 = 0.005;

/// A way through copper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Way {
    /// Where it turns, with its ends.
    pub(crate) points: Vec<Point>,
    /// In mm.
    pub(crate) length: f64,
}

impl Way {
    /// Twice the area that it encloses with the straight line back, in mm²: positive if it turns clockwise as seen on the
    /// screen.
    pub(crate) fn turn(&self) -> f64 {
        let Some(first) = self.points.first() else {
            return 0.0;
        };
        let pairs = self.points.windows(2);
        pairs
            .map(|pair| (pair[0] - *first).cross(pair[1] - *first))
            .sum()
    }

    /// The same way back.
    fn reversed(mut self) -> Self {
        self.points.reverse();
        self
    }
}

impl FillIndex {
    /// The place on a rim of a fill at which `point` is.
    fn spot(&self, owner: usize, point: Point) -> Option<Spot> {
        let reach = self.pens[owner] + AT_EDGE_MM;
        let mut found = Vec::new();
        self.sides
            .along(&Segment::new(point, point), reach, &mut found);
        let (first, sides) = self.sides_of(owner);
        let rims = self.rims(owner);
        let own = found
            .into_iter()
            .filter(|side| self.owners[*side] as usize == owner);
        let spots = own.filter_map(|side| rims.spot(side - first, &sides[side - first], point));
        let measured = spots.map(|spot| (spot.at.distance(point), spot));
        measured
            .filter(|(distance, _)| *distance <= reach)
            .min_by(|x, y| x.0.total_cmp(&y.0))
            .map(|(_, spot)| spot)
    }

    /// The lengths of both ways along the rim between two places at the edge of a fill, the shorter one first. `None` if they
    /// are not on one rim.
    pub(super) fn rim_lengths(&self, owner: usize, a: Point, b: Point) -> Option<(f64, f64)> {
        let (from, to) = (self.spot(owner, a)?, self.spot(owner, b)?);
        let (forward, back) = self.rims(owner).lengths(&from, &to)?;
        Some((forward.min(back), forward.max(back)))
    }

    /// The shortest ways on both sides of a hole, or of the edge, between two places at its rim.
    pub(super) fn ways_around(&self, owner: usize, a: Point, b: Point) -> Option<[Way; 2]> {
        let (from, to) = (self.spot(owner, a)?, self.spot(owner, b)?);
        let rims = self.rims(owner);
        rims.lengths(&from, &to)?;
        let (_, sides) = self.sides_of(owner);
        let there = self.shortened(owner, &rims.way(sides, &from, &to));
        let back = self.shortened(owner, &rims.way(sides, &to, &from));
        Some([there, back.reversed()])
    }

    /// A way through the copper of a fill with its detours cut off, in either direction, which comes out the same.
    pub(super) fn shortened(&self, owner: usize, points: &[Point]) -> Way {
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along.last().copied().unwrap_or_default() + pair[0].distance(pair[1]));
        }
        let corners = corners(points, along.last().copied().unwrap_or_default());
        let mut known = vec![None; corners.len() * corners.len()];
        let mut straight = |from: usize, to: usize| {
            *known[from * corners.len() + to].get_or_insert_with(|| {
                let (from, to) = (corners[from], corners[to]);
                let line = Segment::new(points[from], points[to]);
                let most = along[to] - along[from] + ROUNDING_MM;
                self.straight(owner, &line, most, [0.0; 2])
            })
        };
        let last = corners.len().saturating_sub(1);
        let there = stops(last, &mut straight);
        let mut back = stops(last, |from, to| straight(last - to, last - from));
        back.iter_mut().for_each(|stop| *stop = last - *stop);
        back.reverse();
        let mut way = |stops: &[usize]| Way {
            points: stops
                .iter()
                .filter_map(|stop| corners.get(*stop))
                .map(|corner| points[*corner])
                .collect(),
            length: stops
                .windows(2)
                .map(|pair| {
                    let rim = || along[corners[pair[1]]] - along[corners[pair[0]]];
                    straight(pair[0], pair[1]).unwrap_or_else(rim)
                })
                .sum(),
        };
        let (there, back) = (way(&there), way(&back));
        if back.length < there.length {
            back
        } else {
            there
        }
    }

    /// The length of `line` in mm where it goes through a fill, around antipads in its way, if it is no longer than `most`. Its
    /// ends may be outside of the fill by as much as `loose` says.
    pub(super) fn straight(
        &self,
        owner: usize,
        line: &Segment,
        most: f64,
        loose: [f64; 2],
    ) -> Option<f64> {
        let whole = line.length();
        if most < whole {
            return None;
        }
        let (mut length, mut at) = (0.0, 0.0);
        for (from, to) in self.cover_of(owner, line).into_iter().chain([(1.0, 1.0)]) {
            let open = (from - at) * whole;
            let is_end = at <= 0.0 && open <= loose[0] || 1.0 <= from && open <= loose[1];
            length += if open <= AT_EDGE_MM || is_end {
                open
            } else {
                let (around, _) = self.rim_lengths(owner, line.at(at), line.at(from))?;
                Some(around).filter(|around| *around <= AROUND_MM)?
            };
            length += (to - from) * whole;
            if most < length {
                return None;
            }
            at = to;
        }
        Some(length)
    }
}

/// From each corner, of which there are `last` and one more, straight to the farthest one that can be reached so, or to the
/// next one.
fn stops(last: usize, mut straight: impl FnMut(usize, usize) -> Option<f64>) -> Vec<usize> {
    let mut stops = vec![0];
    let mut at = 0;
    while at < last {
        let mut farther = (at + 2..=last).rev();
        let reached = farther.find(|to| straight(at, *to).is_some());
        at = reached.unwrap_or(at + 1);
        stops.push(at);
    }
    stops
}

/// The corners of a way, by index: those that are farthest from the straight line first.
fn corners(points: &[Point], length: f64) -> Vec<usize> {
    let least = CORNER_MM.max(CORNER_PART * length);
    let Some(last) = points.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut kept = vec![0, last];
    let mut open: Vec<(f64, usize, [usize; 2])> = farthest(points, [0, last]).into_iter().collect();
    while kept.len() < CORNERS_MAX {
        let widest = open
            .iter()
            .enumerate()
            .filter(|(_, (distance, ..))| least < *distance)
            .max_by(|x, y| x.1.0.total_cmp(&y.1.0));
        let Some((index, _)) = widest else { break };
        let (_, corner, [from, to]) = open.swap_remove(index);
        kept.push(corner);
        open.extend(farthest(points, [from, corner]));
        open.extend(farthest(points, [corner, to]));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Of the points between two others: how far the farthest one is from the line between these, and which it is.
fn farthest(points: &[Point], [from, to]: [usize; 2]) -> Option<(f64, usize, [usize; 2])> {
    let line = Segment::new(points[from], points[to]);
    let between = from + 1..to;
    let measured = between.map(|index| (line.distance(points[index]), index, [from, to]));
    measured.max_by(|x, y| x.0.total_cmp(&y.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use super::*;
    use crate::board::Fill;
    use crate::geometry::Shape;

    fn fill(points: &[(f64, f64)]) -> Fill {
        let points = points.iter().map(|(x, y)| Point::new(*x, *y)).collect();
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

    /// 40 by 30 with rectangular holes, each bridged to the corner at the origin.
    fn plate(holes: &[[f64; 4]]) -> Fill {
        let mut ring = vec![
            (0.0, 0.0),
            (40.0, 0.0),
            (40.0, 30.0),
            (0.0, 30.0),
            (0.0, 0.0),
        ];
        for [left, top, right, bottom] in holes {
            ring.extend([
                (*left, *top),
                (*left, *bottom),
                (*right, *bottom),
                (*right, *top),
                (*left, *top),
                (0.0, 0.0),
            ]);
        }
        fill(&ring)
    }

    fn around(fill: &Fill, a: (f64, f64), b: (f64, f64)) -> f64 {
        let index = FillIndex::new(std::slice::from_ref(fill), vec![0], &|| false);
        let (a, b) = (Point::new(a.0, a.1), Point::new(b.0, b.1));
        let ways = index.ways_around(0, a, b).unwrap();
        for way in &ways {
            let ends = [way.points[0], way.points[way.points.len() - 1]];
            assert!(ends[0].distance(a) < 1e-9 && ends[1].distance(b) < 1e-9);
        }
        ways[0].length.min(ways[1].length)
    }

    /// The shortest way on a grid of half a millimetre, whose steps are in 16 directions, so that it is at most 3 % too long.
    fn on_grid(fill: &Fill, a: (f64, f64), b: (f64, f64)) -> f64 {
        const STEP: f64 = 0.5;
        let index = FillIndex::new(std::slice::from_ref(fill), vec![0], &|| false);
        let place = |(x, y): (i32, i32)| Point::new(f64::from(x) * STEP, f64::from(y) * STEP);
        #[expect(clippy::cast_possible_truncation, reason = "they are small")]
        let cell = |(x, y): (f64, f64)| ((x / STEP).round() as i32, (y / STEP).round() as i32);
        let whole = |from, to| {
            let line = Segment::new(place(from), place(to));
            let covered: f64 = index.cover_of(0, &line).iter().map(|(f, t)| t - f).sum();
            (covered > 1.0 - 1e-4).then(|| line.length())
        };
        let mut best = std::collections::HashMap::new();
        let mut open = BinaryHeap::from([(std::cmp::Reverse(0_u64), cell(a))]);
        while let Some((std::cmp::Reverse(nm), at)) = open.pop() {
            if *best.entry(at).or_insert(nm) < nm {
                continue;
            }
            if at == cell(b) {
                #[expect(clippy::cast_precision_loss, reason = "it is small")]
                return nm as f64 / 1e6;
            }
            for (dx, dy) in [(1, 0), (0, 1), (1, 1), (1, 2), (2, 1)] {
                for (dx, dy) in [(dx, dy), (-dx, dy), (dx, -dy), (-dx, -dy)] {
                    let to = (at.0 + dx, at.1 + dy);
                    if let Some(length) = whole(at, to) {
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "it is small and positive"
                        )]
                        let far = nm + (length * 1e6) as u64;
                        if best.get(&to).is_none_or(|known| far < *known) {
                            best.insert(to, far);
                            open.push((std::cmp::Reverse(far), to));
                        }
                    }
                }
            }
        }
        f64::INFINITY
    }

    #[test]
    fn the_way_around_a_slot_goes_around_its_nearer_end() {
        let slot = plate(&[[19.0, 2.0, 21.0, 26.0]]);
        assert!((around(&slot, (19.0, 10.0), (21.0, 10.0)) - 18.0).abs() < 1e-9);
        assert!((around(&slot, (19.0, 20.0), (21.0, 20.0)) - 14.0).abs() < 1e-9);
        // A bay at the edge.
        let bay = fill(&[
            (0.0, 0.0),
            (19.0, 0.0),
            (19.0, 12.0),
            (21.0, 12.0),
            (21.0, 0.0),
            (40.0, 0.0),
            (40.0, 30.0),
            (0.0, 30.0),
        ]);
        assert!((around(&bay, (19.0, 3.0), (21.0, 3.0)) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn ways_are_as_short_as_a_search_of_the_whole_copper_finds_them() {
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..8 {
            let at = |random: &mut fastrand::Rng, from: u32, to: u32| {
                f64::from(random.u32(from..to)) * 0.5
            };
            // A slot with a foot, and small holes beside it, in the way.
            let (top, bottom) = (at(&mut random, 4, 24), at(&mut random, 36, 56));
            let foot = at(&mut random, 44, 60);
            let mut ring = vec![
                (0.0, 0.0),
                (40.0, 0.0),
                (40.0, 30.0),
                (0.0, 30.0),
                (0.0, 0.0),
            ];
            ring.extend([
                (19.0, top),
                (19.0, bottom),
                (foot, bottom),
                (foot, bottom - 1.0),
                (20.0, bottom - 1.0),
                (20.0, top),
                (19.0, top),
                (0.0, 0.0),
            ]);
            for row in 0..3 {
                let (x, y) = (at(&mut random, 24, 34), 2.0 + 7.0 * f64::from(row));
                ring.extend([
                    (x, y),
                    (x, y + 1.0),
                    (x + 1.0, y + 1.0),
                    (x + 1.0, y),
                    (x, y),
                    (0.0, 0.0),
                ]);
            }
            let slot = fill(&ring);
            let (a, b) = ((19.0, 15.0), (20.0, 15.0));
            let (found, least) = (around(&slot, a, b), on_grid(&slot, a, b));
            assert!(
                found < 1.06 * least + 1.0 && least < 1.04 * found + 0.1,
                "{found} mm, on a grid {least} mm"
            );
        }
    }

    #[test]
    fn ways_are_the_same_in_both_directions() {
        let mut random = fastrand::Rng::with_seed(13);
        for _ in 0..50 {
            let mut part = || 0.5 + 9.0 * random.f64();
            // A hole with a rim of many corners.
            let mut ring = vec![
                (0.0, 0.0),
                (40.0, 0.0),
                (40.0, 30.0),
                (0.0, 30.0),
                (0.0, 0.0),
            ];
            let corners: Vec<(f64, f64)> = (0..36)
                .map(|index| {
                    let (sin, cos) = (f64::from(index) * 10.0_f64.to_radians()).sin_cos();
                    let radius = part();
                    (20.0 + radius * cos, 15.0 + radius * sin)
                })
                .collect();
            ring.push(corners[0]);
            ring.extend(corners.iter().rev());
            let hole = fill(&ring);
            let (a, b) = (corners[3], corners[20]);
            let (there, back) = (around(&hole, a, b), around(&hole, b, a));
            assert!((there - back).abs() < 1e-9, "{there} {back}");
        }
    }

    #[test]
    fn straight_ways_go_around_antipads_and_not_through_slots() {
        let plane = plate(&[[10.0, 14.0, 11.5, 16.0], [20.0, 5.0, 20.5, 25.0]]);
        let index = FillIndex::new(std::slice::from_ref(&plane), vec![0], &|| false);
        let straight = |x: f64, loose| {
            let line = Segment::new(Point::new(5.0, 15.0), Point::new(x, 15.0));
            index.straight(0, &line, 100.0, loose)
        };
        assert_eq!(straight(9.0, [0.0; 2]), Some(4.0));
        // 1 mm up, 1.5 mm along, 1 mm down, in place of 1.5 mm.
        assert!((straight(15.0, [0.0; 2]).unwrap() - 12.0).abs() < 1e-4);
        assert_eq!(straight(25.0, [0.0; 2]), None);
        assert_eq!(straight(11.0, [0.0; 2]), None);
        assert!((straight(11.0, [0.0, 1.0]).unwrap() - 6.0).abs() < 1e-4);
    }
}
