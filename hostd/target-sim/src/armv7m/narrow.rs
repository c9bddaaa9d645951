//! Decodes the 16-bit instructions, grouped by the top six bits as in table A5-1 of the manual.

use super::operation::{
    Access, Alu, ConstantCarry, Extension, Flags, Index, Operation, Product, Reversal,
};
use super::{LR, PC, SP};
use crate::alu::Shift;
use crate::word::{bit, low_byte, low_half, sign_extend};

/// The program counter reads as four more than the address of an instruction, so two more than that of the
/// one after a 16-bit instruction.
const AHEAD: u8 = 2;
const BYTE: Access = Access::Byte;

/// Three-bit register field.
fn low(opcode: u32, place: u32) -> u8 {
    low_byte(opcode >> place & 7)
}

/// Decodes one instruction.
pub(super) fn decode(opcode: u32) -> Operation {
    match opcode >> 10 {
        0x00..=0x05 => shift_constant(opcode),
        0x06 | 0x07 => add_three(opcode),
        0x08..=0x0f => constant(opcode),
        0x10 => data_processing(opcode),
        0x11 => any_registers(opcode),
        0x12 | 0x13 => Operation::LoadLiteral {
            access: Access::Word,
            t: low(opcode, 8),
            ahead: AHEAD,
            offset: (opcode & 0xff) << 2,
        },
        0x14..=0x17 => transfer_indexed(opcode),
        0x18..=0x27 => transfer(opcode),
        0x28..=0x2b => address(opcode),
        0x2c..=0x2f => miscellaneous(opcode),
        0x30..=0x33 => transfer_many(opcode),
        0x34..=0x37 => branch_if(opcode),
        0x38 | 0x39 => Operation::Branch {
            offset: sign_extend(opcode << 1 & 0xfff, 12).wrapping_add(2),
        },
        _ => Operation::Undefined,
    }
}

fn shift_constant(opcode: u32) -> Operation {
    let (shift, amount) = super::wide::shift(opcode >> 11 & 3, low_byte(opcode >> 6 & 31));
    Operation::Shifted {
        op: Alu::Move,
        flags: Flags::SetOutsideBlock,
        d: low(opcode, 0),
        n: 0,
        m: low(opcode, 3),
        shift,
        amount,
    }
}

fn register(op: Alu, flags: Flags, d: u8, n: u8, m: u8) -> Operation {
    Operation::Shifted {
        op,
        flags,
        d,
        n,
        m,
        shift: Shift::Left,
        amount: 0,
    }
}

fn with_constant(op: Alu, flags: Flags, d: u8, n: u8, value: u32) -> Operation {
    Operation::Constant {
        op,
        flags,
        carry: ConstantCarry::Keep,
        d,
        n,
        value,
    }
}

fn add_three(opcode: u32) -> Operation {
    let op = if bit(opcode, 9) {
        Alu::Subtract
    } else {
        Alu::Add
    };
    let (d, n) = (low(opcode, 0), low(opcode, 3));
    if bit(opcode, 10) {
        with_constant(op, Flags::SetOutsideBlock, d, n, opcode >> 6 & 7)
    } else {
        register(op, Flags::SetOutsideBlock, d, n, low(opcode, 6))
    }
}

fn constant(opcode: u32) -> Operation {
    let d = low(opcode, 8);
    let (op, flags) = match opcode >> 11 & 3 {
        0 => (Alu::Move, Flags::SetOutsideBlock),
        1 => (Alu::Compare, Flags::Set),
        2 => (Alu::Add, Flags::SetOutsideBlock),
        _ => (Alu::Subtract, Flags::SetOutsideBlock),
    };
    with_constant(op, flags, d, d, opcode & 0xff)
}

fn data_processing(opcode: u32) -> Operation {
    let (d, m) = (low(opcode, 0), low(opcode, 3));
    let flags = Flags::SetOutsideBlock;
    let shift = |shift| Operation::ShiftByRegister {
        shift,
        flags,
        d,
        n: d,
        m,
    };
    match opcode >> 6 & 15 {
        0x0 => register(Alu::And, flags, d, d, m),
        0x1 => register(Alu::ExclusiveOr, flags, d, d, m),
        0x2 => shift(Shift::Left),
        0x3 => shift(Shift::LogicalRight),
        0x4 => shift(Shift::ArithmeticRight),
        0x5 => register(Alu::AddCarry, flags, d, d, m),
        0x6 => register(Alu::SubtractCarry, flags, d, d, m),
        0x7 => shift(Shift::RotateRight),
        0x8 => register(Alu::Test, Flags::Set, d, d, m),
        0x9 => with_constant(Alu::ReverseSubtract, flags, d, m, 0),
        0xa => register(Alu::Compare, Flags::Set, d, d, m),
        0xb => register(Alu::CompareNegative, Flags::Set, d, d, m),
        0xc => register(Alu::Or, flags, d, d, m),
        0xd => Operation::Multiply {
            kind: Product::Add,
            flags,
            d,
            n: m,
            m: d,
            a: PC_NUMBER,
        },
        0xe => register(Alu::BitClear, flags, d, d, m),
        _ => register(Alu::MoveNot, flags, d, d, m),
    }
}

/// A multiplication without an accumulator names the program counter instead.
const PC_NUMBER: u8 = 15;

fn any_registers(opcode: u32) -> Operation {
    let d = low_byte(opcode & 7 | opcode >> 4 & 8);
    let m = low_byte(opcode >> 3 & 15);
    match opcode >> 8 & 3 {
        0 => Operation::AddAny { d, m },
        1 => Operation::CompareAny { n: d, m },
        2 => Operation::MoveAny { d, m },
        _ if bit(opcode, 7) => Operation::BranchLinkExchange { m },
        _ => Operation::BranchExchange { m },
    }
}

