//! The state machine of one device: who may drive it, and what must happen before the next one may.
//!
//! ```text
//!             acquire             release, expiry, removal
//!       Free ─────────> Held ─────────────────────────────> Owing ──────> Free
//!        ^               ^    an administrator overrides      │  paid     or Gone
//!        │               └────────────────────────────────────┘             │
//!        └──────────────────────── admitted again ──────────────────────────┘
//! ```
//!
//! A lease that is over leaves a debt: the device must be put into its safe state. Until then
//! nobody gets it, not even its former holder.
//!
//! Pure: instants come in, and what must happen outside comes out as data. [`row`](Machine::row) is
//! what must be in the store, and [`stored`](Machine::stored) reports whether it is; until then no
//! other change is allowed. [`duty`](Machine::duty) is what must be done next for a fence. A stored
//! lease is as good as a stored debt: after a crash it either continues or becomes a debt.

use super::Why;
use super::busy::Busy;
use super::debt::Debt;
use super::hold::{Ask, Claim, Held, Shown};
use super::queue::Queue;

mod removal;
mod view;

pub(crate) use removal::Removal;

/// What must be in the store for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    Held(Held),
    Owing(Debt),
}

/// What must be done next under a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Make those let in before leave; then [`Machine::left`].
    Clear,
    /// Store the debt that the store failed to take: [`Machine::store_again`].
    Store,
    /// Put the device into its safe state; then [`Machine::paid`].
    Pay,
    /// Store that nothing is owed any more: [`Machine::settle`].
    Settle,
    /// The same, and that the device is removed: [`Machine::settle`].
    Remove,
}

/// What became of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Release {
    /// The lease has ended; the debt has this fence.
    Ended(u64),
    /// It was over already.
    Over,
    /// Another lease holds the device.
    Other(Busy),
}

/// The two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Now {
    /// Never steps.
    pub(crate) steady_ms: u64,
    pub wall_ms: u64,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Free,
    Held {
        held: Held,
        /// It is stored.
        stored: bool,
        /// Those let in before have left.
        alone: bool,
    },
    Owing {
        debt: Debt,
        /// The debt itself is stored; before that, the store may still have a lease in its place.
        stored: bool,
        alone: bool,
        /// The safe state was reached, or is not owed.
        paid: bool,
        /// The device is removed once the debt is paid.
        removes: bool,
    },
    /// The device is removed.
    Gone,
}

/// What becomes of a change once the store has it, or has failed.
#[derive(Debug)]
enum Pending {
    /// A lease that nobody knows of yet. The debt that it overrides comes back if it fails.
    Take(Option<Debt>),
    /// The lease as it was before.
    Renew(Held),
    Owe,
    Settle,
}

/// One device.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    state: State,
    fence: u64,
    queue: Queue,
    /// Why nobody may drive the device for a while, whatever lease they show.
    closed: Option<String>,
    pending: Option<Pending>,
}

impl Machine {
    /// Restore a device from the store. A lease lives on for at most `left_ms`; if that is 0, its
    /// safe state is owed, which must be stored.
    pub(crate) fn restore(&mut self, row: Row, left_ms: u64, now: Now) {
        let (Row::Held(Held { fence, .. }) | Row::Owing(Debt { fence, .. })) = &row;
        self.fence = (*fence).max(self.fence) + 1;
        let fence = self.fence;
        match row {
            Row::Held(held) if left_ms > 0 => {
                let expires_ms = now.steady_ms + left_ms.min(held.claim.ttl_ms);
                self.state = State::Held {
                    held: Held {
                        claim: held.claim,
                        expires_ms,
                        fence,
                    },
                    stored: true,
                    alone: true,
                };
            }
            Row::Held(_) => self.owe(Why::Expired, now),
            Row::Owing(debt) => {
                let began_ms = now.steady_ms;
                let debt = Debt {
                    fence,
                    began_ms,
                    ..debt
                };
                self.state = State::owing(debt, true);
            }
        }
    }

