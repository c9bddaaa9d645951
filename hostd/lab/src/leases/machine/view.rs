//! A machine's read-only side: who may drive the device, what must be done and stored, and the answer
//! for those who do not get it.

use super::{Debt, Duty, Held, Machine, Row, State};
use crate::leases::{Busy, Shown};

/// Retry delay while a device changes hands or is being made safe.
const HANDOVER_RETRY_MS: u64 = 1_000;

/// The same once that has taken [`LONG_DEBT_MS`]: the pod is away.
const DEBT_RETRY_MS: u64 = 5_000;
const LONG_DEBT_MS: u64 = 10_000;

/// Longest retry delay of a client that waits in line: in time to keep its place.
const PLACE_RETRY_MS: u64 = 5_000;

/// Retry delay while a device is closed.
const CLOSED_RETRY_MS: u64 = 5_000;

impl Machine {
    /// Whether a request may drive the device: nobody holds it and the request shows no lease, or it shows the device's.
    /// Returns the fence under which it is let in. Who shows a lease that is over has lost what it set up, and must not
    /// go on as if nothing had happened.
    ///
    /// # Errors
    /// Somebody else holds it, it is changing hands, it owes a safe state, it is closed, or the lease is over.
    pub(crate) fn admit(&self, shown: Shown<'_>, now_ms: u64) -> Result<u64, Busy> {
        if let Some(busy) = self.closed_busy() {
            return Err(busy);
        }
        match &self.state {
            State::Free if shown.lease_id.is_none() => Ok(self.fence),
            State::Free => Err(self.lost(now_ms)),
            State::Held {
                held,
                stored: true,
                alone: true,
            } if held.is_shown(shown) && now_ms < held.expires_ms => Ok(held.fence),
            _ => Err(self.busy(None, now_ms)),
        }
    }

    /// What must be in the store for the device.
    #[must_use]
    pub(crate) fn row(&self) -> Option<Row> {
        match &self.state {
            State::Held { held, .. } => Some(Row::Held(held.clone())),
            State::Owing {
                debt, paid: false, ..
            } => Some(Row::Owing(debt.clone())),
            State::Free | State::Owing { .. } | State::Gone => None,
        }
    }

    /// What must be done next under `fence`; none if the fence has moved, or nothing is due.
    #[must_use]
    pub(crate) fn duty(&self, fence: u64) -> Option<Duty> {
        match &self.state {
            State::Held { held, alone, .. } if held.fence == fence => {
                (!alone).then_some(Duty::Clear)
            }
            State::Owing {
                debt,
                stored,
                alone,
                paid,
                removes,
            } if debt.fence == fence => Some(match (alone, paid) {
                (false, _) => Duty::Clear,
                (true, false) if !stored => Duty::Store,
                (true, false) => Duty::Pay,
                (true, true) if *removes => Duty::Remove,
                (true, true) => Duty::Settle,
            }),
            _ => None,
        }
    }

    /// Whether a request that shows this may change the device's name and wiring.
    ///
    /// # Errors
    /// Somebody else holds it, or the lease is over.
    pub(crate) fn check_change(&self, shown: Shown<'_>, now_ms: u64) -> Result<(), Busy> {
        match &self.state {
            State::Held { held, .. } if !held.is_shown(shown) => Err(self.busy(None, now_ms)),
            State::Free if shown.lease_id.is_some() => Err(self.lost(now_ms)),
            _ => Ok(()),
        }
    }

    /// The lease of the device.
    #[must_use]
    pub(crate) fn held(&self) -> Option<&Held> {
        match &self.state {
            State::Held { held, .. } => Some(held),
            _ => None,
        }
    }

    /// Whether the taker knows, or may be told, of the lease with this fence.
    #[must_use]
    pub(crate) fn is_given(&self, fence: u64) -> bool {
        matches!(&self.state, State::Held { held, stored: true, alone: true } if held.fence == fence)
    }

    /// The safe state that the device owes.
    #[must_use]
    pub(crate) fn debt(&self) -> Option<&Debt> {
        match &self.state {
            State::Owing { debt, .. } => Some(debt),
            _ => None,
        }
    }

    #[must_use]
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.state, State::Gone)
    }

    /// When the lease expires if nobody renews it, by the steady clock.
    #[must_use]
    pub(crate) fn expires_ms(&self) -> Option<u64> {
        self.held().map(|held| held.expires_ms)
    }

    /// The current fence.
    #[must_use]
    pub(crate) fn fence(&self) -> u64 {
        self.fence
    }

    /// The answer for a client that only the device itself keeps waiting.
    #[must_use]
    pub(crate) fn busy(&self, place: Option<u32>, now_ms: u64) -> Busy {
        let mut busy = Busy {
            holder: None,
            expires_ms: None,
            lost: false,
            making_safe: false,
            obstacle: None,
            place,
            retry_after_ms: HANDOVER_RETRY_MS,
        };
        match &self.state {
            State::Held { held, .. } => {
                busy.holder = Some(held.claim.holder.clone());
                busy.expires_ms = Some(held.expires_ms);
                let left_ms = held.expires_ms.saturating_sub(now_ms);
                busy.retry_after_ms = left_ms.max(HANDOVER_RETRY_MS);
            }
            State::Owing { debt, .. } => {
                busy.making_safe = true;
                busy.obstacle = debt.obstacle(now_ms);
                if debt.began_ms + LONG_DEBT_MS < now_ms {
                    busy.retry_after_ms = DEBT_RETRY_MS;
                }
            }
            State::Free | State::Gone => {}
        }
        if place.is_some() {
            busy.retry_after_ms = busy.retry_after_ms.min(PLACE_RETRY_MS);
        }
        busy
    }

    /// The answer for a request that shows a lease which is over.
    pub(super) fn lost(&self, now_ms: u64) -> Busy {
        Busy {
            lost: true,
            ..self.busy(None, now_ms)
        }
    }

    pub(super) fn closed_busy(&self) -> Option<Busy> {
        let reason = self.closed.as_ref()?;
        Some(Busy {
            holder: Some(reason.clone()),
            expires_ms: None,
            lost: false,
            making_safe: false,
            obstacle: None,
            place: None,
            retry_after_ms: CLOSED_RETRY_MS,
        })
    }
}