fn transfer_indexed(opcode: u32) -> Operation {
    let (t, n, m) = (low(opcode, 0), low(opcode, 3), low(opcode, 6));
    let store = |access| Operation::StoreIndexed {
        access,
        t,
        n,
        m,
        amount: 0,
    };
    let load = |access| Operation::LoadIndexed {
        access,
        t,
        n,
        m,
        amount: 0,
    };
    match opcode >> 9 & 7 {
        0 => store(Access::Word),
        1 => store(Access::Half),
        2 => store(BYTE),
        3 => load(Access::SignedByte),
        4 => load(Access::Word),
        5 => load(Access::Half),
        6 => load(BYTE),
        _ => load(Access::SignedHalf),
    }
}

fn transfer(opcode: u32) -> Operation {
    let (access, t, n, offset) = match opcode >> 12 {
        6 => (
            Access::Word,
            low(opcode, 0),
            low(opcode, 3),
            (opcode >> 6 & 31) << 2,
        ),
        7 => (BYTE, low(opcode, 0), low(opcode, 3), opcode >> 6 & 31),
        8 => (
            Access::Half,
            low(opcode, 0),
            low(opcode, 3),
            (opcode >> 6 & 31) << 1,
        ),
        _ => (
            Access::Word,
            low(opcode, 8),
            SP_NUMBER,
            (opcode & 0xff) << 2,
        ),
    };
    let index = Index::Offset;
    if bit(opcode, 11) {
        Operation::Load {
            access,
            index,
            t,
            n,
            offset,
        }
    } else {
        Operation::Store {
            access,
            index,
            t,
            n,
            offset,
        }
    }
}

const SP_NUMBER: u8 = 13;

fn address(opcode: u32) -> Operation {
    let (d, offset) = (low(opcode, 8), (opcode & 0xff) << 2);
    if bit(opcode, 11) {
        with_constant(Alu::Add, Flags::Keep, d, SP_NUMBER, offset)
    } else {
        Operation::Address {
            d,
            ahead: AHEAD,
            offset,
        }
    }
}

/// Table A5-5: stack adjustment, CBZ, extension, PUSH, POP, CPS, byte reversal, BKPT, IT and hints.
fn miscellaneous(opcode: u32) -> Operation {
    match opcode >> 8 & 15 {
        0x0 => {
            let op = if bit(opcode, 7) {
                Alu::Subtract
            } else {
                Alu::Add
            };
            let offset = (opcode & 0x7f) << 2;
            with_constant(op, Flags::Keep, SP_NUMBER, SP_NUMBER, offset)
        }
        0x1 | 0x3 | 0x9 | 0xb => Operation::CompareBranch {
            n: low(opcode, 0),
            nonzero: bit(opcode, 11),
            offset: low_byte((opcode >> 4 & 0x20 | opcode >> 3 & 0x1f) << 1),
        },
        0x2 => extend(opcode),
        0x4 | 0x5 => Operation::StoreMany {
            n: SP_NUMBER,
            list: low_half(opcode & 0xff | u32::from(bit(opcode, 8)) << LR),
            writes_back: true,
            descends: true,
        },
        0xc | 0xd => Operation::LoadMany {
            n: SP_NUMBER,
            list: low_half(opcode & 0xff | u32::from(bit(opcode, 8)) << PC),
            writes_back: true,
            descends: false,
        },
        0x6 if opcode & 0xffec == 0xb660 => Operation::ChangeState {
            disable: bit(opcode, 4),
            primask: bit(opcode, 1),
            faultmask: bit(opcode, 0),
        },
        0xa => match opcode >> 6 & 3 {
            0 => reverse(Reversal::Bytes, opcode),
            1 => reverse(Reversal::BytesOfHalves, opcode),
            3 => reverse(Reversal::SignedHalf, opcode),
            _ => Operation::Undefined,
        },
        0xe => Operation::Breakpoint,
        0xf if opcode & 15 == 0 => Operation::Hint(low_byte(opcode >> 4 & 15)),
        0xf => Operation::IfThen(low_byte(opcode)),
        _ => Operation::Undefined,
    }
}

fn reverse(kind: Reversal, opcode: u32) -> Operation {
    let (d, m) = (low(opcode, 0), low(opcode, 3));
    Operation::Reverse { kind, d, m }
}

fn extend(opcode: u32) -> Operation {
    let kind = match opcode >> 6 & 3 {
        0 => Extension::SignedHalf,
        1 => Extension::SignedByte,
        2 => Extension::UnsignedHalf,
        _ => Extension::UnsignedByte,
    };
    Operation::Extend {
        kind,
        d: low(opcode, 0),
        n: PC_NUMBER,
        m: low(opcode, 3),
        rotation: 0,
    }
}

fn transfer_many(opcode: u32) -> Operation {
    let n = low(opcode, 8);
    let list = low_half(opcode & 0xff);
    if bit(opcode, 11) {
        Operation::LoadMany {
            n,
            list,
            writes_back: opcode >> n & 1 == 0,
            descends: false,
        }
    } else {
        Operation::StoreMany {
            n,
            list,
            writes_back: true,
            descends: false,
        }
    }
}

fn branch_if(opcode: u32) -> Operation {
    let condition = low_byte(opcode >> 8 & 15);
    match condition {
        14 => Operation::Undefined,
        15 => Operation::Supervisor,
        _ => Operation::BranchIf {
            condition,
            offset: sign_extend((opcode & 0xff) << 1, 9).wrapping_add(2),
        },
    }
}

const _: () = assert!(SP == SP_NUMBER as usize && PC == PC_NUMBER as usize);