    /// Take the device, or renew the lease if the claimant already has it.
    ///
    /// # Errors
    /// Somebody else has it or is ahead in the queue, or it owes a safe state; a claimant that
    /// waits is now in the queue.
    pub(crate) fn acquire(&mut self, claim: Claim, ask: Ask, now: Now) -> Result<Held, Busy> {
        let now_ms = now.steady_ms;
        if let State::Held { held, .. } = &mut self.state
            && held.is_for(&claim)
            && now_ms < held.expires_ms
        {
            self.pending = Some(Pending::Renew(held.clone()));
            held.expires_ms = now_ms + claim.ttl_ms;
            held.claim.holder = claim.holder;
            held.claim.ttl_ms = claim.ttl_ms;
            return Ok(held.clone());
        }
        if let Some(busy) = self.closed_busy() {
            return Err(busy);
        }
        let debt = match &self.state {
            State::Owing {
                debt,
                removes: false,
                ..
            } if ask.overriding => Some(debt.clone()),
            State::Gone => return Err(self.busy(None, now_ms)),
            State::Free => {
                let place = self.place(&claim, ask, now_ms);
                if !self.queue.may_take(&claim.lease_id, &claim.owner, now_ms) {
                    return Err(self.busy(place, now_ms));
                }
                None
            }
            State::Held { .. } | State::Owing { .. } => {
                let place = self.place(&claim, ask, now_ms);
                return Err(self.busy(place, now_ms));
            }
        };
        self.queue.taken(&claim.lease_id, &claim.owner);
        self.fence += 1;
        self.pending = Some(Pending::Take(debt));
        let held = Held {
            expires_ms: now_ms + claim.ttl_ms,
            fence: self.fence,
            claim,
        };
        self.state = State::Held {
            held: held.clone(),
            stored: false,
            alone: false,
        };
        Ok(held)
    }

    /// The place of a claimant that waits.
    fn place(&mut self, claim: &Claim, ask: Ask, now_ms: u64) -> Option<u32> {
        let queue = &mut self.queue;
        ask.waits
            .then(|| queue.wait(&claim.lease_id, &claim.owner, now_ms))
    }

    /// Renew the lease for `ttl_ms`.
    ///
    /// # Errors
    /// It is over, even if nobody took the device since: the holder's set-up is gone.
    pub(crate) fn renew(&mut self, shown: Shown<'_>, ttl_ms: u64, now: Now) -> Result<Held, Busy> {
        let now_ms = now.steady_ms;
        match &mut self.state {
            State::Held { held, .. } if held.is_shown(shown) && now_ms < held.expires_ms => {
                self.pending = Some(Pending::Renew(held.clone()));
                held.claim.ttl_ms = ttl_ms;
                held.expires_ms = now_ms + ttl_ms;
                Ok(held.clone())
            }
            State::Held { .. } => Err(self.busy(None, now_ms)),
            State::Free | State::Owing { .. } | State::Gone => Err(self.lost(now_ms)),
        }
    }

    /// Give the device back, and the place in its queue.
    pub(crate) fn release(&mut self, shown: Shown<'_>, now: Now) -> Release {
        if let Some(lease_id) = shown.lease_id {
            self.queue.leave(lease_id, shown.owner, now.steady_ms);
        }
        match &self.state {
            State::Held { held, .. } if held.is_shown(shown) => {
                self.owe(Why::Released, now);
                Release::Ended(self.fence)
            }
            State::Held { .. } => Release::Other(self.busy(None, now.steady_ms)),
            State::Free | State::Owing { .. } | State::Gone => Release::Over,
        }
    }

    /// End the lease labelled `holder`, on behalf of an administrator; returns the fence of the
    /// debt. Naming the holder avoids ending a lease that changed hands meanwhile.
    ///
    /// # Errors
    /// Nobody holds the device, or somebody with another label.
    pub(crate) fn take_away(&mut self, holder: &str, now: Now) -> Result<u64, Busy> {
        match &self.state {
            State::Held { held, .. } if held.claim.holder == holder => {
                self.owe(Why::TakenAway, now);
                Ok(self.fence)
            }
            _ => Err(self.busy(None, now.steady_ms)),
        }
    }

    /// End the lease if it has expired; returns the fence of the debt.
    pub(crate) fn expire(&mut self, now: Now) -> Option<u64> {
        if self.expires_ms()? > now.steady_ms {
            return None;
        }
        self.owe(Why::Expired, now);
        Some(self.fence)
    }

