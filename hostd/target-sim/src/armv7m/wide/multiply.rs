//! Multiplication and division.

use super::field;
use crate::armv7m::operation::{Flags, LongProduct, Operation, Product};
use crate::word::{bit, low_byte};

pub(super) fn decode(opcode: u32) -> Operation {
    let (d, n, m, a) = (
        field(opcode, 8),
        field(opcode, 16),
        field(opcode, 0),
        field(opcode, 12),
    );
    let variant = opcode >> 4 & 3;
    let swaps = bit(variant, 0);
    if opcode >> 6 & 3 != 0 {
        return Operation::Undefined;
    }
    let kind = match (opcode >> 20 & 7, variant) {
        (0, 0) => Product::Add,
        (0, 1) => Product::Subtract,
        (1, _) => Product::Halves(low_byte(variant)),
        (2, 0 | 1) => Product::DualAdd(swaps),
        (3, 0 | 1) => Product::WordByHalf(swaps),
        (4, 0 | 1) => Product::DualSubtract(swaps),
        (5, 0 | 1) => Product::High(swaps),
        (6, 0 | 1) => Product::HighSubtract(swaps),
        (7, 0) => return Operation::SumOfDifferences { d, n, m, a },
        _ => return Operation::Undefined,
    };
    Operation::Multiply {
        kind,
        flags: Flags::Keep,
        d,
        n,
        m,
        a,
    }
}

pub(super) fn decode_long(opcode: u32) -> Operation {
    let (low, high, n, m) = (
        field(opcode, 12),
        field(opcode, 8),
        field(opcode, 16),
        field(opcode, 0),
    );
    let variant = opcode >> 4 & 15;
    let swaps = bit(variant, 0);
    let kind = match (opcode >> 20 & 7, variant) {
        (0, 0) => LongProduct::Signed,
        (2, 0) => LongProduct::Unsigned,
        (1 | 3, 15) => {
            return Operation::Divide {
                signed: !bit(opcode, 21),
                d: high,
                n,
                m,
            };
        }
        (4, 0) => LongProduct::SignedAdd,
        (4, 8..=11) => LongProduct::Halves(low_byte(variant & 3)),
        (4, 12 | 13) => LongProduct::DualAdd(swaps),
        (5, 12 | 13) => LongProduct::DualSubtract(swaps),
        (6, 0) => LongProduct::UnsignedAdd,
        (6, 6) => LongProduct::UnsignedAddBoth,
        _ => return Operation::Undefined,
    };
    Operation::MultiplyLong {
        kind,
        low,
        high,
        n,
        m,
    }
}
