//! Decodes the 32-bit instructions, in the groups of section A5.3 of the manual.

mod memory;
mod multiply;
mod registers;

use super::float::decode as float;
use super::operation::{Alu, ConstantCarry, Field, Flags, Operation};
use crate::alu::Shift;
use crate::word::{bit, low_byte, low_half, sign_extend};

/// A four-bit register field.
fn field(opcode: u32, place: u32) -> u8 {
    low_byte(opcode >> place & 15)
}

/// The kind of a constant shift and its amount. A rotation by zero means one through the carry.
pub(super) fn shift(kind: u32, amount: u8) -> (Shift, u8) {
    match (kind, amount) {
        (0, _) => (Shift::Left, amount),
        (1, 0) => (Shift::LogicalRight, 32),
        (1, _) => (Shift::LogicalRight, amount),
        (2, 0) => (Shift::ArithmeticRight, 32),
        (2, _) => (Shift::ArithmeticRight, amount),
        _ => (Shift::RotateRight, amount),
    }
}

fn flags(opcode: u32) -> Flags {
    if bit(opcode, 20) {
        Flags::Set
    } else {
        Flags::Keep
    }
}

/// Decodes one instruction, its first half in the high half of `opcode`.
pub(super) fn decode(opcode: u32) -> Operation {
    let group = opcode >> 20 & 0x7f;
    match opcode >> 27 & 3 {
        1 => match group {
            _ if group & 0x40 != 0 => float::decode(opcode),
            _ if group & 0x20 != 0 => shifted(opcode),
            _ if group & 4 == 0 => memory::many(opcode),
            _ => memory::pair_or_exclusive(opcode),
        },
        2 if bit(opcode, 15) => branch_or_control(opcode),
        2 if group & 0x20 == 0 => constant(opcode),
        2 => plain_constant(opcode),
        _ => match group {
            _ if group & 0x40 != 0 => float::decode(opcode),
            _ if group & 0x71 == 0 => memory::store(opcode),
            _ if group & 0x67 == 7 => Operation::Undefined,
            _ if group & 0x61 == 1 => memory::load(opcode),
            _ if group & 0x70 == 0x20 => registers::decode(opcode),
            _ if group & 0x78 == 0x30 => multiply::decode(opcode),
            _ if group & 0x78 == 0x38 => multiply::decode_long(opcode),
            _ => Operation::Undefined,
        },
    }
}

/// The operation of a data processing group, for these registers: some compare if their destination is the
/// program counter, some move if their operand is.
fn operation(opcode: u32, d: u8, n: u8) -> Option<Alu> {
    let compares = d == 15 && bit(opcode, 20);
    Some(match opcode >> 21 & 15 {
        0 if compares => Alu::Test,
        0 => Alu::And,
        1 => Alu::BitClear,
        2 if n == 15 => Alu::Move,
        2 => Alu::Or,
        3 if n == 15 => Alu::MoveNot,
        3 => Alu::OrNot,
        4 if compares => Alu::TestEqual,
        4 => Alu::ExclusiveOr,
        8 if compares => Alu::CompareNegative,
        8 => Alu::Add,
        10 => Alu::AddCarry,
        11 => Alu::SubtractCarry,
        13 if compares => Alu::Compare,
        13 => Alu::Subtract,
        14 => Alu::ReverseSubtract,
        _ => return None,
    })
}

/// Data processing with a shifted register.
fn shifted(opcode: u32) -> Operation {
    let (d, n, m) = (field(opcode, 8), field(opcode, 16), field(opcode, 0));
    let amount = low_byte(opcode >> 10 & 0x1c | opcode >> 6 & 3);
    let kind = opcode >> 4 & 3;
    if opcode >> 21 & 15 == 6 {
        let (_, amount) = shift(kind, amount);
        return Operation::Pack {
            takes_top: bit(opcode, 5),
            d,
            n,
            m,
            amount,
        };
    }
    let Some(op) = operation(opcode, d, n) else {
        return Operation::Undefined;
    };
    let flags = flags(opcode);
    if kind == 3 && amount == 0 {
        return Operation::RotatedWithCarry { op, flags, d, n, m };
    }
    let (shift, amount) = shift(kind, amount);
    Operation::Shifted {
        op,
        flags,
        d,
        n,
        m,
        shift,
        amount,
    }
}

/// A constant as modified immediates encode it, and what it does to the carry.
pub(super) fn expand(encoded: u32) -> (u32, ConstantCarry) {
    let byte = encoded & 0xff;
    let value = match encoded >> 8 & 15 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte * 0x0101_0101,
        _ => {
            let value = (byte | 0x80).rotate_right(encoded >> 7 & 31);
            let carry = if bit(value, 31) {
                ConstantCarry::Set
            } else {
                ConstantCarry::Clear
            };
            return (value, carry);
        }
    };
    (value, ConstantCarry::Keep)
}

