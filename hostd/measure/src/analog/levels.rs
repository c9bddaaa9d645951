//! How often each count occurs, and the levels that follow from it.

use crate::stats::float;

/// Most bins of each half of the range, among which the most frequent one is looked for.
const BINS_MAX: usize = 128;

/// How often each count occurs.
pub(super) struct Histogram {
    counts: Vec<u64>,
}

/// In counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Levels {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) base: f64,
    pub(super) top: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; usize::from(u16::MAX) + 1],
        }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, counts: &[u16]) {
        for &count in counts {
            self.counts[usize::from(count)] += 1;
        }
    }

    /// None if there are no counts.
    pub(super) fn levels(&self) -> Option<Levels> {
        let min = self.counts.iter().position(|&times| times > 0)?;
        let max = self.counts.iter().rposition(|&times| times > 0)?;
        // The lower half has the one in the middle, so that neither is empty.
        let middle = min + (max - min) / 2 + 1;
        let base = self.mode(min, middle, false);
        let top = match middle <= max {
            true => self.mode(middle, max + 1, true),
            false => base,
        };
        let float = |count: usize| float(count as u64);
        Some(Levels {
            min: float(min),
            max: float(max),
            base,
            top,
        })
    }

    /// Mean of the counts in the most frequent bin of `from..to`; of equals the outermost.
    fn mode(&self, from: usize, to: usize, is_upper: bool) -> f64 {
        let width = (to - from).div_ceil(BINS_MAX);
        let bins = self.counts[from..to].chunks(width).enumerate();
        let best = bins.max_by_key(|(index, bin)| {
            let outer = if is_upper { *index } else { BINS_MAX - index };
            (bin.iter().sum::<u64>(), outer)
        });
        let Some((index, bin)) = best else {
            return 0.0;
        };
        let first = from + index * width;
        mean((first..).zip(bin))
    }

    /// Mean and standard deviation.
    pub(super) fn moments(&self) -> (f64, f64) {
        let mean = mean((0..).zip(&self.counts));
        let (mut squares, mut total) = (0.0, 0.0);
        for (count, &times) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, times)| **times > 0)
        {
            let off = float(count as u64) - mean;
            squares += off * off * float(times);
            total += float(times);
        }
        (mean, (squares / f64::max(total, 1.0)).sqrt())
    }
}

fn mean<'a>(counts: impl Iterator<Item = (usize, &'a u64)>) -> f64 {
    let (mut sum, mut total) = (0u128, 0u64);
    for (count, &times) in counts {
        sum += count as u128 * u128::from(times);
        total += times;
    }
    let whole = u64::try_from(sum).map_or_else(|_| wide(sum), float);
    whole / float(total.max(1))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a mean needs no more than f64 has"
)]
fn wide(sum: u128) -> f64 {
    sum as f64
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn levels_are_where_the_signal_dwells() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.levels(), None);
        histogram.add(&[1000; 50]);
        let flat = histogram.levels().unwrap();
        assert_eq!((flat.base, flat.top, flat.min), (1000.0, 1000.0, 1000.0));
        histogram.add(&[3000; 40]);
        // Overshoot, undershoot and what is between.
        histogram.add(&[3500, 700, 1500, 2000, 2500]);
        let levels = histogram.levels().unwrap();
        assert_eq!((levels.min, levels.max), (700.0, 3500.0));
        assert_eq!((levels.base, levels.top), (1000.0, 3000.0));
    }

    #[test]
    fn moments() {
        let mut histogram = Histogram::default();
        histogram.add(&[10, 20, 30, 40]);
        let (mean, deviation) = histogram.moments();
        assert_eq!(mean, 25.0);
        assert!((deviation - 125.0f64.sqrt()).abs() < 1e-12);
    }
}
