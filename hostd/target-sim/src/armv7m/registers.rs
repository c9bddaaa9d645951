//! Program status, the two stack pointers, the special registers and the numbers that a debugger uses.

use super::{Core, PC, SP};
use crate::bus::Bus;
use crate::word::{bit, low_byte};

/// Register numbers in DCRSR.REGSEL after R0 to R15.
const XPSR: u8 = 16;
const DEBUG_MSP: u8 = 17;
const DEBUG_PSP: u8 = 18;
const CONTROL_AND_MASKS: u8 = 20;
const DEBUG_FPSCR: u8 = 0x21;
const FIRST_FLOAT: u8 = 0x40;
const LAST_FLOAT: u8 = 0x5f;

/// Numbers of the special registers in MRS and MSR.
const LAST_STATUS: u8 = 7;
const MSP: u8 = 8;
const PSP: u8 = 9;
const PRIMASK: u8 = 16;
const BASEPRI: u8 = 17;
const BASEPRI_MAX: u8 = 18;
const FAULTMASK: u8 = 19;
const CONTROL: u8 = 20;

const IPSR_MASK: u32 = 0x1ff;
/// Priorities have four bits.
pub(super) const PRIORITY_MASK: u8 = 0xf0;
/// The bits of MSR's mask: flags, GE.
const MASK_FLAGS: u8 = 2;
const MASK_GREATER: u8 = 1;

impl<B: Bus> Core<B> {
    /// The flags at their bit positions.
    fn apsr(&self) -> u32 {
        u32::from(self.negative) << 31
            | u32::from(self.zero) << 30
            | u32::from(self.carry) << 29
            | u32::from(self.overflow) << 28
            | u32::from(self.saturated) << 27
            | u32::from(self.greater) << 16
    }

    pub(super) fn set_conditions(&mut self, value: u32) {
        self.negative = bit(value, 31);
        self.zero = bit(value, 30);
        self.carry = bit(value, 29);
        self.overflow = bit(value, 28);
    }

    /// Flags, IT state, Thumb bit and exception number.
    pub(super) fn xpsr(&self) -> u32 {
        let block = u32::from(self.block);
        let execution = u32::from(self.thumb) << 24 | (block & 3) << 25 | (block >> 2) << 10;
        self.apsr() | execution | self.ipsr
    }

    pub(super) fn set_xpsr(&mut self, value: u32) {
        self.set_conditions(value);
        self.saturated = bit(value, 27);
        self.greater = low_byte(value >> 16 & 15);
        self.thumb = bit(value, 24);
        self.block = low_byte(value >> 25 & 3 | value >> 8 & 0xfc);
        self.in_block = None;
        self.ipsr = value & IPSR_MASK;
        if self.ipsr >= super::exceptions::EXCEPTIONS {
            self.ipsr = 0;
        }
    }

    fn main_sp(&self) -> u32 {
        if self.uses_process_stack {
            self.other_sp
        } else {
            self.r[SP]
        }
    }

    fn process_sp(&self) -> u32 {
        if self.uses_process_stack {
            self.r[SP]
        } else {
            self.other_sp
        }
    }

    /// The low two bits of a stack pointer are always zero.
    fn set_main_sp(&mut self, value: u32) {
        if self.uses_process_stack {
            self.other_sp = value & !3;
        } else {
            self.r[SP] = value & !3;
        }
    }

    fn set_process_sp(&mut self, value: u32) {
        if self.uses_process_stack {
            self.r[SP] = value & !3;
        } else {
            self.other_sp = value & !3;
        }
    }

    /// CONTROL.SPSEL: which stack pointer R13 refers to.
    pub(super) fn select_process_stack(&mut self, process: bool) {
        if process != self.uses_process_stack {
            std::mem::swap(&mut self.r[SP], &mut self.other_sp);
            self.uses_process_stack = process;
        }
    }

    fn control(&self) -> u32 {
        u32::from(self.is_unprivileged)
            | u32::from(self.uses_process_stack) << 1
            | u32::from(self.fpu.is_active) << 2
    }

