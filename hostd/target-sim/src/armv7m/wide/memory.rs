//! Loads and stores.

use super::field;
use crate::armv7m::operation::{Access, Index, Operation};
use crate::word::{bit, low_byte, low_half};

/// LDM, STM, PUSH, POP.
pub(super) fn many(opcode: u32) -> Operation {
    let n = field(opcode, 16);
    let list = low_half(opcode);
    let writes_back = bit(opcode, 21);
    let descends = match opcode >> 23 & 3 {
        1 => false,
        2 => true,
        _ => return Operation::Undefined,
    };
    if bit(opcode, 20) {
        Operation::LoadMany {
            n,
            list,
            writes_back,
            descends,
        }
    } else {
        Operation::StoreMany {
            n,
            list: list & 0x7fff,
            writes_back,
            descends,
        }
    }
}

/// LDRD, STRD, the exclusive accesses, TBB and TBH.
pub(super) fn pair_or_exclusive(opcode: u32) -> Operation {
    let (n, t, t2, m) = (
        field(opcode, 16),
        field(opcode, 12),
        field(opcode, 8),
        field(opcode, 0),
    );
    let is_load = bit(opcode, 20);
    let exclusive = |access, offset| {
        if is_load {
            Operation::LoadExclusive {
                access,
                t,
                n,
                offset,
            }
        } else {
            let d = if access == Access::Word { t2 } else { m };
            Operation::StoreExclusive {
                access,
                d,
                t,
                n,
                offset,
            }
        }
    };
    match (opcode >> 23 & 3, opcode >> 21 & 1) {
        (0, 0) => return exclusive(Access::Word, low_half((opcode & 0xff) << 2)),
        (1, 0) => {
            return match opcode >> 4 & 15 {
                kind @ (0 | 1) if is_load => Operation::TableBranch {
                    n,
                    m,
                    halves: kind == 1,
                },
                4 => exclusive(Access::Byte, 0),
                5 => exclusive(Access::Half, 0),
                _ => Operation::Undefined,
            };
        }
        _ => {}
    }
    let distance = (opcode & 0xff) << 2;
    let offset = if bit(opcode, 23) {
        distance
    } else {
        distance.wrapping_neg()
    };
    let index = match (bit(opcode, 24), bit(opcode, 21)) {
        (true, false) => Index::Offset,
        (true, true) => Index::PreIndexed,
        (false, _) => Index::PostIndexed,
    };
    if is_load {
        Operation::LoadPair {
            index,
            t,
            t2,
            n,
            offset,
        }
    } else {
        Operation::StorePair {
            index,
            t,
            t2,
            n,
            offset,
        }
    }
}

/// What a single access moves: its size, and whether it extends a sign.
fn access(opcode: u32) -> Option<Access> {
    Some(match (opcode >> 21 & 3, bit(opcode, 24)) {
        (0, false) => Access::Byte,
        (0, true) => Access::SignedByte,
        (1, false) => Access::Half,
        (1, true) => Access::SignedHalf,
        (2, false) => Access::Word,
        _ => return None,
    })
}

/// The short form of an offset: how it is applied, and its value.
fn short_offset(opcode: u32) -> Option<(Index, u32)> {
    let distance = opcode & 0xff;
    let offset = if bit(opcode, 9) {
        distance
    } else {
        distance.wrapping_neg()
    };
    let index = match opcode >> 8 & 7 {
        0b100 => Index::Offset,
        0b110 => Index::Unprivileged,
        0b001 | 0b011 => Index::PostIndexed,
        0b101 | 0b111 => Index::PreIndexed,
        _ => return None,
    };
    Some((index, offset))
}

pub(super) fn store(opcode: u32) -> Operation {
    let (n, t) = (field(opcode, 16), field(opcode, 12));
    let Some(access) = access(opcode).filter(|_| n != 15) else {
        return Operation::Undefined;
    };
    if bit(opcode, 23) {
        return Operation::Store {
            access,
            index: Index::Offset,
            t,
            n,
            offset: opcode & 0xfff,
        };
    }
    if !bit(opcode, 11) {
        if opcode & 0x7c0 != 0 {
            return Operation::Undefined;
        }
        return Operation::StoreIndexed {
            access,
            t,
            n,
            m: field(opcode, 0),
            amount: low_byte(opcode >> 4 & 3),
        };
    }
    match short_offset(opcode) {
        Some((index, offset)) => Operation::Store {
            access,
            index,
            t,
            n,
            offset,
        },
        None => Operation::Undefined,
    }
}

pub(super) fn load(opcode: u32) -> Operation {
    let (n, t) = (field(opcode, 16), field(opcode, 12));
    let Some(access) = access(opcode) else {
        return Operation::Undefined;
    };
    let is_hint = t == 15 && access != Access::Word;
    if n == 15 {
        let distance = opcode & 0xfff;
        let offset = if bit(opcode, 23) {
            distance
        } else {
            distance.wrapping_neg()
        };
        if is_hint {
            return Operation::Hint(0);
        }
        return Operation::LoadLiteral {
            access,
            t,
            ahead: 0,
            offset,
        };
    }
    if bit(opcode, 23) {
        if is_hint {
            return Operation::Hint(0);
        }
        return Operation::Load {
            access,
            index: Index::Offset,
            t,
            n,
            offset: opcode & 0xfff,
        };
    }
    if !bit(opcode, 11) {
        if opcode & 0x7c0 != 0 {
            return Operation::Undefined;
        }
        if is_hint {
            return Operation::Hint(0);
        }
        return Operation::LoadIndexed {
            access,
            t,
            n,
            m: field(opcode, 0),
            amount: low_byte(opcode >> 4 & 3),
        };
    }
    match short_offset(opcode) {
        Some((Index::Offset, _)) if is_hint => Operation::Hint(0),
        Some((index, offset)) => Operation::Load {
            access,
            index,
            t,
            n,
            offset,
        },
        None => Operation::Undefined,
    }
}
