//! The 16-bit loads and stores. A single one takes two cycles, a multiple one takes one plus one per
//! register.

use super::narrow::low_register;
use super::{Core, Executed, LR, SP, Trap};
use crate::bus::{Bus, Width};
use crate::word::{bit, sign_extend};

impl<B: Bus> Core<B> {
    pub(super) fn load_literal(&mut self, opcode: u32) -> Executed {
        self.cycles += 1;
        let base = self.pc_operand() & !3;
        let value = self.load_word(base.wrapping_add((opcode & 0xff) << 2))?;
        self.r[low_register(opcode, 8)] = value;
        Ok(())
    }

    pub(super) fn transfer_by_register(&mut self, opcode: u32) -> Executed {
        self.cycles += 1;
        let base = self.r[low_register(opcode, 3)];
        let address = base.wrapping_add(self.r[low_register(opcode, 6)]);
        let register = low_register(opcode, 0);
        let value = self.r[register];
        self.r[register] = match opcode >> 9 & 7 {
            0 => return self.store_at(address, Width::Word, value),
            1 => return self.store_at(address, Width::Half, value),
            2 => return self.store_at(address, Width::Byte, value),
            3 => sign_extend(self.load_at(address, Width::Byte)?, 8),
            4 => self.load_at(address, Width::Word)?,
            5 => self.load_at(address, Width::Half)?,
            6 => self.load_at(address, Width::Byte)?,
            _ => sign_extend(self.load_at(address, Width::Half)?, 16),
        };
        Ok(())
    }

    #[inline]
    pub(super) fn transfer_by_immediate(&mut self, opcode: u32) -> Executed {
        self.cycles += 1;
        let width = match opcode >> 12 {
            6 => Width::Word,
            7 => Width::Byte,
            _ => Width::Half,
        };
        let offset = (opcode >> 6 & 31) * width.bytes();
        let address = self.r[low_register(opcode, 3)].wrapping_add(offset);
        self.transfer(bit(opcode, 11), address, width, low_register(opcode, 0))
    }

    pub(super) fn transfer_on_stack(&mut self, opcode: u32) -> Executed {
        self.cycles += 1;
        let address = self.r[SP].wrapping_add((opcode & 0xff) << 2);
        self.transfer(
            bit(opcode, 11),
            address,
            Width::Word,
            low_register(opcode, 8),
        )
    }

    #[inline]
    fn transfer(&mut self, is_load: bool, address: u32, width: Width, register: usize) -> Executed {
        if is_load {
            self.r[register] = self.load_at(address, width)?;
            Ok(())
        } else {
            self.store_at(address, width, self.r[register])
        }
    }

    /// Stores the registers of a list upwards from `address`; returns the address after the last one.
    fn store_list(&mut self, list: u32, mut address: u32) -> Result<u32, Trap> {
        for register in (0..15).filter(|register| bit(list, *register)) {
            self.store_word(address, self.r[register as usize])?;
            address = address.wrapping_add(4);
            self.cycles += 1;
        }
        Ok(address)
    }

    /// Loads low registers upwards from `address`; returns the address after the last one. All or none of
    /// them change, so that the instruction can be repeated after a fault.
    fn load_list(&mut self, list: u32, mut address: u32) -> Result<u32, Trap> {
        let mut loaded = self.r;
        for register in (0..8).filter(|register| bit(list, *register)) {
            loaded[register as usize] = self.load_word(address)?;
            address = address.wrapping_add(4);
            self.cycles += 1;
        }
        self.r[..8].copy_from_slice(&loaded[..8]);
        Ok(address)
    }

    pub(super) fn push(&mut self, opcode: u32) -> Executed {
        // The extra bit of the list means LR.
        let list = opcode & 0xff | u32::from(bit(opcode, 8)) << LR;
        let lowest = self.r[SP].wrapping_sub(4 * list.count_ones());
        self.store_list(list, lowest)?;
        self.r[SP] = lowest;
        Ok(())
    }

    pub(super) fn pop(&mut self, opcode: u32) -> Executed {
        let before = self.r;
        let end = self.load_list(opcode & 0xff, self.r[SP])?;
        if !bit(opcode, 8) {
            self.r[SP] = end;
            return Ok(());
        }
        let Ok(target) = self.load_word(end) else {
            self.r = before;
            return Err(Trap::Fault);
        };
        self.cycles += 2;
        self.r[SP] = end.wrapping_add(4);
        self.branch_exchange(target)
    }

    pub(super) fn store_multiple(&mut self, opcode: u32) -> Executed {
        let base = low_register(opcode, 8);
        self.r[base] = self.store_list(opcode & 0xff, self.r[base])?;
        Ok(())
    }

    pub(super) fn load_multiple(&mut self, opcode: u32) -> Executed {
        let base = low_register(opcode, 8);
        let end = self.load_list(opcode & 0xff, self.r[base])?;
        if opcode >> base & 1 == 0 {
            self.r[base] = end;
        }
        Ok(())
    }
}
