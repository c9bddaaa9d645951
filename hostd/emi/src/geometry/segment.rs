//! A straight line from one point to another.

use super::{Bounds, Point};

/// From `a` to `b`. Both may be the same point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where it begins.
    pub a: Point,
    /// Where it ends.
    pub b: Point,
}

impl Segment {
    /// From `a` to `b`.
    pub const fn new(a: Point, b: Point) -> Self {
        Self { a, b }
    }

    /// How long it is.
    pub fn length(&self) -> f64 {
        self.a.distance(self.b)
    }

    /// The point at part `t` of the way.
    pub fn at(&self, t: f64) -> Point {
        self.a.lerp(self.b, t)
    }

    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        Bounds::of([self.a, self.b])
    }

    /// The part of the way, 0 to 1, at which it is nearest to `point`.
    pub fn nearest(&self, point: Point) -> f64 {
        let along = self.b - self.a;
        let square = along.dot(along);
        if square > 0.0 {
            ((point - self.a).dot(along) / square).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The distance to `point`.
    pub fn distance(&self, point: Point) -> f64 {
        self.at(self.nearest(point)).distance(point)
    }

    /// The distance to `other`; 0 where they cross.
    pub fn distance_to(&self, other: &Self) -> f64 {
        if self.crosses(other) {
            return 0.0;
        }
        self.distance(other.a)
            .min(self.distance(other.b))
            .min(other.distance(self.a))
            .min(other.distance(self.b))
    }

    fn crosses(&self, other: &Self) -> bool {
        let side = |s: &Self, p: Point| (s.b - s.a).cross(p - s.a);
        side(self, other.a) * side(self, other.b) < 0.0
            && side(other, self.a) * side(other, self.b) < 0.0
    }

    /// The part of its way, 0 to 1, that is within `radius` of `center`.
    pub fn inside_disc(&self, center: Point, radius: f64) -> Option<(f64, f64)> {
        let along = self.b - self.a;
        let to = center - self.a;
        let square = along.dot(along);
        if square <= 0.0 {
            return (to.length() <= radius).then_some((0.0, 1.0));
        }
        // From the point of its carrier that is nearest to the centre: no digits are lost on tiny discs far along the way.
        let middle = to.dot(along) / square;
        let aside = to - along * middle;
        let half = (radius * radius - aside.dot(aside)) / square;
        if half < 0.0 {
            return None;
        }
        let (from, to) = (middle - half.sqrt(), middle + half.sqrt());
        (from <= 1.0 && 0.0 <= to).then_some((from.max(0.0), to.min(1.0)))
    }

    /// The part of its way, 0 to 1, that is within `radius` of `core`. What is within a radius of a segment is convex,
    /// so this is one stretch.
    pub fn inside_stroke(&self, core: &Self, radius: f64) -> Option<(f64, f64)> {
        let ends = [core.a, core.b].map(|end| self.inside_disc(end, radius));
        let parts = ends
            .into_iter()
            .flatten()
            .chain(self.inside_band(core, radius));
        parts.reduce(|x, y| (x.0.min(y.0), x.1.max(y.1)))
    }

    /// The part of its way that is in the rectangle around `core`.
    fn inside_band(&self, core: &Self, radius: f64) -> Option<(f64, f64)> {
        let length = core.length();
        if length <= 0.0 {
            return None;
        }
        let along = (core.b - core.a) * (1.0 / length);
        let across = Point::new(-along.y, along.x);
        let mut part = (0.0_f64, 1.0_f64);
        for (axis, low, high) in [(along, 0.0, length), (across, -radius, radius)] {
            let from = (self.a - core.a).dot(axis);
            let step = (self.b - self.a).dot(axis);
            if step == 0.0 {
                if from < low || high < from {
                    return None;
                }
                continue;
            }
            let (x, y) = ((low - from) / step, (high - from) / step);
            part = (part.0.max(x.min(y)), part.1.min(x.max(y)));
        }
        (part.0 <= part.1).then_some(part)
    }
}
