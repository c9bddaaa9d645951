//! Times and how many samples they have.

/// What is closer than this to a whole number of samples is that number: a rate is rarely a whole number of samples a
/// nanosecond.
const SNAP: f64 = 1e-6;

/// A number of samples without what rounding did to it.
#[must_use]
pub fn snapped(samples: f64) -> f64 {
    let round = samples.round();
    match (samples - round).abs() < SNAP {
        true => round,
        false => samples,
    }
}

/// How many samples a time in nanoseconds has at a rate.
#[must_use]
pub fn samples(ns: f64, sample_rate_hz: f64) -> f64 {
    snapped(ns * sample_rate_hz / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers are what is asked for")]
    fn what_rounding_did_is_taken_back() {
        assert_eq!(samples(1000.0 / 3.0, 3e6), 1.0);
        assert_eq!(samples(100.0, 24e6), 2.4);
        assert_eq!(snapped(4.999_999_5), 5.0);
        assert_eq!(snapped(4.999_998), 4.999_998);
    }
}
