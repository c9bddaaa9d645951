//! Times and samples: from one to the other, the same way everywhere.

pub(crate) use decode::length::snapped as snap;
use pipeline::rules::Time;

/// How far a frequency, a duty or a value may be behind its bound and still be on it, as a part of the value: what rounding
/// does to numbers.
const ROUNDING: f64 = 1e-9;

/// Samples as a number to compute with.
pub(crate) fn float(samples: u64) -> f64 {
    samples as f64
}

/// A whole number of samples from the beginning; none before it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and what is negative was found before"
)]
pub(crate) fn whole(samples: f64) -> Option<u64> {
    (samples >= 0.0).then_some(samples as u64)
}

/// How many samples a time has at a rate.
pub(crate) fn samples(time: Time, rate_hz: f64) -> f64 {
    decode::length::samples(time.0 as f64, rate_hz)
}

/// Whether a value is at most a bound, given of which size values are.
pub(crate) fn at_most(value: f64, bound: f64, size: f64) -> bool {
    value <= bound + size.abs() * ROUNDING
}