    fn set_control(&mut self, value: u32) {
        self.is_unprivileged = bit(value, 0);
        if self.ipsr == 0 {
            self.select_process_stack(bit(value, 1));
        }
        self.fpu.is_active = bit(value, 2);
    }

    /// MRS. Unprivileged code sees only the flags, and CONTROL.
    pub(super) fn read_special(&self, number: u8) -> u32 {
        let sees = self.is_privileged();
        match number {
            0..=LAST_STATUS => {
                let flags = if number & 4 == 0 { self.apsr() } else { 0 };
                let exception = if number & 1 == 1 && sees {
                    self.ipsr
                } else {
                    0
                };
                flags | exception
            }
            CONTROL => self.control(),
            _ if !sees => 0,
            MSP => self.main_sp(),
            PSP => self.process_sp(),
            PRIMASK => u32::from(self.primask),
            BASEPRI | BASEPRI_MAX => u32::from(self.basepri),
            FAULTMASK => u32::from(self.faultmask),
            _ => 0,
        }
    }

    /// MSR. Unprivileged code can change only the flags.
    pub(super) fn write_special(&mut self, number: u8, mask: u8, value: u32) {
        if number <= 3 {
            if mask & MASK_FLAGS != 0 {
                self.set_conditions(value);
                self.saturated = bit(value, 27);
            }
            if mask & MASK_GREATER != 0 {
                self.greater = low_byte(value >> 16 & 15);
            }
            return;
        }
        if !self.is_privileged() {
            return;
        }
        let priority = low_byte(value & 0xff) & PRIORITY_MASK;
        match number {
            MSP => self.set_main_sp(value),
            PSP => self.set_process_sp(value),
            PRIMASK => self.primask = bit(value, 0),
            BASEPRI => self.basepri = priority,
            BASEPRI_MAX => {
                let is_stricter = self.basepri == 0 || priority < self.basepri;
                if priority != 0 && is_stricter {
                    self.basepri = priority;
                }
            }
            FAULTMASK if !self.exceptions.is_in_fault() => self.faultmask = bit(value, 0),
            CONTROL => self.set_control(value),
            _ => {}
        }
        self.look_up();
    }

    pub(super) fn debug_register(&self, number: u8) -> u32 {
        match number {
            0..=15 => self.r[usize::from(number)],
            XPSR => self.xpsr(),
            DEBUG_MSP => self.main_sp(),
            DEBUG_PSP => self.process_sp(),
            CONTROL_AND_MASKS => {
                self.control() << 24
                    | u32::from(self.faultmask) << 16
                    | u32::from(self.basepri) << 8
                    | u32::from(self.primask)
            }
            DEBUG_FPSCR => self.fpu.status.bits(),
            FIRST_FLOAT..=LAST_FLOAT => self.fpu.s[usize::from(number - FIRST_FLOAT)],
            _ => 0,
        }
    }

    pub(super) fn set_debug_register(&mut self, number: u8, value: u32) {
        match number {
            13 => self.r[SP] = value & !3,
            15 => {
                self.r[PC] = value & !1;
                // As if by a branch: what was executed before does not matter any more.
                self.in_block = None;
            }
            0..=14 => self.r[usize::from(number)] = value,
            XPSR => self.set_xpsr(value),
            DEBUG_MSP => self.set_main_sp(value),
            DEBUG_PSP => self.set_process_sp(value),
            CONTROL_AND_MASKS => {
                self.primask = bit(value, 0);
                self.basepri = low_byte(value >> 8 & 0xff) & PRIORITY_MASK;
                self.faultmask = bit(value, 16);
                self.set_control(value >> 24);
            }
            DEBUG_FPSCR => self.fpu.set_status(value),
            FIRST_FLOAT..=LAST_FLOAT => {
                self.fpu.s[usize::from(number - FIRST_FLOAT)] = value;
            }
            _ => {}
        }
    }
}
