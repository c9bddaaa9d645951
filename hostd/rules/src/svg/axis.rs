//! The time axis of a picture, counted from the trigger.

use std::fmt::Write as _;

use super::{TOP, Window};
use crate::words::quantity;

/// Ticks that an axis has at most.
const TICKS_MAX: f64 = 8.0;

pub(super) fn draw(svg: &mut String, window: &Window, trigger: f64, bottom: u32) {
    let step = step((window.to - window.from) / TICKS_MAX);
    let first = ((window.from - trigger) / step).ceil();
    let mut index = 0.0;
    while index <= TICKS_MAX + 1.0 {
        let time = (first + index) * step;
        index += 1.0;
        if time + trigger > window.to {
            break;
        }
        let x = window.x(time + trigger);
        // What rounding leaves of 0 is 0.
        let shown = if time.abs() < step / 1e6 { 0.0 } else { time };
        let _ = write!(
            svg,
            "<line class=\"lane\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <text class=\"small\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18,
            quantity(shown, "s")
        );
    }
    if (window.from..=window.to).contains(&trigger) {
        let x = window.x(trigger);
        let _ = write!(
            svg,
            "<line class=\"trigger\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
        );
    }
}

/// The least of 1, 2, 5, 10, … that is not less.
fn step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * decade);
    let found = steps.into_iter().find(|step| least <= *step);
    found.unwrap_or(10.0 * decade)
}
