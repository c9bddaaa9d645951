//! Captures: wait for the trigger, let the time pass, then compute what was recorded and send it.

use std::sync::Arc;

use pod_protocol::connection::Stream;

mod read;
mod streamed;

pub(crate) use read::Read;

use super::adc::AdcRender;
use super::client::{Client, Gone};
use super::digital::Digital;
use super::encoding::Encoding;
use super::hold::Hold;
use super::kept::Kept;
use super::levels::LaRender;
use super::packets::{Packet, Packets, packet_samples};
use super::plan::{Part, Plan};
use super::refuse::Refuse;
use super::shared::Shared;
use super::trigger;

/// Samples in which edges are searched in one go.
const EDGES_AT_ONCE: u64 = 1 << 16;

/// Runs a capture for a client.
pub(crate) async fn run<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    mut plan: Plan,
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
            started = start(shared, &mut plan, hold.since_ns()) => started,
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
    if let Some(part) = plan.la.filter(|_| plan.is_streamed) {
        staged.armed = false;
        let packets = Packets::new(client, plan.head(), packet_samples(shared, plan.encoding));
        return streamed::run(shared, packets.releasing(hold), &plan, part, t0_ns).await;
    }
    let end_ns = t0_ns + plan.duration_ns();
    tokio::select! {
        () = shared.pass_until(end_ns) => {}
        () = client.closed() => return Err(Gone),
    }
    staged.armed = false;
    let (mut adc, la) = shared.with(|world, _| {
        let adc = AdcRender::new(&world.converters, t0_ns, end_ns);
        (
            adc,
            plan.la.map(|part| la_render(&world.digital, part, t0_ns)),
        )
    });
    let edges = match la {
        Some(la) => all_edges(la, plan.samples().1).await,
        None => Vec::new(),
    };
    let kept = Arc::new(Kept {
        plan,
        t0_ns,
        adc: adc.clone(),
        edges,
    });
    keep(shared, &kept);
    let plan = &kept.plan;
    let packets = Packets::new(client, plan.head(), packet_samples(shared, plan.encoding));
    let mut packets = packets.releasing(hold);
    send_adc(&mut packets, plan, &mut adc, t0_ns, 0).await?;
    let la_samples = plan.samples().1;
    send_edges(&mut packets, plan, &kept.edges, 0..la_samples).await?;
    Ok(())
}

/// Keeps a capture for `capture_read`, or a shot for `replay`.
fn keep(shared: &Shared, capture: &Arc<Kept>) {
    let shot = capture.plan.adc.filter(|_| capture.plan.is_single());
    let trace = shot.map(|part| {
        let mut adc = capture.adc.clone();
        adc.counts(capture.t0_ns, part.divider, 0..part.samples)
    });
    shared.with(|world, _| match &trace {
        Some(counts) => world.keep_trace(counts),
        None => world.kept = Some(capture.clone()),
    });
}

/// What must be undone if a capture does not happen.
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
            world.converters.dac.disarm();
            if self.stops_dac {
                world.converters.dac.stop(now_ns);
            }
        });
    }
}

/// Finds the first instant of the capture. What was armed for it starts there, or at its trigger.
async fn start(shared: &Arc<Shared>, plan: &mut Plan, armed_ns: u64) -> Result<u64, Refuse> {
    let met_ns = match plan.trigger {
        Some(trigger) => trigger::wait(shared, trigger, armed_ns).await?,
        None => armed_ns,
    };
    shared.with(|world, _| {
        world.converters.dac.capture_starts(met_ns);
        if let Some(after_us) = plan.stop_dac_after_us {
            world.converters.dac.freeze(met_ns + after_us * 1_000);
        }
    });
    Ok(plan.begin(armed_ns, met_ns))
}

fn la_render(digital: &Digital, part: Part, t0_ns: u64) -> LaRender {
    let levels = digital.levels(t0_ns, t0_ns + part.duration_ns());
    LaRender::new(levels, t0_ns, part.divider)
}

async fn send_adc<S: Stream>(
    packets: &mut Packets<'_, S>,
    plan: &Plan,
    adc: &mut AdcRender,
    t0_ns: u64,
    mut from: u64,
) -> Result<(), Gone> {
    let Some(part) = plan.adc else { return Ok(()) };
    while from < part.samples {
        let to = (from + packets.samples()).min(part.samples);
        let counts = adc.counts(t0_ns, part.divider, from..to);
        let mut packet = Packet::adc(&counts, plan.encoding);
        let last = to == part.samples && plan.la.is_none();
        if last {
            packet.trigger(plan.trigger);
        }
        packets.send(packet, last).await?;
        from = to;
    }
    Ok(())
}

/// All edges of a capture, found piece by piece so that other tasks get their turn.
async fn all_edges(mut la: LaRender, samples: u64) -> Vec<(u64, u16)> {
    let mut edges = Vec::new();
    let mut upto = 0;
    while upto < samples {
        upto = (upto + EDGES_AT_ONCE).min(samples);
        edges.extend(la.advance(upto));
        tokio::task::yield_now().await;
    }
    edges
}

/// Sends the logic samples of a range; the first edge gives the word at its start.
async fn send_edges<S: Stream>(
    packets: &mut Packets<'_, S>,
    plan: &Plan,
    edges: &[(u64, u16)],
    range: std::ops::Range<u64>,
) -> Result<(), Gone> {
    let mut upto = range.start;
    let mut next = edges.partition_point(|(at, _)| *at <= upto);
    let before = next.checked_sub(1).map(|last| edges[last].1);
    let mut first = before.map(|word| (upto, word));
    while upto < range.end {
        let from = upto;
        upto = (upto + packets.samples()).min(range.end);
        let end = edges.partition_point(|(at, _)| *at < upto);
        let changes = &edges[next..end];
        let before = next.checked_sub(1).map(|last| edges[last].1);
        next = end;
        let mut packet = if plan.encoding == Encoding::Raw {
            Packet::la_raw(before.unwrap_or_default(), changes, from..upto)
        } else {
            let sent = first.take().into_iter().chain(changes.iter().copied());
            Packet::la(&sent.collect::<Vec<_>>(), upto)
        };
        let last = upto == range.end;
        if last {
            packet.trigger(plan.trigger);
        }
        packets.send(packet, last).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
