//! The sample rates that a pod can really achieve: whole divisions of its clocks.

/// Clock that ADC and LA sample rates divide.
pub const SAMPLE_CLOCK_HZ: u64 = 24_000_000;

/// Clock that the DAC's sample rate divides.
pub const DAC_CLOCK_HZ: u64 = 48_000_000;

/// Smallest ADC divider: 400 kS/s.
const ADC_DIVIDER_MIN: u32 = 60;

/// Smallest LA divider: 12 MS/s.
const LA_DIVIDER_MIN: u32 = 2;

/// Smallest and largest DAC divider: 888,889 S/s down to 732 S/s.
pub const DAC_DIVIDERS: std::ops::RangeInclusive<u32> = 54..=65_586;

/// LA captures up to this length run from the fast buffer at any rate.
const LA_FAST_SAMPLES: u64 = 32_768;

/// Rate that the LA's memory sustains.
const LA_MEMORY_RATE_HZ: f64 = 3_000_000.0;

/// A ratio that is whole except for rounding errors must not gain a step when rounded up.
const RATIO_SLACK: f64 = 1e-9;

/// The ADC's highest rate.
pub fn adc_rate_hz_max() -> f64 {
    sample_rate_hz(ADC_DIVIDER_MIN)
}

/// Divider the ADC uses for a requested rate: the nearest; the fastest when none is requested.
pub fn adc_divider(rate_hz: Option<f64>) -> u32 {
    rate_hz.map_or(ADC_DIVIDER_MIN, |rate| {
        whole(clock(SAMPLE_CLOCK_HZ) / rate).max(ADC_DIVIDER_MIN)
    })
}

/// Divider the LA uses for a requested rate and number of samples: never faster than requested, and
/// no faster than its memory can take that many.
pub fn la_divider(rate_hz: Option<f64>, samples: u64) -> u32 {
    let memory_rate = if samples > LA_FAST_SAMPLES {
        #[allow(
            clippy::cast_precision_loss,
            reason = "sample counts are far below 2^52"
        )]
        let samples = samples as f64;
        let buffered = 65_536.0 / (2.0 * samples);
        LA_MEMORY_RATE_HZ / (1.0 - buffered)
    } else {
        f64::INFINITY
    };
    let rate = rate_hz.unwrap_or(f64::INFINITY).min(memory_rate);
    let ratio = clock(SAMPLE_CLOCK_HZ) / rate;
    whole((ratio - RATIO_SLACK).ceil()).max(LA_DIVIDER_MIN)
}

/// Divider the DAC uses for a requested rate: the nearest within [`DAC_DIVIDERS`].
pub fn dac_divider(rate_hz: f64) -> u32 {
    let nearest = whole(clock(DAC_CLOCK_HZ) / rate_hz);
    nearest.clamp(*DAC_DIVIDERS.start(), *DAC_DIVIDERS.end())
}

/// Divider of a replay: the nearest to the requested rate, the fastest when none is requested. The
/// deep memory needs one more cycle per code than the fastest divider leaves it.
pub fn replay_divider(rate_hz: Option<f64>, deep: bool) -> u32 {
    let fastest = *DAC_DIVIDERS.start() + u32::from(deep);
    dac_divider(rate_hz.unwrap_or(f64::INFINITY)).max(fastest)
}

/// Codes per second of a replay, as [`replay_divider`] makes it.
pub fn replay_rate_hz(rate_hz: Option<f64>, deep: bool) -> f64 {
    clock(DAC_CLOCK_HZ) / f64::from(replay_divider(rate_hz, deep))
}

/// The slowest and the fastest rate of a replay.
pub fn replay_range_hz(deep: bool) -> (f64, f64) {
    (
        clock(DAC_CLOCK_HZ) / f64::from(*DAC_DIVIDERS.end()),
        replay_rate_hz(None, deep),
    )
}

/// How long so many samples take at a rate, in seconds.
#[allow(
    clippy::cast_precision_loss,
    reason = "sample counts are far below 2^52"
)]
pub fn duration_s(samples: u64, rate_hz: f64) -> f64 {
    samples as f64 / rate_hz
}

/// Samples per second at `divider`.
pub fn sample_rate_hz(divider: u32) -> f64 {
    clock(SAMPLE_CLOCK_HZ) / f64::from(divider)
}

/// When sample `index` is taken, in nanoseconds after the first.
pub fn sample_ns(index: u64, divider: u32) -> u64 {
    let thirds = u128::from(index) * u128::from(divider) * 125;
    u64::try_from(thirds / 3).unwrap_or(u64::MAX)
}

/// The first sample taken at or after `ns` nanoseconds from the first.
pub fn first_sample_at(ns: u64, divider: u32) -> u64 {
    // sample_ns rounds down, so look one sample back and step forward.
    let near = (ns.saturating_mul(3) / (u64::from(divider) * 125)).saturating_sub(1);
    (near..)
        .find(|index| sample_ns(*index, divider) >= ns)
        .expect("sample times grow without bound")
}

/// Most samples that may come before the trigger of a capture of so many ADC and LA samples, at these dividers: of the LA,
/// or of the ADC alone. Samples of both kinds reach the instant of the trigger.
pub fn pre_samples_max(
    (adc_samples, la_samples): (u64, u64),
    (adc_divider, la_divider): (u32, u32),
) -> u64 {
    if la_samples == 0 || adc_samples == 0 {
        return (la_samples + adc_samples).saturating_sub(1);
    }
    let adc_ns = sample_ns(adc_samples, adc_divider);
    let within = first_sample_at(adc_ns, la_divider).saturating_sub(1);
    within.min(la_samples - 1)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "clock frequencies are far below 2^52"
)]
fn clock(hz: u64) -> f64 {
    hz as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, which is the bound wanted here"
)]
fn whole(value: f64) -> u32 {
    value.round() as u32
}

#[cfg(test)]
mod tests;
