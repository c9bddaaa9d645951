//! Things that reach some way from their middles. Those that reach alike far are kept together, so that one large thing does not
//! make every search a wide one.

use super::Places;
use crate::geometry::{Point, Segment};
use crate::observer::Stop;

/// How far the things of each class reach at most, in mm; those of the last, as far as they do.
const CLASSES_MM: [f64; 2] = [0.6, 2.5];

/// Things at points, with what they are and how far they reach.
pub(crate) struct Reaching<T> {
    /// How far its things reach at most, and these.
    classes: Vec<(f64, Places<T>)>,
}

impl<T> Reaching<T> {
    pub(crate) fn new(things: impl IntoIterator<Item = (Point, f64, T)>, stop: Stop<'_>) -> Self {
        let mut classes: Vec<(f64, Vec<(Point, T)>)> = Vec::new();
        classes.resize_with(CLASSES_MM.len() + 1, || (0.0, Vec::new()));
        for (at, reach, thing) in things {
            // What has no copper reaches nowhere.
            let reach = if reach.is_finite() { reach } else { 0.0 };
            let (most, of_class) = &mut classes[CLASSES_MM.partition_point(|most| *most < reach)];
            *most = most.max(reach);
            of_class.push((at, thing));
        }
        let classes = classes.into_iter().filter(|(_, things)| !things.is_empty());
        Self {
            classes: classes
                .map(|(most, things)| (most, Places::new(things, stop)))
                .collect(),
        }
    }

    /// All things that may reach within `radius` of `point`, with their middles.
    pub(crate) fn within(&self, point: Point, radius: f64) -> impl Iterator<Item = (Point, &T)> {
        let classes = self.classes.iter();
        classes.flat_map(move |(most, places)| places.within(point, radius + most))
    }

    /// All things that may reach within `radius` of `line`, with their middles.
    pub(crate) fn along(&self, line: &Segment, radius: f64) -> impl Iterator<Item = (Point, &T)> {
        let classes = self.classes.iter();
        classes.flat_map(move |(most, places)| places.along(line, radius + most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_a_place_is_found_whatever_its_size() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut point = || Point::new(random.f64() * 60.0, random.f64() * 60.0);
        let places: Vec<Point> = (0..400).map(|_| point()).collect();
        let reaches = [0.3, 0.6, 0.7, 2.5, 9.0];
        let things = (0..)
            .zip(&places)
            .map(|(index, at)| (*at, reaches[index % 5], index));
        let index = Reaching::new(things, &|| false);
        for _ in 0..200 {
            let (at, end) = (point(), point());
            let line = Segment::new(at, end);
            let near: Vec<usize> = index.within(at, 1.0).map(|(_, thing)| *thing).collect();
            let along: Vec<usize> = index.along(&line, 1.0).map(|(_, thing)| *thing).collect();
            for (thing, middle) in places.iter().enumerate() {
                let reach = 1.0 + reaches[thing % 5];
                assert!(reach < middle.distance(at) || near.contains(&thing));
                assert!(reach < line.distance(*middle) || along.contains(&thing));
            }
        }
        assert!(index.within(Point::new(500.0, 0.0), 1.0).next().is_none());
    }
}
