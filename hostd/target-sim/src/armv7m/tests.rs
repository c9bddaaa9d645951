//! Tests of what the comparison with QEMU cannot see: branches, exceptions, faults, protection, the debugger's
//! view. On a bus with nothing but memory.

mod exceptions;
mod floats;
mod fuzz;
mod instructions;
mod protection;
mod watching;

use super::{Core, LR, PC, SP};
use crate::bus::{Bus, Width};
use crate::cpu::{Cpu, Stop};
use crate::testing::{Memory, RAM, Random};

/// Where test programs start.
const CODE: u32 = RAM + 0x100;
const STACK: u32 = RAM + 0x8000;

const SHCSR: u32 = 0xe000_ed24;
const CFSR: u32 = 0xe000_ed28;
const HFSR: u32 = 0xe000_ed2c;
const MMFAR: u32 = 0xe000_ed34;
const BFAR: u32 = 0xe000_ed38;
const CCR: u32 = 0xe000_ed14;
/// SHCSR: the three configurable faults are enabled.
const FAULTS_ENABLED: u32 = 7 << 16;
const BX_LR: u16 = 0x4770;
const NOP: u16 = 0xbf00;

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

fn write(core: &mut Core<Memory>, address: u32, value: u32) {
    core.store(address, Width::Word, value).unwrap();
}

fn read(core: &mut Core<Memory>, address: u32) -> u32 {
    core.load(address, Width::Word).unwrap()
}
