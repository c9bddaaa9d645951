//! `uart_break`: the transmit line of an open session stays low for a while.

use pod_protocol::{UART_BREAK_MS, UART_BREAK_MS_MAX};
use serde_json::Value;

use super::args::Args;
use super::next::Next;
use super::pins::bits_ns;
use super::refuse::Refuse;
use super::world::World;

const BREAK_MS: std::ops::RangeInclusive<i64> = 1..=UART_BREAK_MS_MAX.cast_signed();

/// Holds the line low, after what is being sent.
pub(crate) fn send_break(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Next, Refuse> {
    let ms: u64 = args.uint("ms", BREAK_MS)?.unwrap_or(UART_BREAK_MS);
    let sender = world.uart_sender.as_mut().ok_or(Refuse::NoUart)?;
    let from_ns = now_ns.max(sender.sent_to_ns);
    let at_ns = from_ns + ms * 1_000_000;
    // The line is high for a bit before the next byte, whose start nobody would see otherwise.
    sender.sent_to_ns = at_ns + bits_ns(1, sender.baud);
    world.digital.pins.hold_low(sender.tx, from_ns, at_ns);
    let answer = Ok(Value::Null);
    Ok(Next::Later { at_ns, answer })
}
