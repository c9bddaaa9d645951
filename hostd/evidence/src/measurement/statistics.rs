//! What many values of one name come to: mean, deviation, capability, trend.

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// Takes values in any order, in bounded memory, however many there are.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of the squares of what differs from the mean.
    squares: f64,
    /// When the first one was taken.
    origin_ms: u64,
    /// The same as above of times, in days from then, and of both together.
    mean_days: f64,
    squares_days: f64,
    products: f64,
}

/// What values come to. Values are in their unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// How many there are.
    pub count: u64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation of a sample: √(Σ(x − mean)² / (count − 1)). None of one value.
    pub deviation: Option<f64>,
    /// (high − low) / (6 · deviation). None without both limits, or if nothing deviates.
    pub cp: Option<f64>,
    /// The lesser of (high − mean) and (mean − low), or that of the one limit, / (3 · deviation).
    pub cpk: Option<f64>,
    /// Slope by least squares, in the unit per day. None if all are of one time.
    pub trend: Option<f64>,
}

impl Tally {
    /// Takes a value that was measured then, in milliseconds.
    pub fn add(&mut self, value: f64, at_ms: u64) {
        if self.count == 0 {
            (self.min, self.max, self.origin_ms) = (value, value, at_ms);
        }
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let count = float(self.count);
        let days = (float(at_ms) - float(self.origin_ms)) / DAY_MS;
        // Welford's recurrence: no large sums are taken from each other.
        let from_mean = value - self.mean;
        self.mean += from_mean / count;
        self.squares += from_mean * (value - self.mean);
        let days_from_mean = days - self.mean_days;
        self.mean_days += days_from_mean / count;
        self.squares_days += days_from_mean * (days - self.mean_days);
        self.products += days_from_mean * (value - self.mean);
    }

    /// What they come to with these limits.
    #[must_use]
    pub fn statistics(&self, low: Option<f64>, high: Option<f64>) -> Statistics {
        let deviation = (self.count > 1).then(|| (self.squares / float(self.count - 1)).sqrt());
        let spread = deviation.filter(|deviation| *deviation > 0.0);
        let below = low.map(|low| self.mean - low);
        let above = high.map(|high| high - self.mean);
        let nearest = match (below, above) {
            (Some(below), Some(above)) => Some(below.min(above)),
            (one, other) => one.or(other),
        };
        let trend = (self.squares_days > 0.0).then(|| self.products / self.squares_days);
        Statistics {
            count: self.count,
            min: self.min,
            max: self.max,
            mean: self.mean,
            deviation,
            cp: low
                .zip(high)
                .zip(spread)
                .map(|((low, high), spread)| (high - low) / (6.0 * spread)),
            cpk: nearest
                .zip(spread)
                .map(|(nearest, spread)| nearest / (3.0 * spread)),
            trend,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and milliseconds are far below 2^53"
)]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::VALUE_MAX;

    const DAY: u64 = 86_400_000;

    fn of(values: &[(f64, u64)]) -> Tally {
        let mut tally = Tally::default();
        for (value, at_ms) in values {
            tally.add(*value, *at_ms);
        }
        tally
    }

    fn near(found: Option<f64>, wanted: f64) -> bool {
        found.is_some_and(|found| (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0))
    }

    #[test]
    fn textbook_numbers_come_out() {
        // Mean 5, squares 32: deviation √(32/7).
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|value| (value, 0));
        let found = of(&values).statistics(Some(0.0), Some(12.0));
        let deviation = (32.0_f64 / 7.0).sqrt();
        assert_eq!((found.count, found.min, found.max), (8, 2.0, 9.0));
        assert!(near(Some(found.mean), 5.0) && near(found.deviation, deviation));
        assert!(near(found.cp, 12.0 / (6.0 * deviation)));
        assert!(near(found.cpk, 5.0 / (3.0 * deviation)));
        assert_eq!(found.trend, None, "all are of one time");
        let one_sided = of(&values).statistics(None, Some(12.0));
        assert_eq!(one_sided.cp, None);
        assert!(near(one_sided.cpk, 7.0 / (3.0 * deviation)));
        // Out of limits on the mean: negative.
        assert!(of(&values).statistics(Some(6.0), None).cpk.unwrap() < 0.0);
    }

    #[test]
    fn a_trend_is_the_slope_per_day_whatever_the_order() {
        let at = |day: u64| (3.3 + 0.01 * float(day), 1_700_000_000_000 + day * DAY);
        let mut values: Vec<(f64, u64)> = (0..100).map(at).collect();
        values.reverse();
        values.swap(3, 70);
        let found = of(&values).statistics(None, None);
        assert!((found.trend.unwrap() - 0.01).abs() < 1e-12, "{found:?}");
        assert_eq!((found.cp, found.cpk), (None, None));
    }

    #[test]
    fn what_does_not_deviate_has_no_capability() {
        let one = of(&[(1.0, 5)]).statistics(Some(0.0), Some(2.0));
        assert_eq!((one.deviation, one.cp, one.cpk), (None, None, None));
        let same = of(&[(1.0, 5), (1.0, 6)]).statistics(Some(0.0), Some(2.0));
        assert_eq!((same.deviation, same.cpk), (Some(0.0), None));
    }

    #[test]
    fn nothing_that_comes_out_is_infinite() {
        let most = VALUE_MAX;
        let values = [(most, 0), (-most, 1), (most, 3 * DAY)];
        let found = of(&values).statistics(Some(-most), Some(most));
        for value in [found.deviation, found.cp, found.cpk, found.trend] {
            assert!(value.is_some_and(f64::is_finite), "{found:?}");
        }
        assert!(found.mean.is_finite());
    }

    #[test]
    fn it_equals_two_passes_over_all_values() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..200 {
            let count = random.usize(2..50);
            let values: Vec<(f64, u64)> = (0..count)
                .map(|_| (random.f64() * 10.0 - 5.0, random.u64(0..30 * DAY)))
                .collect();
            let found = of(&values).statistics(Some(-4.0), Some(4.0));
            let all = float(count as u64);
            let mean = values.iter().map(|(value, _)| value).sum::<f64>() / all;
            let days = |at_ms: u64| float(at_ms) / DAY_MS;
            let mean_days = values.iter().map(|(_, at)| days(*at)).sum::<f64>() / all;
            let squares: f64 = values.iter().map(|(value, _)| (value - mean).powi(2)).sum();
            let (mut products, mut squares_days) = (0.0, 0.0);
            for (value, at) in &values {
                products += (days(*at) - mean_days) * (value - mean);
                squares_days += (days(*at) - mean_days).powi(2);
            }
            assert!(near(found.deviation, (squares / (all - 1.0)).sqrt()));
            assert!(near(found.trend, products / squares_days));
        }
    }
}
