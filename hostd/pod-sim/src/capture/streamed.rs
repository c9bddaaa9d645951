//! A logic capture that is sent while it is taken, as long as the pod's memory holds what is waiting to be sent.

use std::ops::Range;
use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::rates;

use crate::client::Gone;
use crate::digital::Digital;
use crate::encoding::Encoding;
use crate::levels::LaRender;
use crate::packets::{Packet, Packets};
use crate::plan::{Part, Plan};
use crate::shared::Shared;

/// How much time is sent in one go.
const PIECE_NS: u64 = 50_000_000;

/// Samples that are looked at in one go.
const PIECE_SAMPLES_MAX: u64 = 1 << 18;

/// The words of a capture as far as it was sent.
#[derive(Default)]
struct Sent {
    upto: u64,
    word: Option<u16>,
}

/// Sends the samples of a capture that began at `t0_ns`.
pub(super) async fn run<S: Stream>(
    shared: &Arc<Shared>,
    mut packets: Packets<'_, S>,
    plan: &Plan,
    part: Part,
    t0_ns: u64,
) -> Result<(), Gone> {
    // Whoever asks for it again would ask for more than memory holds.
    shared.with(|world, _| world.kept = None);
    let memory = shared.with(|world, _| world.config.stream_samples);
    let mut sent = Sent::default();
    while sent.upto < part.samples {
        let due_ns = t0_ns + rates::sample_ns(sent.upto, part.divider) + PIECE_NS;
        tokio::select! {
            () = shared.pass_until(due_ns) => {}
            () = packets.closed() => return Err(Gone),
        }
        let since_ns = shared.now_ns().saturating_sub(t0_ns);
        let taken = rates::first_sample_at(since_ns + 1, part.divider).min(part.samples);
        let oldest = taken.saturating_sub(memory);
        if sent.upto < oldest {
            packets.send(Packet::gap(sent.upto..oldest), false).await?;
            sent.upto = oldest;
        }
        let to = taken.min(sent.upto + PIECE_SAMPLES_MAX);
        if sent.upto == to {
            continue;
        }
        let range = sent.upto..to;
        let edges = shared.with(|world, _| edges(&world.digital, part, t0_ns, range));
        send(&mut packets, plan, &edges, &mut sent, to, part.samples).await?;
        if to < part.samples {
            packets.flush().await?;
        }
    }
    Ok(())
}

/// The words of samples that were taken: that of the first, and each change after it.
fn edges(digital: &Digital, part: Part, t0_ns: u64, range: Range<u64>) -> Vec<(u64, u16)> {
    let ns = |sample| t0_ns + rates::sample_ns(sample, part.divider);
    let levels = digital.levels(ns(range.start), ns(range.end));
    LaRender::since(levels, t0_ns, part.divider, range.start).advance(range.end)
}

/// Sends samples in packets.
async fn send<S: Stream>(
    packets: &mut Packets<'_, S>,
    plan: &Plan,
    edges: &[(u64, u16)],
    sent: &mut Sent,
    to: u64,
    samples: u64,
) -> Result<(), Gone> {
    let mut next = 0;
    while sent.upto < to {
        let from = sent.upto;
        let upto = (from + packets.samples()).min(to);
        let end = next + edges[next..].partition_point(|(at, _)| *at < upto);
        let before = sent.word.unwrap_or_default();
        let mut changes = Vec::new();
        for (at, word) in &edges[next..end] {
            if sent.word != Some(*word) {
                changes.push((*at, *word));
            }
            sent.word = Some(*word);
        }
        next = end;
        let mut packet = match plan.encoding {
            Encoding::Raw => Packet::la_raw(before, &changes, from..upto),
            _ => Packet::la(&changes, upto),
        };
        let last = upto == samples;
        if last {
            packet.trigger(plan.trigger);
        }
        packets.send(packet, last).await?;
        sent.upto = upto;
    }
    Ok(())
}
