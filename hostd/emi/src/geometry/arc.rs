//! Curves as chains of points.

use std::f64::consts::TAU;

use super::Point;

/// How far a chord may be from its arc, in millimetres.
const SAG_MM: f64 = 0.005;

/// Fewest and most chords of an arc, so that neither tiny nor huge ones go astray.
const CHORDS: (usize, usize) = (4, 256);

/// The arc from `start` through `middle` to `end`; the straight line if they are on one.
pub fn arc_through(start: Point, middle: Point, end: Point) -> Vec<Point> {
    let (a, b) = (middle - start, end - start);
    let twice = 2.0 * a.cross(b);
    if twice.abs() < 1e-9 {
        return vec![start, end];
    }
    let (aa, bb) = (a.dot(a), b.dot(b));
    let center = start + Point::new((b.y * aa - a.y * bb) / twice, (a.x * bb - b.x * aa) / twice);
    let angle = |p: Point| (p.y - center.y).atan2(p.x - center.x);
    let from = angle(start);
    let to_middle = (angle(middle) - from).rem_euclid(TAU);
    let to_end = (angle(end) - from).rem_euclid(TAU);
    let sweep = if to_middle <= to_end {
        to_end
    } else {
        to_end - TAU
    };
    let mut points = sweep_points(center, start.distance(center), from, sweep);
    // The ends are exact, so that what is joined there stays joined.
    points[0] = start;
    if let Some(last) = points.last_mut() {
        *last = end;
    }
    points
}

/// The arc from `start` about `center` by `degrees`, clockwise on the screen.
pub fn arc_by_angle(center: Point, start: Point, degrees: f64) -> Vec<Point> {
    let from = (start.y - center.y).atan2(start.x - center.x);
    let sweep = degrees.clamp(-360.0, 360.0).to_radians();
    let mut points = sweep_points(center, start.distance(center), from, sweep);
    points[0] = start;
    points
}

/// A circle, whose last point is its first.
pub fn circle(center: Point, radius: f64) -> Vec<Point> {
    sweep_points(center, radius, 0.0, TAU)
}

/// A cubic curve.
pub fn bezier(p: [Point; 4]) -> Vec<Point> {
    const CHORDS: u32 = 24;
    (0..=CHORDS)
        .map(|i| {
            let t = f64::from(i) / f64::from(CHORDS);
            let u = 1.0 - t;
            p[0] * (u * u * u)
                + p[1] * (3.0 * u * u * t)
                + p[2] * (3.0 * u * t * t)
                + p[3] * (t * t * t)
        })
        .collect()
}

fn sweep_points(center: Point, radius: f64, from: f64, sweep: f64) -> Vec<Point> {
    let step = 2.0 * (1.0 - SAG_MM / radius.max(SAG_MM)).acos();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it saturates and is clamped"
    )]
    let chords = ((sweep.abs() / step).ceil() as usize).clamp(CHORDS.0, CHORDS.1);
    (0..=chords)
        .map(|i| {
            let (sin, cos) = (from + sweep * i as f64 / chords as f64).sin_cos();
            center + Point::new(cos, sin) * radius
        })
        .collect()
}
