//! Registers of the private region that software can use: SysTick, NVIC, system control block, protection
//! unit, floating-point and trace. Those of the debugger (DHCSR and so on) are in the debug unit; to software
//! most of them read as zero.

use super::exceptions::{
    BUS_FAULT, DEBUG_MONITOR, EXCEPTIONS, FIRST_INTERRUPT, HARD_FAULT, MEMORY_FAULT, NMI, PENDSV,
    SVCALL, SYSTICK, USAGE_FAULT,
};
use super::registers::PRIORITY_MASK;
use super::trace::{BLOCK, DWT, ITM, TPIU};
use super::{Core, Executed, PC, Trap};
use crate::bus::{Bus, Width};
use crate::word::{bit, low_word};

/// Cortex-M4 r0p1.
const CPUID_VALUE: u32 = 0x410f_c241;
const CONTROLLER_TYPE: u32 = 0xe000_e004;
const SYSTICK_BASE: u32 = 0xe000_e010;
const SET_ENABLE: u32 = 0xe000_e100;
const CLEAR_ENABLE: u32 = 0xe000_e180;
const SET_PENDING: u32 = 0xe000_e200;
const CLEAR_PENDING: u32 = 0xe000_e280;
const ACTIVE: u32 = 0xe000_e300;
const PRIORITIES: u32 = 0xe000_e400;
const CPUID: u32 = 0xe000_ed00;
const ICSR: u32 = 0xe000_ed04;
const VTOR: u32 = 0xe000_ed08;
const AIRCR: u32 = 0xe000_ed0c;
const SCR: u32 = 0xe000_ed10;
const CCR: u32 = 0xe000_ed14;
const SHPR1: u32 = 0xe000_ed18;
const SHCSR: u32 = 0xe000_ed24;
const CFSR: u32 = 0xe000_ed28;
const HFSR: u32 = 0xe000_ed2c;
const MMFAR: u32 = 0xe000_ed34;
const BFAR: u32 = 0xe000_ed38;
const FEATURES: u32 = 0xe000_ed40;
const CPACR: u32 = 0xe000_ed88;
const MPU: u32 = 0xe000_ed90;
const DHCSR: u32 = 0xe000_edf0;
const DEMCR: u32 = 0xe000_edfc;
const STIR: u32 = 0xe000_ef00;
const FPCCR: u32 = 0xe000_ef34;
const FPCAR: u32 = 0xe000_ef38;
const FPDSCR: u32 = 0xe000_ef3c;
const MVFR0: u32 = 0xe000_ef40;
const MVFR1: u32 = 0xe000_ef44;

/// ID_PFR0 to ID_ISAR4 of this core.
const FEATURE_VALUES: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0x0000_0000,
    0x0010_0030,
    0x0000_0000,
    0x0100_0000,
    0x0000_0000,
    0x0110_1110,
    0x0211_2000,
    0x2123_2231,
    0x0111_1131,
    0x0131_0132,
];
/// Single precision, in hardware.
const MVFR_VALUES: [u32; 2] = [0x1011_0021, 0x1100_0011];

const AIRCR_KEY: u32 = 0x05fa;
/// The key field reads as this.
const AIRCR_VALUE: u32 = 0xfa05_0000;
const SYSTEM_RESET_REQUEST: u32 = 2;
const DEBUG_ENABLED: u32 = 1;

/// Bits of SHCSR: exceptions that are active, pending and enabled.
const SHCSR_ACTIVE: [(u32, u32); 7] = [
    (0, MEMORY_FAULT),
    (1, BUS_FAULT),
    (3, USAGE_FAULT),
    (7, SVCALL),
    (8, DEBUG_MONITOR),
    (10, PENDSV),
    (11, SYSTICK),
];
const SHCSR_PENDING: [(u32, u32); 4] = [
    (12, USAGE_FAULT),
    (13, MEMORY_FAULT),
    (14, BUS_FAULT),
    (15, SVCALL),
];
const SHCSR_ENABLED: [(u32, u32); 3] = [(16, MEMORY_FAULT), (17, BUS_FAULT), (18, USAGE_FAULT)];

fn has(set: u128, number: u32) -> bool {
    set >> number & 1 == 1
}

