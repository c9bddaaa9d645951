//! Captures: wait for the trigger, let the time pass, then compute what was seen and send it.

use std::sync::Arc;

mod plan;

pub(crate) use plan::{Part, Plan};

use super::Shared;
use super::adc::AdcRender;
use super::lines::{LaRender, Levels};
use super::packets::{Packet, Packets};
use super::refuse::Refuse;
use super::session::{Client, Gone};
use super::trigger;
use super::world::World;
use crate::connection::Stream;

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
    let packets = Packets::new(client, plan.head(), packet_samples(shared));
    let mut packets = packets.releasing(hold);
    send_adc(&mut packets, &plan, &mut adc, t0_ns).await?;
    if let (Some(part), Some(la)) = (plan.la, la) {
        send_la(&mut packets, &plan, part, la).await?;
    }
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
