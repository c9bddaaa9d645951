//! The 32-bit instructions: BL, MRS, MSR and the barriers. All others are undefined in ARMv6-M.

use super::{Core, Executed, LR, PC, Trap};
use crate::bus::Bus;
use crate::word::{bit, sign_extend};

/// Numbers of the special registers in MRS and MSR.
const LAST_STATUS: u32 = 7;
const MSP: u32 = 8;
const PSP: u32 = 9;
const PRIMASK: u32 = 16;
const CONTROL: u32 = 20;

/// BL, MRS, MSR and the barriers take four cycles: three more than any instruction.
const EXTRA_CYCLES: u64 = 3;

impl<B: Bus> Core<B> {
    pub(super) fn execute_wide(&mut self, first: u32) -> Executed {
        let fetched = self.bus.fetch(self.cycles, self.r[PC]);
        let second = u32::from(fetched.map_err(|_| Trap::Fault)?);
        let next = self.r[PC].wrapping_add(2);
        if second & 0xd000 == 0xd000 && first >> 11 == 0b11110 {
            self.cycles += EXTRA_CYCLES;
            self.r[LR] = next | 1;
            self.r[PC] = next.wrapping_add(branch_offset(first, second));
            return Ok(());
        }
        self.r[PC] = next;
        self.cycles += EXTRA_CYCLES;
        let source = (first & 15) as usize;
        if first & 0xffe0 == 0xf380 && second & 0xff00 == 0x8800 && source < 13 {
            self.write_special(second & 0xff, self.r[source]);
        } else if first == 0xf3ef && second & 0xf000 == 0x8000 && second >> 8 & 15 < 13 {
            self.r[(second >> 8 & 15) as usize] = self.read_special(second & 0xff);
        } else if first == 0xf3bf && matches!(second & 0xfff0, 0x8f40 | 0x8f50 | 0x8f60) {
            // Memory accesses are always in order, so there is nothing to do.
        } else {
            return Err(Trap::Fault);
        }
        Ok(())
    }

    fn read_special(&self, number: u32) -> u32 {
        match number {
            0..=LAST_STATUS => {
                let flags = if bit(number, 2) { 0 } else { self.apsr() };
                let exception = if bit(number, 0) { self.ipsr } else { 0 };
                flags | exception
            }
            MSP => self.main_sp(),
            PSP => self.process_sp(),
            PRIMASK => u32::from(self.primask),
            CONTROL => self.control(),
            _ => 0,
        }
    }

    fn write_special(&mut self, number: u32, value: u32) {
        match number {
            0..=3 => self.set_apsr(value),
            MSP => self.set_main_sp(value),
            PSP => self.set_process_sp(value),
            PRIMASK => self.primask = bit(value, 0),
            CONTROL if self.ipsr == 0 => self.select_process_stack(bit(value, 1)),
            _ => {}
        }
        self.look_up();
    }
}

/// Offset of a BL from the instruction after it. Bits 23 and 22 are stored as 1 if they equal the sign.
const fn branch_offset(first: u32, second: u32) -> u32 {
    let sign = first >> 10 & 1;
    let i1 = (second >> 13 ^ sign ^ 1) & 1;
    let i2 = (second >> 11 ^ sign ^ 1) & 1;
    let offset = sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;
    sign_extend(offset, 25)
}
