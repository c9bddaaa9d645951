//! What a machine says without changing: who may drive the device, what is to be done and stored, and
//! what one is told who does not get it.

use super::{Debt, Duty, Held, Machine, Row, State};
use crate::leases::{Busy, Shown};

/// Pause that one is asked to make while a device changes hands, or is being made safe.
const HANDOVER_RETRY_MS: u64 = 1_000;

/// The same once a device has not become safe for [`LONG_DEBT_MS`]: its pod is away.
const DEBT_RETRY_MS: u64 = 5_000;
const LONG_DEBT_MS: u64 = 10_000;

/// Pause that one is asked to make while a device is closed.
const CLOSED_RETRY_MS: u64 = 5_000;

impl Machine {
    /// Whether a request may drive the device: nobody holds it, or the request shows its lease.
    /// The fence under which it is let in.
    ///
    /// # Errors
    /// Somebody else holds it, it changes hands, it owes a safe state, or it is closed.
    pub(crate) fn admit(&self, shown: Shown<'_>, now_ms: u64) -> Result<u64, Busy> {
        if let Some(busy) = self.closed_busy() {
            return Err(busy);
        }
        match &self.state {
            State::Free => Ok(self.fence),
            State::Held {
                held,
                stored: true,
                alone: true,
            } if held.is_shown(shown) && now_ms < held.expires_ms => Ok(held.fence),
            _ => Err(self.busy(None, now_ms)),
        }
    }

    /// What has to be in the store for the device.
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

    /// What has to be done next under `fence`; none when another one stands, or nothing has to.
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

    /// Whether the device's name and wiring may be changed by one who shows this.
    ///
    /// # Errors
    /// Somebody else holds it.
    pub(crate) fn check_change(&self, shown: Shown<'_>, now_ms: u64) -> Result<(), Busy> {
        match &self.state {
            State::Held { held, .. } if !held.is_shown(shown) => Err(self.busy(None, now_ms)),
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

    /// Whether the lease with this fence was or may be told to its taker.
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

    /// The fence that stands now.
    #[must_use]
    pub(crate) fn fence(&self) -> u64 {
        self.fence
    }

    /// What one is told who is in the way of nobody but the device.
    #[must_use]
    pub(crate) fn busy(&self, place: Option<u32>, now_ms: u64) -> Busy {
        let mut busy = Busy {
            holder: None,
            expires_ms: None,
            making_safe: false,
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
                if debt.began_ms + LONG_DEBT_MS < now_ms {
                    busy.retry_after_ms = DEBT_RETRY_MS;
                }
            }
            State::Free | State::Gone => {}
        }
        busy
    }

    pub(super) fn closed_busy(&self) -> Option<Busy> {
        let reason = self.closed.as_ref()?;
        Some(Busy {
            holder: Some(reason.clone()),
            expires_ms: None,
            making_safe: false,
            place: None,
            retry_after_ms: CLOSED_RETRY_MS,
        })
    }
}
