//! A frame for curves over frequency: a logarithmic axis, lines of the grid with their numbers.

use std::fmt::Write as _;

use super::frequency;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;

/// Frequencies that the grid may show, as multiples of powers of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 3.0, 5.0];

/// A frame for curves.
pub(super) struct Chart {
    hz: (f64, f64),
    level: (f64, f64),
}

impl Chart {
    /// For frequencies and levels from the first to the second; both get a little room.
    pub(super) fn new(hz: (f64, f64), level: (f64, f64)) -> Self {
        let (low, high) = (hz.0.max(1.0), hz.1.max(hz.0.max(1.0) * 1.2));
        let (floor, ceiling) = (
            (level.0 / 10.0).floor() * 10.0,
            (level.1 / 10.0).ceil() * 10.0,
        );
        Self {
            hz: (low, high),
            level: (floor, ceiling.max(floor + 10.0)),
        }
    }

    /// Columns of dots: more lines than that cannot be told apart.
    pub(super) const COLUMNS: usize = 900;

    /// Which column a frequency falls into.
    pub(super) fn column(&self, hz: f64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "it is within the picture")]
        let column = self.x(hz).round() as i64;
        column
    }

    pub(super) fn x(&self, hz: f64) -> f64 {
        let part = (hz.max(1.0) / self.hz.0).ln() / (self.hz.1 / self.hz.0).ln();
        LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn y(&self, level: f64) -> f64 {
        let part = (level - self.level.0) / (self.level.1 - self.level.0);
        HEIGHT - BOTTOM - part.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    /// Where the axis of frequencies is.
    pub(super) fn floor(&self) -> f64 {
        HEIGHT - BOTTOM
    }

    /// Frequencies evenly over the picture, with both ends.
    pub(super) fn frequencies(&self, count: u32) -> impl Iterator<Item = f64> + '_ {
        let ratio = (self.hz.1 / self.hz.0).ln();
        (0..=count)
            .map(move |index| self.hz.0 * (ratio * f64::from(index) / f64::from(count)).exp())
    }

    /// Opens the picture, with its grid.
    pub(super) fn open(&self, page: &mut String, label: &str, unit: &str) {
        let _ = writeln!(
            page,
            "<div class=\"wide\"><svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\
             <text x=\"{LEFT}\" y=\"15\">{unit}</text>"
        );
        let step = if 60.0 < self.level.1 - self.level.0 {
            20.0
        } else {
            10.0
        };
        let mut level = (self.level.0 / step).ceil() * step;
        while level <= self.level.1 {
            let y = self.y(level);
            let _ = write!(
                page,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{level}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
            );
            level += step;
        }
        let mut last = f64::NEG_INFINITY;
        let mut decade = 10f64.powf(self.hz.0.log10().floor());
        while decade <= self.hz.1 {
            for hz in STEPS.map(|step| step * decade) {
                let x = self.x(hz);
                if hz < self.hz.0 || self.hz.1 < hz || x < last + 58.0 {
                    continue;
                }
                last = x;
                let _ = write!(
                    page,
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.0}\"/>\
                     <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
                    self.floor(),
                    HEIGHT - 10.0,
                    frequency(hz),
                );
            }
            decade *= 10.0;
        }
    }

    /// A word at the right end of a curve.
    pub(super) fn legend(&self, page: &mut String, index: usize, class: &str, text: &str) {
        let at = f64::from(u16::try_from(index).unwrap_or(u16::MAX));
        let x = LEFT + 90.0 + 190.0 * at;
        let _ = write!(
            page,
            "<line class=\"{class}\" x1=\"{x}\" x2=\"{}\" y1=\"11\" y2=\"11\"/><text x=\"{}\" y=\"15\">{text}</text>",
            x + 24.0,
            x + 30.0,
        );
    }
}
