//! Fetches, looks up and executes one instruction.

use super::operation::{Access, Flags, Operation};
use super::{Core, Executed, LR, PC, SP, Sleep, Trap, decoded};
use crate::bus::Bus;
use crate::word::bit;

/// The first byte of a breakpoint, which no condition holds back.
const BREAKPOINT: u32 = 0xbe;

/// BL, MRS, MSR and the barriers.
const SLOW_CYCLES: u64 = 2;

impl<B: Bus> Core<B> {
    /// While an instruction executes, the program counter holds the address of the next one; after a trap the
    /// caller restores it.
    #[inline]
    pub(super) fn execute(&mut self) -> Executed {
        let at = self.r[PC];
        if !self.thumb {
            return Err(Trap::InvalidState);
        }
        let first = self.fetch(at)?;
        let opcode = if decoded::is_wide(first) {
            self.r[PC] = at.wrapping_add(4);
            first << 16 | self.fetch(at.wrapping_add(2))?
        } else {
            self.r[PC] = at.wrapping_add(2);
            first
        };
        self.cycles += 1;
        if (self.block != 0 || self.in_block.is_some()) && !self.follow_block(opcode) {
            return Ok(());
        }
        self.perform(opcode)
    }

    /// Moves on in an IT block, or out of it. Returns whether the instruction is to be executed.
    fn follow_block(&mut self, opcode: u32) -> bool {
        if self.block == 0 {
            self.in_block = None;
            return true;
        }
        let state = self.block;
        self.in_block = Some(state);
        self.block = if state & 7 == 0 {
            0
        } else {
            state & 0xe0 | state << 1 & 0x1f
        };
        self.holds(state >> 4) || opcode >> 8 == BREAKPOINT
    }

    /// Whether a condition holds.
    #[inline]
    fn holds(&self, condition: u8) -> bool {
        let holds = match condition >> 1 & 7 {
            0 => self.zero,
            1 => self.carry,
            2 => self.negative,
            3 => self.overflow,
            4 => self.carry && !self.zero,
            5 => self.negative == self.overflow,
            6 => self.negative == self.overflow && !self.zero,
            _ => return true,
        };
        holds != bit(u32::from(condition), 0)
    }

    #[inline]
    pub(super) fn get(&self, register: u8) -> u32 {
        self.r[(register & 15) as usize]
    }

    /// Writes a register other than the program counter. The low two bits of the stack pointer stay zero.
    #[inline]
    pub(super) fn put(&mut self, register: u8, value: u32) {
        let kept = if usize::from(register) == SP {
            value & !3
        } else {
            value
        };
        self.r[(register & 15) as usize] = kept;
    }

    /// Whether an instruction sets the flags, here.
    #[inline]
    pub(super) fn sets(&self, flags: Flags) -> bool {
        match flags {
            Flags::Keep => false,
            Flags::Set => true,
            Flags::SetOutsideBlock => self.in_block.is_none(),
        }
    }

