//! Decoded instructions, found again by the instruction itself. Since decoding depends on nothing else, an
//! entry is always right.

use super::operation::Operation;
use super::{narrow, wide};

/// How many instructions are kept, as a power of two.
const PLACES_LOG2: u32 = 12;

/// Instructions from this first half on have a second one.
const FIRST_WIDE: u32 = 0xe800;

/// Aligned so that each lies within a line of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Entry {
    opcode: u32,
    operation: Operation,
}

#[derive(Debug)]
pub(super) struct Decoded(Box<[Entry; 1 << PLACES_LOG2]>);

/// Whether an instruction has a second half.
pub(super) const fn is_wide(first: u32) -> bool {
    first >= FIRST_WIDE
}

/// Decodes an instruction: a first half alone, or above the second one.
pub(super) fn decode(opcode: u32) -> Operation {
    let operation = if is_wide(opcode) {
        wide::decode(opcode)
    } else {
        narrow::decode(opcode)
    };
    // Results that would go to the program counter are unpredictable; here they are undefined.
    match operation.destination() {
        Some(15) => Operation::Undefined,
        _ => operation,
    }
}

impl Decoded {
    pub(super) fn new() -> Self {
        let entry = Entry {
            opcode: 0,
            operation: decode(0),
        };
        Self(Box::new([entry; 1 << PLACES_LOG2]))
    }

    #[inline]
    pub(super) fn find(&mut self, opcode: u32) -> &Operation {
        let place = opcode.wrapping_mul(0x9e37_79b9) >> (32 - PLACES_LOG2);
        let entry = &mut self.0[place as usize];
        if entry.opcode != opcode {
            *entry = Entry {
                opcode,
                operation: decode(opcode),
            };
        }
        &entry.operation
    }
}
