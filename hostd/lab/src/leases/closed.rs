//! A device that nobody may drive for a while, whatever lease they show, because the server is doing
//! something to it that must not be disturbed.

use std::sync::Arc;

use super::slots::Slots;

/// One closed device. Dropping it opens the device.
#[derive(Debug)]
pub struct Closed {
    device: String,
    slots: Arc<Slots>,
}

impl Closed {
    /// For a device whose machine has just been closed.
    pub(super) fn new(device: &str, slots: Arc<Slots>) -> Self {
        let device = device.to_owned();
        Self { device, slots }
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.slots.with(&self.device, |slot| slot.machine.open());
    }
}
