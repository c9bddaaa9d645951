//! The 16-bit instructions except loads and stores, grouped by the top six bits as in table A5-1 of the
//! manual.

use super::{Core, Executed, LR, PC, SP, Sleep, Trap};
use crate::alu::{Shift, add_with_carry, shift};
use crate::bus::Bus;
use crate::word::{bit, sign_extend};

/// Three-bit register field at bit number `place`.
#[inline]
pub(super) const fn low_register(opcode: u32, place: u32) -> usize {
    (opcode >> place & 7) as usize
}

impl<B: Bus> Core<B> {
    /// Fetches and executes one instruction. While it executes, the program counter holds the address of
    /// the next instruction; after a trap the caller restores it.
    #[inline]
    pub(super) fn execute(&mut self) -> Executed {
        let at = self.r[PC];
        if !self.thumb {
            return Err(Trap::Fault);
        }
        let fetched = self.bus.fetch(self.cycles, at);
        let opcode = u32::from(fetched.map_err(|_| Trap::Fault)?);
        self.r[PC] = at.wrapping_add(2);
        self.cycles += 1;
        match opcode >> 10 {
            0x00..=0x05 => self.shift_immediate(opcode),
            0x06 | 0x07 => self.add_three(opcode),
            0x08..=0x0f => self.immediate(opcode),
            0x10 => self.data_processing(opcode),
            0x11 => return self.high_registers(opcode),
            0x12 | 0x13 => return self.load_literal(opcode),
            0x14..=0x17 => return self.transfer_by_register(opcode),
            0x18..=0x23 => return self.transfer_by_immediate(opcode),
            0x24..=0x27 => return self.transfer_on_stack(opcode),
            0x28..=0x2b => self.address(opcode),
            0x2c..=0x2f => return self.miscellaneous(opcode),
            0x30 | 0x31 => return self.store_multiple(opcode),
            0x32 | 0x33 => return self.load_multiple(opcode),
            0x34..=0x37 => return self.branch_if(opcode),
            0x38 | 0x39 => {
                self.jump(
                    self.pc_operand()
                        .wrapping_add(sign_extend(opcode << 1 & 0xfff, 12)),
                );
            }
            0x3c..=0x3f => return self.execute_wide(opcode),
            _ => return Err(Trap::Fault),
        }
        Ok(())
    }

    /// The value of the program counter as an operand: the instruction's own address plus 4.
    #[inline]
    pub(super) fn pc_operand(&self) -> u32 {
        self.r[PC].wrapping_add(2)
    }

    /// Jumps to an address; refilling the pipeline takes two more cycles.
    #[inline]
    pub(super) fn jump(&mut self, address: u32) {
        self.r[PC] = address & !1;
        self.cycles += 2;
    }

    /// A branch to a value from a register or from the stack: bit 0 selects the instruction set, and in
    /// handler mode the highest addresses mean an exception return.
    pub(super) fn branch_exchange(&mut self, target: u32) -> Executed {
        if target >> 28 == 0xf && self.ipsr != 0 {
            return self.exception_return(target);
        }
        self.thumb = target & 1 == 1;
        self.jump(target);
        Ok(())
    }

    #[inline]
    pub(super) fn set_nz(&mut self, value: u32) {
        self.negative = value >> 31 == 1;
        self.zero = value == 0;
    }

    /// Adds and sets all flags.
    #[inline]
    fn add(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let sum = add_with_carry(a, b, carry);
        self.set_nz(sum.value);
        self.carry = sum.carry;
        self.overflow = sum.overflow;
        sum.value
    }

    #[inline]
    fn shift(&mut self, kind: Shift, value: u32, amount: u32) -> u32 {
        let (value, carry) = shift(kind, value, amount, self.carry);
        self.carry = carry;
        self.set_nz(value);
        value
    }

    #[inline]
    fn shift_immediate(&mut self, opcode: u32) {
        let value = self.r[low_register(opcode, 3)];
        let field = opcode >> 6 & 31;
        let (kind, amount) = match (opcode >> 11, field) {
            (0, _) => (Shift::Left, field),
            (1, 0) => (Shift::LogicalRight, 32),
            (1, _) => (Shift::LogicalRight, field),
            (_, 0) => (Shift::ArithmeticRight, 32),
            (_, _) => (Shift::ArithmeticRight, field),
        };
        self.r[low_register(opcode, 0)] = self.shift(kind, value, amount);
    }

    /// ADDS and SUBS with three registers or a 3-bit number.
    #[inline]
    fn add_three(&mut self, opcode: u32) {
        let first = self.r[low_register(opcode, 3)];
        let second = if bit(opcode, 10) {
            opcode >> 6 & 7
        } else {
            self.r[low_register(opcode, 6)]
        };
        self.r[low_register(opcode, 0)] = if bit(opcode, 9) {
            self.add(first, !second, true)
        } else {
            self.add(first, second, false)
        };
    }

    /// MOVS, CMP, ADDS, SUBS with an 8-bit number.
    #[inline]
    fn immediate(&mut self, opcode: u32) {
        let number = opcode & 0xff;
        let register = low_register(opcode, 8);
        let value = self.r[register];
        match opcode >> 11 & 3 {
            0 => {
                self.set_nz(number);
                self.r[register] = number;
            }
            1 => {
                self.add(value, !number, true);
            }
            2 => self.r[register] = self.add(value, number, false),
            _ => self.r[register] = self.add(value, !number, true),
        }
    }

