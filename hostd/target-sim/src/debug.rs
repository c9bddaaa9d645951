//! The debug unit of a core, as an access port sees it: halting, stepping, core registers,
//! breakpoints, vector catch, and the tables through which debuggers find all this.
//!
//! Details that real debuggers rely on: entering debug state for any reason sets C_HALT and clears
//! S_LOCKUP; reading clears S_RESET_ST and S_RETIRE_ST; at a BKPT the program counter points to it, not
//! after it.

mod unit;

use crate::bus::{BusFault, Width};
use crate::cpu::{Cpu, DebugControls, Stop};
use crate::word::{bit, low_byte};
pub(crate) use unit::{CORTEX_M0, CORTEX_M4, Unit};
use unit::{ROM_TABLE, ROM_TABLE_LAST};

const DFSR: u32 = 0xe000_ed30;
const DHCSR: u32 = 0xe000_edf0;
const DCRSR: u32 = 0xe000_edf4;
const DCRDR: u32 = 0xe000_edf8;
const DEMCR: u32 = 0xe000_edfc;
const DWT_PCSR: u32 = 0xe000_101c;
const BP_CTRL: u32 = 0xe000_2000;
const BP_COMP: u32 = 0xe000_2008;
const BP_COMP_LAST: u32 = 0xe000_2024;
const AIRCR: u32 = 0xe000_ed0c;

const DHCSR_KEY: u32 = 0xa05f;
const AIRCR_KEY: u32 = 0x05fa;

const C_DEBUGEN: u32 = 1;
const C_HALT: u32 = 2;
const C_STEP: u32 = 4;
const C_MASKINTS: u32 = 8;
const CONTROLS: u32 = C_DEBUGEN | C_HALT | C_STEP | C_MASKINTS;
const S_REGRDY: u32 = 1 << 16;

/// Reasons for halting, as bits of DFSR.
const HALTED: u32 = 1;
const BKPT: u32 = 2;
const DWTTRAP: u32 = 4;
const VCATCH: u32 = 8;

const VC_CORERESET: u32 = 0;
/// DEMCR's bit that switches the watchpoint unit on.
const DWTENA: u32 = 24;
/// DEMCR's bits that catch the entry to faults.
const CATCHES: u32 = 0x7f0;

const COMPARATORS: usize = 8;
const COMPARATOR_MASK: u32 = 0xdfff_fffd;

const REGISTER_WRITE: u32 = 16;

/// What a write to the debug unit requests from the target, beyond the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Nothing,
    Reset,
    /// Execute one instruction, then halt.
    Step,
}

/// State of the debug unit.
#[derive(Debug)]
pub(crate) struct Debug {
    unit: &'static Unit,
    control: u32,
    is_halted: bool,
    was_reset: bool,
    has_retired: bool,
    fault_status: u32,
    transfer: u32,
    monitor: u32,
    breakpoints_enabled: bool,
    comparators: [u32; COMPARATORS],
}

impl Debug {
    pub(crate) fn new(unit: &'static Unit) -> Self {
        Self {
            unit,
            control: 0,
            is_halted: false,
            was_reset: true,
            has_retired: false,
            fault_status: 0,
            transfer: 0,
            monitor: 0,
            breakpoints_enabled: false,
            comparators: [0; COMPARATORS],
        }
    }
}

impl Debug {
    pub(crate) fn is_halted(&self) -> bool {
        self.is_halted
    }

    /// Notes that the core has executed something.
    pub(crate) fn note_progress(&mut self) {
        self.has_retired = true;
    }

    pub(crate) fn enter_reset(&mut self) {
        self.was_reset = true;
        self.is_halted = false;
        self.control &= !C_HALT;
    }

    /// The core starts; a debugger may halt it before its first instruction.
    pub(crate) fn leave_reset<C: Cpu + ?Sized>(&mut self, core: &mut C) {
        self.apply(core);
        if self.control & C_DEBUGEN != 0 && bit(self.monitor, VC_CORERESET) {
            self.halt(core, VCATCH);
        }
    }

    /// Halts a core that stopped by itself.
    pub(crate) fn halt_for<C: Cpu + ?Sized>(&mut self, stop: Stop, core: &mut C) {
        let reason = match stop {
            Stop::Breakpoint => BKPT,
            Stop::VectorCatch => VCATCH,
            Stop::Watchpoint => DWTTRAP,
            _ => HALTED,
        };
        self.halt(core, reason);
    }

    fn halt<C: Cpu + ?Sized>(&mut self, core: &mut C, reason: u32) {
        self.is_halted = true;
        self.control |= C_HALT;
        self.fault_status |= reason;
        core.wake();
    }

    /// Passes the settings in the registers to the core.
    fn apply<C: Cpu + ?Sized>(&self, core: &mut C) {
        let enabled = self.control & C_DEBUGEN != 0;
        core.set_debug(DebugControls {
            enabled,
            mask_interrupts: enabled && self.control & C_MASKINTS != 0,
            catches: if enabled { self.monitor & CATCHES } else { 0 },
            breakpoints: if enabled {
                self.breakpoints()
            } else {
                Vec::new()
            },
            watches: enabled && bit(self.monitor, DWTENA),
        });
    }

