//! Tests of the core's instructions, exceptions and sleep, on a bus with nothing but memory.

mod exceptions;
mod fuzz;
mod instructions;
mod oracle;

use super::{Core, LR, PC, SP};
use crate::bus::{Bus, BusFault, NEVER, Width};
use crate::cpu::{Cpu, Stop};

const RAM: u32 = 0x2000_0000;
const RAM_BYTES: usize = 0x1_0000;
/// Where test programs start.
const CODE: u32 = RAM + 0x100;
const STACK: u32 = RAM + 0x8000;

/// Memory at 0 (a vector table) and at [`RAM`], and interrupt lines that a test sets.
#[derive(Debug)]
struct Memory {
    table: Vec<u8>,
    ram: Vec<u8>,
    lines: u32,
    /// The cycle at which line 0 goes high.
    line_at: u64,
}

impl Memory {
    fn new() -> Self {
        Self {
            table: vec![0; 0x100],
            ram: vec![0; RAM_BYTES],
            lines: 0,
            line_at: NEVER,
        }
    }

    fn bytes(&mut self, address: u32, width: Width) -> Result<&mut [u8], BusFault> {
        let (memory, offset) = if address >= RAM {
            (&mut self.ram, address - RAM)
        } else {
            (&mut self.table, address)
        };
        let first = offset as usize;
        memory
            .get_mut(first..first + width.bytes() as usize)
            .ok_or(BusFault { address })
    }
}

impl Bus for Memory {
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault> {
        self.load(now, address, Width::Half)
            .map(crate::word::low_half)
    }

    fn load(&mut self, _now: u64, address: u32, width: Width) -> Result<u32, BusFault> {
        let mut word = [0; 4];
        let bytes = self.bytes(address, width)?;
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(word))
    }

    fn store(&mut self, _: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let bytes = self.bytes(address, width)?;
        let count = bytes.len();
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(())
    }

    fn advance(&mut self, now: u64) {
        if self.line_at <= now {
            self.line_at = NEVER;
            self.lines |= 1;
        }
    }

    fn next_event(&self) -> u64 {
        self.line_at
    }

    fn interrupts(&self) -> u32 {
        self.lines
    }

    fn stalled_until(&self, _address: u32) -> u64 {
        0
    }

    fn has_output(&self) -> bool {
        false
    }
}

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

/// A small generator of random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        crate::word::low_word(self.0 >> 16)
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }
}