    /// Whether [`row`](Self::row) has changed and must be stored.
    #[must_use]
    pub(crate) fn is_changed(&self) -> bool {
        self.pending.is_some()
    }

    /// The store has taken [`row`](Self::row), or has failed to.
    pub(crate) fn stored(&mut self, ok: bool, now: Now) {
        match (self.pending.take(), &mut self.state) {
            (Some(Pending::Take(_)), State::Held { stored, .. }) if ok => *stored = true,
            (Some(Pending::Take(debt)), _) => {
                self.fence += 1;
                self.state = match debt {
                    Some(debt) => {
                        let fence = self.fence;
                        State::owing(Debt { fence, ..debt }, false)
                    }
                    None => {
                        self.queue.opened(now.steady_ms);
                        State::Free
                    }
                };
            }
            (Some(Pending::Renew(before)), State::Held { held, .. }) if !ok => *held = before,
            (Some(Pending::Owe), State::Owing { stored, .. }) => *stored = ok,
            (
                Some(Pending::Settle),
                State::Owing {
                    stored,
                    paid,
                    removes,
                    ..
                },
            ) => {
                if !ok {
                    // Start over, since the content of the store is unknown.
                    (*stored, *paid, *removes) = (false, false, false);
                    return;
                }
                self.fence += 1;
                self.state = if *removes { State::Gone } else { State::Free };
                self.queue.opened(now.steady_ms);
            }
            (Some(Pending::Owe | Pending::Renew(_) | Pending::Settle) | None, _) => {}
        }
    }

    /// Everybody let in before `fence` has left.
    pub(crate) fn left(&mut self, fence: u64) {
        match &mut self.state {
            State::Held { held, alone, .. } if held.fence == fence => *alone = true,
            State::Owing { debt, alone, .. } if debt.fence == fence => *alone = true,
            _ => {}
        }
    }

    /// This keeps the device from its safe state now, for the debt with this fence.
    pub(crate) fn obstruct(&mut self, fence: u64, obstacle: String) {
        if let State::Owing { debt, .. } = &mut self.state
            && debt.fence == fence
        {
            debt.obstacle = Some(obstacle);
        }
    }

    /// The device is in its safe state, for the debt with this fence.
    pub(crate) fn paid(&mut self, fence: u64) {
        if let State::Owing {
            debt,
            stored: true,
            alone: true,
            paid,
            ..
        } = &mut self.state
            && debt.fence == fence
        {
            *paid = true;
        }
    }

    /// Begin to store the debt with this fence again; false if that is not due.
    pub(crate) fn store_again(&mut self, fence: u64) -> bool {
        let due = self.duty(fence) == Some(Duty::Store);
        if due {
            self.pending = Some(Pending::Owe);
        }
        due
    }

    /// Begin to store that a debt is paid; false if there is none with this fence.
    pub(crate) fn settle(&mut self, fence: u64) -> bool {
        let due = matches!(self.duty(fence), Some(Duty::Settle | Duty::Remove));
        if due {
            self.pending = Some(Pending::Settle);
        }
        due
    }

    /// Let one in, as [`admit`](Self::admit), and nobody else until [`open`](Self::open). `reason`
    /// is what others see as the holder.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub(crate) fn close(
        &mut self,
        shown: Shown<'_>,
        reason: &str,
        now_ms: u64,
    ) -> Result<u64, Busy> {
        let fence = self.admit(shown, now_ms)?;
        self.closed = Some(reason.to_owned());
        Ok(fence)
    }

    pub(crate) fn open(&mut self) {
        self.closed = None;
    }

    fn owe(&mut self, why: Why, now: Now) {
        self.fence += 1;
        self.pending = Some(Pending::Owe);
        let debt = Debt {
            fence: self.fence,
            why,
            since_ms: now.wall_ms,
            began_ms: now.steady_ms,
            obstacle: None,
        };
        self.state = State::owing(debt, false);
    }
}

impl State {
    fn owing(debt: Debt, stored: bool) -> Self {
        Self::Owing {
            debt,
            stored,
            alone: false,
            paid: false,
            removes: false,
        }
    }
}

#[cfg(test)]
mod tests;
