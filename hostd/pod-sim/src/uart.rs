//! The UART proxy: raw bytes of a connection become bits on the `tx` channel, and frames seen on
//! the `rx` channel become raw bytes, each at its real time.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::escape::Escape;
use pod_protocol::{UART_BAUD_MAX, UART_BAUD_MIN};
use serde_json::json;

use super::args::Args;
use super::client::{Client, Gone};
use super::pins::{FRAME_BITS, Owner, bit, bits_ns};
use super::refuse::Refuse;
use super::sender::Sender;
use super::shared::Shared;
use super::world::World;

const BAUD: std::ops::RangeInclusive<i64> = UART_BAUD_MIN as i64..=UART_BAUD_MAX as i64;
const DEFAULT_BAUD: u32 = 115_200;

/// Bytes read from the connection at once.
const READ_BYTES: usize = 256;

/// How far the transmitter may be ahead before no more is read from the connection.
const AHEAD_NS: u64 = 50_000_000;

/// How far ahead the receive line is searched; recordings never end.
const SEARCH_NS: u64 = 100_000_000;

/// Bank voltage at which the receive line's pull-up works, in millivolts.
const PULL_BANK_MV: u16 = 3300;

/// A session whose channels are claimed.
pub(crate) struct Uart {
    rx: u8,
    tx: u8,
    baud: u32,
    /// Whether the receive line's pull-up was engaged for the session.
    pulled: bool,
}

