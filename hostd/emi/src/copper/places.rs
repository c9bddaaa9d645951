//! A grid of points: which are near.

use super::ROUNDING_MM;
use super::grid::SegmentGrid;
use crate::geometry::{Point, Segment};
use crate::observer::Stop;

/// Things at points, with what they are.
pub(crate) struct Places<T> {
    grid: SegmentGrid,
    things: Vec<T>,
}

impl<T> Places<T> {
    pub(crate) fn new(places: impl IntoIterator<Item = (Point, T)>, stop: Stop<'_>) -> Self {
        let (points, things): (Vec<Point>, Vec<T>) = places.into_iter().unzip();
        let segments = points.into_iter().map(|p| Segment::new(p, p)).collect();
        Self {
            grid: SegmentGrid::new(segments, stop),
            things,
        }
    }

    /// All things within `radius` of `point`, with their places.
    pub(crate) fn within(&self, point: Point, radius: f64) -> impl Iterator<Item = (Point, &T)> {
        let radius = radius + ROUNDING_MM;
        let mut found = Vec::new();
        self.grid
            .along(&Segment::new(point, point), radius, &mut found);
        let things = found
            .into_iter()
            .map(|index| (self.grid.segment(index).a, &self.things[index]));
        things.filter(move |(at, _)| at.distance(point) <= radius)
    }

    /// How many things [`within`](Self::within) looks at, or more.
    pub(crate) fn crowd(&self, point: Point, radius: f64) -> usize {
        self.grid.crowd(&Segment::new(point, point), radius)
    }

    /// All things within `radius` of `line`, with their places.
    pub(crate) fn along(&self, line: &Segment, radius: f64) -> impl Iterator<Item = (Point, &T)> {
        let (line, radius) = (*line, radius + ROUNDING_MM);
        let mut found = Vec::new();
        self.grid.along(&line, radius, &mut found);
        let things = found
            .into_iter()
            .map(|index| (self.grid.segment(index).a, &self.things[index]));
        things.filter(move |(at, _)| line.distance(*at) <= radius)
    }

    /// The nearest of the things within `radius` that `is` likes, and how far it is. It is looked for nearby first: a dense board
    /// has thousands of things within a large radius.
    pub(crate) fn nearest(
        &self,
        point: Point,
        radius: f64,
        is: impl Fn(&T) -> bool,
    ) -> Option<(f64, Point, &T)> {
        let mut reach = self.grid.cell();
        loop {
            let here = reach.min(radius);
            let liked = self.within(point, here).filter(|(_, thing)| is(thing));
            let measured = liked.map(|(at, thing)| (at.distance(point), at, thing));
            let best = measured.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.order(y.1)));
            if best.is_some() || radius <= reach {
                return best;
            }
            reach *= 2.0;
        }
    }
}
