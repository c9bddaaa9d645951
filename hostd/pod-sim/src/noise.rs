//! Noise as a function of seed and time, so that a capture is the same however it is split.

/// Spreads a number over all 64 bits, like the finaliser of the SplitMix64 generator.
pub(crate) fn mix(value: u64) -> u64 {
    let mut bits = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A bell-shaped value with mean 0 and standard deviation 1: the sum of four uniform ones.
pub(crate) fn gaussian(seed: u64, at: u64) -> f64 {
    let bits = mix(seed ^ mix(at));
    let sum: u32 = (0..4).map(|part| even(bits >> (16 * part))).sum();
    // Four values of 0..65535 have mean 131070 and standard deviation 65536/sqrt(3).
    (f64::from(sum) - 131_070.0) * 3_f64.sqrt() / 65_536.0
}

fn even(bits: u64) -> u32 {
    u32::try_from(bits & 0xFFFF).expect("16 bits")
}

#[cfg(test)]
mod tests {
    //! The moments of the noise.

    use super::gaussian;

    #[test]
    fn noise_has_mean_zero_and_deviation_one() {
        let values: Vec<f64> = (0..20_000).map(|at| gaussian(7, at)).collect();
        let count = f64::from(u32::try_from(values.len()).unwrap());
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / count;
        assert!(mean.abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    }

    #[test]
    fn noise_depends_on_seed_and_time_only() {
        assert_eq!(gaussian(1, 5).to_bits(), gaussian(1, 5).to_bits());
        assert_ne!(gaussian(1, 5).to_bits(), gaussian(2, 5).to_bits());
        assert_ne!(gaussian(1, 5).to_bits(), gaussian(1, 6).to_bits());
    }
}
