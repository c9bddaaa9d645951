//! The debug probe: CMSIS-DAP packets of a connection go to the target that is wired to the two
//! channels, and take their real time there. Without a target, the probe answers but the wire is
//! silent.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::dap_frame::{self, DAP_PACKET_BYTES_MAX, DAP_SILENCE_MAX};
use serde_json::json;
use target_sim::chip::STM32F030R8;
use target_sim::dap::{PACKET_BYTES, PACKET_COUNT, Probe};
use target_sim::target::{BareBoard, Target};
use tokio::time::timeout;

use super::args::Args;
use super::client::{Client, Gone};
use super::pins::Owner;
use super::refuse::Refuse;
use super::shared::Shared;
use super::world::World;

/// Packet size and count until a client requests others.
const DEFAULT_PACKET_BYTES: usize = 256;
const DEFAULT_PACKET_COUNT: u8 = 1;

const WAIT_MS_MAX: u64 = 10_000;

/// A target counts as present once it has answered five times in a row, 50 ms apart.
const STEADY_NS: u64 = 200_000_000;

/// The answer to a packet waits for the wire only if the wire is this far ahead: timers are no
/// finer.
const AHEAD_NS: u64 = 1_000_000;

const LENGTH_BYTES: usize = 2;

pub(super) const FUNCTIONS: [Owner; 2] = [Owner::SwdClk, Owner::SwdDio];

/// A session whose channels are claimed.
pub(crate) struct Dap {
    probe: Probe,
    pins: [u8; 2],
    /// The latest time of the acknowledgement.
    wait_until_ns: u64,
}

impl Dap {
    /// Claims the channels, or refuses.
    pub(crate) fn start(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Self, Refuse> {
        world.digital.pins.need_bank()?;
        let swclk = args.la("swclk")?;
        let swclk = swclk.ok_or(Refuse::Missing { field: "swclk" })?;
        let swdio = args.la("swdio")?;
        let swdio = swdio.ok_or(Refuse::Missing { field: "swdio" })?;
        if swclk == swdio {
            return Err(Refuse::SameSwdPins);
        }
        let any = 0..=i64::MAX;
        let size = args.int("packet_size", i64::MIN..=i64::MAX)?;
        let count = args.int("packet_count", i64::MIN..=i64::MAX)?;
        let wait_ms: u64 = args.uint("wait_ms", any)?.unwrap_or(0);
        let claims = [(swclk, Owner::SwdClk), (swdio, Owner::SwdDio)];
        for (la, owner) in claims {
            world.digital.pins.check_claim(la, owner, now_ns)?;
        }
        if world.digital.spi.is_open() {
            return Err(Refuse::SpiOpen);
        }
        if world.digital.pins.has(Owner::SwdClk) {
            return Err(Refuse::SwdOpen);
        }
        world.digital.pins.claim_all(&claims, now_ns)?;
        let size = size.map_or(DEFAULT_PACKET_BYTES, |size| clamped(size, &PACKET_BYTES));
        let count = count.map_or(DEFAULT_PACKET_COUNT, |count| clamped(count, &PACKET_COUNT));
        Ok(Self {
            probe: Probe::new(size, count),
            pins: [swclk, swdio],
            wait_until_ns: now_ns + wait_ms.min(WAIT_MS_MAX) * 1_000_000,
        })
    }

    /// Handles packets until the client closes or sends a length that ends the session.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        let mut open = Open {
            dap: self,
            shared: shared.clone(),
            nothing: Target::new(STM32F030R8),
        };
        tokio::select! {
            () = open.target_answers() => {}
            () = client.closed() => return Err(Gone),
        }
        client.ok(json!("dap ready")).await?;
        let mut response = Vec::new();
        loop {
            let length = timeout(DAP_SILENCE_MAX, exactly(client, LENGTH_BYTES)).await;
            // A debugger that was killed leaves nothing armed, though its connection stays.
            let length = length.map_err(|_| Gone)??;
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            if length == 0 || length > DAP_PACKET_BYTES_MAX {
                return Ok(());
            }
            let request = exactly(client, length).await?;
            let done_ns = open.process(&request, &mut response);
            if done_ns > shared.now_ns() + AHEAD_NS {
                shared.sleep_until(done_ns).await;
            }
            let frame = dap_frame::encode(&response);
            let frame = frame.expect("a probe answers with at most a packet");
            client.write_raw(&frame).await?;
        }
    }
}

/// Clamps a number to a range.
fn clamped<T: TryFrom<i64> + Copy>(number: i64, range: &std::ops::RangeInclusive<T>) -> T
where
    i64: TryFrom<T>,
{
    let edge = |edge: T| i64::try_from(edge).unwrap_or(i64::MAX);
    let number = number.clamp(edge(*range.start()), edge(*range.end()));
    T::try_from(number).unwrap_or(*range.start())
}

/// Reads exactly `count` bytes.
async fn exactly<S: Stream>(client: &mut Client<S>, count: usize) -> Result<Vec<u8>, Gone> {
    let mut bytes = Vec::with_capacity(count);
    while bytes.len() < count {
        let more = client.read_raw(count - bytes.len()).await?;
        if more.is_empty() {
            return Err(Gone);
        }
        bytes.extend(more);
    }
    Ok(bytes)
}

/// A running session; its channels are freed when it is dropped, however it ends.
struct Open {
    dap: Dap,
    shared: Arc<Shared>,
    /// Stands in for the target on the wires when no target answers.
    nothing: Target,
}

impl Open {
    /// Waits until the target answers reliably, or as long as the client allows.
    async fn target_answers(&self) {
        let shared = &self.shared;
        loop {
            let mut changed = std::pin::pin!(shared.changed().notified());
            changed.as_mut().enable();
            let pins = self.dap.pins;
            let from_ns = shared.with(|world, now_ns| world.swd_answers_from_ns(pins, now_ns));
            let steady_ns = from_ns.map(|from_ns| from_ns.saturating_add(STEADY_NS));
            let until_ns = steady_ns.map_or(self.dap.wait_until_ns, |steady_ns| {
                steady_ns.min(self.dap.wait_until_ns)
            });
            if until_ns <= shared.now_ns() {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = shared.sleep_until(until_ns) => {}
            }
        }
    }

    /// Carries out a packet; returns the instant at which the wire is done with it.
    fn process(&mut self, request: &[u8], response: &mut Vec<u8>) -> u64 {
        let (pins, probe) = (self.dap.pins, &mut self.dap.probe);
        let nothing = &mut self.nothing;
        let done_ns = self.shared.with(|world, now_ns| {
            let from_ns = world.swd_answers_from_ns(pins, now_ns);
            if from_ns.is_some_and(|from_ns| from_ns <= now_ns) {
                let target = world.target.as_mut();
                let target = target.expect("it answers, so it is there");
                return target.process(&mut world.digital, probe, request, response);
            }
            let before_ns = nothing.now_ns();
            probe.process(nothing, &mut BareBoard, request, response);
            now_ns + (nothing.now_ns() - before_ns)
        });
        self.shared.wires_changed();
        done_ns
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let probe = &mut self.dap.probe;
        self.shared.with(|world, now_ns| {
            if let Some(target) = &mut world.target {
                target.release(&mut world.digital, probe);
            }
            world.digital.pins.free(&FUNCTIONS, now_ns);
        });
        self.shared.wires_changed();
    }
}

#[cfg(test)]
mod tests;
