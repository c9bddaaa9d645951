//! Data processing with constants and registers, shifts, bit fields, extension and reversal.

use super::operation::{Alu, ConstantCarry, Extension, Field, Flags, Reversal};
use super::{Core, PC};
use crate::alu::{Shift, add_with_carry, shift};
use crate::bus::Bus;
use crate::word::{bit, sign_extend};

impl<B: Bus> Core<B> {
    #[inline]
    fn set_nz(&mut self, value: u32) {
        self.negative = value >> 31 == 1;
        self.zero = value == 0;
    }

    /// Adds and sets all flags.
    #[inline]
    pub(super) fn add_and_set(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let sum = add_with_carry(a, b, carry);
        self.set_nz(sum.value);
        self.carry = sum.carry;
        self.overflow = sum.overflow;
        sum.value
    }

    #[inline]
    fn sum(&mut self, sets: bool, a: u32, b: u32, carry: bool) -> u32 {
        if sets {
            self.add_and_set(a, b, carry)
        } else {
            a.wrapping_add(b).wrapping_add(u32::from(carry))
        }
    }

    /// Flags of a logical operation: the carry comes from its operand.
    #[inline]
    fn logical(&mut self, sets: bool, value: u32, carry: bool) -> u32 {
        if sets {
            self.set_nz(value);
            self.carry = carry;
        }
        value
    }

    #[inline]
    fn process(&mut self, op: Alu, sets: bool, [d, n]: [u8; 2], b: u32, carry: bool) {
        let a = self.get(n);
        let value = match op {
            Alu::Move => self.logical(sets, b, carry),
            Alu::Add => self.sum(sets, a, b, false),
            Alu::Subtract => self.sum(sets, a, !b, true),
            Alu::Compare => {
                self.add_and_set(a, !b, true);
                return;
            }
            Alu::And => self.logical(sets, a & b, carry),
            Alu::Or => self.logical(sets, a | b, carry),
            Alu::ExclusiveOr => self.logical(sets, a ^ b, carry),
            Alu::BitClear => self.logical(sets, a & !b, carry),
            Alu::OrNot => self.logical(sets, a | !b, carry),
            Alu::MoveNot => self.logical(sets, !b, carry),
            Alu::AddCarry => self.sum(sets, a, b, self.carry),
            Alu::SubtractCarry => self.sum(sets, a, !b, self.carry),
            Alu::ReverseSubtract => self.sum(sets, b, !a, true),
            Alu::Test => {
                self.logical(true, a & b, carry);
                return;
            }
            Alu::TestEqual => {
                self.logical(true, a ^ b, carry);
                return;
            }
            Alu::CompareNegative => {
                self.add_and_set(a, b, false);
                return;
            }
        };
        self.put(d, value);
    }

    #[inline]
    pub(super) fn with_constant(
        &mut self,
        op: Alu,
        flags: Flags,
        carry: ConstantCarry,
        registers: [u8; 2],
        value: u32,
    ) {
        let carry = match carry {
            ConstantCarry::Keep => self.carry,
            ConstantCarry::Clear => false,
            ConstantCarry::Set => true,
        };
        self.process(op, self.sets(flags), registers, value, carry);
    }

    #[inline]
    pub(super) fn with_shifted(
        &mut self,
        op: Alu,
        flags: Flags,
        [d, n, m]: [u8; 3],
        kind: Shift,
        amount: u8,
    ) {
        let (value, carry) = shift(kind, self.get(m), u32::from(amount), self.carry);
        self.process(op, self.sets(flags), [d, n], value, carry);
    }

    pub(super) fn with_rotated(&mut self, op: Alu, flags: Flags, [d, n, m]: [u8; 3]) {
        let source = self.get(m);
        let value = u32::from(self.carry) << 31 | source >> 1;
        self.process(op, self.sets(flags), [d, n], value, bit(source, 0));
    }

    pub(super) fn shift_by_register(&mut self, kind: Shift, flags: Flags, [d, n, m]: [u8; 3]) {
        let (value, carry) = shift(kind, self.get(n), self.get(m) & 0xff, self.carry);
        let value = self.logical(self.sets(flags), value, carry);
        self.put(d, value);
    }

    pub(super) fn bit_field(&mut self, kind: Field, [d, n]: [u8; 2], low: u8, width: u8) {
        let (low, width) = (u32::from(low), u32::from(width));
        let mask = u32::MAX >> (32 - width.clamp(1, 32));
        let source = if usize::from(n) == PC { 0 } else { self.get(n) };
        let value = match kind {
            Field::UnsignedExtract => source >> low & mask,
            Field::SignedExtract => sign_extend(source >> low & mask, width.clamp(1, 32)),
            Field::Insert => self.get(d) & !(mask << low) | (source & mask) << low,
        };
        self.put(d, value);
    }

    pub(super) fn extend(&mut self, kind: Extension, [d, n, m]: [u8; 3], rotation: u8) {
        let source = self.get(m).rotate_right(u32::from(rotation));
        let base = if usize::from(n) == PC { 0 } else { self.get(n) };
        let halves = |low: u32, high: u32| {
            base.wrapping_add(low) & 0xffff | (base >> 16).wrapping_add(high) << 16
        };
        let value = match kind {
            Extension::SignedHalf => base.wrapping_add(sign_extend(source, 16)),
            Extension::UnsignedHalf => base.wrapping_add(source & 0xffff),
            Extension::SignedByte => base.wrapping_add(sign_extend(source, 8)),
            Extension::UnsignedByte => base.wrapping_add(source & 0xff),
            Extension::SignedBytes => halves(sign_extend(source, 8), sign_extend(source >> 16, 8)),
            Extension::UnsignedBytes => halves(source & 0xff, source >> 16 & 0xff),
        };
        self.put(d, value);
    }

    pub(super) fn reverse(&mut self, kind: Reversal, d: u8, m: u8) {
        let source = self.get(m);
        let value = match kind {
            Reversal::Bytes => source.swap_bytes(),
            Reversal::BytesOfHalves => source.swap_bytes().rotate_left(16),
            Reversal::SignedHalf => sign_extend(source.swap_bytes() >> 16, 16),
            Reversal::Bits => source.reverse_bits(),
            Reversal::LeadingZeros => source.leading_zeros(),
        };
        self.put(d, value);
    }
}
