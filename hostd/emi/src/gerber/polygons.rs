//! Unions and differences of copper, and rings with their holes bridged into them, as boards have pours.

use std::f64::consts::{FRAC_PI_2, PI};

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::simplify::SimplifyShape;
use i_overlay::float::single::SingleFloatOverlay;

use crate::geometry::{Point, Shape, circle};

/// The corners of a ring.
type Contour = Vec<[f64; 2]>;

/// Pieces: each an outer ring, which runs one way, and its holes, which run the other way.
pub(crate) type Pieces = Vec<Vec<Contour>>;

/// Half circles at the ends of strokes have a corner for so many radians.
const END_CHORDS: usize = 8;

/// Pieces below this area are what rounding leaves, in mm².
const AREA_MM2_MIN: f64 = 1e-6;

/// The pieces that shapes cover together.
pub(crate) fn union<'a>(shapes: impl IntoIterator<Item = &'a Shape>) -> Pieces {
    let contours: Vec<Contour> = shapes.into_iter().flat_map(contours).collect();
    if contours.is_empty() {
        return Vec::new();
    }
    contours.simplify_shape(FillRule::NonZero)
}

/// What is left of `pieces` without `shapes`.
pub(crate) fn without<'a>(pieces: &Pieces, shapes: impl IntoIterator<Item = &'a Shape>) -> Pieces {
    let cut: Vec<Contour> = shapes.into_iter().flat_map(contours).collect();
    if cut.is_empty() || pieces.is_empty() {
        return pieces.clone();
    }
    let kept = pieces.overlay(&cut, OverlayRule::Difference, FillRule::NonZero);
    kept.into_iter()
        .filter(|piece| piece.first().is_some_and(|ring| area(ring) > AREA_MM2_MIN))
        .collect()
}

fn area(ring: &Contour) -> f64 {
    let next = ring.iter().cycle().skip(1);
    let sum: f64 = ring
        .iter()
        .zip(next)
        .map(|(a, b)| a[0] * b[1] - b[0] * a[1])
        .sum();
    sum.abs() / 2.0
}

/// The outlines of a shape, all running the same way.
fn contours(shape: &Shape) -> Vec<Contour> {
    let radius = shape.radius;
    match shape.points[..] {
        [] => Vec::new(),
        [center] if radius > 0.0 => {
            let mut ring = circle(center, radius);
            ring.pop();
            vec![ring.into_iter().map(|p| [p.x, p.y]).collect()]
        }
        [_] => Vec::new(),
        [a, b] => vec![capsule(a, b, radius)],
        _ => {
            let ring: Contour = shape.points.iter().map(|p| [p.x, p.y]).collect();
            let plain = ring.simplify_shape(FillRule::EvenOdd);
            let mut contours: Vec<Contour> = plain.into_iter().flatten().collect();
            if radius > 0.0 {
                contours.extend(shape.sides().map(|side| capsule(side.a, side.b, radius)));
            }
            contours
        }
    }
}

/// A line with round ends.
fn capsule(a: Point, b: Point, radius: f64) -> Contour {
    let along = (b.y - a.y).atan2(b.x - a.x);
    let end = |center: Point, from: f64| {
        (0..=END_CHORDS).map(move |i| {
            let (sin, cos) = (from + PI * i as f64 / END_CHORDS as f64).sin_cos();
            [center.x + radius * cos, center.y + radius * sin]
        })
    };
    end(b, along - FRAC_PI_2)
        .chain(end(a, along + FRAC_PI_2))
        .collect()
}

/// A piece as one ring: each hole is joined, from its leftmost corner, with what is left of it.
pub(crate) fn bridged(piece: &[Contour]) -> Vec<Point> {
    let points = |ring: &Contour| ring.iter().map(|p| Point::new(p[0], p[1])).collect();
    let Some((outer, holes)) = piece.split_first() else {
        return Vec::new();
    };
    let mut ring: Vec<Point> = points(outer);
    let mut holes: Vec<Vec<Point>> = holes
        .iter()
        .map(points)
        .filter_map(|mut hole: Vec<Point>| {
            let left = (0..hole.len()).min_by(|x, y| hole[*x].order(hole[*y]))?;
            hole.rotate_left(left);
            Some(hole)
        })
        .collect();
    // From the left, so that what a hole finds on its left is in the ring already.
    holes.sort_by(|x, y| x[0].order(y[0]));
    for hole in holes {
        join(&mut ring, hole);
    }
    ring
}

/// Joins a hole, which begins with its leftmost corner, with the side of the ring that is next on its left.
fn join(ring: &mut Vec<Point>, hole: Vec<Point>) {
    let start = hole[0];
    let mut best: Option<(usize, f64)> = None;
    for index in 0..ring.len() {
        let (a, b) = (ring[index], ring[(index + 1) % ring.len()]);
        if (a.y > start.y) == (b.y > start.y) {
            continue;
        }
        let x = a.x + (b.x - a.x) * (start.y - a.y) / (b.y - a.y);
        if x <= start.x && best.is_none_or(|(_, most)| most < x) {
            best = Some((index, x));
        }
    }
    // Without any, rounding has moved it: the bridge from the first corner is longer, and as good.
    let (index, x) = best.unwrap_or((0, ring[0].x));
    let foot = match best {
        Some(_) => Point::new(x, start.y),
        None => ring[0],
    };
    let mut way = vec![foot];
    way.extend(hole);
    way.extend([start, foot]);
    ring.splice(index + 1..index + 1, way);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plate(low: f64, high: f64) -> Shape {
        let corners = [(low, low), (high, low), (high, high), (low, high)];
        Shape::polygon(corners.map(|(x, y)| Point::new(x, y)).to_vec(), 0.0)
    }

    #[test]
    fn holes_are_bridged_so_that_even_odd_leaves_them_out() {
        let discs: Vec<Shape> = [(3.0, 3.0), (7.0, 3.0), (5.0, 3.0), (5.0, 7.0)]
            .map(|(x, y)| Shape::disc(Point::new(x, y), 0.6))
            .to_vec();
        let pieces = without(&union([&plate(0.0, 10.0)]), &discs);
        assert_eq!((pieces.len(), pieces[0].len()), (1, 5));
        let ring = Shape::polygon(bridged(&pieces[0]), 0.0);
        let holes = 4.0 * PI * 0.36;
        assert!(
            (ring.area() - (100.0 - holes)).abs() < 0.05,
            "{}",
            ring.area()
        );
        for disc in &discs {
            assert!(ring.distance(disc.points[0]) > 0.5);
        }
        assert_eq!(ring.distance(Point::new(4.0, 3.0)), 0.0);
        // Bridges are short: none leads across the plate.
        let longest = ring.sides().map(|side| side.length()).fold(0.0, f64::max);
        assert!(longest <= 10.0 + 1e-6);
    }

    #[test]
    fn unions_do_not_depend_on_the_way_round() {
        let mut other = plate(5.0, 15.0);
        other.points.reverse();
        let pieces = union([&plate(0.0, 10.0), &other]);
        assert_eq!(pieces.len(), 1);
        let area = Shape::polygon(bridged(&pieces[0]), 0.0).area();
        assert!((area - 175.0).abs() < 1e-3, "{area}");
        let stroke = Shape::stroke(Point::new(0.0, 0.0), Point::new(10.0, 0.0), 1.0);
        let area = Shape::polygon(bridged(&union([&stroke])[0]), 0.0).area();
        assert!((area - 10.0 - PI / 4.0).abs() < 0.05, "{area}");
        assert!(union([&Shape::disc(Point::default(), 0.0)]).is_empty());
    }
}
