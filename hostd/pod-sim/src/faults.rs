//! What can go wrong with a simulated pod, and when. Every fault happens at a simulated time, after
//! a number of bytes or at a given line, so that a test that needs one gets it the same way every
//! time.
//!
//! Bytes are counted on each connection from its start; the fault hits the first connection that
//! reaches the count. Times and lines count from when the fault was set.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

mod parse;

pub use parse::{FAULT_FORMS, FaultError, Problem as FaultProblem, time as parse_time};

use super::firmware::Firmware;
use super::noise::mix;

/// The longest stall that ends: after 30 s without progress a pod closes the connection itself. A
/// stall without an end has no such limit, since the bytes sent during it are discarded.
pub const STALL_MAX: Duration = Duration::from_secs(25);

/// The slowest link, in bytes per second: a line of a capture gets through before the pod gives up.
pub const RATE_MIN: u32 = 1000;

/// Length of a garbage line, in bytes.
const GARBAGE_BYTES: u64 = 24;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// All connections end and no new one can be opened; the instrument itself keeps running.
    Unplug {
        /// When.
        at: When,
        /// How long; `None` means forever.
        lasts: Option<Duration>,
    },
    /// Connections are reset instead of closed: the one that reached the count, or all at that
    /// time.
    Reset {
        /// When.
        at: When,
    },
    /// The pod sends nothing more: on the connection that reached the count, or on all.
    Stall {
        /// When.
        at: When,
        /// How long, at most [`STALL_MAX`]; `None` means forever, and everything sent during it is
        /// lost.
        lasts: Option<Duration>,
    },
    /// The pod restarts: it is gone for 1.5 s, and then in its state after power-on.
    Reboot {
        /// When.
        at: When,
    },
    /// A line that is not JSON.
    Garbage {
        /// Number of the line that it affects, from 1, over all lines that the pod sends.
        line: u64,
        /// Whether it replaces that line or comes before it.
        instead: bool,
    },
    /// A slow link, from now on.
    Slow(Link),
    /// Other firmware, from now on.
    Firmware(Firmware),
    /// The input of a power rail dips: the target loses power, the eFuse reports a fault, and then
    /// the rail comes back on its own.
    BrownOut {
        /// Rail 1 or 2.
        rail: u8,
        /// When.
        at: Duration,
        /// How long.
        lasts: Duration,
    },
    /// The output of a power rail is shorted: its eFuse trips after 2.8 ms and retries every 110 ms
    /// until the short is gone.
    Short {
        /// Rail 1 or 2.
        rail: u8,
        /// When.
        at: Duration,
        /// How long.
        lasts: Duration,
    },
}

/// When a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// This long after it was set.
    Time(Duration),
    /// When the pod has sent this many bytes on one connection.
    Sent(u64),
}

/// How fast a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// Bytes per second in each direction, at least [`RATE_MIN`]; `None` means no limit.
    pub bytes_per_s: Option<u32>,
    /// Extra delay of every answer.
    pub latency: Duration,
}

/// How long a connection sends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Until {
    Instant(Instant),
    Ever,
}

/// What happens when a fault is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Unplug { lasts: Option<Duration> },
    Reset,
    Stall { lasts: Option<Duration> },
    Reboot,
}

/// Faults that are set but have not happened yet, and those in force.
#[derive(Default)]
pub(crate) struct Faults {
    state: Mutex<State>,
    /// Counts resets of all connections.
    pub(crate) resets: watch::Sender<u64>,
}

#[derive(Default)]
pub(crate) struct State {
    /// With the instant for which each was set; they wait for a runtime.
    pub(crate) timed: Vec<(u64, Event)>,
    /// By number of bytes sent.
    pub(crate) counted: BTreeMap<u64, Vec<Event>>,
    /// By line number: whether the garbage replaces the line.
    pub(crate) garbage: BTreeMap<u64, bool>,
    pub(crate) lines: u64,
    pub(crate) link: Link,
    pub(crate) stalled: Option<Until>,
}

impl Faults {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stall in force on every connection.
    pub(crate) fn stalled(&self) -> Option<Until> {
        self.state().stalled
    }

    pub(crate) fn link(&self) -> Link {
        self.state().link
    }

    /// The next byte count above `sent` at which something happens.
    pub(crate) fn next_count(&self, sent: u64) -> Option<u64> {
        let state = self.state();
        state.counted.range(sent + 1..).next().map(|(at, _)| *at)
    }

    /// Takes the events that are due now that a connection has sent this many bytes.
    pub(crate) fn reached(&self, sent: u64) -> Vec<Event> {
        let mut state = self.state();
        if state.counted.is_empty() {
            return Vec::new();
        }
        let later = state.counted.split_off(&(sent + 1));
        let now = std::mem::replace(&mut state.counted, later);
        now.into_values().flatten().collect()
    }

    /// Counts a line that is about to be sent. Returns the garbage to send before it, and whether
    /// to omit the line itself.
    pub(crate) fn line(&self, seed: u64) -> Option<(Vec<u8>, bool)> {
        let mut state = self.state();
        state.lines += 1;
        let line = state.lines;
        let instead = state.garbage.remove(&line)?;
        Some((garbage(seed ^ line), instead))
    }

    /// Notifies of every reset of all connections.
    pub(crate) fn resets(&self) -> watch::Receiver<u64> {
        self.resets.subscribe()
    }
}

/// Bytes that are neither JSON nor text, and contain no line end.
fn garbage(seed: u64) -> Vec<u8> {
    let noise = (1..GARBAGE_BYTES).map(|at| mix(seed ^ mix(at)).to_le_bytes()[0]);
    std::iter::once(0xFF)
        .chain(noise.map(|byte| if byte == b'\n' { 0xFE } else { byte }))
        .collect()
}

#[cfg(test)]
mod tests;
