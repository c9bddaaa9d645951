//! What can go wrong with a simulated pod, and when. Every fault happens at a simulated time, after
//! a number of bytes or at a given line, so that a test that needs one gets it the same way each
//! time.
//!
//! Bytes are counted on each connection from its start; the first connection that comes so far has
//! the fault. Times and lines count from when the fault was set.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

mod parse;
mod wire;

pub use parse::{FAULT_FORMS, FaultError, Problem as FaultProblem, time as parse_time};
pub(crate) use wire::{Fate, Near, Wire};

use super::firmware::Firmware;
use super::noise::mix;
use super::shared::Shared;

/// The longest stall that ends: after 30 s without progress a pod closes the connection itself. A
/// stall without an end has no such limit, since what is sent is thrown away.
pub const STALL_MAX: Duration = Duration::from_secs(25);

/// The slowest link, in bytes per second: a line of a capture gets through before the pod gives up.
pub const RATE_MIN: u32 = 1000;

/// Bytes of a line of garbage.
const GARBAGE_BYTES: u64 = 24;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// All connections end and none can be opened; the instrument itself keeps running.
    Unplug {
        /// When.
        at: When,
        /// For how long; `None` for ever.
        lasts: Option<Duration>,
    },
    /// Connections are reset instead of closed: the one that has come so far, or all at that time.
    Reset {
        /// When.
        at: When,
    },
    /// The pod sends nothing more: on the connection that has come so far, or on all.
    Stall {
        /// When.
        at: When,
        /// For how long, at most [`STALL_MAX`]; `None` for ever, and what was sent meanwhile is lost.
        lasts: Option<Duration>,
    },
    /// The pod restarts: it is away for 1.5 s and then as after power-on.
    Reboot {
        /// When.
        at: When,
    },
    /// A line that is no JSON.
    Garbage {
        /// The line the pod sends that it concerns, from 1, over all connections.
        line: u64,
        /// In place of that line, or in front of it.
        instead: bool,
    },
    /// A slow link, from now on.
    Slow(Link),
    /// Other firmware, from now on.
    Firmware(Firmware),
    /// The input of a power rail dips: the target loses power, the eFuse reports a fault, and then
    /// the rail comes back by itself.
    BrownOut {
        /// Rail 1 or 2.
        rail: u8,
        /// When.
        at: Duration,
        /// For how long.
        lasts: Duration,
    },
    /// The output of a power rail is shorted: its eFuse trips after 2.8 ms and tries again every
    /// 110 ms until the short is gone.
    Short {
        /// Rail 1 or 2.
        rail: u8,
        /// When.
        at: Duration,
        /// For how long.
        lasts: Duration,
    },
}

/// When a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// So long after it was set.
    Time(Duration),
    /// When the pod has sent so many bytes on one connection.
    Sent(u64),
}

/// How fast a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// Bytes per second in each direction, at least [`RATE_MIN`]; `None` without limit.
    pub bytes_per_s: Option<u32>,
    /// What every answer takes longer.
    pub latency: Duration,
}

/// How long a connection sends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Until {
    Instant(Instant),
    Ever,
}

/// What happens when its time has come.
#[derive(Debug, Clone, Copy)]
enum Event {
    Unplug { lasts: Option<Duration> },
    Reset,
    Stall { lasts: Option<Duration> },
    Reboot,
}

/// Faults that are set and have not happened yet, and those in force.
#[derive(Default)]
pub(crate) struct Faults {
    state: Mutex<State>,
    /// Counts resets of all connections.
    resets: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    /// With the instant each was set for; they wait for a runtime to run on.
    timed: Vec<(u64, Event)>,
    /// By bytes.
    counted: BTreeMap<u64, Vec<Event>>,
    /// By line: whether it replaces it.
    garbage: BTreeMap<u64, bool>,
    lines: u64,
    link: Link,
    stalled: Option<Until>,
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stall in force on every connection.
    fn stalled(&self) -> Option<Until> {
        self.state().stalled
    }

    fn link(&self) -> Link {
        self.state().link
    }

    /// The first byte count above `sent` at which something happens.
    fn next_count(&self, sent: u64) -> Option<u64> {
        let state = self.state();
        state.counted.range(sent + 1..).next().map(|(at, _)| *at)
    }

    /// Takes what happens now that a connection has sent so many bytes.
    fn reached(&self, sent: u64) -> Vec<Event> {
        let mut state = self.state();
        if state.counted.is_empty() {
            return Vec::new();
        }
        let later = state.counted.split_off(&(sent + 1));
        let now = std::mem::replace(&mut state.counted, later);
        now.into_values().flatten().collect()
    }

