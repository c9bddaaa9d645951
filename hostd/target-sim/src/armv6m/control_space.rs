//! Registers of the system control space that software can use: SysTick, NVIC, system control block. Those
//! that only a debugger can use (DHCSR and so on) are in the debug unit; to software they read as zero.

use super::exceptions::{FIRST_INTERRUPT, NMI, PENDSV, SVCALL, SYSTICK};
use super::{Core, Executed, Trap};
use crate::bus::Bus;
use crate::word::{bit, low_word};

/// Cortex-M0 r0p0.
const CPUID_VALUE: u32 = 0x410c_c200;
const SYSTICK_BASE: u32 = 0xe000_e010;
const SET_ENABLE: u32 = 0xe000_e100;
const CLEAR_ENABLE: u32 = 0xe000_e180;
const SET_PENDING: u32 = 0xe000_e200;
const CLEAR_PENDING: u32 = 0xe000_e280;
const PRIORITIES: u32 = 0xe000_e400;
const CPUID: u32 = 0xe000_ed00;
const ICSR: u32 = 0xe000_ed04;
const AIRCR: u32 = 0xe000_ed0c;
const SCR: u32 = 0xe000_ed10;
const CCR: u32 = 0xe000_ed14;
const SHPR2: u32 = 0xe000_ed1c;
const SHPR3: u32 = 0xe000_ed20;
const SHCSR: u32 = 0xe000_ed24;

/// Unaligned accesses fault, exception frames are aligned to 8 bytes: fixed in ARMv6-M.
const CCR_VALUE: u32 = 0x208;
const AIRCR_KEY: u32 = 0x05fa;
/// The key field reads as this.
const AIRCR_VALUE: u32 = 0xfa05_0000;
const SYSTEM_RESET_REQUEST: u32 = 2;
const SCR_MASK: u32 = 0b1_0110;
/// Each priority has two bits.
const PRIORITY_MASK: u32 = 0xc0c0_c0c0;

impl<B: Bus> Core<B> {
    fn priority_word(&self, first: usize) -> u32 {
        let bytes = self.exceptions.priority.get(first..first + 4);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    }

    fn set_priority_word(&mut self, first: usize, value: u32, mask: u32) {
        let kept = self.priority_word(first) & !mask;
        let word = kept | value & mask & PRIORITY_MASK;
        if let Some(bytes) = self.exceptions.priority.get_mut(first..first + 4) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn interrupt_control_state(&self) -> u32 {
        let pending = self.exceptions.pending;
        let flag = |number: u32, place: u32| u32::from(pending >> number & 1 == 1) << place;
        self.ipsr
            | self.exceptions.most_urgent().unwrap_or(0) << 12
            | u32::from(pending >> FIRST_INTERRUPT != 0) << 22
            | flag(SYSTICK, 26)
            | flag(PENDSV, 28)
            | flag(NMI, 31)
    }

    fn control_interrupts(&mut self, value: u32) {
        // If both bits of a pair are set, the set bit wins; software must not do that.
        for (set, clear, number) in [
            (28, Some(27), PENDSV),
            (26, Some(25), SYSTICK),
            (31, None, NMI),
        ] {
            if bit(value, set) {
                self.pend(number);
            } else if clear.is_some_and(|clear| bit(value, clear)) {
                self.exceptions.pending &= !(1 << number);
            }
        }
    }

    pub(super) fn read_private(&mut self, address: u32) -> u32 {
        match address {
            SYSTICK_BASE..=0xe000_e01c => self.systick.read(self.cycles, address - SYSTICK_BASE),
            SET_ENABLE | CLEAR_ENABLE => self.exceptions.enabled,
            SET_PENDING | CLEAR_PENDING => low_word(self.exceptions.pending >> FIRST_INTERRUPT),
            PRIORITIES..=0xe000_e41c => {
                self.priority_word((address - PRIORITIES + FIRST_INTERRUPT) as usize)
            }
            CPUID => CPUID_VALUE,
            ICSR => self.interrupt_control_state(),
            AIRCR => AIRCR_VALUE,
            SCR => self.system_control,
            CCR => CCR_VALUE,
            SHPR2 => self.priority_word(8) & 0xff00_0000,
            SHPR3 => self.priority_word(12) & 0xffff_0000,
            SHCSR => u32::from(self.exceptions.pending >> SVCALL & 1 == 1) << 15,
            _ => 0,
        }
    }

    pub(super) fn write_private(&mut self, address: u32, value: u32) -> Executed {
        match address {
            SYSTICK_BASE..=0xe000_e01c => {
                self.systick
                    .write(self.cycles, address - SYSTICK_BASE, value);
            }
            SET_ENABLE => self.exceptions.enabled |= value,
            CLEAR_ENABLE => self.exceptions.enabled &= !value,
            SET_PENDING => {
                for number in (0..32).filter(|number| bit(value, *number)) {
                    self.pend(number + FIRST_INTERRUPT);
                }
            }
            CLEAR_PENDING => self.exceptions.pending &= !(u64::from(value) << FIRST_INTERRUPT),
            PRIORITIES..=0xe000_e41c => {
                let first = (address - PRIORITIES + FIRST_INTERRUPT) as usize;
                self.set_priority_word(first, value, u32::MAX);
            }
            ICSR => self.control_interrupts(value),
            AIRCR if value >> 16 == AIRCR_KEY && bit(value, SYSTEM_RESET_REQUEST) => {
                return Err(Trap::ResetRequest);
            }
            SCR => self.system_control = value & SCR_MASK,
            SHPR2 => self.set_priority_word(8, value, 0xff00_0000),
            SHPR3 => self.set_priority_word(12, value, 0xffff_0000),
            _ => {}
        }
        Ok(())
    }
}
