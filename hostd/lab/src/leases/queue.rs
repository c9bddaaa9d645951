//! The clients waiting for a device, in order of arrival.
//!
//! Clients wait by polling, so a client keeps its place as long as it has asked recently, and the
//! first gets a moment to ask once the device is free. A client that goes away silently loses its
//! place.

use std::collections::VecDeque;

/// A place is kept for this long after its owner last asked; published clients ask every 5 s.
const KEPT_MS: u64 = 15_000;

/// Time the first has to ask once the device is free, before the next may have it.
const TURN_MS: u64 = 8_000;

/// Places in one queue. A client that finds it full stays last until somebody leaves.
pub(super) const PLACES_MAX: usize = 256;

#[derive(Debug)]
struct Waiter {
    lease_id: String,
    owner: String,
    asked_ms: u64,
}

/// The queue of one device.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiters: VecDeque<Waiter>,
    /// When the first client's turn began; none while the device is not free.
    turn_since_ms: Option<u64>,
}

impl Queue {
    /// Ask for the device; returns the place in the queue, 1 for the first.
    pub(super) fn wait(&mut self, lease_id: &str, owner: &str, now_ms: u64) -> u32 {
        self.drop_stale(lease_id, owner, now_ms);
        let known = self.waiters.iter().position(|w| w.is(lease_id, owner));
        let at = match known {
            Some(at) => at,
            None if self.waiters.len() >= PLACES_MAX => PLACES_MAX,
            None => {
                self.waiters.push_back(Waiter {
                    lease_id: lease_id.to_owned(),
                    owner: owner.to_owned(),
                    asked_ms: now_ms,
                });
                self.waiters.len() - 1
            }
        };
        if let Some(waiter) = self.waiters.get_mut(at) {
            waiter.asked_ms = now_ms;
        }
        u32::try_from(at + 1).expect("the queue is short")
    }

    /// Give up the place, or leave because the device was taken.
    pub(super) fn leave(&mut self, lease_id: &str, owner: &str) {
        self.waiters.retain(|w| !w.is(lease_id, owner));
        self.turn_since_ms = None;
    }

    /// The device has become free: the first client's turn begins.
    pub(super) fn opened(&mut self, now_ms: u64) {
        self.turn_since_ms = Some(now_ms);
    }

    /// The client that asks is present; the others must have asked recently.
    fn drop_stale(&mut self, lease_id: &str, owner: &str, now_ms: u64) {
        let kept = |w: &Waiter| w.is(lease_id, owner) || now_ms < w.asked_ms + KEPT_MS;
        self.waiters.retain(kept);
        while let Some(since_ms) = self.turn_since_ms
            && now_ms >= since_ms + TURN_MS
            && self.waiters.len() > 1
            && self
                .waiters
                .front()
                .is_some_and(|w| !w.is(lease_id, owner) && w.asked_ms < since_ms)
        {
            self.waiters.pop_front();
            self.turn_since_ms = Some(since_ms + TURN_MS);
        }
    }
}

impl Waiter {
    fn is(&self, lease_id: &str, owner: &str) -> bool {
        self.lease_id == lease_id && self.owner == owner
    }
}
