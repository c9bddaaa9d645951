//! Waiting for a condition on channels, to the exact instant and without polling: the known
//! future is searched, and searched again when a command may have changed it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use pod_protocol::capture::{Matcher, Trigger};

use super::digital::Digital;
use super::refuse::Refuse;
use super::shared::Shared;

/// How far into the future a search goes at once; recordings never end, so there must be a bound.
const SEARCH_NS: u64 = 100_000_000;

/// Ticks of a second, in which the condition is looked for.
const TICKS_HZ: u64 = 1_000_000_000;

/// Waits for the condition from `armed_ns` on; returns its instant.
pub(crate) async fn wait(
    shared: &Arc<Shared>,
    trigger: Trigger,
    armed_ns: u64,
) -> Result<u64, Refuse> {
    let deadline_ns = armed_ns + u64::from(trigger.timeout_ms) * 1_000_000;
    let mut from_ns = armed_ns;
    let mut matcher = Matcher::new(trigger.condition, TICKS_HZ);
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
        // What lies ahead may still change, so it is looked at without being kept.
        let mut ahead = matcher.clone();
        let found = shared.with(|world, _| search(&world.digital, &mut ahead, from_ns..=to_ns));
        let now_ns = shared.now_ns();
        match found {
            Some(at_ns) if at_ns <= now_ns => return Ok(at_ns),
            None if now_ns >= deadline_ns => {
                return Err(Refuse::TriggerTimeout { trigger });
            }
            _ => {}
        }
        let wake_ns = target_wake_ns.map_or(to_ns, |at_ns| at_ns.min(deadline_ns));
        let elapsed = tokio::select! {
            biased;
            () = changed => false,
            () = shared.sleep_until(found.unwrap_or(wake_ns)) => true,
        };
        if elapsed && found.is_none() && from_ns < to_ns {
            // Nothing found up to here, and the past cannot change; the current instant still can.
            let past = from_ns..=to_ns - 1;
            if let Some(at_ns) = shared.with(|world, _| search(&world.digital, &mut matcher, past))
            {
                return Ok(at_ns);
            }
            from_ns = to_ns;
        }
    }
}

/// The first instant of a window at which the condition is met, given what came before.
fn search(digital: &Digital, matcher: &mut Matcher, window_ns: RangeInclusive<u64>) -> Option<u64> {
    let (from_ns, to_ns) = window_ns.into_inner();
    let mut levels = digital.levels_on(from_ns, to_ns, matcher.condition().channels());
    let mut met = matcher.word(from_ns, levels.word());
    while let Some(at_ns) = levels.next_ns().filter(|at| met.is_none() && *at <= to_ns) {
        levels.step();
        // Changes at the same instant count as one.
        while levels.next_ns() == Some(at_ns) {
            levels.step();
        }
        met = matcher.word(at_ns, levels.word());
    }
    met.or_else(|| matcher.upto(to_ns + 1))
}
