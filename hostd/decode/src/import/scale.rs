//! What counts of an imported analog channel mean. Values that lie on a grid, as those of every converter do, are kept
//! exactly as far as 16 bits go; others are rounded to 65,536 steps over their range.

use std::collections::HashSet;

/// Different values that are remembered: as many as a capture has counts.
const DIFFERENT_MAX: usize = 1 << 16;

/// Steps from the lowest count to the highest.
const STEPS: f64 = 65_535.0;

/// How far a value may be from the grid, in parts of the largest value: what a 32-bit float rounds off.
const ROUNDED: f64 = 1.0 / (1 << 22) as f64;

/// Largest number that is taken for a value: differences of two are numbers, too.
const VALUE_MAX: f64 = 1e300;

/// Whether a number can be the value of a sample.
pub(super) fn is_value(number: f64) -> bool {
    number.abs() <= VALUE_MAX
}

/// How much more than a value the differences of many are off.
const NOISE: f64 = 16.0;

/// The value of count 0, and of 65,536 counts more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) full: f64,
    pub(super) offset: f64,
}

impl Scale {
    /// The count nearest to a value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is clamped to counts"
    )]
    pub(super) fn count(self, value: f64) -> u16 {
        ((value - self.offset) / self.full * (STEPS + 1.0))
            .round()
            .clamp(0.0, STEPS) as u16
    }
}

/// The values of a channel.
#[derive(Clone, Debug)]
pub(super) struct Values {
    min: f64,
    max: f64,
    /// None when there are too many.
    different: Option<HashSet<u64>>,
    last: f64,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            different: Some(HashSet::new()),
            last: f64::NAN,
        }
    }
}

impl Values {
    /// Take a finite value; returns whether it differs from the last.
    pub(super) fn take(&mut self, value: f64) -> bool {
        if value == self.last {
            return false;
        }
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if let Some(different) = &mut self.different {
            // Both zeros are one value.
            different.insert((value + 0.0).to_bits());
            if different.len() > DIFFERENT_MAX {
                self.different = None;
            }
        }
        true
    }

    /// The scale that keeps them best, and whether it is exact.
    pub(super) fn scale(&self) -> (Scale, bool) {
        if self.min >= self.max || self.min.is_infinite() {
            let offset = if self.min.is_finite() { self.min } else { 0.0 };
            return (Scale { full: 1.0, offset }, true);
        }
        if let Some(scale) = self.grid() {
            return (scale, true);
        }
        let step = self.max / STEPS - self.min / STEPS;
        let full = step * (STEPS + 1.0);
        (
            Scale {
                full,
                offset: self.min,
            },
            false,
        )
    }

    /// The grid on which all values lie, if it has few enough places.
    fn grid(&self) -> Option<Scale> {
        let mut values: Vec<f64> = self
            .different
            .as_ref()?
            .iter()
            .map(|bits| f64::from_bits(*bits))
            .collect();
        values.sort_by(f64::total_cmp);
        let rounded = self.max.abs().max(self.min.abs()) * ROUNDED;
        let gaps = values.windows(2).map(|pair| pair[1] - pair[0]);
        let mut gaps: Vec<f64> = gaps.filter(|gap| *gap > rounded).collect();
        gaps.sort_by(f64::total_cmp);
        let first = gaps
            .iter()
            .fold(0.0, |step, gap| common(step, *gap, rounded));
        // What was rounded off matters least in the sum of many: first the gaps of a few steps, then the wide ones.
        let (mut sum, mut places) = (0.0, 0.0);
        for gap in gaps {
            let step = if places > 0.0 { sum / places } else { first };
            places += (gap / step).round();
            sum += gap;
        }
        let range = self.max - self.min;
        if !(1.0..=STEPS).contains(&places) {
            return None;
        }
        let step = range / places;
        let is_on = |value: &f64| {
            let place = (value - self.min) / step;
            ((place - place.round()) * step).abs() <= rounded
        };
        if !values.iter().all(is_on) {
            return None;
        }
        // Counts from 0 on, if that is where the grid is.
        let from = self.min / step;
        let is_whole = ((from - from.round()) * step).abs() <= rounded;
        let fits = from.round() >= 0.0 && from.round() + places <= STEPS;
        let offset = if is_whole && fits { 0.0 } else { self.min };
        let step = if offset == 0.0 {
            self.max / (from.round() + places)
        } else {
            step
        };
        Some(Scale {
            full: step * (STEPS + 1.0),
            offset,
        })
    }
}

/// The largest number of which both are multiples, but for what was rounded off.
fn common(a: f64, b: f64, rounded: f64) -> f64 {
    let (mut a, mut b) = (a.max(b), a.min(b));
    while b > rounded * NOISE {
        let times = (a / b).round();
        (a, b) = (b, (a - times * b).abs());
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{Values, is_value};

    fn scale_of(values: &[f64]) -> (f64, f64, bool) {
        let mut all = Values::default();
        for value in values {
            all.take(*value);
        }
        let (scale, is_exact) = all.scale();
        for value in values {
            let count = scale.count(*value);
            let back = scale.offset + f64::from(count) * scale.full / 65_536.0;
            let step = scale.full / 65_536.0;
            let off = if is_exact { step * 1e-3 } else { step * 0.51 };
            assert!((back - value).abs() <= off, "{value} became {back}");
        }
        (scale.full, scale.offset, is_exact)
    }

    #[test]
    fn values_of_a_converter_are_kept() {
        // 12 bits over 3.3 V.
        let step = 3.3 / 4096.0;
        let counts = [0.0, 1.0, 2.0, 2048.0, 4095.0];
        let (full, offset, is_exact) = scale_of(&counts.map(|count| count * step));
        assert!((full / 65_536.0 - step).abs() < 1e-12 && offset == 0.0 && is_exact);
        // As 32-bit floats, around 0.
        #[expect(clippy::cast_possible_truncation, reason = "that is what is meant")]
        let floats =
            [-2048.0, -7.0, 0.0, 3.0, 2047.0].map(|count: f64| f64::from((count * step) as f32));
        assert!(scale_of(&floats).2);
        assert_eq!(scale_of(&[5.0, 5.0]), (1.0, 5.0, true));
        assert_eq!(scale_of(&[]), (1.0, 0.0, true));
    }

    #[test]
    fn other_values_are_rounded() {
        let values: Vec<f64> = (0..1000).map(|at| (f64::from(at) * 0.37).sin()).collect();
        assert!(!scale_of(&values).2);
        assert!(!scale_of(&[0.0, 1e-5, 1.0]).2);
        scale_of(&[-1e300, 1e300]);
        assert!(!is_value(f64::NAN) && !is_value(f64::MAX));
    }
}
