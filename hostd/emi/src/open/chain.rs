//! Rings that an outline's lines make together.

use std::collections::HashMap;

use crate::geometry::{Point, Segment};

/// Ends that are nearer than this are one, in mm.
const NEAR_MM: f64 = 0.01;

/// The closed rings of some lines. What does not close is left out.
pub(super) fn loops(lines: &[Segment]) -> Vec<Vec<Point>> {
    #[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded")]
    let key = |p: Point| {
        let cell = |value: f64| (value / NEAR_MM).round() as i64;
        (cell(p.x), cell(p.y))
    };
    let mut at: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        at.entry(key(line.a)).or_default().push(index);
        at.entry(key(line.b)).or_default().push(index);
    }
    let mut is_used = vec![false; lines.len()];
    let mut rings = Vec::new();
    for first in 0..lines.len() {
        if is_used[first] || key(lines[first].a) == key(lines[first].b) {
            continue;
        }
        is_used[first] = true;
        let (start, mut end) = (lines[first].a, lines[first].b);
        let mut ring = vec![start, end];
        while key(end) != key(start) {
            let next = at.get_mut(&key(end)).and_then(|lines| {
                while lines.last().is_some_and(|index| is_used[*index]) {
                    lines.pop();
                }
                lines.pop()
            });
            let Some(next) = next else {
                break;
            };
            is_used[next] = true;
            let line = lines[next];
            end = if key(line.a) == key(end) {
                line.b
            } else {
                line.a
            };
            ring.push(end);
        }
        if key(end) == key(start) && ring.len() > 3 {
            ring.pop();
            rings.push(ring);
        }
    }
    rings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_any_order_and_direction_make_rings() {
        let p = Point::new;
        let lines = [
            Segment::new(p(0.0, 0.0), p(4.0, 0.0)),
            Segment::new(p(0.0, 3.0), p(4.0, 3.001)),
            Segment::new(p(0.0, 3.0), p(0.0, 0.0)),
            Segment::new(p(9.0, 9.0), p(8.0, 8.0)),
            Segment::new(p(4.0, 0.0), p(4.0, 3.0)),
        ];
        let rings = loops(&lines);
        assert_eq!(rings.len(), 1);
        assert_eq!(rings[0].len(), 4);
    }
}
