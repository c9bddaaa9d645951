//! Program status, the two stack pointers and the register numbers that a debugger uses.

use super::{Core, PC, SP};
use crate::bus::Bus;
use crate::word::bit;

/// Register numbers in DCRSR.REGSEL after R0 to R15.
const XPSR: u8 = 16;
const MSP: u8 = 17;
const PSP: u8 = 18;
const CONTROL_AND_PRIMASK: u8 = 20;

const IPSR_MASK: u32 = 0x3f;

impl<B: Bus> Core<B> {
    /// The flags at their bit positions.
    pub(super) fn apsr(&self) -> u32 {
        u32::from(self.negative) << 31
            | u32::from(self.zero) << 30
            | u32::from(self.carry) << 29
            | u32::from(self.overflow) << 28
    }

    pub(super) fn set_apsr(&mut self, value: u32) {
        self.negative = bit(value, 31);
        self.zero = bit(value, 30);
        self.carry = bit(value, 29);
        self.overflow = bit(value, 28);
    }

    /// Flags, Thumb bit and exception number.
    pub(super) fn xpsr(&self) -> u32 {
        self.apsr() | u32::from(self.thumb) << 24 | self.ipsr
    }

    pub(super) fn set_xpsr(&mut self, value: u32) {
        self.set_apsr(value);
        self.thumb = bit(value, 24);
        self.ipsr = value & IPSR_MASK;
    }

    pub(super) fn main_sp(&self) -> u32 {
        if self.uses_process_stack {
            self.other_sp
        } else {
            self.r[SP]
        }
    }

    pub(super) fn process_sp(&self) -> u32 {
        if self.uses_process_stack {
            self.r[SP]
        } else {
            self.other_sp
        }
    }

    /// The low two bits of a stack pointer are always zero.
    pub(super) fn set_main_sp(&mut self, value: u32) {
        if self.uses_process_stack {
            self.other_sp = value & !3;
        } else {
            self.r[SP] = value & !3;
        }
    }

    pub(super) fn set_process_sp(&mut self, value: u32) {
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

    pub(super) fn control(&self) -> u32 {
        u32::from(self.uses_process_stack) << 1
    }

    pub(super) fn debug_register(&self, number: u8) -> u32 {
        match number {
            0..=15 => self.r[usize::from(number)],
            XPSR => self.xpsr(),
            MSP => self.main_sp(),
            PSP => self.process_sp(),
            CONTROL_AND_PRIMASK => self.control() << 24 | u32::from(self.primask),
            _ => 0,
        }
    }

    pub(super) fn set_debug_register(&mut self, number: u8, value: u32) {
        match number {
            13 => self.r[SP] = value & !3,
            15 => self.r[PC] = value & !1,
            0..=14 => self.r[usize::from(number)] = value,
            XPSR => self.set_xpsr(value),
            MSP => self.set_main_sp(value),
            PSP => self.set_process_sp(value),
            CONTROL_AND_PRIMASK => {
                self.select_process_stack(bit(value, 25));
                self.primask = bit(value, 0);
            }
            _ => {}
        }
    }
}
