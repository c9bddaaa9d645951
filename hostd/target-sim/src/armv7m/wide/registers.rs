//! Data processing with registers: shifts by a register, extension, parallel arithmetic and the rest.

use super::{field, flags};
use crate::alu::Shift;
use crate::armv7m::operation::{Extension, LaneResult, Lanes, Operation, Reversal, SaturatingAdd};
use crate::word::{bit, low_byte};

pub(super) fn decode(opcode: u32) -> Operation {
    let (d, n, m) = (field(opcode, 8), field(opcode, 16), field(opcode, 0));
    if opcode >> 12 & 15 != 15 {
        return Operation::Undefined;
    }
    let group = opcode >> 20 & 15;
    let is_extension = bit(opcode, 7);
    if group < 8 && !is_extension {
        if opcode >> 4 & 7 != 0 {
            return Operation::Undefined;
        }
        let shift = match group >> 1 {
            0 => Shift::Left,
            1 => Shift::LogicalRight,
            2 => Shift::ArithmeticRight,
            _ => Shift::RotateRight,
        };
        return Operation::ShiftByRegister {
            shift,
            flags: flags(opcode),
            d,
            n,
            m,
        };
    }
    if group < 8 {
        return extend(opcode, group);
    }
    if !is_extension {
        return parallel(opcode);
    }
    miscellaneous(opcode, group)
}

fn extend(opcode: u32, group: u32) -> Operation {
    let kind = match group {
        0 => Extension::SignedHalf,
        1 => Extension::UnsignedHalf,
        2 => Extension::SignedBytes,
        3 => Extension::UnsignedBytes,
        4 => Extension::SignedByte,
        5 => Extension::UnsignedByte,
        _ => return Operation::Undefined,
    };
    if bit(opcode, 6) {
        return Operation::Undefined;
    }
    Operation::Extend {
        kind,
        d: field(opcode, 8),
        n: field(opcode, 16),
        m: field(opcode, 0),
        rotation: low_byte((opcode >> 4 & 3) << 3),
    }
}

fn parallel(opcode: u32) -> Operation {
    let lanes = match opcode >> 20 & 7 {
        0 => Lanes::AddBytes,
        1 => Lanes::AddHalves,
        2 => Lanes::AddSubtractHalves,
        4 => Lanes::SubtractBytes,
        5 => Lanes::SubtractHalves,
        6 => Lanes::SubtractAddHalves,
        _ => return Operation::Undefined,
    };
    let result = match opcode >> 4 & 3 {
        0 => LaneResult::Plain,
        1 => LaneResult::Saturated,
        2 => LaneResult::Halved,
        _ => return Operation::Undefined,
    };
    Operation::Parallel {
        lanes,
        result,
        signed: !bit(opcode, 6),
        d: field(opcode, 8),
        n: field(opcode, 16),
        m: field(opcode, 0),
    }
}

fn miscellaneous(opcode: u32, group: u32) -> Operation {
    let (d, n, m) = (field(opcode, 8), field(opcode, 16), field(opcode, 0));
    if bit(opcode, 6) {
        return Operation::Undefined;
    }
    let kind = opcode >> 4 & 3;
    let reverse = |kind| Operation::Reverse { kind, d, m };
    match (group & 7, kind) {
        (0, _) => Operation::AddSaturating {
            kind: SaturatingAdd {
                doubles: bit(kind, 0),
                subtracts: bit(kind, 1),
            },
            d,
            n,
            m,
        },
        (1, 0) => reverse(Reversal::Bytes),
        (1, 1) => reverse(Reversal::BytesOfHalves),
        (1, 2) => reverse(Reversal::Bits),
        (1, _) => reverse(Reversal::SignedHalf),
        (2, 0) => Operation::Select { d, n, m },
        (3, 0) => reverse(Reversal::LeadingZeros),
        _ => Operation::Undefined,
    }
}
