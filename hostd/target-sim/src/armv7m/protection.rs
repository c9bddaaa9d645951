//! The memory protection unit: eight regions over a background map.

use super::Core;
use crate::bus::Bus;
use crate::word::bit;

const REGIONS: usize = 8;
/// MPU_TYPE: eight regions for data and instructions alike.
const TYPE_VALUE: u32 = 8 << 8;

const ENABLE: u32 = 0;
const IN_HARD_FAULT: u32 = 1;
const BACKGROUND: u32 = 2;

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Fetch,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    base: u32,
    attributes: u32,
}

/// The unit's registers.
#[derive(Debug, Default)]
pub(super) struct Protection {
    control: u32,
    selected: u32,
    regions: [Region; REGIONS],
}

impl Region {
    /// Whether it is on and has this address, in a part that is not switched off.
    fn contains(self, address: u32) -> bool {
        let size_log2 = (self.attributes >> 1 & 31) + 1;
        if !bit(self.attributes, 0) || size_log2 < 5 {
            return false;
        }
        let mask = u32::MAX.checked_shl(size_log2).unwrap_or(0);
        if address & mask != self.base & mask {
            return false;
        }
        // Regions below 256 bytes have no parts.
        let part = address >> (size_log2 - 3) & 7;
        size_log2 < 8 || !bit(self.attributes, 8 + part)
    }

    fn permits(self, purpose: Purpose, privileged: bool) -> bool {
        let may_write = match self.attributes >> 24 & 7 {
            1 | 2 => privileged,
            3 => true,
            _ => false,
        };
        let may_read = match self.attributes >> 24 & 7 {
            1 | 5 => privileged,
            2 | 3 | 6 | 7 => true,
            _ => false,
        };
        match purpose {
            Purpose::Write => may_write,
            Purpose::Read => may_read,
            Purpose::Fetch => may_read && !bit(self.attributes, 28),
        }
    }
}

/// Whether the memory map alone permits an access: devices and the system hold no instructions.
fn background_permits(address: u32, purpose: Purpose) -> bool {
    purpose != Purpose::Fetch || !matches!(address >> 28, 0x4 | 0x5 | 0xa..=0xf)
}

impl Protection {
    pub(super) fn is_on(&self) -> bool {
        bit(self.control, ENABLE)
    }

    fn permits(&self, address: u32, purpose: Purpose, privileged: bool) -> bool {
        let mut regions = self.regions.iter().rev();
        match regions.find(|region| region.contains(address)) {
            Some(region) => {
                region.permits(purpose, privileged) && background_permits(address, purpose)
            }
            None => {
                privileged && bit(self.control, BACKGROUND) && background_permits(address, purpose)
            }
        }
    }

    fn place(&self) -> usize {
        (self.selected & 7) as usize
    }

    /// Reads the register at `offset` from MPU_TYPE. The last registers are three more views of RBAR and RASR.
    pub(super) fn read(&self, offset: u32) -> u32 {
        let region = self.regions[self.place()];
        match offset {
            0 => TYPE_VALUE,
            4 => self.control,
            8 => self.selected,
            0x0c | 0x14 | 0x1c | 0x24 => region.base | self.selected & 7,
            0x10 | 0x18 | 0x20 | 0x28 => region.attributes,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            4 => self.control = value & 7,
            8 => self.selected = value & 7,
            0x0c | 0x14 | 0x1c | 0x24 => {
                // VALID: the region's number comes with its address.
                if bit(value, 4) {
                    self.selected = value & 7;
                }
                self.regions[self.place()].base = value & !31;
            }
            0x10 | 0x18 | 0x20 | 0x28 => {
                self.regions[self.place()].attributes = value & 0x173f_ff3f;
            }
            _ => {}
        }
    }
}

impl<B: Bus> Core<B> {
    /// Whether an access is permitted.
    pub(super) fn permits(&self, address: u32, purpose: Purpose, privileged: bool) -> bool {
        let is_ignored = !self.protection.is_on()
            || !bit(self.protection.control, IN_HARD_FAULT)
                && (self.exceptions.is_in_fault() || self.faultmask);
        if is_ignored || address >> 20 == 0xe00 {
            return background_permits(address, purpose);
        }
        self.protection.permits(address, purpose, privileged)
    }

    /// Decides anew whether accesses have to be checked.
    pub(super) fn update_checks(&mut self) {
        self.is_plain = !self.protection.is_on() && !self.trace.watches();
    }
}
