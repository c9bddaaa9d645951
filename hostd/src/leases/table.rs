//! The lease state machine of all devices: who drives which device, until when, and who is next.
//!
//! Pure: instants come in as milliseconds of a clock that never steps, and what has to happen
//! outside (a device put into its safe state) comes out as data. A device is *free*, *held*, or
//! *ending*: the lease is over, but its tunnels are still being closed and the device is not yet
//! safe. Nobody gets an ending device, its former holder included.

use std::collections::HashMap;

use super::queue::Queue;

/// Shortest and longest life of a lease without a renewal, in seconds.
pub const TTL_S: std::ops::RangeInclusive<u32> = 15..=600;

/// A lease as its taker asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Chosen by the client; whoever presents it is the holder.
    pub lease_id: String,
    /// Organisation and user that took it: an id alone, overheard by somebody else, is not enough.
    pub owner: String,
    /// What others see: a short ASCII label, never a secret.
    pub holder: String,
    pub ttl_ms: u64,
}

/// A lease that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub claim: Claim,
    pub expires_ms: u64,
    /// Grows with every lease of a device and every end of one. What was let in under one number is
    /// cut when another one stands.
    pub fence: u64,
}

/// Why a lease is not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// Label of the holder; none while the device is ending or kept for the first in the queue.
    pub holder: Option<String>,
    /// When the lease ends if nobody renews it; none as above.
    pub expires_ms: Option<u64>,
    /// Place in the queue, from 1; none for one who does not wait for the lease.
    pub place: Option<u32>,
    /// When to ask again.
    pub retry_after_ms: u64,
}

/// Why a lease could not be renewed or released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The lease is over. Whoever holds the device now, if anybody.
    Lost(Busy),
    /// Another one holds the device than the one named.
    OtherHolder(Busy),
}

/// A lease that has just ended: close what was let in before `fence`, make the device safe, and say
/// so with [`Table::ended`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub device: String,
    pub holder: String,
    pub fence: u64,
}

/// Which lease a request shows.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'r> {
    pub lease_id: Option<&'r str>,
    pub owner: &'r str,
}

/// Pause that one is asked to make while a device is made safe.
const ENDING_RETRY_MS: u64 = 1_000;

#[derive(Debug, Default)]
enum State {
    #[default]
    Free,
    Held(Held),
    Ending {
        fence: u64,
    },
}

#[derive(Debug, Default)]
struct Slot {
    state: State,
    fence: u64,
    queue: Queue,
}

/// The leases of all devices, by device id.
#[derive(Debug, Default)]
pub struct Table {
    slots: HashMap<String, Slot>,
}

impl Table {
    /// Take the device, or renew the lease if it is the claimant's already.
    ///
    /// # Errors
    /// Somebody else has it, or is before the claimant in the queue; the claimant now waits in it.
    pub fn acquire(&mut self, device: &str, claim: Claim, now_ms: u64) -> Result<Held, Busy> {
        let slot = self.slots.entry(device.to_owned()).or_default();
        match &mut slot.state {
            State::Held(held) if held.is_for(&claim) => {
                held.claim = claim;
                held.expires_ms = now_ms + held.claim.ttl_ms;
                return Ok(held.clone());
            }
            State::Held(_) | State::Ending { .. } => {
                let place = slot.queue.wait(&claim.lease_id, &claim.owner, now_ms);
                return Err(slot.busy(Some(place), now_ms));
            }
            State::Free => {}
        }
        let place = slot.queue.wait(&claim.lease_id, &claim.owner, now_ms);
        if place > 1 {
            return Err(slot.busy(Some(place), now_ms));
        }
        slot.queue.leave(&claim.lease_id, &claim.owner);
        slot.fence += 1;
        let held = Held {
            expires_ms: now_ms + claim.ttl_ms,
            fence: slot.fence,
            claim,
        };
        slot.state = State::Held(held.clone());
        Ok(held)
    }

    /// Give the lease its whole life again, of `ttl_ms` when that is given.
    ///
    /// # Errors
    /// [`Refused::Lost`] when the lease is over, even if nobody took the device since: it has been
    /// put into its safe state, so the holder's set-up is gone.
    pub fn renew(
        &mut self,
        device: &str,
        shown: Shown<'_>,
        ttl_ms: u64,
        now_ms: u64,
    ) -> Result<Held, Refused> {
        let slot = self.slots.entry(device.to_owned()).or_default();
        match &mut slot.state {
            State::Held(held) if held.is_shown(shown) => {
                held.claim.ttl_ms = ttl_ms;
                held.expires_ms = now_ms + ttl_ms;
                Ok(held.clone())
            }
            _ => Err(Refused::Lost(slot.busy(None, now_ms))),
        }
    }

    /// Give the device back. None: the lease was over already, which is what was asked for.
    pub fn release(&mut self, device: &str, shown: Shown<'_>) -> Option<Ending> {
        let slot = self.slots.get_mut(device)?;
        let lease_id = shown.lease_id?;
        slot.queue.leave(lease_id, shown.owner);
        match &slot.state {
            State::Held(held) if held.is_shown(shown) => slot.end(device),
            _ => None,
        }
    }

