//! Captures as requested: the fields of the three commands, their limits and refusals.

use pod_protocol::capture::{Condition, PRE_SAMPLES, STREAM, Trigger};
use pod_protocol::chunk::Extent;
use pod_protocol::{
    ADC_SINGLE_SAMPLES_MAX, CAPTURE_SECONDS_MAX, DUAL_BYTES_PER_S_MAX, DUAL_SAMPLES_MAX,
    LA_SAMPLES_MAX, LA_STREAM_SAMPLES_MAX, SAMPLE_BYTES, TRIGGER_TIMEOUT_MS_MAX, rates,
};
use serde_json::{Value, json};

use super::args::Args;
use super::encoding::Encoding;
use super::pins::Pins;
use super::refuse::Refuse;

const DEFAULT_SAMPLES: u64 = 256;

const DEFAULT_TIMEOUT_MS: u32 = 10_000;

/// Samples of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) samples: u64,
    pub(crate) divider: u32,
}

impl Part {
    pub(crate) fn duration_ns(self) -> u64 {
        rates::sample_ns(self.samples, self.divider)
    }

    pub(crate) fn check(self) -> Result<Self, Refuse> {
        let seconds = u128::from(self.samples) * u128::from(self.divider);
        let seconds = seconds / u128::from(rates::SAMPLE_CLOCK_HZ);
        let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
        if seconds >= CAPTURE_SECONDS_MAX {
            return Err(Refuse::TooSlow {
                seconds,
                limit: CAPTURE_SECONDS_MAX,
            });
        }
        Ok(self)
    }
}

/// A capture as requested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) adc: Option<Part>,
    pub(crate) la: Option<Part>,
    pub(crate) trigger: Option<Trigger>,
    /// How it turned out, once its trigger was met, if it wants samples before that.
    extent: Option<Extent>,
    pub(crate) stop_dac_after_us: Option<u64>,
    pub(crate) encoding: Encoding,
    /// Whether it is sent while it is taken.
    pub(crate) is_streamed: bool,
    /// Whether the reply names the rates; that of a single shot does not.
    tells_rates: bool,
}

impl Plan {
    /// `capture`: analog only, one shot.
    pub(crate) fn single(args: &Args<'_>) -> Result<Self, Refuse> {
        let samples = samples(args, "samples", ADC_SINGLE_SAMPLES_MAX)?.unwrap_or(DEFAULT_SAMPLES);
        let divider = rates::adc_divider(args.rate_hz("sample_rate_mhz")?);
        let adc = some_part(samples, divider)?;
        if adc.is_none() {
            return Err(Refuse::NoSamples);
        }
        Self {
            tells_rates: false,
            ..Self::of(adc, None)
        }
        .with_options(args)
    }

    /// `la_capture`: logic only.
    pub(crate) fn la(pins: &Pins, args: &Args<'_>) -> Result<Self, Refuse> {
        if pins.bank_mv() == 0 {
            return Err(Refuse::LaVoltageUnset);
        }
        let is_streamed = args.flag(STREAM)?.unwrap_or(false);
        let limit = match is_streamed {
            true => LA_STREAM_SAMPLES_MAX,
            false => LA_SAMPLES_MAX,
        };
        let samples = samples(args, "samples", limit)?.unwrap_or(DEFAULT_SAMPLES);
        let divider = rates::la_divider(args.rate_hz("sample_rate_mhz")?, samples);
        let la = some_part(samples, divider)?;
        if la.is_none() {
            return Err(Refuse::NoSamples);
        }
        Self {
            is_streamed,
            ..Self::of(None, la)
        }
        .with_options(args)
    }

    /// `capture_dual`: both, starting at the same instant; either count may be 0.
    pub(crate) fn dual(args: &Args<'_>) -> Result<Self, Refuse> {
        let adc_samples = samples(args, "adc_samples", DUAL_SAMPLES_MAX)?.unwrap_or(0);
        let la_samples = samples(args, "la_samples", DUAL_SAMPLES_MAX)?.unwrap_or(0);
        let total = adc_samples + la_samples;
        if total == 0 {
            return Err(Refuse::NoSamples);
        }
        if total > DUAL_SAMPLES_MAX {
            return Err(Refuse::TooManySamples {
                samples: total,
                limit: DUAL_SAMPLES_MAX,
            });
        }
        let adc_rate = args.rate_hz("adc_rate_mhz")?;
        let la_rate = args.rate_hz("la_rate_mhz")?;
        let wanted_hz = |rate: Option<f64>, samples: u64| match samples {
            0 => 0.0,
            _ => rate.unwrap_or(0.0),
        };
        let hz = wanted_hz(adc_rate, adc_samples) + wanted_hz(la_rate, la_samples);
        let bytes_per_s = whole(hz).saturating_mul(SAMPLE_BYTES);
        if bytes_per_s > DUAL_BYTES_PER_S_MAX {
            return Err(Refuse::TooFast { bytes_per_s });
        }
        let adc = some_part(adc_samples, rates::adc_divider(adc_rate))?;
        let la = some_part(la_samples, rates::la_divider(la_rate, la_samples))?;
        Self::of(adc, la).with_options(args)
    }

    fn of(adc: Option<Part>, la: Option<Part>) -> Self {
        Self {
            adc,
            la,
            trigger: None,
            extent: None,
            stop_dac_after_us: None,
            encoding: Encoding::Text,
            is_streamed: false,
            tells_rates: true,
        }
    }