/// 32 interrupts of a set of exceptions.
fn word_of(set: u128, number: u32) -> u32 {
    let part = set >> FIRST_INTERRUPT >> (number * 32) & u128::from(u32::MAX);
    low_word(u64::try_from(part).unwrap_or(0))
}

impl<B: Bus> Core<B> {
    fn interrupt_control_state(&self) -> u32 {
        let pending = self.exceptions.pending;
        let flag = |number: u32, place: u32| u32::from(has(pending, number)) << place;
        let is_alone = self.exceptions.active.count_ones() <= 1;
        self.ipsr
            | u32::from(is_alone) << 11
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

    fn handler_control(&self) -> u32 {
        let bits = |table: &[(u32, u32)], set: u128| {
            table.iter().fold(0, |word, (place, number)| {
                word | u32::from(has(set, *number)) << place
            })
        };
        bits(&SHCSR_ACTIVE, self.exceptions.active)
            | bits(&SHCSR_PENDING, self.exceptions.pending)
            | bits(&SHCSR_ENABLED, self.exceptions.enabled)
    }

    fn set_handler_control(&mut self, value: u32) {
        for (place, number) in SHCSR_ENABLED {
            self.exceptions.set_enabled(number, bit(value, place));
        }
        let flags = |set: &mut u128, table: &[(u32, u32)]| {
            for (place, number) in table {
                *set = *set & !(1 << number) | u128::from(bit(value, *place)) << number;
            }
        };
        flags(&mut self.exceptions.pending, &SHCSR_PENDING);
        flags(&mut self.exceptions.active, &SHCSR_ACTIVE);
    }

    fn priority_word(&self, first: u32) -> u32 {
        let first = first as usize;
        let bytes = self.exceptions.priority.get(first..first + 4);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    }

    /// Writes the bytes of four priorities that the access has.
    fn set_priorities(&mut self, first: u32, width: Width, value: u32) {
        let bytes = value.to_le_bytes();
        for (number, byte) in (first..first + width.bytes()).zip(bytes) {
            let is_settable = number > HARD_FAULT && number < EXCEPTIONS;
            let priority = self.exceptions.priority.get_mut(number as usize);
            if let Some(priority) = priority.filter(|_| is_settable) {
                *priority = byte & PRIORITY_MASK;
            }
        }
    }

    /// A read of the private region.
    pub(super) fn read_private(&mut self, address: u32, width: Width) -> u32 {
        let shifted = self.read_private_word(address & !3) >> ((address & 3) * 8);
        match width {
            Width::Byte => shifted & 0xff,
            Width::Half => shifted & 0xffff,
            Width::Word => shifted,
        }
    }

    fn read_private_word(&mut self, address: u32) -> u32 {
        let offset = address & (BLOCK - 1);
        match address {
            _ if address & !(BLOCK - 1) == ITM => self.trace.read_itm(offset),
            _ if address & !(BLOCK - 1) == DWT => {
                self.trace.read_dwt(self.cycles, offset, self.r[PC])
            }
            _ if address & !(BLOCK - 1) == TPIU => self.trace.read_tpiu(offset),
            CONTROLLER_TYPE => (EXCEPTIONS - FIRST_INTERRUPT - 1) / 32,
            SYSTICK_BASE..=0xe000_e01c => self.systick.read(self.cycles, address - SYSTICK_BASE),
            SET_ENABLE..=0xe000_e10c | CLEAR_ENABLE..=0xe000_e18c => {
                word_of(self.exceptions.enabled, offset >> 2 & 3)
            }
            SET_PENDING..=0xe000_e20c | CLEAR_PENDING..=0xe000_e28c => {
                word_of(self.exceptions.pending, offset >> 2 & 3)
            }
            ACTIVE..=0xe000_e30c => word_of(self.exceptions.active, offset >> 2 & 3),
            PRIORITIES..=0xe000_e46c => self.priority_word(address - PRIORITIES + FIRST_INTERRUPT),
            SHPR1..=0xe000_ed20 => self.priority_word(address - SHPR1 + 4),
            FEATURES..=0xe000_ed70 => FEATURE_VALUES[((address - FEATURES) / 4) as usize],
            MPU..=0xe000_edb8 => self.protection.read(address - MPU),
            MVFR0 | MVFR1 => MVFR_VALUES[((address - MVFR0) / 4) as usize],
            _ => self.read_system(address),
        }
    }

    fn read_system(&self, address: u32) -> u32 {
        match address {
            CPUID => CPUID_VALUE,
            ICSR => self.interrupt_control_state(),
            VTOR => self.system.vectors,
            AIRCR => AIRCR_VALUE | self.exceptions.group << 8,
            SCR => self.system.control,
            CCR => self.system.configuration,
            SHCSR => self.handler_control(),
            CFSR => self.faults.configurable,
            HFSR => self.faults.hard,
            MMFAR => self.faults.memory_address,
            BFAR => self.faults.bus_address,
            CPACR => self.fpu.access,
            FPCCR => self.fpu.context_control,
            FPCAR => self.fpu.context_address,
            FPDSCR => self.fpu.defaults,
            // Software looks here for whether a debugger is connected.
            DHCSR if self.debug.enabled => DEBUG_ENABLED,
            DEMCR => self.trace.monitor(),
            _ => 0,
        }
    }

    /// A write to the private region. Narrow ones work where the manual says so.
    pub(super) fn write_private(&mut self, address: u32, width: Width, value: u32) -> Executed {
        match address {
            PRIORITIES..=0xe000_e46f => {
                self.set_priorities(address - PRIORITIES + FIRST_INTERRUPT, width, value);
                return Ok(());
            }
            SHPR1..=0xe000_ed23 => {
                self.set_priorities(address - SHPR1 + 4, width, value);
                return Ok(());
            }
            CFSR..=0xe000_ed2b => {
                let mask = u32::MAX >> (32 - 8 * width.bytes());
                self.faults.configurable &= !((value & mask) << ((address & 3) * 8));
                return Ok(());
            }
            // The stimulus ports take any width; nothing listens.
            0xe000_0000..0xe000_0080 => return Ok(()),
            _ if width != Width::Word => return Err(Trap::Bus { address }),
            _ => {}
        }
        let offset = address & (BLOCK - 1);
        match address & !(BLOCK - 1) {
            ITM => self.trace.write_itm(offset, value),
            DWT => self.trace.write_dwt(self.cycles, offset, value),
            TPIU => self.trace.write_tpiu(offset, value),
            _ => return self.write_control(address, value),
        }
        self.update_checks();
        Ok(())
    }

    fn write_control(&mut self, address: u32, value: u32) -> Executed {
        let lines = u128::from(value) << (FIRST_INTERRUPT + (address >> 2 & 3) * 32);
        match address {
            SYSTICK_BASE..=0xe000_e01c => {
                self.systick
                    .write(self.cycles, address - SYSTICK_BASE, value);
            }
            SET_ENABLE..=0xe000_e10c => self.exceptions.enable_interrupts(lines, true),
            CLEAR_ENABLE..=0xe000_e18c => self.exceptions.enable_interrupts(lines, false),
            SET_PENDING..=0xe000_e20c => {
                let first = FIRST_INTERRUPT + (address >> 2 & 3) * 32;
                for number in (0..32).filter(|number| bit(value, *number)) {
                    self.pend(number + first);
                }
            }
            CLEAR_PENDING..=0xe000_e28c => self.exceptions.pending &= !lines,
            STIR => self.pend((value & 0x1ff) + FIRST_INTERRUPT),
            MPU..=0xe000_edb8 => {
                self.protection.write(address - MPU, value);
                self.update_checks();
            }
            ICSR => self.control_interrupts(value),
            VTOR => self.system.set_vectors(value),
            AIRCR if value >> 16 == AIRCR_KEY => {
                self.exceptions.group = value >> 8 & 7;
                if bit(value, SYSTEM_RESET_REQUEST) {
                    return Err(Trap::ResetRequest);
                }
            }
            SCR => self.system.set_control(value),
            CCR => self.system.configure(value),
            SHCSR => self.set_handler_control(value),
            HFSR => self.faults.hard &= !value,
            MMFAR => self.faults.memory_address = value,
            BFAR => self.faults.bus_address = value,
            CPACR => self.fpu.access = value & 0x00f0_0000,
            FPCCR => self.fpu.set_context_control(value),
            FPCAR => self.fpu.context_address = value & !7,
            FPDSCR => self.fpu.set_defaults(value),
            DEMCR => {
                self.trace.set_monitor(self.cycles, value);
                self.update_checks();
            }
            _ => {}
        }
        Ok(())
    }
}
