//! Power control: the regulator's settings, with their ready flags.

use crate::word::bit;

const CR: u32 = 0;
const CSR: u32 = 4;
const CR_RESET: u32 = 0xc000;
const VOLTAGE_READY: u32 = 1 << 14;
const OVERDRIVE: u32 = 16;
const OVERDRIVE_SWITCH: u32 = 17;

#[derive(Debug)]
pub(super) struct Power {
    control: u32,
}

impl Default for Power {
    fn default() -> Self {
        Self { control: CR_RESET }
    }
}

impl Power {
    pub(super) fn read(&self, offset: u32) -> u32 {
        let follows = |place: u32| u32::from(bit(self.control, place)) << place;
        match offset {
            CR => self.control,
            CSR => VOLTAGE_READY | follows(OVERDRIVE) | follows(OVERDRIVE_SWITCH),
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        if offset == CR {
            self.control = value;
        }
    }
}