    /// Counts a line that is about to be sent. Gives the garbage that goes in front of it, and
    /// whether the line itself is left out.
    pub(crate) fn line(&self, seed: u64) -> Option<(Vec<u8>, bool)> {
        let mut state = self.state();
        state.lines += 1;
        let line = state.lines;
        let instead = state.garbage.remove(&line)?;
        Some((garbage(seed ^ line), instead))
    }

    /// Tells every reset of all connections.
    pub(crate) fn resets(&self) -> watch::Receiver<u64> {
        self.resets.subscribe()
    }
}

/// Bytes that are neither JSON nor text nor a line's end.
fn garbage(seed: u64) -> Vec<u8> {
    let noise = (1..GARBAGE_BYTES).map(|at| mix(seed ^ mix(at)).to_le_bytes()[0]);
    std::iter::once(0xFF)
        .chain(noise.map(|byte| if byte == b'\n' { 0xFE } else { byte }))
        .collect()
}

/// Sets a fault. It may wait for [`start`] to happen.
pub(crate) fn set(shared: &Shared, fault: Fault) {
    let now_ns = shared.now_ns();
    let (when, event) = match fault {
        Fault::Unplug { at, lasts } => (at, Event::Unplug { lasts }),
        Fault::Reset { at } => (at, Event::Reset),
        Fault::Stall { at, lasts } => (at, Event::Stall { lasts }),
        Fault::Reboot { at } => (at, Event::Reboot),
        Fault::Garbage { line, instead } => {
            let mut state = shared.faults.state();
            let line = state.lines + line.max(1);
            state.garbage.insert(line, instead);
            return;
        }
        Fault::Slow(link) => {
            let bytes_per_s = link.bytes_per_s.map(|rate| rate.max(RATE_MIN));
            shared.faults.state().link = Link {
                bytes_per_s,
                ..link
            };
            return;
        }
        Fault::Firmware(firmware) => {
            shared.with(|world, _| world.config.firmware = firmware);
            return;
        }
        Fault::BrownOut { rail, at, lasts } => {
            let from_ns = now_ns.saturating_add(nanoseconds(at));
            let to_ns = from_ns.saturating_add(nanoseconds(lasts));
            shared.with(|world, _| world.digital.rails.brown_out(rail, from_ns, to_ns));
            shared.wires_changed();
            return;
        }
        Fault::Short { rail, at, lasts } => {
            let from_ns = now_ns.saturating_add(nanoseconds(at));
            let to_ns = from_ns.saturating_add(nanoseconds(lasts));
            shared.with(|world, _| world.digital.rails.short(rail, from_ns, to_ns));
            shared.wires_changed();
            return;
        }
    };
    let mut state = shared.faults.state();
    match when {
        When::Time(after) => {
            let at_ns = now_ns.saturating_add(nanoseconds(after));
            state.timed.push((at_ns, event));
        }
        When::Sent(bytes) => state.counted.entry(bytes).or_default().push(event),
    }
}

/// Starts the clocks of faults that were set for a time. Needs a tokio runtime.
pub(crate) fn start(shared: &Arc<Shared>) {
    let timed = std::mem::take(&mut shared.faults.state().timed);
    for (at_ns, event) in timed {
        let at = shared.instant(at_ns);
        later(shared, at, move |shared| happen(shared, event, at, None));
    }
}

/// Does something at an instant, unless the pod is gone by then.
fn later(shared: &Arc<Shared>, at: Instant, work: impl FnOnce(&Arc<Shared>) + Send + 'static) {
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        tokio::time::sleep_until(at).await;
        if let Some(shared) = Weak::upgrade(&shared) {
            work(&shared);
        }
    });
}

/// What a fault does to one connection, when it concerns one only.
struct Struck<'a> {
    fate: &'a Fate,
    stall: &'a mut Option<Until>,
}

/// Something happens at `at`, on one connection or on all.
fn happen(shared: &Arc<Shared>, event: Event, at: Instant, one: Option<Struck<'_>>) {
    match event {
        Event::Unplug { lasts } => unplug(shared, lasts.and_then(|time| at.checked_add(time))),
        Event::Reset => match one {
            Some(one) => one.fate.reset(),
            None => shared.faults.resets.send_modify(|count| *count += 1),
        },
        Event::Stall { lasts } => {
            let end = lasts.map(|time| at + time.min(STALL_MAX));
            let end = Some(end.map_or(Until::Ever, Until::Instant));
            match one {
                Some(one) => *one.stall = end,
                None => shared.faults.state().stalled = end,
            }
        }
        Event::Reboot => shared.reboot(),
    }
}

fn unplug(shared: &Arc<Shared>, until: Option<Instant>) {
    if until.is_some_and(|until| until <= Instant::now()) {
        // Nobody was there to see it.
        return;
    }
    shared.plugged.send_replace(false);
    if let Some(until) = until {
        later(shared, until, |shared| {
            shared.plugged.send_replace(true);
        });
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
