//! Panels that are short where charge gathers.

use super::boundary::{Border, Panel};
use crate::fields::Complex;

/// By how much each panel of a growing row is longer than the one before.
const GROWTH: f64 = 1.6;

/// Most panels of a growing row.
const GROWING_MAX: u16 = 60;

/// Panels from `a` to `b` that are short at both ends: their lengths fall with the third power of the distance to the end,
/// so that even copper a thousandth as thick as wide is resolved.
pub(super) fn push_graded(
    panels: &mut Vec<Panel>,
    a: (f64, f64),
    b: (f64, f64),
    count: usize,
    border: Border,
) {
    let start = Complex::new(a.0, a.1);
    let along = Complex::new(b.0 - a.0, b.1 - a.1);
    let point = |k: usize| {
        let (from, to) = ((k as f64).powi(3), ((count - k) as f64).powi(3));
        start + along * (from / (from + to))
    };
    panels.extend((0..count).map(|k| Panel {
        a: point(k),
        b: point(k + 1),
        border,
    }));
}

/// Level panels at `y` whose lengths grow from `first` on, beginning at `from` and going to `to`. Each of them runs from
/// left to right.
pub(super) fn push_growing(
    panels: &mut Vec<Panel>,
    y: f64,
    from: f64,
    to: f64,
    first: f64,
    border: Border,
) {
    let along = to - from;
    let wanted = (along.abs() / first * (GROWTH - 1.0)).ln_1p() / GROWTH.ln();
    let count = (1..GROWING_MAX)
        .find(|count| f64::from(*count) >= wanted)
        .unwrap_or(GROWING_MAX);
    let sum = |k: u16| GROWTH.powi(i32::from(k)) - 1.0;
    let point = |k: u16| Complex::new(from + along * (sum(k) / sum(count)), y);
    panels.extend((0..count).map(|k| {
        let (near, far) = (point(k), point(k + 1));
        let (a, b) = if along < 0.0 {
            (far, near)
        } else {
            (near, far)
        };
        Panel { a, b, border }
    }));
}
