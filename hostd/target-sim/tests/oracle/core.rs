//! Our side: the core on plain memory.

use std::cell::RefCell;

use target_sim::armv7m::Core;
use target_sim::bus::{Bus, BusFault, NEVER, Width};
use target_sim::cpu::{Cpu, Stop};

use super::cases::{
    CODE, CODE_BYTES, CORE_REGISTERS, Case, DATA, DATA_WORDS, FLAGS, Outcome, data, data_checksum,
};

const RAM_BYTES: usize = 0x3000;
const CPACR: u32 = 0xe000_ed88;
const LR: u8 = 14;
const XPSR: u8 = 16;
const CONTROL: u8 = 20;
const FPSCR: u8 = 0x21;
const FIRST_FLOAT: u8 = 0x40;
/// CONTROL.FPCA: otherwise the first instruction would reset FPSCR.
const HAS_FLOATS: u32 = 1 << 26;

struct Memory(Vec<u8>);

impl Bus for Memory {
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault> {
        let half = self.load(now, address, Width::Half)?;
        Ok(u16::try_from(half).unwrap())
    }

    fn load(&mut self, _: u64, address: u32, width: Width) -> Result<u32, BusFault> {
        let first = address.wrapping_sub(CODE) as usize;
        let bytes = self
            .0
            .get(first..first.wrapping_add(width.bytes() as usize));
        let bytes = bytes.ok_or(BusFault { address })?;
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(word))
    }

    fn store(&mut self, _: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let first = address.wrapping_sub(CODE) as usize;
        let count = width.bytes() as usize;
        let bytes = self.0.get_mut(first..first.wrapping_add(count));
        let bytes = bytes.ok_or(BusFault { address })?;
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(())
    }

    fn advance(&mut self, _: u64) {}

    fn next_event(&self) -> u64 {
        NEVER
    }

    fn interrupts(&self) -> u128 {
        0
    }

    fn stalled_until(&self, _: u32) -> u64 {
        0
    }

    fn has_output(&self) -> bool {
        false
    }
}

thread_local! {
    static OURS: RefCell<Core<Memory>> = {
        let mut core = Core::new(Memory(vec![0; RAM_BYTES]));
        core.store(CPACR, Width::Word, 0xf << 20).unwrap();
        RefCell::new(core)
    };
}

/// Runs a case.
pub(crate) fn run(case: &Case) -> Outcome {
    OURS.with_borrow_mut(|core| run_on(core, case))
}

fn run_on(core: &mut Core<Memory>, case: &Case) -> Outcome {
    for (address, half) in (CODE..).step_by(2).zip(case.code) {
        core.bus
            .store(0, address, Width::Half, u32::from(half))
            .unwrap();
    }
    for (address, word) in (DATA..).step_by(4).zip(data()) {
        core.bus.store(0, address, Width::Word, word).unwrap();
    }
    let numbers = || (0..13).chain([LR]);
    for (number, value) in numbers().zip(case.registers) {
        core.set_register(number, value);
    }
    core.set_register(CONTROL, HAS_FLOATS);
    core.set_register(XPSR, case.flags & FLAGS | 1 << 24);
    core.set_register(FPSCR, case.status);
    for (number, value) in (FIRST_FLOAT..).zip(case.floats) {
        core.set_register(number, value);
    }
    core.set_register(15, CODE);
    for _ in 0..case.code.len() {
        if core.register(15) == CODE + CODE_BYTES {
            break;
        }
        assert_eq!(core.step(), Stop::Deadline, "{case:08x?}");
    }
    assert_eq!(core.register(15), CODE + CODE_BYTES, "a fault: {case:08x?}");
    let mut registers = [0; CORE_REGISTERS];
    for (number, value) in numbers().zip(&mut registers) {
        *value = core.register(number);
    }
    let mut floats = [0; super::cases::FLOATS];
    for (number, value) in (FIRST_FLOAT..).zip(&mut floats) {
        *value = core.register(number);
    }
    let words = (DATA..).step_by(4).take(DATA_WORDS);
    let data = data_checksum(words.map(|at| core.bus.load(0, at, Width::Word).unwrap()));
    Outcome {
        registers,
        flags: core.register(XPSR) & FLAGS,
        status: core.register(FPSCR),
        floats,
        data,
    }
}
