//! Rates as fractions: what is computed from them is exact, however long a capture is.

use super::ImportError;

/// Highest rate, in hertz.
const HZ_MAX: f64 = 1e12;

/// Halvings of a hertz that a rate is given in, at most.
const HALVINGS_MAX: u32 = 20;

/// So many samples, or ticks, in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) samples: u128,
    pub(super) seconds: u128,
}

impl Rate {
    /// A fraction, in lowest terms; none when one of the two is 0.
    pub(super) fn new(samples: u128, seconds: u128) -> Option<Self> {
        if samples == 0 || seconds == 0 {
            return None;
        }
        let common = gcd(samples, seconds);
        Some(Self {
            samples: samples / common,
            seconds: seconds / common,
        })
    }

    /// Ticks of 10^-exponent seconds.
    pub(super) fn decimal(exponent: u32) -> Self {
        Self {
            samples: 10_u128.pow(exponent),
            seconds: 1,
        }
    }

    /// A rate as a file says it; none when it is out of range.
    pub(super) fn of_hz(hz: f64) -> Option<Self> {
        if !(hz.is_finite() && hz > 0.0 && hz <= HZ_MAX) {
            return None;
        }
        let (mut samples, mut halvings) = (hz, 0);
        while samples.fract() != 0.0 && halvings < HALVINGS_MAX {
            samples *= 2.0;
            halvings += 1;
        }
        Self::new(whole(samples).max(1), 1 << halvings)
    }

    /// Whole hertz or a fraction, as our own exports say it: `24000000/11`.
    pub(super) fn said(text: &str) -> Option<Self> {
        match text.split_once('/') {
            Some((above, below)) => {
                let (above, below): (u64, u64) = (above.parse().ok()?, below.parse().ok()?);
                Self::new(above.into(), below.into())
            }
            None => Self::of_hz(text.parse().ok()?),
        }
    }

    /// In hertz.
    pub(super) fn hz(self) -> f64 {
        self.samples as f64 / self.seconds as f64
    }

    /// The sample nearest to a tick.
    pub(super) fn sample(self, at: u64, tick: Self) -> Result<u64, ImportError> {
        if self == tick {
            return Ok(at);
        }
        let too_long = ImportError::TooLong {
            samples: u64::MAX,
            max: crate::segment::SAMPLES_MAX,
        };
        let ticks = u128::from(at)
            .checked_mul(self.samples)
            .and_then(|n| n.checked_mul(tick.seconds));
        let one = self.seconds.checked_mul(tick.samples);
        let (Some(ticks), Some(one)) = (ticks, one) else {
            return Err(too_long);
        };
        let sample = ticks / one + u128::from(ticks % one >= one.div_ceil(2));
        u64::try_from(sample).map_err(|_| too_long)
    }

    /// Samples of a file that ends at a tick, of which the last that was seen changes something.
    pub(super) fn samples_until(
        self,
        end: u64,
        tick: Self,
        last: Option<u64>,
    ) -> Result<u64, ImportError> {
        let end = self.sample(end, tick)?;
        let last = last.map(|at| self.sample(at, tick)).transpose()?;
        Ok(end.max(last.map_or(0, |last| last.saturating_add(1))))
    }
}

pub(super) fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive; a cast saturates"
)]
fn whole(value: f64) -> u128 {
    value.round() as u128
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn a_sample_is_the_nearest() {
        let rate = Rate::new(24_000_000, 11).unwrap();
        let nanoseconds = Rate::decimal(9);
        for sample in [0, 1, 2, 7, 6_000_001, 86_400 * 2_181_818] {
            let exact = u128::from(sample) * 11_000_000_000 / 24_000_000;
            let found = rate.sample(u64::try_from(exact).unwrap(), nanoseconds);
            assert_eq!(found, Ok(sample));
        }
        assert_eq!(Rate::of_hz(0.5).unwrap().hz(), 0.5);
        assert_eq!(Rate::of_hz(0.0), None);
        assert_eq!(Rate::of_hz(f64::NAN), None);
    }
}
