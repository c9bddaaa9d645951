//! The analog input: its samples as counts, and the readings derived from them.

use pod_protocol::rates;
use serde_json::{Value, json};

use super::analog::Input;
use super::converters::Converters;
use super::dac::Player;
use super::frontend::SENSE_OHMS;
use super::refuse::Refuse;

/// Samples that an `adc_read` averages.
pub(crate) const BURST_SAMPLES: u64 = 16;

/// Divider of that burst: the fastest rate.
pub(crate) const BURST_DIVIDER: u32 = 60;

/// Largest span of the counts in that burst.
const BURST_SPAN_MAX: u32 = 1024;

/// How long `adc_read` lets a routed input settle.
pub(crate) const SETTLE_NS: u64 = 20_000_000;

/// What the ADC sees from a given instant on.
#[derive(Debug, Clone)]
pub(crate) struct AdcRender {
    player: Player,
}

impl AdcRender {
    /// Prepares for samples from `from_ns` to `to_ns`.
    pub(crate) fn new(converters: &Converters, from_ns: u64, to_ns: u64) -> Self {
        Self {
            player: converters.player(from_ns, to_ns),
        }
    }

    /// Counts of `samples`, where sample 0 is at `t0_ns`. Calls must go forward in time.
    pub(crate) fn counts(
        &mut self,
        t0_ns: u64,
        divider: u32,
        samples: std::ops::Range<u64>,
    ) -> Vec<u16> {
        samples
            .map(|index| self.player.count(t0_ns + rates::sample_ns(index, divider)))
            .collect()
    }
}

/// Puts a count on a straight line: the circle of counts is cut at its far side, since the front
/// end wraps near 0 V.
pub(crate) fn unwrapped(count: u16) -> u32 {
    u32::from(count) + if count < 0x8000 { 0x1_0000 } else { 0 }
}

/// When the burst of an `adc_read` that started at `from_ns` is complete.
pub(crate) fn burst_end_ns(from_ns: u64) -> u64 {
    from_ns + SETTLE_NS + rates::sample_ns(BURST_SAMPLES, BURST_DIVIDER)
}

/// The reply of `adc_read`: the mean of a burst that ends at `end_ns`.
pub(crate) fn burst(
    converters: &Converters,
    path: &'static str,
    end_ns: u64,
) -> Result<Value, Refuse> {
    let t0_ns = end_ns.saturating_sub(rates::sample_ns(BURST_SAMPLES, BURST_DIVIDER));
    let counts =
        AdcRender::new(converters, t0_ns, end_ns).counts(t0_ns, BURST_DIVIDER, 0..BURST_SAMPLES);
    // On the circle: distances from the first count, since noise may cross the wrap.
    let first = counts[0];
    let offsets = counts
        .iter()
        .map(|count| i32::from(count.wrapping_sub(first).cast_signed()));
    let (low, high, sum) = offsets.fold((0, 0, 0), |(low, high, sum), offset| {
        (offset.min(low), offset.max(high), sum + offset)
    });
    let span = high.abs_diff(low);
    if span > BURST_SPAN_MAX {
        return Err(Refuse::Unsteady {
            span,
            limit: BURST_SPAN_MAX,
        });
    }
    let mean = f64::from(first) + f64::from(sum) / f64::from(16_u8);
    let circled = mean.rem_euclid(65_536.0);
    let unwrapped = circled + if circled < 32_768.0 { 65_536.0 } else { 0.0 };
    let input = converters.switches.at(end_ns).input();
    let volts = converters.input_fit(input).volts(unwrapped);
    let mut reply = json!({"source": path, "mv": whole(volts * 1e3), "count": whole(circled),
        "span": span});
    if let Some(offset) = converters.stored.calibration.offset {
        reply["offset_mv"] = whole(offset.volts * 1e3).into();
    }
    if input == Input::CurrentIn {
        reply["ua"] = whole(volts / SENSE_OHMS * 1e6).into();
    }
    Ok(reply)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "readings are far below 2^53"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests;