fn encoded_constant(opcode: u32) -> u32 {
    opcode >> 15 & 0x800 | opcode >> 4 & 0x700 | opcode & 0xff
}

/// Data processing with a modified immediate.
fn constant(opcode: u32) -> Operation {
    let (d, n) = (field(opcode, 8), field(opcode, 16));
    let (value, carry) = expand(encoded_constant(opcode));
    match operation(opcode, d, n) {
        Some(op) => Operation::Constant {
            op,
            flags: flags(opcode),
            carry,
            d,
            n,
            value,
        },
        None => Operation::Undefined,
    }
}

/// Data processing with a plain constant: ADDW, SUBW, ADR, MOVW, MOVT, saturation and bit fields.
fn plain_constant(opcode: u32) -> Operation {
    let (d, n) = (field(opcode, 8), field(opcode, 16));
    let value = encoded_constant(opcode);
    let low = low_byte(opcode >> 10 & 0x1c | opcode >> 6 & 3);
    let width = low_byte(opcode & 31);
    let half = low_half(opcode >> 4 & 0xf000 | value);
    let add = |op| Operation::Constant {
        op,
        flags: Flags::Keep,
        carry: ConstantCarry::Keep,
        d,
        n,
        value,
    };
    let address = |offset| Operation::Address {
        d,
        ahead: 0,
        offset,
    };
    let extract = |kind| Operation::BitField {
        kind,
        d,
        n,
        low,
        width: width + 1,
    };
    let saturate = |signed: bool| {
        let bits = width + u8::from(signed);
        if bit(opcode, 21) && low == 0 {
            let bits = (width & 15) + u8::from(signed);
            return Operation::SaturateHalves { signed, d, n, bits };
        }
        let (shift, amount) = shift(u32::from(bit(opcode, 21)) << 1, low);
        Operation::Saturate {
            signed,
            d,
            n,
            bits,
            shift,
            amount,
        }
    };
    match opcode >> 20 & 31 {
        0x00 if n == 15 => address(value),
        0x00 => add(Alu::Add),
        0x04 => Operation::Constant {
            op: Alu::Move,
            flags: Flags::Keep,
            carry: ConstantCarry::Keep,
            d,
            n,
            value: u32::from(half),
        },
        0x0a if n == 15 => address(value.wrapping_neg()),
        0x0a => add(Alu::Subtract),
        0x0c => Operation::MoveTop { d, value: half },
        0x10 | 0x12 => saturate(true),
        0x18 | 0x1a => saturate(false),
        0x14 => extract(Field::SignedExtract),
        0x1c => extract(Field::UnsignedExtract),
        0x16 if width >= low => Operation::BitField {
            kind: Field::Insert,
            d,
            n,
            low,
            width: width - low + 1,
        },
        _ => Operation::Undefined,
    }
}

/// Offset of a long branch. Bits 23 and 22 are stored as 1 if they equal the sign.
fn far_offset(opcode: u32) -> u32 {
    let sign = opcode >> 26 & 1;
    let i1 = (opcode >> 13 ^ sign ^ 1) & 1;
    let i2 = (opcode >> 11 ^ sign ^ 1) & 1;
    let offset =
        sign << 24 | i1 << 23 | i2 << 22 | (opcode >> 16 & 0x3ff) << 12 | (opcode & 0x7ff) << 1;
    sign_extend(offset, 25)
}

fn branch_or_control(opcode: u32) -> Operation {
    match opcode >> 12 & 7 {
        1 | 3 => Operation::Branch {
            offset: far_offset(opcode),
        },
        5 | 7 => Operation::BranchLink {
            offset: far_offset(opcode),
        },
        0 | 2 if opcode >> 23 & 7 != 7 => {
            let offset = (opcode >> 26 & 1) << 20
                | (opcode >> 11 & 1) << 19
                | (opcode >> 13 & 1) << 18
                | (opcode >> 16 & 0x3f) << 12
                | (opcode & 0x7ff) << 1;
            Operation::BranchIf {
                condition: low_byte(opcode >> 22 & 15),
                offset: sign_extend(offset, 21),
            }
        }
        0 | 2 => control(opcode),
        _ => Operation::Undefined,
    }
}

fn control(opcode: u32) -> Operation {
    match opcode >> 20 & 0x7f {
        0x38 | 0x39 => Operation::WriteSpecial {
            n: field(opcode, 16),
            number: low_byte(opcode),
            mask: low_byte(opcode >> 10 & 3),
        },
        0x3a if opcode & 0x700 == 0 => Operation::Hint(low_byte(opcode)),
        0x3b => match opcode >> 4 & 15 {
            2 => Operation::ClearExclusive,
            4..=6 => Operation::Barrier,
            _ => Operation::Undefined,
        },
        0x3e | 0x3f => Operation::ReadSpecial {
            d: field(opcode, 8),
            number: low_byte(opcode),
        },
        _ => Operation::Undefined,
    }
}
