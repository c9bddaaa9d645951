//! The data watchpoint unit of an ARMv6-M core: two comparators, which a debugger alone can reach.

use super::Core;
use crate::bus::{Bus, Width};
use crate::watchpoints::{Use, Watchpoints};

const COMPARATORS: usize = 2;
const COMPARATOR_COUNT: u32 = 2;
/// Bits of DWT_FUNCTION that can be written.
const FUNCTION_BITS: u32 = 15;

/// DWT_CTRL, of which ARMv6-M has only the number of comparators.
const CONTROL: u32 = 0xe000_1000;
const COUNT_PLACE: u32 = 28;
/// The registers of the comparators.
const FIRST: u32 = 0xe000_1020;
const LAST: u32 = 0xe000_103c;

/// The unit, and whether it has anything to compare.
#[derive(Debug, Default)]
pub(super) struct Watching {
    watchpoints: Watchpoints<COMPARATORS, FUNCTION_BITS>,
    pub(super) is_on: bool,
}

impl Watching {
    /// Whether a comparison has matched since this was asked.
    pub(super) fn takes_match(&mut self) -> bool {
        self.watchpoints.takes_match()
    }
}

impl<B: Bus> Core<B> {
    /// A debugger's read of the unit. `None` if the address is none of its registers.
    pub(super) fn read_watching(&mut self, address: u32) -> Option<u32> {
        match address {
            CONTROL => Some(COMPARATOR_COUNT << COUNT_PLACE),
            FIRST..=LAST => Some(self.watching.watchpoints.read(address - FIRST)),
            _ => None,
        }
    }

    /// A debugger's write of the unit; false if the address is none of its registers.
    pub(super) fn write_watching(&mut self, address: u32, value: u32) -> bool {
        match address {
            CONTROL => true,
            FIRST..=LAST => {
                self.watching.watchpoints.write(address - FIRST, value);
                self.update_watching();
                true
            }
            _ => false,
        }
    }

    /// Settings of the debugger have changed.
    pub(super) fn update_watching(&mut self) {
        self.watching.is_on = self.debug.watches && self.watching.watchpoints.is_in_use();
    }

    /// Compares the address of an instruction; the core stops after it.
    #[cold]
    pub(super) fn watch_fetch(&mut self, address: u32) {
        if self.watching.watchpoints.matches_fetch(address) {
            self.look_up();
        }
    }

    /// Compares the address of data; the core stops after the instruction.
    #[cold]
    pub(super) fn watch_access(&mut self, address: u32, width: Width, access: Use) {
        let watchpoints = &mut self.watching.watchpoints;
        if watchpoints.matches_access(address, width, access) {
            self.look_up();
        }
    }
}
