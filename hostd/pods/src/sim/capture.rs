//! Captures: wait for the trigger, let the time pass, then compute what was seen and send it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Shared;
use super::adc::AdcRender;
use super::args::Args;
use super::lines::{LaRender, Levels};
use super::packets::{Packet, Packets};
use super::refuse::Refuse;
use super::session::{Client, Gone};
use super::trigger;
use super::world::World;
use crate::capture::Trigger;
use crate::connection::Stream;
use crate::protocol::{
    ADC_SINGLE_SAMPLES_MAX, CAPTURE_SECONDS_MAX, DUAL_SAMPLES_MAX, LA_SAMPLES_MAX, rates,
};

const DEFAULT_SAMPLES: u64 = 256;

/// What the memory takes from both converters together.
const MEGABYTES_PER_S_MAX: u64 = 20;

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

/// A capture as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) adc: Option<Part>,
    pub(crate) la: Option<Part>,
    trigger: Option<Trigger>,
    stop_dac_after_us: Option<u64>,
    /// ADC counts as base64 rather than decimal.
    b64: bool,
    /// The single-shot reply names no rates.
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
    pub(crate) fn la(world: &World, args: &Args<'_>) -> Result<Self, Refuse> {
        if world.pins.bank_mv() == 0 {
            return Err(Refuse::LaVoltageUnset);
        }
        let samples = samples(args, "samples", LA_SAMPLES_MAX)?.unwrap_or(DEFAULT_SAMPLES);
        let divider = rates::la_divider(args.rate_hz("sample_rate_mhz")?, samples);
        let la = some_part(samples, divider)?;
        if la.is_none() {
            return Err(Refuse::NoSamples);
        }
        Self::of(None, la).with_options(args)
    }

    /// `capture_dual`: both from one instant; either count may be 0.
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
        let wanted = |rate: Option<f64>, samples: u64| match samples {
            0 => 0.0,
            _ => rate.unwrap_or(0.0) * 2.0 / 1e6,
        };
        let megabytes = wanted(adc_rate, adc_samples) + wanted(la_rate, la_samples);
        #[allow(clippy::cast_precision_loss, reason = "a small constant")]
        let limit = MEGABYTES_PER_S_MAX as f64;
        if megabytes > limit {
            return Err(Refuse::TooFast {
                megabytes: whole(megabytes),
                limit: MEGABYTES_PER_S_MAX,
            });
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
            stop_dac_after_us: None,
            b64: false,
            tells_rates: true,
        }
    }

    fn with_options(mut self, args: &Args<'_>) -> Result<Self, Refuse> {
        self.trigger = trigger::from_args(args)?;
        self.stop_dac_after_us = args.uint("stop_dac_after_us", 0..=3_600_000_000)?;
        self.b64 = args.text("enc")? == Some("b64");
        Ok(self)
    }

    fn duration_ns(&self) -> u64 {
        let parts = [self.adc, self.la].into_iter().flatten();
        parts.map(Part::duration_ns).max().unwrap_or(0)
    }

    /// What the first packet carries beside samples.
    fn head(&self) -> Vec<(&'static str, Value)> {
        let mut head = Vec::new();
        if self.adc.is_some() {
            head.push(("bits", json!(16)));
        }
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
    reason = "saturates, which is enough for a message"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

/// The capture hardware, held; let go when dropped.
pub(crate) struct Hold {
    shared: Arc<Shared>,
    since_ns: u64,
}

impl Hold {
    pub(crate) fn take(shared: &Arc<Shared>) -> Result<Self, Refuse> {
        let since_ns = shared.with(|world, now_ns| world.take_capture(now_ns).map(|()| now_ns))?;
        Ok(Self {
            shared: shared.clone(),
            since_ns,
        })
    }

    pub(crate) fn since_ns(&self) -> u64 {
        self.since_ns
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.with(|world, _| world.release_capture());
    }
}

/// Runs a capture for a client.
pub(crate) async fn run<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    plan: Plan,
) -> Result<(), Gone> {
    let hold = match Hold::take(shared) {
        Ok(hold) => hold,
        Err(refusal) => return client.refuse(&refusal).await,
    };
    let mut staged = Staged {
        shared,
        stops_dac: plan.stop_dac_after_us.is_some(),
        armed: true,
    };
    let t0_ns = {
        let started = tokio::select! {
            started = start(shared, &plan, hold.since_ns()) => started,
            () = client.closed() => return Err(Gone),
        };
        match started {
            Ok(t0_ns) => t0_ns,
            Err(refusal) => {
                drop(staged);
                drop(hold);
                return client.refuse(&refusal).await;
            }
        }
    };
    let end_ns = t0_ns + plan.duration_ns();
    tokio::select! {
        () = tokio::time::sleep_until(shared.instant(end_ns)) => {}
        () = client.closed() => return Err(Gone),
    }
    staged.armed = false;
    let (mut adc, la) = shared.with(|world, _| {
        let adc = AdcRender::new(world, t0_ns, end_ns);
        (adc, plan.la.map(|part| la_render(world, part, t0_ns)))
    });
    let mut packets = Packets::new(client, plan.head(), packet_samples(shared));
    send_adc(&mut packets, &plan, &mut adc, t0_ns).await?;
    if let (Some(part), Some(la)) = (plan.la, la) {
        send_la(&mut packets, &plan, part, la).await?;
    }
    drop(hold);
    Ok(())
}