    /// End the lease of whoever is labelled `holder`, on behalf of an administrator. Naming the
    /// holder keeps one from ending a lease that has changed hands meanwhile.
    ///
    /// # Errors
    /// Nobody holds the device, or somebody with another label.
    pub fn take_away(
        &mut self,
        device: &str,
        holder: &str,
        now_ms: u64,
    ) -> Result<Ending, Refused> {
        let slot = self.slots.entry(device.to_owned()).or_default();
        match &slot.state {
            State::Held(held) if held.claim.holder == holder => {
                Ok(slot.end(device).expect("a held lease ends"))
            }
            _ => Err(Refused::OtherHolder(slot.busy(None, now_ms))),
        }
    }

    /// Whether a request may drive the device: nobody holds it, or the request shows its lease.
    /// The fence under which it is let in.
    ///
    /// # Errors
    /// Somebody else holds it, or it is being made safe.
    pub fn admit(&self, device: &str, shown: Shown<'_>, now_ms: u64) -> Result<u64, Busy> {
        let Some(slot) = self.slots.get(device) else {
            return Ok(0);
        };
        match &slot.state {
            State::Free => Ok(slot.fence),
            State::Held(held) if held.is_shown(shown) => Ok(held.fence),
            State::Held(_) | State::Ending { .. } => Err(slot.busy(None, now_ms)),
        }
    }

    /// The lease of a device, if it is held.
    #[must_use]
    pub fn get(&self, device: &str) -> Option<&Held> {
        match &self.slots.get(device)?.state {
            State::Held(held) => Some(held),
            State::Free | State::Ending { .. } => None,
        }
    }

    /// Whether the claim's lease is the one that is held.
    #[must_use]
    pub fn is_held_by(&self, device: &str, claim: &Claim) -> bool {
        self.get(device).is_some_and(|held| held.is_for(claim))
    }

    /// All leases, by device id, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Held)> {
        self.slots
            .iter()
            .filter_map(|(device, slot)| match &slot.state {
                State::Held(held) => Some((device.as_str(), held)),
                State::Free | State::Ending { .. } => None,
            })
    }

    /// End what has expired.
    pub fn expire(&mut self, now_ms: u64) -> Vec<Ending> {
        let slots = self.slots.iter_mut();
        slots
            .filter_map(|(device, slot)| match &slot.state {
                State::Held(held) if held.expires_ms <= now_ms => slot.end(device),
                _ => None,
            })
            .collect()
    }

    /// When the next lease expires, if nobody renews it.
    #[must_use]
    pub fn next_expiry(&self) -> Option<u64> {
        self.iter().map(|(_, held)| held.expires_ms).min()
    }

    /// The device is safe again after the lease with this fence: it is free.
    pub fn ended(&mut self, device: &str, fence: u64, now_ms: u64) {
        if let Some(slot) = self.slots.get_mut(device)
            && matches!(slot.state, State::Ending { fence: of } if of == fence)
        {
            slot.state = State::Free;
            slot.queue.opened(now_ms);
        }
    }

    /// Put back a lease that was held when the server stopped.
    pub fn restore(&mut self, device: &str, claim: Claim, left_ms: u64, now_ms: u64) {
        let slot = self.slots.entry(device.to_owned()).or_default();
        slot.fence += 1;
        slot.state = State::Held(Held {
            expires_ms: now_ms + left_ms.min(claim.ttl_ms),
            fence: slot.fence,
            claim,
        });
    }

    /// The fence that stands for a device now.
    #[must_use]
    pub fn fence(&self, device: &str) -> u64 {
        self.slots.get(device).map_or(0, |slot| slot.fence)
    }

    /// Forget a device that is removed; its lease, if it had one, ends.
    pub fn forget(&mut self, device: &str) -> Option<Ending> {
        let mut slot = self.slots.remove(device)?;
        slot.end(device)
    }
}

impl Slot {
    fn end(&mut self, device: &str) -> Option<Ending> {
        let State::Held(held) = &self.state else {
            return None;
        };
        self.fence += 1;
        let ending = Ending {
            device: device.to_owned(),
            holder: held.claim.holder.clone(),
            fence: self.fence,
        };
        self.state = State::Ending { fence: self.fence };
        Some(ending)
    }

    fn busy(&self, place: Option<u32>, now_ms: u64) -> Busy {
        match &self.state {
            State::Held(held) => Busy {
                holder: Some(held.claim.holder.clone()),
                expires_ms: Some(held.expires_ms),
                place,
                retry_after_ms: held.expires_ms.saturating_sub(now_ms).max(ENDING_RETRY_MS),
            },
            State::Free | State::Ending { .. } => Busy {
                holder: None,
                expires_ms: None,
                place,
                retry_after_ms: ENDING_RETRY_MS,
            },
        }
    }
}

impl Held {
    fn is_for(&self, claim: &Claim) -> bool {
        self.claim.lease_id == claim.lease_id && self.claim.owner == claim.owner
    }

    fn is_shown(&self, shown: Shown<'_>) -> bool {
        shown.lease_id == Some(self.claim.lease_id.as_str()) && shown.owner == self.claim.owner
    }
}

#[cfg(test)]
mod tests;