    fn with_options(mut self, args: &Args<'_>) -> Result<Self, Refuse> {
        self.trigger = self.trigger(args)?;
        self.stop_dac_after_us = args.uint("stop_dac_after_us", 0..=3_600_000_000)?;
        self.encoding = Encoding::asked(args)?;
        Ok(self)
    }

    /// Reads `trigger`, `trigger_timeout_ms` and `pre_samples`.
    fn trigger(&self, args: &Args<'_>) -> Result<Option<Trigger>, Refuse> {
        let pre_samples: Option<u64> = args.uint(PRE_SAMPLES, 0..=i64::MAX)?;
        let pre_samples = pre_samples.unwrap_or(0);
        if !args.has("trigger") {
            return match pre_samples {
                0 => Ok(None),
                _ => Err(Refuse::Bad {
                    field: PRE_SAMPLES,
                    want: "a trigger beside it",
                }),
            };
        }
        let asked = &args.0["trigger"];
        if let Some(fields) = asked.as_object() {
            // The range of a channel is said as everywhere.
            Args(fields).la("la")?;
        }
        let condition = Condition::from_value(asked);
        let condition = condition.map_err(|error| Refuse::Bad {
            field: error.field,
            want: error.want,
        })?;
        let timeout_ms = args.uint("trigger_timeout_ms", 1..=i64::from(TRIGGER_TIMEOUT_MS_MAX))?;
        let divider = |part: Option<Part>| part.map_or(1, |part| part.divider);
        let dividers = (divider(self.adc), divider(self.la));
        let most = rates::pre_samples_max(self.samples(), dividers);
        if most < pre_samples {
            return Err(Refuse::OutOfRange {
                field: PRE_SAMPLES,
                min: 0,
                max: i64::try_from(most).unwrap_or(i64::MAX),
            });
        }
        Ok(Some(Trigger {
            condition,
            timeout_ms: timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS),
            pre_samples,
        }))
    }

    /// Places the trigger, which was met at `met_ns` after a wait since `armed_ns`: returns when sample 0 is. If fewer
    /// samples than asked for fit between the two, the capture has so many fewer.
    pub(crate) fn begin(&mut self, armed_ns: u64, met_ns: u64) -> u64 {
        let wanted = self.trigger.map_or(0, |trigger| trigger.pre_samples);
        let Some(base) = self.la.or(self.adc).filter(|_| wanted > 0) else {
            return met_ns;
        };
        let since_ns = met_ns.saturating_sub(armed_ns);
        let fit = rates::first_sample_at(since_ns + 1, base.divider) - 1;
        let before = wanted.min(fit);
        let before_ns = rates::sample_ns(before, base.divider);
        let missing_ns = rates::sample_ns(wanted, base.divider) - before_ns;
        let is_both = self.la.is_some();
        if let Some(base) = self.la.as_mut().or(self.adc.as_mut()) {
            base.samples -= wanted - before;
        }
        if let Some(beside) = self.adc.as_mut().filter(|_| is_both) {
            let missing = rates::first_sample_at(missing_ns + 1, beside.divider) - 1;
            beside.samples = beside.samples.saturating_sub(missing).max(1);
        }
        let (adc_samples, la_samples) = self.samples();
        self.extent = Some(Extent {
            trigger_sample: before,
            adc_samples,
            la_samples,
        });
        met_ns - before_ns
    }

    pub(crate) fn duration_ns(&self) -> u64 {
        let parts = [self.adc, self.la].into_iter().flatten();
        parts.map(Part::duration_ns).max().unwrap_or(0)
    }

    /// Samples of the ADC and of the LA.
    pub(crate) fn samples(&self) -> (u64, u64) {
        let samples = |part: Option<Part>| part.map_or(0, |part| part.samples);
        (samples(self.adc), samples(self.la))
    }

    /// Whether it is a single shot of the ADC.
    pub(crate) fn is_single(&self) -> bool {
        !self.tells_rates
    }

    pub(crate) fn head(&self) -> Vec<(&'static str, Value)> {
        let mut head = Vec::new();
        if self.adc.is_some() {
            head.push(("bits", json!(16)));
        }
        let extent = self.extent.iter().flat_map(|extent| extent.fields());
        head.extend(extent.map(|(name, samples)| (name, json!(samples))));
        if !self.tells_rates {
            return head;
        }
        let rate = |part: Part| rates::SAMPLE_CLOCK_HZ / u64::from(part.divider);
        head.extend(self.adc.map(|part| ("adc_rate_hz", json!(rate(part)))));
        head.extend(self.la.map(|part| ("la_rate_hz", json!(rate(part)))));
        head
    }
}

fn samples(args: &Args<'_>, field: &'static str, limit: u64) -> Result<Option<u64>, Refuse> {
    match args.uint::<u64>(field, 0..=i64::MAX)? {
        Some(samples) if samples > limit => Err(Refuse::TooManySamples { samples, limit }),
        samples => Ok(samples),
    }
}

fn some_part(samples: u64, divider: u32) -> Result<Option<Part>, Refuse> {
    let part = (samples > 0).then_some(Part { samples, divider });
    part.map(Part::check).transpose()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, which is above every limit"
)]
fn whole(value: f64) -> u64 {
    value.ceil() as u64
}
