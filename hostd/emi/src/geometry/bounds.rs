//! A box that holds points.

use super::Point;

/// The smallest box, parallel to the axes, around what was added to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub min: Point,
    /// The corner with the largest coordinates.
    pub max: Point,
}

impl Bounds {
    /// Around nothing.
    pub const EMPTY: Self = Self {
        min: Point::new(f64::INFINITY, f64::INFINITY),
        max: Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// Around `points`.
    pub fn of(points: impl IntoIterator<Item = Point>) -> Self {
        let mut bounds = Self::EMPTY;
        for point in points {
            bounds.add(point);
        }
        bounds
    }

    /// Around `boxes`, but for those around nothing.
    pub fn around(boxes: impl IntoIterator<Item = Self>) -> Self {
        let boxes = boxes.into_iter().filter(|bounds| !bounds.is_empty());
        Self::of(boxes.flat_map(|bounds| [bounds.min, bounds.max]))
    }

    /// Takes `point` in.
    pub fn add(&mut self, point: Point) {
        self.min = Point::new(self.min.x.min(point.x), self.min.y.min(point.y));
        self.max = Point::new(self.max.x.max(point.x), self.max.y.max(point.y));
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// Larger by `margin` on every side.
    pub fn grown(self, margin: f64) -> Self {
        Self {
            min: Point::new(self.min.x - margin, self.min.y - margin),
            max: Point::new(self.max.x + margin, self.max.y + margin),
        }
    }

    /// Whether `point` is inside or on the edge.
    pub fn contains(&self, point: Point) -> bool {
        self.min.x <= point.x
            && point.x <= self.max.x
            && self.min.y <= point.y
            && point.y <= self.max.y
    }

    /// Whether the boxes share a point.
    pub fn meets(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
    }

    /// Width times height; 0 of nothing.
    pub fn area(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.width() * self.height()
    }

    /// From left to right.
    pub fn width(&self) -> f64 {
        self.max.x - self.min.x
    }

    /// From top to bottom.
    pub fn height(&self) -> f64 {
        self.max.y - self.min.y
    }

    /// The middle.
    pub fn center(&self) -> Point {
        self.min.lerp(self.max, 0.5)
    }
}
