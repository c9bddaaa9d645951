//! Tests of the core's instructions, exceptions and sleep, on a bus with nothing but memory.

mod exceptions;
mod fuzz;
mod instructions;
mod oracle;
mod watching;

use super::{Core, LR, PC, SP};
use crate::bus::{Bus, Width};
use crate::cpu::{Cpu, Stop};
use crate::testing::{Memory, RAM, Random};

/// Where test programs start.
const CODE: u32 = RAM + 0x100;
const STACK: u32 = RAM + 0x8000;

/// A core that will start at [`CODE`] with the given program. Exception n is handled at `CODE + 0x400 * n`.
fn core(program: &[u16]) -> Core<Memory> {
    let mut memory = Memory::new();
    for vector in 0..48u32 {
        let value = match vector {
            0 => STACK,
            1 => CODE | 1,
            _ => handler(vector) | 1,
        };
        memory.store(0, vector * 4, Width::Word, value).unwrap();
    }
    let mut core = Core::new(memory);
    place(&mut core, CODE, program);
    core
}

/// Address of the handler of an exception.
fn handler(number: u32) -> u32 {
    CODE + 0x400 * number
}

fn place(core: &mut Core<Memory>, address: u32, program: &[u16]) {
    for (at, opcode) in (address..).step_by(2).zip(program) {
        core.bus
            .store(0, at, Width::Half, u32::from(*opcode))
            .unwrap();
    }
}

fn steps(core: &mut Core<Memory>, count: usize) {
    for _ in 0..count {
        assert_eq!(core.step(), Stop::Deadline);
    }
}