impl Uart {
    /// Claims the channels, or refuses.
    pub(crate) fn start(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Self, Refuse> {
        world.digital.pins.need_bank()?;
        let rx = args.la("rx")?.ok_or(Refuse::Missing { field: "rx" })?;
        let tx = args.la("tx")?.ok_or(Refuse::Missing { field: "tx" })?;
        if rx == tx {
            return Err(Refuse::SameUartPins);
        }
        let baud = args.uint("baud", BAUD)?.unwrap_or(DEFAULT_BAUD);
        let claims = [(rx, Owner::UartRx), (tx, Owner::UartTx)];
        for (la, owner) in claims {
            world.digital.pins.check_claim(la, owner, now_ns)?;
        }
        if world.uart_since_ns.is_some() {
            return Err(Refuse::UartBusy);
        }
        world.digital.pins.claim_all(&claims, now_ns)?;
        world.uart_since_ns = Some(now_ns);
        world.uart_sender = Some(Sender {
            tx,
            baud,
            sent_to_ns: 0,
        });
        let pull_up = bit(rx) & super::pins::PULL_UP_MASK != 0;
        let idle = world.digital.pins.pull_mask(now_ns) & bit(rx) == 0;
        let pulled = pull_up && idle && world.digital.pins.bank_mv() == PULL_BANK_MV;
        if pulled {
            world.digital.pins.set_pull(rx, true, now_ns)?;
        }
        Ok(Self {
            rx,
            tx,
            baud,
            pulled,
        })
    }

    fn end(&self, world: &mut World, now_ns: u64) {
        world
            .digital
            .pins
            .free(&[Owner::UartRx, Owner::UartTx], now_ns);
        world.uart_since_ns = None;
        world.uart_sender = None;
        if self.pulled {
            let released = world.digital.pins.set_pull(self.rx, false, now_ns);
            debug_assert!(released.is_ok(), "releasing a resistor is always allowed");
        }
    }

    /// Transfers bytes until the client closes or escapes.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        let open = Open {
            uart: self,
            shared: shared.clone(),
        };
        client.ok(json!("uart ready")).await?;
        let mut escape = Escape::new();
        loop {
            let mut changed = std::pin::pin!(shared.changed().notified());
            changed.as_mut().enable();
            let received = shared.with(|world, now_ns| match world.loading {
                0 => Some(open.uart.receive(world, now_ns)),
                _ => None,
            });
            let Some(received) = received else {
                // Silent while an upload runs: bytes wait on both sides meanwhile.
                changed.await;
                continue;
            };
            if !received.bytes.is_empty() {
                client.write_raw(&received.bytes).await?;
            }
            let room_ns = open.sent_to_ns().saturating_sub(AHEAD_NS);
            let full = room_ns > shared.now_ns();
            let wake = [
                received.wake_ns,
                received.target_wake_ns,
                full.then_some(room_ns),
            ];
            let wake = wake.into_iter().flatten().min();
            tokio::select! {
                biased;
                bytes = client.read_raw(READ_BYTES), if !full => {
                    let bytes = bytes?;
                    if bytes.is_empty() {
                        return Err(Gone);
                    }
                    escape.sent(&bytes);
                    open.transmit(&bytes);
                }
                () = tokio::time::sleep_until(escape.complete()), if escape.is_pending() => {
                    return Ok(());
                }
                () = changed => {}
                () = shared.sleep_until(wake.unwrap_or(0)), if wake.is_some() => {}
            }
        }
    }

    /// The complete frames, and when to look again if nothing else changes.
    fn receive(&self, world: &mut World, now_ns: u64) -> Received {
        let from_ns = world.uart_since_ns.unwrap_or(now_ns);
        let to_ns = now_ns + SEARCH_NS;
        let mask = bit(self.rx);
        let mut levels = world.digital.levels_on(from_ns, to_ns, mask);
        let mut level = levels.word() & mask != 0;
        let mut received = Received {
            bytes: Vec::new(),
            wake_ns: None,
            target_wake_ns: world.target_wake_ns(now_ns),
        };
        // A change may still come at the current instant.
        let mut done_ns = now_ns.saturating_sub(1);
        while let Some(at_ns) = levels.next_ns() {
            if at_ns > to_ns {
                received.wake_ns = Some(to_ns);
                break;
            }
            levels.advance_to(at_ns);
            let before = std::mem::replace(&mut level, levels.word() & mask != 0);
            if !before || level {
                continue;
            }
            // A falling edge: the frame is complete half a bit into its stop bit.
            let end_ns = at_ns + bits_ns(2 * FRAME_BITS - 1, self.baud) / 2;
            if end_ns > now_ns {
                done_ns = now_ns.min(at_ns.saturating_sub(1));
                received.wake_ns = Some(end_ns);
                break;
            }
            let mut frame = 0_u16;
            for position in 0..FRAME_BITS {
                levels.advance_to(at_ns + bits_ns(2 * position + 1, self.baud) / 2);
                frame |= u16::from(levels.word() & mask != 0) << position;
            }
            level = levels.word() & mask != 0;
            // Without a stop bit it is a break or another rate, and not a byte.
            if level && let Ok(byte) = u8::try_from(frame >> 1 & 0xff) {
                received.bytes.push(byte);
            }
        }
        world.uart_since_ns = Some(done_ns);
        world.settle(now_ns);
        received
    }
}

struct Received {
    bytes: Vec<u8>,
    wake_ns: Option<u64>,
    /// When to look again at what the target does.
    target_wake_ns: Option<u64>,
}

/// A running session; its channels are freed when it is dropped, however it ends.
struct Open {
    uart: Uart,
    shared: Arc<Shared>,
}

impl Open {
    /// The end of what is being sent.
    fn sent_to_ns(&self) -> u64 {
        let sender = self.shared.with(|world, _| world.uart_sender);
        sender.map_or(0, |sender| sender.sent_to_ns)
    }

    /// Puts bytes on the line after what is still being sent.
    fn transmit(&self, bytes: &[u8]) {
        let Uart { tx, baud, .. } = self.uart;
        self.shared.with(|world, now_ns| {
            if let Some(sender) = &mut world.uart_sender {
                let at_ns = now_ns.max(sender.sent_to_ns);
                sender.sent_to_ns = world.digital.pins.transmit(tx, bytes, baud, at_ns);
            }
        });
        self.shared.wires_changed();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shared
            .with(|world, now_ns| self.uart.end(world, now_ns));
        self.shared.wires_changed();
    }
}

#[cfg(test)]
mod tests;
