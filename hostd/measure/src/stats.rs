//! Statistics of very many widths, in bounded memory.

/// Widths below this are counted one by one; wider ones share a place with their neighbours.
pub const EXACT_BELOW: u64 = 2 * PLACES;

/// How far a percentile of wider ones may be from the true one, as a part of it.
pub const STATS_ERROR_MAX: f64 = 1.0 / (2 * PLACES) as f64;

/// Places for each doubling of the width.
const PLACES: u64 = 1024;

/// What very many times have in common, in seconds.
///
/// `count`, `min`, `max` and `mean` are exact. A percentile is the least time that so many of all do not exceed (nearest
/// rank); it is exact for times of fewer than [`EXACT_BELOW`] samples of a logic channel (1/256 samples of an analog one),
/// and otherwise within [`STATS_ERROR_MAX`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// How many there are, at least one.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Half of them are no longer.
    pub p50: f64,
    /// 99 of 100 are no longer.
    pub p99: f64,
}

/// Counts widths.
#[derive(Debug, Default)]
pub(crate) struct Widths {
    places: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Widths {
    /// Adds one.
    #[inline]
    pub(crate) fn add(&mut self, width: u64) {
        let place = place(width);
        if place >= self.places.len() {
            self.places.resize(place + 1, 0);
        }
        self.places[place] += 1;
        self.min = if self.count == 0 {
            width
        } else {
            self.min.min(width)
        };
        self.max = self.max.max(width);
        self.count += 1;
        self.sum += u128::from(width);
    }

    /// What they have in common; `seconds` is what a width of 1 lasts. None if there are none.
    pub(crate) fn stats(&self, seconds: f64) -> Option<Stats> {
        if self.count == 0 {
            return None;
        }
        let time = |width: u64| float(width) * seconds;
        Some(Stats {
            count: self.count,
            min: time(self.min),
            max: time(self.max),
            mean: self.mean() * seconds,
            p50: time(self.percentile(50)),
            p99: time(self.percentile(99)),
        })
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than f64 has"
    )]
    fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.count) * u128::from(percent))
            .div_ceil(100)
            .max(1);
        let mut below = 0;
        for (place, &count) in self.places.iter().enumerate() {
            below += u128::from(count);
            if below >= rank {
                return middle(place as u64).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

/// The place of a width: itself, or shared with all that agree with it in their highest eleven bits.
#[inline]
fn place(width: u64) -> usize {
    let shift = (width / PLACES).checked_ilog2().unwrap_or(0);
    let place = u64::from(shift) * PLACES + (width >> shift);
    usize::try_from(place).expect("there are few places")
}

/// The width in the middle of a place.
fn middle(place: u64) -> u64 {
    if place < EXACT_BELOW {
        return place;
    }
    let shift = place / PLACES - 1;
    let first = (PLACES + place % PLACES) << shift;
    first + (1 << shift >> 1)
}

/// A number of samples as one to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "captures have fewer samples than f64 has whole numbers"
)]
pub(crate) fn float(samples: u64) -> f64 {
    samples as f64
}

#[cfg(test)]
mod tests {
    use super::{EXACT_BELOW, STATS_ERROR_MAX, Widths, float, middle, place};

    #[test]
    fn places_ascend_and_their_middles_are_near() {
        let mut last = 0;
        let widths = (0..5000).chain((13..44).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1, power + power / 3]
        }));
        for width in widths {
            let at = place(width);
            assert!(at >= last, "{width}");
            last = at;
            let error = float(middle(at as u64).abs_diff(width));
            assert!(error <= float(width) * STATS_ERROR_MAX, "{width}");
            assert!(width >= EXACT_BELOW || error == 0.0, "{width}");
        }
        assert!(last < 40_000, "{last} places are all that a width can need");
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut widths = Widths::default();
        assert_eq!(widths.stats(1.0), None);
        for width in 1..=200 {
            widths.add(width);
        }
        let stats = widths.stats(0.5).unwrap();
        assert_eq!((stats.count, stats.min, stats.max), (200, 0.5, 100.0));
        assert_eq!((stats.mean, stats.p50, stats.p99), (50.25, 50.0, 99.0));
        widths.add(1 << 40);
        let stats = widths.stats(1.0).unwrap();
        assert_eq!((stats.max, stats.p99), (float(1 << 40), 199.0));
        let mut one = Widths::default();
        one.add(12_345_678);
        let stats = one.stats(1.0).unwrap();
        assert_eq!((stats.p50, stats.p99), (12_345_678.0, 12_345_678.0));
    }
}
