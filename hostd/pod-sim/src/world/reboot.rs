//! What a restart of the firmware clears, and what survives it.

use super::World;
use crate::reboot::Boot;

impl World {
    /// Restarts the firmware: everything returns to its state after power-on, except the past of
    /// the wires, what the pod stores, and what is connected to it.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        let config = std::mem::take(&mut self.config);
        let mut before = std::mem::replace(self, Self::new(config));
        before.digital.reboot(now_ns);
        before.converters.reboot(now_ns);
        self.digital = before.digital;
        self.converters = before.converters;
        self.target = before.target;
        before.access.reboot();
        self.access = before.access;
        before.settings.reboot(now_ns);
        self.settings = before.settings;
        if let Some(image) = self.settings.next_firmware.take() {
            self.config.firmware = image.into();
        }
        self.boot = Boot::again(now_ns);
    }
}
