//! Makes the faults of a simulated pod happen, each at its time or after its bytes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

mod wire;

pub(crate) use wire::{Fate, Near, Wire};

use super::faults::{Event, Fault, Link, RATE_MIN, STALL_MAX, Until, When};
use super::shared::Shared;

/// Sets a fault. It may have to wait for [`start`].
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

/// Starts the timers of faults that were set for a time. Needs a tokio runtime.
pub(crate) fn start(shared: &Arc<Shared>) {
    let timed = std::mem::take(&mut shared.faults.state().timed);
    for (at_ns, event) in timed {
        let at = shared.instant(at_ns);
        later(shared, at, move |shared| happen(shared, event, at, None));
    }
}

/// Does something at an instant, unless the pod no longer exists then.
fn later(shared: &Arc<Shared>, at: Instant, work: impl FnOnce(&Arc<Shared>) + Send + 'static) {
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        tokio::time::sleep_until(at).await;
        if let Some(shared) = Weak::upgrade(&shared) {
            work(&shared);
        }
    });
}

/// The connection that a fault affects, if it affects only one.
struct Struck<'a> {
    fate: &'a Fate,
    stall: &'a mut Option<Until>,
}

/// An event happens at `at`, on one connection or on all.
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
        // It would be over before anybody could see it.
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
