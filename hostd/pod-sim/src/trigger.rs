//! Waiting for a level or an edge on a channel, to the exact instant and without polling: the known
//! future is searched, and searched again when a command may have changed it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use pod_protocol::capture::{Edge, Trigger};

use super::digital::Digital;
use super::pins::bit;
use super::refuse::Refuse;
use super::shared::Shared;

/// How far into the future a search goes at once; recordings never end, so there must be a bound.
const SEARCH_NS: u64 = 100_000_000;

/// Waits for the condition from `armed_ns` on; returns its instant.
pub(crate) async fn wait(
    shared: &Arc<Shared>,
    trigger: Trigger,
    armed_ns: u64,
) -> Result<u64, Refuse> {
    let deadline_ns = armed_ns + u64::from(trigger.timeout_ms) * 1_000_000;
    let mut from_ns = armed_ns;
    let mut first = true;
    loop {
        // Listening starts before the search, so that no change falls between the two.
        let mut changed = std::pin::pin!(shared.changed().notified());
        changed.as_mut().enable();
        // A target's actions are known only once it has run.
        let target_wake_ns = shared.with(|world, now_ns| {
            let wake_ns = world.target_wake_ns(now_ns).or(Some(now_ns + SEARCH_NS));
            wake_ns.filter(|_| world.target.is_some())
        });
        let ahead_ns = target_wake_ns.map_or(SEARCH_NS, |_| 0);
        let to_ns = (shared.now_ns().max(from_ns) + ahead_ns).min(deadline_ns);
        let found = shared.with(|world, _| search(&world.digital, trigger, from_ns..=to_ns, first));
        let now_ns = shared.now_ns();
        match found {
            Some(at_ns) if at_ns <= now_ns => return Ok(at_ns),
            None if now_ns >= deadline_ns => {
                return Err(Refuse::TriggerTimeout {
                    edge: trigger.edge.name(),
                    la: trigger.channel,
                    timeout_ms: trigger.timeout_ms,
                });
            }
            _ => {}
        }
        let wake_ns = target_wake_ns.map_or(to_ns, |at_ns| at_ns.min(deadline_ns));
        let elapsed = tokio::select! {
            biased;
            () = changed => false,
            () = shared.sleep_until(found.unwrap_or(wake_ns)) => true,
        };
        if elapsed && found.is_none() {
            // Nothing found up to here, and the past cannot change; the current instant still can.
            from_ns = to_ns - 1;
            first = false;
        }
    }
}

/// The first instant in `from_ns..=to_ns` that meets the condition. A level that already holds at
/// the start counts only in the `first` search.
fn search(
    digital: &Digital,
    trigger: Trigger,
    window_ns: RangeInclusive<u64>,
    first: bool,
) -> Option<u64> {
    let (from_ns, to_ns) = window_ns.into_inner();
    let wanted = matches!(trigger.edge, Edge::Rising | Edge::High);
    let by_level = matches!(trigger.edge, Edge::High | Edge::Low);
    let mask = bit(trigger.channel);
    let mut levels = digital.levels_on(from_ns, to_ns, mask);
    let mut level = levels.word() & mask != 0;
    if first && by_level && level == wanted {
        return Some(from_ns);
    }
    while let Some(at_ns) = levels.next_ns().filter(|at| *at <= to_ns) {
        levels.step();
        // Changes at the same instant count as one.
        while levels.next_ns() == Some(at_ns) {
            levels.step();
        }
        let before = std::mem::replace(&mut level, levels.word() & mask != 0);
        if level == wanted && before != wanted {
            return Some(at_ns);
        }
    }
    None
}
