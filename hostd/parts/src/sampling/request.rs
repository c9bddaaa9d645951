//! What the capture commands of the protocol ask for, as a request for an instrument.

use acquire::{Beside, Input, Request};
use pod_protocol::capture::{Edge, Trigger};
use serde_json::Value;

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
    let field = "trigger";
    let want = "an object with la and edge (rising, falling, high or low)";
    let bad = || Refuse::Bad { field, want };
    let Some(trigger) = args.object(field)? else {
        return Ok(None);
    };
    let channel = trigger.get("la").and_then(Value::as_u64);
    let channel = channel
        .and_then(|la| u8::try_from(la).ok())
        .ok_or_else(bad)?;
    let edge = trigger.get("edge").and_then(Value::as_str);
    let edge = edge.and_then(Edge::from_name).ok_or_else(bad)?;
    let timeout_ms = args
        .uint("trigger_timeout_ms", TIMEOUTS_MS)?
        .unwrap_or(TIMEOUT_MS);
    Ok(Some(Trigger {
        channel,
        edge,
        timeout_ms,
    }))
}
