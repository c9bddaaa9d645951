//! Removing a device: a change of hands after which nobody has it.

use super::{Machine, Now, State, Why};
use crate::leases::Busy;

/// What an administrator says with a removal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Removal<'r> {
    /// The holder from whom the device may be taken.
    pub holder: Option<&'r str>,
    /// Remove it even if it owes a safe state.
    pub overriding: bool,
    /// Whether the pod answers. If it does not, and nothing is owed, removal does not wait for it.
    pub(crate) reachable: bool,
}

impl Machine {
    /// Begin to remove the device; returns the fence of the removal.
    ///
    /// # Errors
    /// Its holder is not the one named, it is closed, or it owes a safe state.
    pub(crate) fn remove(&mut self, removal: Removal<'_>, now: Now) -> Result<u64, Busy> {
        if let Some(busy) = self.closed_busy() {
            return Err(busy);
        }
        match &self.state {
            State::Free if removal.reachable => self.owe(Why::Removal, now),
            // Nobody knows what the pod is doing, but nothing is owed.
            State::Free => {
                self.owe(Why::Removal, now);
                self.pending = None;
                self.forgive();
            }
            State::Held { held, .. } if removal.holder == Some(&*held.claim.holder) => {
                self.owe(Why::TakenAway, now);
            }
            State::Owing { .. } if removal.overriding => {
                // The task that pays the debt stops before its next command.
                self.fence += 1;
                let fence = self.fence;
                if let State::Owing { debt, .. } = &mut self.state {
                    debt.fence = fence;
                }
                self.forgive();
            }
            State::Held { .. } | State::Owing { .. } | State::Gone => {
                return Err(self.busy(None, now.steady_ms));
            }
        }
        if let State::Owing { removes, .. } = &mut self.state {
            *removes = true;
        }
        Ok(self.fence)
    }

    /// Do not remove the device after all, since its safe state takes too long. If that is already
    /// reached, or not owed, the removal still follows.
    pub(crate) fn keep(&mut self, fence: u64) {
        if let State::Owing {
            debt,
            paid: false,
            removes,
            ..
        } = &mut self.state
            && debt.fence == fence
        {
            *removes = false;
        }
    }

    /// A removed device is back.
    pub(crate) fn admitted(&mut self) {
        if matches!(self.state, State::Gone) {
            self.state = State::Free;
            self.fence += 1;
        }
    }

    fn forgive(&mut self) {
        if let State::Owing { paid, .. } = &mut self.state {
            *paid = true;
        }
    }
}
