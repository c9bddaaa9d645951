//! Times and samples: from one to the other, the same way everywhere.

use pipeline::rules::Time;

/// A position or a length in samples that is closer than this to a whole number is that number: a rate is rarely a whole
/// number of samples a nanosecond.
const SNAP: f64 = 1e-6;

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

/// What is behind a whole number of samples by no more than rounding.
pub(crate) fn snap(samples: f64) -> f64 {
    let round = samples.round();
    match (samples - round).abs() < SNAP {
        true => round,
        false => samples,
    }
}

/// How many samples a time has at a rate.
pub(crate) fn samples(time: Time, rate_hz: f64) -> f64 {
    snap(time.0 as f64 * rate_hz / 1e9)
}

/// Whether a value is at most a bound, given of which size values are.
pub(crate) fn at_most(value: f64, bound: f64, size: f64) -> bool {
    value <= bound + size.abs() * ROUNDING
}
