//! Points as the data of SVG's paths, in few bytes: relative, and without what can be left out.

use std::fmt::Write as _;

use crate::drawing::{Dot, Piece};

/// A piece as part of a path.
pub(super) fn path(svg: &mut String, piece: &Piece) {
    chain(svg, &piece.points, 2 < piece.points.len());
}

/// Points one after the other, and back to the first if it is a ring. A single point is a line of no length, which round ends
/// make a disc.
pub(super) fn chain(svg: &mut String, points: &[Dot], is_ring: bool) {
    let Some(first) = points.first() else { return };
    let _ = write!(svg, "M{} {}", first.0, first.1);
    let (mut at, mut is_begun) = (*first, false);
    for point in &points[1..] {
        let (dx, dy) = (point.0 - at.0, point.1 - at.1);
        if (dx, dy) == (0, 0) {
            continue;
        }
        let before = match (is_begun, dx < 0) {
            (false, _) => "l",
            (true, true) => "",
            (true, false) => " ",
        };
        let between = if dy < 0 { "" } else { " " };
        let _ = write!(svg, "{before}{dx}{between}{dy}");
        (at, is_begun) = (*point, true);
    }
    if !is_begun {
        svg.push_str("h0");
    } else if is_ring {
        svg.push('z');
    }
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn paths_are_short_and_right() {
        let path = |points: &[(i32, i32)], is_ring| {
            let mut svg = String::new();
            chain(&mut svg, points, is_ring);
            svg
        };
        assert_eq!(path(&[(5, -6)], false), "M5 -6h0");
        assert_eq!(path(&[(5, 6), (5, 6)], false), "M5 6h0");
        assert_eq!(
            path(&[(0, 0), (10, 0), (10, 10), (0, 0)], true),
            "M0 0l10 0 0 10-10-10z"
        );
    }
}
