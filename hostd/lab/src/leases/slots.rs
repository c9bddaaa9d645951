//! All devices, by id: the state machine of each, and who is inside.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::machine::Machine;
use super::visitors::Visitors;

/// What is known of one device.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(crate) machine: Machine,
    pub(crate) visitors: Visitors,
    /// Number of the pod's link when the current or last lease began.
    pub link: Option<u64>,
    /// Held from a change of the machine until the store has it, so that both change in the same
    /// order.
    pub order: Arc<tokio::sync::Mutex<()>>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<HashMap<String, Slot>>);

impl Slots {
    /// Look at a device, or change it. If its fence moves, those inside are notified at once.
    pub(super) fn with<T>(&self, device: &str, f: impl FnOnce(&mut Slot) -> T) -> T {
        let mut slots = self.lock();
        if !slots.contains_key(device) {
            slots.insert(device.to_owned(), Slot::default());
        }
        let slot = slots.get_mut(device).expect("it was put there just above");
        let told = f(slot);
        slot.visitors.announce(slot.machine.fence());
        told
    }

    /// Look at all devices.
    pub(super) fn each<T>(&self, mut f: impl FnMut(&str, &Slot) -> Option<T>) -> Vec<T> {
        let slots = self.lock();
        let found = slots.iter().filter_map(|(device, slot)| f(device, slot));
        found.collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Slot>> {
        // Each transition ends with one assignment, so a panic elsewhere leaves valid machines.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
