//! The target's reset line and the USB-C monitor, both on v3 boards only.

use serde_json::{Value, json};

use super::args::Args;
use super::board::Board;
use super::refuse::Refuse;
use super::timeline::Timeline;

/// Longest pulse, in milliseconds; a longer one is shortened to it.
const PULSE_MS_MAX: u64 = 1_000;

/// Levels of the CC lines of a 3 A USB-C source: the connected line, and the other.
const CC1_MV: u32 = 1_650;
const CC2_MV: u32 = 12;
const ADVERTISED: &str = "3.0A";
const ADVERTISED_MA: u32 = 3_000;

/// The reset line: true while held low.
#[derive(Debug)]
pub(crate) struct Reset {
    asserted: Timeline<bool>,
}

/// What an `nrst` command requests.
pub(crate) enum Asked {
    /// Done; whether the line is held low.
    State(bool),
    /// A pulse that ends at this instant, when the reply is sent.
    Pulse { end_ns: u64 },
}

impl Reset {
    pub(crate) fn new() -> Self {
        Self {
            asserted: Timeline::new(false),
        }
    }

    /// Whether the line is held low, over time.
    pub(crate) fn asserted(&self) -> &Timeline<bool> {
        &self.asserted
    }

    /// Holds the line low from an instant on, or releases it.
    pub(crate) fn hold(&mut self, at_ns: u64, held: bool) {
        self.asserted.set(at_ns, held);
    }

    /// Releases the line.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.asserted.set(now_ns, false);
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        self.asserted.prune(before_ns);
    }
}

/// `nrst`: reads, holds, releases or pulses the line. A pulse takes precedence over `assert`.
pub(crate) fn nrst(
    reset: &mut Reset,
    board: Board,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Asked, Refuse> {
    need_v3(board, "nrst")?;
    let line = &mut reset.asserted;
    if let Some(pulse_ms) = args.uint::<u64>("pulse_ms", 1..=i64::MAX)? {
        let end_ns = now_ns + pulse_ms.min(PULSE_MS_MAX) * 1_000_000;
        line.set(now_ns, true);
        line.set(end_ns, false);
        return Ok(Asked::Pulse { end_ns });
    }
    if let Some(asserted) = args.flag("assert")? {
        line.set(now_ns, asserted);
    }
    Ok(Asked::State(*line.at(now_ns)))
}

/// The data of an `nrst` reply.
pub(crate) fn report(asserted: bool) -> Value {
    json!({"supported": true, "asserted": asserted})
}

/// `usb_cc`: what the cable's source advertises.
pub(crate) fn usb_cc(board: Board) -> Result<Value, Refuse> {
    need_v3(board, "usb_cc")?;
    Ok(
        json!({"supported": true, "orientation": "cc1", "advertised": ADVERTISED,
        "advertised_ma": ADVERTISED_MA, "cc1_mv": CC1_MV, "cc2_mv": CC2_MV}),
    )
}

fn need_v3(board: Board, command: &'static str) -> Result<(), Refuse> {
    if board.is_v3() {
        Ok(())
    } else {
        Err(Refuse::NeedsV3 { command })
    }
}

#[cfg(test)]
mod tests;
