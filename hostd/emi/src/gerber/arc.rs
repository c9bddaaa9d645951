//! Arcs by their centre (4.7), as chains of points, y up.

use std::f64::consts::{PI, TAU};

use crate::geometry::{Point, arc_through, circle};

/// Which way an arc goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Clockwise,
    Counterclockwise,
}

/// The arc from `start` to `end` about the point that is `offset` from the start. With `is_quarter`, the offset has no
/// signs and the arc is a quarter of a circle at most.
pub(super) fn arc(
    start: Point,
    end: Point,
    offset: Point,
    turn: Turn,
    is_quarter: bool,
) -> Vec<Point> {
    if is_quarter {
        let offset = Point::new(offset.x.abs(), offset.y.abs());
        let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let centers = signs.map(|(x, y)| start + Point::new(offset.x * x, offset.y * y));
        let miss = |center: &Point| (center.distance(start) - center.distance(end)).abs();
        let short = centers
            .into_iter()
            .filter(|center| sweep(start, end, *center, turn).abs() <= PI / 2.0 + 1e-3);
        let best = short.min_by(|x, y| miss(x).total_cmp(&miss(y)));
        return match best {
            Some(center) if start != end => chain(start, end, center, turn),
            _ => vec![start, end],
        };
    }
    chain(start, end, start + offset, turn)
}

fn chain(start: Point, end: Point, center: Point, turn: Turn) -> Vec<Point> {
    let radius = center.distance(start);
    if radius <= 0.0 {
        return vec![start, end];
    }
    if start == end {
        let from = (start.y - center.y).atan2(start.x - center.x).to_degrees();
        // Turned so that it begins where it should; it runs the same way round wherever it is drawn.
        let turned = circle(Point::default(), radius)
            .into_iter()
            .map(|point| center + point.rotated(-from));
        let mut points: Vec<Point> = turned.collect();
        points[0] = start;
        if let Some(last) = points.last_mut() {
            *last = end;
        }
        return points;
    }
    let sweep = sweep(start, end, center, turn);
    let from = (start.y - center.y).atan2(start.x - center.x);
    let (sin, cos) = (from + sweep / 2.0).sin_cos();
    // Centres are rounded: halfway, the radius is the mean of both ends'.
    let mean = radius.midpoint(center.distance(end));
    arc_through(start, center + Point::new(cos, sin) * mean, end)
}

/// The angle from start to end, above 0 counter-clockwise.
fn sweep(start: Point, end: Point, center: Point, turn: Turn) -> f64 {
    let angle = |p: Point| (p.y - center.y).atan2(p.x - center.x);
    let ahead = (angle(end) - angle(start)).rem_euclid(TAU);
    match turn {
        Turn::Counterclockwise if ahead == 0.0 => TAU,
        Turn::Counterclockwise => ahead,
        Turn::Clockwise => ahead - TAU,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn middle(points: &[Point]) -> Point {
        points[points.len() / 2]
    }

    #[test]
    fn arcs_turn_the_way_they_should() {
        let (start, end) = (Point::new(1.0, 0.0), Point::new(0.0, 1.0));
        let to_center = Point::new(-1.0, 0.0);
        let short = arc(start, end, to_center, Turn::Counterclockwise, false);
        assert!(middle(&short).distance(Point::new(0.707, 0.707)) < 0.1);
        let long = arc(start, end, to_center, Turn::Clockwise, false);
        assert!(middle(&long).distance(Point::new(-0.707, -0.707)) < 0.1);
        let quarter = arc(
            start,
            end,
            Point::new(1.0, 0.0),
            Turn::Counterclockwise,
            true,
        );
        assert!(middle(&quarter).distance(Point::new(0.707, 0.707)) < 0.1);
        let whole = arc(start, start, to_center, Turn::Clockwise, false);
        assert_eq!((whole[0], whole[whole.len() - 1]), (start, start));
        assert!(middle(&whole).distance(Point::new(-1.0, 0.0)) < 0.1);
        assert!(whole.iter().all(|p| (p.length() - 1.0).abs() < 1e-9));
    }
}