    #[inline]
    #[allow(
        clippy::too_many_lines,
        reason = "one line or two for each operation, and nothing else"
    )]
    fn perform(&mut self, opcode: u32) -> Executed {
        // What an operation needs is copied from where it is kept, not the whole of it.
        match *self.decoded.find(opcode) {
            Operation::Constant {
                op,
                flags,
                carry,
                d,
                n,
                value,
            } => self.with_constant(op, flags, carry, [d, n], value),
            Operation::Shifted {
                op,
                flags,
                d,
                n,
                m,
                shift,
                amount,
            } => self.with_shifted(op, flags, [d, n, m], shift, amount),
            Operation::BranchIf { condition, offset } => {
                if self.holds(condition) {
                    self.jump(self.r[PC].wrapping_add(offset));
                }
            }
            Operation::Branch { offset } => self.jump(self.r[PC].wrapping_add(offset)),
            Operation::Load {
                access,
                index,
                t,
                n,
                offset,
            } => return self.load_register(access, index, [t, n], offset),
            Operation::Store {
                access,
                index,
                t,
                n,
                offset,
            } => return self.store_register(access, index, [t, n], offset),
            Operation::LoadIndexed {
                access,
                t,
                n,
                m,
                amount,
            } => {
                self.cycles += 1;
                let address = self.get(n).wrapping_add(self.get(m) << (amount & 3));
                let value = self.load_as(access, address)?;
                return self.finish_load(t, value);
            }
            Operation::StoreIndexed {
                access,
                t,
                n,
                m,
                amount,
            } => {
                self.cycles += 1;
                let address = self.get(n).wrapping_add(self.get(m) << (amount & 3));
                return self.store_as(access, address, self.get(t));
            }
            Operation::LoadLiteral {
                access,
                t,
                ahead,
                offset,
            } => return self.load_literal(access, t, ahead, offset),
            Operation::RotatedWithCarry { op, flags, d, n, m } => {
                self.with_rotated(op, flags, [d, n, m]);
            }
            Operation::ShiftByRegister {
                shift,
                flags,
                d,
                n,
                m,
            } => self.shift_by_register(shift, flags, [d, n, m]),
            Operation::AddAny { d, m } => {
                let sum = self.get_any(d).wrapping_add(self.get_any(m));
                self.put_any(d, sum);
            }
            Operation::MoveAny { d, m } => self.put_any(d, self.get_any(m)),
            Operation::CompareAny { n, m } => {
                let left = self.get_any(n);
                self.add_and_set(left, !self.get_any(m), true);
            }
            Operation::Address { d, ahead, offset } => {
                let base = self.r[PC].wrapping_add(u32::from(ahead)) & !3;
                self.put_any(d, base.wrapping_add(offset));
            }
            Operation::MoveTop { d, value } => {
                let kept = self.get(d) & 0xffff;
                self.put(d, kept | u32::from(value) << 16);
            }
            Operation::BranchLink { offset } => {
                self.r[LR] = self.r[PC] | 1;
                self.jump(self.r[PC].wrapping_add(offset));
            }
            Operation::BranchExchange { m } => return self.branch_exchange(self.get(m)),
            Operation::BranchLinkExchange { m } => {
                let target = self.get(m);
                self.r[LR] = self.r[PC] | 1;
                self.thumb = bit(target, 0);
                self.jump(target);
            }
            Operation::CompareBranch { n, nonzero, offset } => {
                if (self.get(n) != 0) == nonzero {
                    self.jump(self.r[PC].wrapping_add(u32::from(offset) + 2));
                }
            }
            Operation::TableBranch { n, m, halves } => {
                self.cycles += 1;
                let (access, index) = if halves {
                    (Access::Half, self.get(m) << 1)
                } else {
                    (Access::Byte, self.get(m))
                };
                let distance = self.load_as(access, self.get(n).wrapping_add(index))?;
                self.jump(self.r[PC].wrapping_add(distance << 1));
            }
            operation @ (Operation::LoadPair { .. }
            | Operation::StorePair { .. }
            | Operation::LoadMany { .. }
            | Operation::StoreMany { .. }
            | Operation::LoadExclusive { .. }
            | Operation::StoreExclusive { .. }
            | Operation::ClearExclusive) => return self.transfer(operation),
            operation @ (Operation::Multiply { .. }
            | Operation::MultiplyLong { .. }
            | Operation::Divide { .. }
            | Operation::SumOfDifferences { .. }) => return self.multiply_or_divide(operation),
            Operation::BitField {
                kind,
                d,
                n,
                low,
                width,
            } => self.bit_field(kind, [d, n], low, width),
            Operation::Extend {
                kind,
                d,
                n,
                m,
                rotation,
            } => self.extend(kind, [d, n, m], rotation),
            Operation::Reverse { kind, d, m } => self.reverse(kind, d, m),
            operation @ (Operation::Pack { .. }
            | Operation::Select { .. }
            | Operation::Saturate { .. }
            | Operation::SaturateHalves { .. }
            | Operation::AddSaturating { .. }
            | Operation::Parallel { .. }) => self.parallel(operation),
            Operation::Float(float) => return self.float(float),
            Operation::IfThen(state) => self.block = state,
            Operation::Breakpoint => return Err(Trap::Breakpoint),
            Operation::Supervisor => return Err(Trap::Supervisor),
            Operation::Undefined => return Err(Trap::Undefined),
            Operation::NoCoprocessor => return Err(Trap::NoCoprocessor),
            Operation::Hint(number) => self.hint(number),
            // Memory accesses are always in order, so there is nothing to do.
            Operation::Barrier => self.cycles += SLOW_CYCLES,
            Operation::ChangeState {
                disable,
                primask,
                faultmask,
            } => self.change_state(disable, primask, faultmask),
            Operation::ReadSpecial { d, number } => {
                self.cycles += SLOW_CYCLES;
                let value = self.read_special(number);
                self.put(d, value);
            }
            Operation::WriteSpecial { n, number, mask } => {
                self.cycles += SLOW_CYCLES;
                self.write_special(number, mask, self.get(n));
            }
        }
        Ok(())
    }

    /// Jumps to an address; refilling the pipeline takes two more cycles.
    #[inline]
    pub(super) fn jump(&mut self, address: u32) {
        self.r[PC] = address & !1;
        self.cycles += 2;
    }

    /// A branch to a value from a register or from memory: bit 0 selects the instruction set, and in
    /// handler mode the highest addresses mean an exception return.
    pub(super) fn branch_exchange(&mut self, target: u32) -> Executed {
        if target >> 28 == 0xf && self.ipsr != 0 {
            return self.exception_return(target);
        }
        self.thumb = target & 1 == 1;
        self.jump(target);
        Ok(())
    }

    /// A register as the 16-bit instructions read it that may name the program counter.
    fn get_any(&self, register: u8) -> u32 {
        if usize::from(register) == PC {
            self.r[PC].wrapping_add(2)
        } else {
            self.get(register)
        }
    }

    fn put_any(&mut self, register: u8, value: u32) {
        if usize::from(register) == PC {
            self.jump(value);
        } else {
            self.put(register, value);
        }
    }

    fn hint(&mut self, number: u8) {
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

    /// CPS. Unprivileged code cannot change anything.
    fn change_state(&mut self, disable: bool, primask: bool, faultmask: bool) {
        if !self.is_privileged() {
            return;
        }
        if primask {
            self.primask = disable;
        }
        if faultmask && (!disable || !self.exceptions.is_in_fault()) {
            self.faultmask = disable;
        }
        self.look_up();
    }
}
