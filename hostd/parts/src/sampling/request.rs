//! What the capture commands of the protocol ask for, as a request for an instrument.

use acquire::{Beside, Input, Request};
use pod_protocol::capture::{Condition, PRE_SAMPLES, Trigger};

use super::Sampler;
use crate::args::Args;
use crate::refuse::Refuse;

/// What the protocol has where a request says nothing.
const SAMPLES: u64 = 256;
const ADC_RATE_MHZ: f64 = 0.4;
const LA_RATE_MHZ: f64 = 12.0;
const TIMEOUT_MS: u32 = 10_000;

const TIMEOUTS_MS: std::ops::RangeInclusive<i64> = 1..=600_000;

/// `la_capture`.
pub(crate) fn la(sampler: &Sampler, args: &Args<'_>) -> Result<Request, Refuse> {
    let (samples, rate_hz) = wanted(args, ("samples", "sample_rate_mhz"), LA_RATE_MHZ)?;
    sampler.request(Input::Logic, samples, rate_hz, trigger(args)?)
}

/// `capture` and `stream`.
pub(crate) fn adc(sampler: &Sampler, args: &Args<'_>) -> Result<Request, Refuse> {
    let (samples, rate_hz) = wanted(args, ("samples", "sample_rate_mhz"), ADC_RATE_MHZ)?;
    sampler.request(Input::Analog(0), samples, rate_hz, trigger(args)?)
}

/// What `capture_dual` asks for.
pub(crate) enum Dual {
    Adc,
    La,
    Both,
}

impl Dual {
    pub(crate) fn of(args: &Args<'_>) -> Result<Self, Refuse> {
        let adc: u64 = args.uint("adc_samples", 0..=i64::MAX)?.unwrap_or(0);
        let la: u64 = args.uint("la_samples", 0..=i64::MAX)?.unwrap_or(0);
        match (adc, la) {
            (0, 0) => Err(Refuse::NoSamples),
            (_, 0) => Ok(Self::Adc),
            (0, _) => Ok(Self::La),
            _ => Ok(Self::Both),
        }
    }
}

/// `capture_dual`.
pub(crate) fn dual(sampler: &Sampler, args: &Args<'_>, kind: &Dual) -> Result<Request, Refuse> {
    let adc = || wanted(args, ("adc_samples", "adc_rate_mhz"), ADC_RATE_MHZ);
    let la = || wanted(args, ("la_samples", "la_rate_mhz"), LA_RATE_MHZ);
    let (input, (samples, rate_hz)) = match kind {
        Dual::Adc => (Input::Analog(0), adc()?),
        Dual::La => (Input::Logic, la()?),
        Dual::Both => {
            let (samples, rate_hz) = adc()?;
            let beside = Beside {
                input: 0,
                samples,
                rate_hz,
            };
            (Input::Both(beside), la()?)
        }
    };
    sampler.request(input, samples, rate_hz, trigger(args)?)
}

/// How many samples of one kind, and how fast in hertz, by the names of their fields.
fn wanted(
    args: &Args<'_>,
    (samples, rate_mhz): (&'static str, &'static str),
    usual_mhz: f64,
) -> Result<(u64, f64), Refuse> {
    let samples = args.uint(samples, 1..=i64::MAX)?.unwrap_or(SAMPLES);
    Ok((samples, rate_hz(args, rate_mhz, usual_mhz)?))
}

fn rate_hz(args: &Args<'_>, field: &'static str, usual_mhz: f64) -> Result<f64, Refuse> {
    let want = "a rate in MHz above 0";
    match args.number(field)? {
        None => Ok(usual_mhz * 1e6),
        Some(mhz) if mhz > 0.0 => Ok(mhz * 1e6),
        Some(_) => Err(Refuse::Bad { field, want }),
    }
}

fn trigger(args: &Args<'_>) -> Result<Option<Trigger>, Refuse> {
    let pre_samples: u64 = args.uint(PRE_SAMPLES, 0..=i64::MAX)?.unwrap_or(0);
    let Some(trigger) = args.0.get("trigger").filter(|asked| !asked.is_null()) else {
        return match pre_samples {
            0 => Ok(None),
            _ => Err(Refuse::Bad {
                field: PRE_SAMPLES,
                want: "a trigger beside it",
            }),
        };
    };
    let condition = Condition::from_value(trigger).map_err(|error| Refuse::Bad {
        field: error.field,
        want: error.want,
    })?;
    let timeout_ms = args
        .uint("trigger_timeout_ms", TIMEOUTS_MS)?
        .unwrap_or(TIMEOUT_MS);
    Ok(Some(Trigger {
        condition,
        timeout_ms,
        pre_samples,
    }))
}