    /// Addresses of the comparators: bits 31 and 30 select the half words of the word addressed by bits 28
    /// to 2.
    fn breakpoints(&self) -> Vec<u32> {
        let used = self.comparators.iter().filter(|value| bit(**value, 0));
        let used = used.filter(|_| self.breakpoints_enabled);
        let mut addresses = Vec::new();
        for comparator in used {
            let word = comparator & 0x1fff_fffc;
            if bit(*comparator, 30) {
                addresses.push(word);
            }
            if bit(*comparator, 31) {
                addresses.push(word | 2);
            }
        }
        addresses
    }

    /// Reads a word of the private region through the access port.
    pub(crate) fn read<C: Cpu + ?Sized>(
        &mut self,
        core: &mut C,
        address: u32,
    ) -> Result<u32, BusFault> {
        Ok(match address {
            DHCSR => self.status(core),
            DCRDR => self.transfer,
            DEMCR if self.unit.is_shared => core.load(address, Width::Word)?,
            DEMCR => self.monitor,
            DFSR => self.fault_status,
            DWT_PCSR if self.is_halted => u32::MAX,
            DWT_PCSR => core.register(15),
            BP_CTRL => {
                self.unit.literals << 8
                    | self.unit.comparators << 4
                    | u32::from(self.breakpoints_enabled)
            }
            BP_COMP..=BP_COMP_LAST => self.comparators[((address - BP_COMP) / 4) as usize],
            ROM_TABLE..=ROM_TABLE_LAST => {
                let entry = ((address - ROM_TABLE) / 4) as usize;
                self.unit.rom_entries.get(entry).copied().unwrap_or(0)
            }
            // System memory is on the same bus.
            0xe00f_ffcc => 1,
            _ => match self.unit.identification(core, address) {
                Some(value) => value,
                None => core.load(address, Width::Word)?,
            },
        })
    }

    fn status<C: Cpu + ?Sized>(&mut self, core: &C) -> u32 {
        let is_locked_up = core.is_locked_up() && !self.is_halted;
        self.control
            | S_REGRDY
            | u32::from(self.is_halted) << 17
            | u32::from(core.is_sleeping()) << 18
            | u32::from(is_locked_up) << 19
            | u32::from(std::mem::take(&mut self.has_retired)) << 24
            | u32::from(std::mem::take(&mut self.was_reset)) << 25
    }

    /// Writes a word of the private region through the access port.
    pub(crate) fn write<C: Cpu + ?Sized>(
        &mut self,
        core: &mut C,
        address: u32,
        value: u32,
    ) -> Result<Request, BusFault> {
        match address {
            DHCSR if value >> 16 == DHCSR_KEY => return Ok(self.write_control(core, value)),
            DHCSR => {}
            DCRSR => {
                let number = low_byte(value & 0x7f);
                if bit(value, REGISTER_WRITE) {
                    core.set_register(number, self.transfer);
                } else {
                    self.transfer = core.register(number);
                }
            }
            DCRDR => self.transfer = value,
            DEMCR => {
                self.monitor = value & self.unit.monitor_mask;
                if self.unit.is_shared {
                    core.store(address, Width::Word, value)?;
                }
                self.apply(core);
            }
            DFSR => self.fault_status &= !value,
            BP_CTRL => {
                // Bit 1 is the key.
                if bit(value, 1) {
                    self.breakpoints_enabled = bit(value, 0);
                    self.apply(core);
                }
            }
            BP_COMP..=BP_COMP_LAST => {
                let place = (address - BP_COMP) / 4;
                if place < self.unit.comparators {
                    self.comparators[place as usize] = value & COMPARATOR_MASK;
                    self.apply(core);
                }
            }
            AIRCR => {
                if value >> 16 == AIRCR_KEY && bit(value, 2) {
                    return Ok(Request::Reset);
                }
            }
            _ => core.store(address, Width::Word, value)?,
        }
        Ok(Request::Nothing)
    }

    fn write_control<C: Cpu + ?Sized>(&mut self, core: &mut C, value: u32) -> Request {
        self.control = value & CONTROLS;
        if value & C_DEBUGEN == 0 {
            self.control = 0;
            self.is_halted = false;
            self.apply(core);
            return Request::Nothing;
        }
        self.apply(core);
        if value & C_HALT != 0 {
            if !self.is_halted {
                self.halt(core, HALTED);
            }
            return Request::Nothing;
        }
        let steps = self.is_halted && value & C_STEP != 0;
        self.is_halted = false;
        if steps {
            Request::Step
        } else {
            Request::Nothing
        }
    }

    /// Halts the core after a step.
    pub(crate) fn halt_after_step<C: Cpu + ?Sized>(&mut self, stop: Stop, core: &mut C) {
        match stop {
            Stop::Breakpoint | Stop::Watchpoint | Stop::VectorCatch => {
                self.halt_for(stop, core);
            }
            _ => self.halt(core, HALTED),
        }
    }
}