    #[inline]
    fn data_processing(&mut self, opcode: u32) {
        let register = low_register(opcode, 0);
        let a = self.r[register];
        let b = self.r[low_register(opcode, 3)];
        let result = match opcode >> 6 & 15 {
            0x2 => self.shift(Shift::Left, a, b & 0xff),
            0x3 => self.shift(Shift::LogicalRight, a, b & 0xff),
            0x4 => self.shift(Shift::ArithmeticRight, a, b & 0xff),
            0x5 => self.add(a, b, self.carry),
            0x6 => self.add(a, !b, self.carry),
            0x7 => self.shift(Shift::RotateRight, a, b & 0xff),
            0x8 => {
                self.set_nz(a & b);
                a
            }
            0x9 => self.add(0, !b, true),
            0xa => {
                self.add(a, !b, true);
                a
            }
            0xb => {
                self.add(a, b, false);
                a
            }
            logical => {
                let value = match logical {
                    0x0 => a & b,
                    0x1 => a ^ b,
                    0xc => a | b,
                    0xd => a.wrapping_mul(b),
                    0xe => a & !b,
                    _ => !b,
                };
                self.set_nz(value);
                value
            }
        };
        self.r[register] = result;
    }

    /// ADD, CMP and MOV with all registers, BX, BLX.
    fn high_registers(&mut self, opcode: u32) -> Executed {
        let first = (opcode & 7 | opcode >> 4 & 8) as usize;
        let second = (opcode >> 3 & 15) as usize;
        let read = |core: &Self, register: usize| {
            if register == PC {
                core.pc_operand()
            } else {
                core.r[register]
            }
        };
        let value = read(self, second);
        match opcode >> 8 & 3 {
            0 => {
                let sum = read(self, first).wrapping_add(value);
                self.write_any(first, sum);
            }
            1 => {
                let left = read(self, first);
                self.add(left, !value, true);
            }
            2 => self.write_any(first, value),
            _ if bit(opcode, 7) => {
                self.r[LR] = self.r[PC] | 1;
                self.thumb = value & 1 == 1;
                self.jump(value);
            }
            _ => return self.branch_exchange(value),
        }
        Ok(())
    }

    fn write_any(&mut self, register: usize, value: u32) {
        match register {
            PC => self.jump(value),
            SP => self.r[SP] = value & !3,
            _ => self.r[register] = value,
        }
    }

    /// ADR, and ADD of SP to a register.
    fn address(&mut self, opcode: u32) {
        let base = if bit(opcode, 11) {
            self.r[SP]
        } else {
            self.pc_operand() & !3
        };
        self.r[low_register(opcode, 8)] = base.wrapping_add((opcode & 0xff) << 2);
    }

    /// Table A5-5: stack adjustment, extension, PUSH, POP, CPS, byte reversal, BKPT, hints.
    fn miscellaneous(&mut self, opcode: u32) -> Executed {
        match opcode >> 8 & 15 {
            0x0 => {
                let bytes = (opcode & 0x7f) << 2;
                self.r[SP] = if bit(opcode, 7) {
                    self.r[SP].wrapping_sub(bytes)
                } else {
                    self.r[SP].wrapping_add(bytes)
                };
            }
            0x2 => self.extend(opcode),
            0x4 | 0x5 => return self.push(opcode),
            0x6 if opcode & !0x10 == 0xb662 => {
                self.primask = bit(opcode, 4);
                self.look_up();
            }
            0xa => return self.reverse(opcode),
            0xc | 0xd => return self.pop(opcode),
            0xe => return Err(Trap::Breakpoint),
            0xf if opcode & 15 == 0 => self.hint(opcode >> 4 & 15),
            _ => return Err(Trap::Fault),
        }
        Ok(())
    }

    fn extend(&mut self, opcode: u32) {
        let value = self.r[low_register(opcode, 3)];
        self.r[low_register(opcode, 0)] = match opcode >> 6 & 3 {
            0 => sign_extend(value, 16),
            1 => sign_extend(value, 8),
            2 => value & 0xffff,
            _ => value & 0xff,
        };
    }

    fn reverse(&mut self, opcode: u32) -> Executed {
        let value = self.r[low_register(opcode, 3)];
        self.r[low_register(opcode, 0)] = match opcode >> 6 & 3 {
            0 => value.swap_bytes(),
            1 => value.swap_bytes().rotate_left(16),
            3 => sign_extend(value.swap_bytes() >> 16, 16),
            _ => return Err(Trap::Fault),
        };
        Ok(())
    }

    fn hint(&mut self, number: u32) {
        match number {
            2 if std::mem::take(&mut self.event) => {}
            2 => self.sleep = Sleep::ForEvent,
            3 => self.sleep = Sleep::ForInterrupt,
            4 => self.event = true,
            _ => return,
        }
        self.cycles += 1;
        self.look_up();
    }

    /// Conditional B, UDF, SVC.
    #[inline]
    fn branch_if(&mut self, opcode: u32) -> Executed {
        let condition = opcode >> 8 & 15;
        let holds = match condition >> 1 {
            0 => self.zero,
            1 => self.carry,
            2 => self.negative,
            3 => self.overflow,
            4 => self.carry && !self.zero,
            5 => self.negative == self.overflow,
            6 => self.negative == self.overflow && !self.zero,
            _ if condition == 15 => return Err(Trap::Supervisor),
            _ => return Err(Trap::Fault),
        };
        if holds != bit(condition, 0) {
            let offset = sign_extend((opcode & 0xff) << 1, 9);
            self.jump(self.pc_operand().wrapping_add(offset));
        }
        Ok(())
    }
}
