//! Decodes the floating-point instructions, by sections A6.4 to A6.7 of the manual.

use super::{Arithmetic, Float, Unary};
use crate::armv7m::operation::Operation;
use crate::word::{bit, low_byte};

/// A register from a four-bit field and its additional lowest bit.
fn single(opcode: u32, place: u32, extra: u32) -> u8 {
    low_byte((opcode >> place & 15) << 1 | opcode >> extra & 1)
}

/// The even register of a pair, from a four-bit field; a pair above the last one does not exist.
fn pair(opcode: u32, place: u32, extra: u32) -> Option<u8> {
    (!bit(opcode, extra)).then_some(low_byte((opcode >> place & 15) << 1))
}

fn d(opcode: u32) -> u8 {
    single(opcode, 12, 22)
}

fn m(opcode: u32) -> u8 {
    single(opcode, 0, 5)
}

/// Decodes a coprocessor instruction; only coprocessors 10 and 11 exist.
pub(in crate::armv7m) fn decode(opcode: u32) -> Operation {
    if opcode >> 9 & 7 != 5 || bit(opcode, 28) {
        return Operation::NoCoprocessor;
    }
    let is_double = bit(opcode, 8);
    let decoded = match opcode >> 24 & 15 {
        14 if bit(opcode, 4) => transfer_of_word(opcode, is_double),
        14 if is_double => None,
        14 => compute(opcode),
        _ if opcode >> 21 & 15 == 2 => transfer_of_pair(opcode, is_double),
        _ => transfer(opcode, is_double),
    };
    decoded.map_or(Operation::Undefined, Operation::Float)
}

fn compute(opcode: u32) -> Option<Float> {
    let other = bit(opcode, 6);
    let kind = match opcode >> 20 & 0xb {
        0 => Arithmetic::MultiplyThenAdd {
            negates_sum: false,
            negates_product: other,
        },
        1 => Arithmetic::MultiplyThenAdd {
            negates_sum: true,
            negates_product: other,
        },
        2 => Arithmetic::Multiply { negates: other },
        3 if other => Arithmetic::Subtract,
        3 => Arithmetic::Add,
        8 if !other => Arithmetic::Divide,
        9 => Arithmetic::Fused {
            negates_sum: true,
            negates_product: other,
        },
        10 => Arithmetic::Fused {
            negates_sum: false,
            negates_product: other,
        },
        11 if other => return compute_unary(opcode),
        11 => {
            return Some(Float::Constant {
                d: d(opcode),
                value: constant(opcode >> 12 & 0xf0 | opcode & 15),
            });
        }
        _ => return None,
    };
    Some(Float::Arithmetic {
        kind,
        d: d(opcode),
        n: single(opcode, 16, 7),
        m: m(opcode),
    })
}

/// VFPExpandImm: sign, exponent and fraction of eight bits.
fn constant(byte: u32) -> u32 {
    let exponent = if bit(byte, 6) { 0x1f } else { 0x20 };
    (byte & 0x80) << 24 | exponent << 25 | (byte & 0x3f) << 19
}

fn compute_unary(opcode: u32) -> Option<Float> {
    let other = bit(opcode, 7);
    let second = opcode >> 16 & 15;
    let kind = match (second, other) {
        (0, false) => Unary::Move,
        (0, true) => Unary::Absolute,
        (1, false) => Unary::Negate,
        (1, true) => Unary::SquareRoot,
        (2, top) => Unary::FromHalf { top },
        (3, top) => Unary::ToHalf { top },
        (4 | 5, signals) => {
            return Some(Float::Compare {
                d: d(opcode),
                m: (second == 4).then_some(m(opcode)),
                signals,
            });
        }
        (8, signed) => Unary::FromInteger { signed },
        (12 | 13, toward_zero) => Unary::ToInteger {
            signed: second == 13,
            toward_zero,
        },
        (10 | 11 | 14 | 15, is_wide) => {
            let size = if is_wide { 32 } else { 16 };
            let bits = low_byte((opcode & 15) << 1 | opcode >> 5 & 1);
            return Some(Float::Fixed {
                d: d(opcode),
                to_fixed: bit(second, 2),
                signed: !bit(second, 0),
                is_half: !is_wide,
                fraction_bits: u8::checked_sub(size, bits)?,
            });
        }
        _ => return None,
    };
    Some(Float::Unary {
        kind,
        d: d(opcode),
        m: m(opcode),
    })
}

/// Between one core register and a register, half a pair, or the status register.
fn transfer_of_word(opcode: u32, is_double: bool) -> Option<Float> {
    let to_core = bit(opcode, 20);
    let t = low_byte(opcode >> 12 & 15);
    match (is_double, opcode >> 21 & 7) {
        (false, 0) => Some(Float::MoveWord {
            to_core,
            t,
            n: single(opcode, 16, 7),
        }),
        (false, 7) if opcode >> 16 & 15 == 1 => Some(if to_core {
            Float::ReadStatus { t }
        } else {
            Float::WriteStatus { t }
        }),
        (true, half @ (0 | 1)) if opcode >> 5 & 3 == 0 => Some(Float::MoveWord {
            to_core,
            t,
            n: pair(opcode, 16, 7)? + low_byte(half),
        }),
        _ => None,
    }
}

fn transfer_of_pair(opcode: u32, is_double: bool) -> Option<Float> {
    if opcode >> 4 & 13 != 1 {
        return None;
    }
    let m = if is_double {
        pair(opcode, 0, 5)?
    } else {
        m(opcode)
    };
    (m < 31).then_some(Float::MovePair {
        to_core: bit(opcode, 20),
        t: low_byte(opcode >> 12 & 15),
        t2: low_byte(opcode >> 16 & 15),
        m,
    })
}

fn transfer(opcode: u32, is_double: bool) -> Option<Float> {
    let n = low_byte(opcode >> 16 & 15);
    let is_load = bit(opcode, 20);
    let d = if is_double {
        pair(opcode, 12, 22)?
    } else {
        d(opcode)
    };
    let (before, up, writes_back) = (bit(opcode, 24), bit(opcode, 23), bit(opcode, 21));
    if before && !writes_back {
        let distance = (opcode & 0xff) << 2;
        let offset = if up {
            distance
        } else {
            distance.wrapping_neg()
        };
        return Some(Float::Transfer {
            is_load,
            n,
            d,
            words: 1 + u8::from(is_double),
            offset,
        });
    }
    let words = low_byte(opcode & 0xff);
    // The odd counts of FLDMX move one pair less, and skip a word.
    let is_known = before != up && words > 0 && words <= 32 && d + words <= 32;
    is_known.then_some(Float::TransferMany {
        is_load,
        n,
        d,
        words,
        writes_back,
        descends: before,
    })
}
