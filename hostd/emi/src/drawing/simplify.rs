//! Outlines with fewer points, in time that grows with their number alone.

use std::f64::consts::{PI, TAU};

use crate::geometry::Point;

/// A chain or ring with only those points that are needed for it to stay within about `tolerance` of what it was. From each
/// point that is kept, the next one is the last that lies in the direction of all between, as seen through a slit of the
/// tolerance's width.
pub(super) fn simplified(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() < 4 {
        return points.to_vec();
    }
    let mut kept = vec![points[0]];
    let (mut anchor, mut last) = (points[0], points[0]);
    let mut slit: Option<Slit> = None;
    for point in &points[1..] {
        let next = match &slit {
            None => Slit::towards(anchor, *point, tolerance),
            Some(slit) => slit.narrowed(anchor, *point, tolerance),
        };
        match next {
            Seen::Near => {}
            Seen::Through(narrower) => slit = Some(narrower),
            Seen::Beside => {
                kept.push(last);
                anchor = last;
                slit = match Slit::towards(anchor, *point, tolerance) {
                    Seen::Through(slit) => Some(slit),
                    Seen::Near | Seen::Beside => None,
                };
            }
        }
        last = *point;
    }
    if kept.last() != Some(&last) {
        kept.push(last);
    }
    // A ring that comes to nothing is as small as the tolerance: its corners show where it is.
    if kept.len() < 3 {
        return vec![
            points[0],
            points[points.len() / 3],
            points[2 * points.len() / 3],
        ];
    }
    kept
}

/// Directions that are still allowed, in radians about the first one.
struct Slit {
    middle: f64,
    low: f64,
    high: f64,
    /// How far away the furthest point is: a chain that comes back has a corner.
    reach: f64,
}

enum Seen {
    /// Too near to have a direction.
    Near,
    Through(Slit),
    Beside,
}

impl Slit {
    fn towards(anchor: Point, point: Point, tolerance: f64) -> Seen {
        let to = point - anchor;
        let reach = to.length();
        if reach <= tolerance {
            return Seen::Near;
        }
        let half = (tolerance / reach).asin();
        Seen::Through(Self {
            middle: to.y.atan2(to.x),
            low: -half,
            high: half,
            reach,
        })
    }

    fn narrowed(&self, anchor: Point, point: Point, tolerance: f64) -> Seen {
        let to = point - anchor;
        let reach = to.length();
        if reach + tolerance < self.reach || reach <= tolerance {
            return Seen::Beside;
        }
        let angle = (to.y.atan2(to.x) - self.middle + PI).rem_euclid(TAU) - PI;
        if angle < self.low || self.high < angle {
            return Seen::Beside;
        }
        let half = (tolerance / reach).asin();
        Seen::Through(Self {
            middle: self.middle,
            low: self.low.max(angle - half),
            high: self.high.min(angle + half),
            reach: self.reach.max(reach),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Segment, circle};

    #[test]
    fn a_circle_keeps_its_shape_with_fewer_points() {
        let ring = circle(Point::new(10.0, 10.0), 5.0);
        let few = simplified(&ring, 0.1);
        assert!(
            few.len() < ring.len() / 2 && 8 <= few.len(),
            "{}",
            few.len()
        );
        for point in &ring {
            let distance = few
                .iter()
                .zip(few.iter().cycle().skip(1))
                .map(|(a, b)| Segment::new(*a, *b).distance(*point))
                .fold(f64::INFINITY, f64::min);
            assert!(distance < 0.25, "{distance}");
        }
    }

    #[test]
    fn corners_stay() {
        let (a, b) = (Point::new(0.0, 0.0), Point::new(10.0, 0.0));
        let there_and_back = [a, a.lerp(b, 0.5), b, Point::new(10.0, 10.0), b, a];
        let kept = simplified(&there_and_back, 0.01);
        assert_eq!(kept, [a, b, Point::new(10.0, 10.0), b, a]);
        let tiny = circle(a, 0.001);
        assert_eq!(simplified(&tiny, 0.1).len(), 3);
    }
}
