//! Rates against the published figures of real pods.

use super::{
    DAC_DIVIDERS, SAMPLE_CLOCK_HZ, adc_divider, dac_divider, first_sample_at, la_divider,
    replay_divider, replay_rate_hz, sample_ns,
};

#[test]
fn the_adc_reaches_400_ks() {
    assert_eq!(adc_divider(None), 60);
    assert_eq!(adc_divider(Some(1e6)), 60);
    assert_eq!(adc_divider(Some(400e3)), 60);
    assert_eq!(adc_divider(Some(200e3)), 120);
    assert_eq!(adc_divider(Some(390e3)), 62);
}

#[test]
fn the_la_never_exceeds_the_request() {
    let reported = |rate_hz, samples| SAMPLE_CLOCK_HZ / u64::from(la_divider(rate_hz, samples));
    assert_eq!(reported(None, 256), 12_000_000);
    assert_eq!(reported(Some(2.304e6), 1_000), 24_000_000 / 11);
    assert_eq!(reported(Some(12e6), 32_768), 12_000_000);
    for (samples, hz) in [
        (65_536, 6_000_000),
        (100_000, 4_000_000),
        (131_072, 4_000_000),
        (262_144, 24_000_000 / 7),
        (300_000, 3_000_000),
    ] {
        assert_eq!(reported(None, samples), hz, "{samples} samples");
    }
}

#[test]
fn the_dac_is_clamped_to_its_range() {
    assert_eq!(dac_divider(1e9), *DAC_DIVIDERS.start());
    assert_eq!(dac_divider(1.0), *DAC_DIVIDERS.end());
    assert_eq!(dac_divider(480_000.0), 100);
}

#[test]
fn sample_times_and_samples_at_times_agree() {
    for divider in [2, 3, 7, 11, 24, 60, 1001] {
        assert_eq!(
            sample_ns(24_000_000, divider),
            u64::from(divider) * 1_000_000_000
        );
        for ns in (0..2_000).chain([999_999_999, 123_456_789_012]) {
            let sample = first_sample_at(ns, divider);
            assert!(sample_ns(sample, divider) >= ns);
            assert!(sample == 0 || sample_ns(sample - 1, divider) < ns);
        }
    }
}

#[test]
fn a_deep_replay_is_one_cycle_slower_at_most() {
    assert_eq!(replay_divider(None, false), 54);
    assert_eq!(replay_divider(None, true), 55);
    assert_eq!(replay_divider(Some(480_000.0), true), 100);
    assert!((replay_rate_hz(Some(480_000.0), false) - 480_000.0).abs() < 1e-6);
}