/// What a capture that does not come about must undo.
struct Staged<'a> {
    shared: &'a Arc<Shared>,
    stops_dac: bool,
    armed: bool,
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        self.shared.with(|world, now_ns| {
            world.dac.disarm();
            if self.stops_dac {
                world.dac.stop(now_ns);
            }
        });
    }
}

/// Finds the first instant of the capture and starts there what was armed for it.
async fn start(shared: &Arc<Shared>, plan: &Plan, armed_ns: u64) -> Result<u64, Refuse> {
    let t0_ns = match plan.trigger {
        Some(trigger) => trigger::wait(shared, trigger, armed_ns).await?,
        None => armed_ns,
    };
    shared.with(|world, _| {
        world.dac.capture_starts(t0_ns);
        if let Some(after_us) = plan.stop_dac_after_us {
            world.dac.freeze(t0_ns + after_us * 1_000);
        }
    });
    Ok(t0_ns)
}

pub(crate) fn packet_samples(shared: &Shared) -> u64 {
    let asked = shared.with(|world, _| world.config.packet_samples);
    u64::from(asked.clamp(1, super::PACKET_SAMPLES_MAX))
}

fn la_render(world: &World, part: Part, t0_ns: u64) -> LaRender {
    let levels = Levels::new(world, t0_ns, t0_ns + part.duration_ns());
    LaRender::new(levels, t0_ns, part.divider)
}

async fn send_adc<S: Stream>(
    packets: &mut Packets<'_, S>,
    plan: &Plan,
    adc: &mut AdcRender,
    t0_ns: u64,
) -> Result<(), Gone> {
    let Some(part) = plan.adc else { return Ok(()) };
    let mut from = 0;
    while from < part.samples {
        let to = (from + packets.samples()).min(part.samples);
        let counts = adc.counts(t0_ns, part.divider, from..to);
        let mut packet = Packet::adc(&counts, plan.b64);
        let last = to == part.samples && plan.la.is_none();
        if last {
            packet.trigger(plan.trigger);
        }
        packets.send(packet, last).await?;
        from = to;
    }
    Ok(())
}

async fn send_la<S: Stream>(
    packets: &mut Packets<'_, S>,
    plan: &Plan,
    part: Part,
    mut la: LaRender,
) -> Result<(), Gone> {
    let mut upto = 0;
    while upto < part.samples {
        upto = (upto + packets.samples()).min(part.samples);
        let mut packet = Packet::la(&la.advance(upto), upto);
        let last = upto == part.samples;
        if last {
            packet.trigger(plan.trigger);
        }
        packets.send(packet, last).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
