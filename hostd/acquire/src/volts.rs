//! Volts as the 16-bit counts of analog frames.

use pod_protocol::AdcFit;

/// Counts of one polarity.
const COUNTS: f64 = 32_768.0;

/// Bytes of a raw analog sample: a 32-bit float, little-endian.
pub(crate) const VOLT_BYTES: usize = 4;

/// The fit of counts that reach `range_v` volts below and above zero, which is count 32768.
pub(crate) fn fit(range_v: f64) -> AdcFit {
    AdcFit {
        a_volts: -range_v,
        b_volts_per_count: range_v / COUNTS,
        unwrap: false,
    }
}

/// The nearest count. What is beyond the range is its end, as with every converter; what is no number is the lowest.
pub(crate) fn count(fit: &AdcFit, volts: f32) -> u16 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "float to integer casts saturate, which is the bound wanted here"
    )]
    let count = ((f64::from(volts) - fit.a_volts) / fit.b_volts_per_count).round() as u16;
    count
}

/// The counts of raw samples.
pub(crate) fn counts(fit: &AdcFit, raw: &[u8]) -> Vec<u16> {
    let (volts, _) = raw.as_chunks::<VOLT_BYTES>();
    volts
        .iter()
        .map(|volts| count(fit, f32::from_le_bytes(*volts)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_volts_are_inverse_within_the_range() {
        let fit = fit(10.0);
        for (volts, expected) in [
            (0.0, 0x8000),
            (-10.0, 0),
            (10.0, 0xFFFF),
            (99.0, 0xFFFF),
            (-99.0, 0),
            (f32::NAN, 0),
        ] {
            assert_eq!(count(&fit, volts), expected, "{volts}");
        }
        for number in 0..=u16::MAX {
            #[allow(clippy::cast_possible_truncation, reason = "as instruments do")]
            let volts = fit.volts(number) as f32;
            assert_eq!(count(&fit, volts), number);
        }
    }
}
