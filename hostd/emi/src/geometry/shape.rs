//! A piece of copper: points, or the polygon that they enclose, grown by a radius. One point is a disc, two are a stroke.

use super::{Bounds, Point, Segment, circle};

/// Everything within `radius` of a point, of a line, or of a polygon (even-odd, so holes may be bridged into it).
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// A point, a line or the ring of a polygon, which is not closed by a repeated point.
    pub points: Vec<Point>,
    /// By how much it is larger.
    pub radius: f64,
}

impl Shape {
    /// A disc.
    pub fn disc(center: Point, radius: f64) -> Self {
        Self {
            points: vec![center],
            radius,
        }
    }

    /// A line with round ends.
    pub fn stroke(a: Point, b: Point, width: f64) -> Self {
        Self {
            points: vec![a, b],
            radius: width / 2.0,
        }
    }

    /// A polygon, grown by `radius`.
    pub fn polygon(points: Vec<Point>, radius: f64) -> Self {
        Self { points, radius }
    }

    /// What is between two circles, as one ring.
    pub fn band(center: Point, inner: f64, outer: f64) -> Self {
        let mut ring = circle(center, outer);
        if inner > 0.0 {
            ring.extend(circle(center, inner).into_iter().rev());
        }
        Self::polygon(ring, 0.0)
    }

    /// Its sides: none of a disc.
    pub fn sides(&self) -> impl Iterator<Item = Segment> + '_ {
        let count = match self.points.len() {
            0 | 1 => 0,
            2 => 1,
            more => more,
        };
        (0..count).map(|i| Segment::new(self.points[i], self.points[(i + 1) % self.points.len()]))
    }

    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.points.iter().copied()).grown(self.radius)
    }

    /// The distance to `point`; 0 inside.
    pub fn distance(&self, point: Point) -> f64 {
        let core = match self.points[..] {
            [] => return f64::INFINITY,
            [center] => center.distance(point),
            _ if self.points.len() > 2 && self.encloses(point) => 0.0,
            _ => self
                .sides()
                .map(|side| side.distance(point))
                .fold(f64::INFINITY, f64::min),
        };
        (core - self.radius).max(0.0)
    }

    /// The distance to `segment`; 0 where they meet.
    pub fn distance_to(&self, segment: &Segment) -> f64 {
        let core = match self.points[..] {
            [] => return f64::INFINITY,
            [center] => segment.distance(center),
            _ if self.points.len() > 2 && self.encloses(segment.a) => 0.0,
            _ => {
                let distances = self.sides().map(|side| side.distance_to(segment));
                distances.fold(f64::INFINITY, f64::min)
            }
        };
        (core - self.radius).max(0.0)
    }

    /// The distance to `other`; 0 where they meet.
    pub fn gap(&self, other: &Self) -> f64 {
        let core = match other.points[..] {
            [] => return f64::INFINITY,
            [center] => self.distance(center),
            _ if other.points.len() > 2
                && self.points.first().is_some_and(|p| other.encloses(*p)) =>
            {
                0.0
            }
            _ => other
                .sides()
                .map(|side| self.distance_to(&side))
                .fold(f64::INFINITY, f64::min),
        };
        (core - other.radius).max(0.0)
    }

    /// The area. Of a grown polygon, that of the polygon and of a strip along its sides.
    pub fn area(&self) -> f64 {
        let perimeter: f64 = self.sides().map(|side| side.length()).sum();
        let strip = if self.points.len() == 2 { 2.0 } else { 1.0 };
        self.core_area()
            + strip * perimeter * self.radius
            + if self.points.len() < 3 {
                std::f64::consts::PI * self.radius * self.radius
            } else {
                0.0
            }
    }

    fn core_area(&self) -> f64 {
        if self.points.len() < 3 {
            return 0.0;
        }
        let origin = self.points[0];
        let sum: f64 = self
            .sides()
            .map(|side| (side.a - origin).cross(side.b - origin))
            .sum();
        sum.abs() / 2.0
    }

    /// Whether the polygon itself has `point` inside.
    fn encloses(&self, point: Point) -> bool {
        let crossings = self.sides().filter(|side| side.crosses_ray(point)).count();
        crossings % 2 == 1
    }
}

impl Segment {
    /// Whether the ray from `point` to the right crosses it. An end belongs to the part below it, so that each ray crosses a
    /// ring an even number of times or odd, also through its corners.
    pub(crate) fn crosses_ray(&self, point: Point) -> bool {
        (self.a.y > point.y) != (self.b.y > point.y)
            && point.x
                < (self.b.x - self.a.x) * (point.y - self.a.y) / (self.b.y - self.a.y) + self.a.x
    }
}
