//! Random instructions compared with `armagnac`, a core written by others. It is not a perfect judge: it
//! panics on some inputs, keeps the low bits of a stack pointer and stops at some faults. Cases that it
//! cannot judge are skipped and counted; in all others both cores must agree.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use armagnac::core::{Config, Emulator, Event, Processor};
use armagnac::registers::RegisterIndex;

use super::*;

/// Address of the instruction under test, and the memory that it may touch.
const AT: u32 = RAM + 0x100;
const DATA: u32 = RAM + 0x1000;
const DATA_BYTES: u32 = 0x1000;

/// Default number of cases; `TARGET_SIM_ORACLE_CASES` sets another.
const CASES: u32 = 20_000;

/// The other core. Its memory is at [`RAM`], too.
struct Oracle(Processor);

impl Oracle {
    fn new(data: &[u32]) -> Self {
        let mut processor = Processor::new(Config::v7m());
        processor.map_ram(RAM, 0x1_0000).unwrap();
        let mut oracle = Self(processor);
        for (address, word) in (DATA..).step_by(4).zip(data) {
            oracle.0.write_u32le_iface(address, *word).unwrap();
        }
        oracle
    }

    fn set(&mut self, registers: &[u32; 16], status: u32) {
        for (number, value) in (0u32..15).zip(registers) {
            self.0.registers.set(RegisterIndex::from(number), *value);
        }
        self.0.registers.pc = registers[PC];
        self.0.registers.psr.set(status);
    }

    fn get(&self) -> ([u32; 16], u32) {
        let registers = &self.0.registers;
        let mut values = [0; 16];
        for (number, value) in (0u32..15).zip(&mut values) {
            *value = registers[RegisterIndex::from(number)];
        }
        values[PC] = registers.pc;
        (values, registers.psr.get())
    }

    /// Executes one instruction. Returns false if the other core cannot judge it.
    fn step(&mut self) -> bool {
        let stepped = catch_unwind(AssertUnwindSafe(|| self.0.next_event()));
        matches!(stepped, Ok(Ok(Event::Instruction { .. })))
    }
}

/// A random opcode of an instruction that only computes, moves data or branches.
fn opcode(random: &mut Random) -> u16 {
    const TRANSFERS: [u32; 14] = [
        0x5000, 0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800, 0x9000, 0x9800, 0xa000, 0xb400,
        0xbc00, 0xc000, 0xc800,
    ];
    const EXTENSIONS: [u32; 7] = [0xb200, 0xb240, 0xb280, 0xb2c0, 0xba00, 0xba40, 0xbac0];
    let pick = |list: &[u32], random: &mut Random| {
        let count = u32::try_from(list.len()).unwrap();
        list[random.below(count) as usize]
    };
    let opcode = match random.below(12) {
        0..=2 => random.next() & 0x1fff,
        3 => 0x2000 | random.next() & 0x1fff,
        4..=5 => 0x4000 | random.next() & 0x3ff,
        6 => 0x4400 | random.next() & 0x2ff,
        7 => pick(&EXTENSIONS, random) | random.next() & 0x3f,
        8 => 0xd000 | random.next() & 0xdff,
        _ => pick(&TRANSFERS, random) | random.next() & 0x7ff,
    };
    crate::word::low_half(opcode)
}

/// Whether the other core can judge it: not encodings that the manual leaves unpredictable or undefined,
/// nor UDF and SVC.
fn is_judged(opcode: u16) -> bool {
    let opcode = u32::from(opcode);
    let writes_pc = opcode & 0xfd87 == 0x4487;
    let writes_sp = opcode & 0xfd87 == 0x4485;
    let reads_pc = opcode & 0xfc78 == 0x4478;
    let compares_low = opcode & 0xffc0 == 0x4500;
    let pops_or_pushes_nothing = opcode & 0xf4ff == 0xb400;
    let takes_pc_from_stack = opcode & 0xff00 == 0xbd00;
    let not_stack = opcode & 0xf000 == 0xb000 && !matches!(opcode >> 9, 0x5a | 0x5e | 0x59 | 0x5d);
    let lists_nothing = opcode & 0xf0ff == 0xc000;
    let base = opcode >> 8 & 7;
    let stores_base = opcode & 0xf800 == 0xc000 && opcode >> base & 1 == 1;
    let traps = opcode & 0xfe00 == 0xde00;
    !(writes_pc
        || writes_sp
        || reads_pc
        || compares_low
        || pops_or_pushes_nothing
        || takes_pc_from_stack
        || not_stack
        || lists_nothing
        || stores_base
        || traps)
}

fn registers(random: &mut Random, opcode: u16) -> [u32; 16] {
    const EDGES: [u32; 8] = [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 31, 32, 33];
    let is_transfer = (0x5000..0xd000).contains(&opcode);
    let by_register = opcode >> 12 == 5;
    let mut values = [0; 16];
    for (number, value) in values.iter_mut().enumerate() {
        *value = match random.below(4) {
            _ if number == SP => DATA + 0x800 + (random.below(0x200) & !3),
            _ if is_transfer && number < 8 => DATA + 0x400 + (random.below(0x400) & !3),
            0 => random.below(256),
            1 => EDGES[random.below(8) as usize],
            _ => random.next(),
        };
    }
    if by_register {
        values[usize::from(opcode >> 6 & 7)] = random.below(0x100) & !3;
    }
    values[PC] = AT;
    values
}

#[derive(Debug, Default)]
struct Tally {
    equal: u32,
    not_judged: u32,
}

/// All words of the memory under test.
fn data(core: &mut Core<Memory>) -> Vec<u32> {
    let addresses = (DATA..DATA + DATA_BYTES).step_by(4);
    addresses
        .map(|address| core.bus.load(0, address, Width::Word).unwrap())
        .collect()
}

fn compare(seed: u64, cases: u32) -> Tally {
    let mut random = Random(seed);
    let mut ours = core(&[]);
    for address in (DATA..DATA + DATA_BYTES).step_by(4) {
        let value = random.next();
        ours.bus.store(0, address, Width::Word, value).unwrap();
    }
    let mut oracle = Oracle::new(&data(&mut ours));
    let mut tally = Tally::default();
    for _ in 0..cases {
        let opcode = opcode(&mut random);
        if !is_judged(opcode) {
            tally.not_judged += 1;
            continue;
        }
        let registers = registers(&mut random, opcode);
        let status = 1 << 24 | random.next() & 0xf000_0000;
        let code = u32::from(opcode) | 0xbf00 << 16;
        oracle.0.write_u32le_iface(AT, code).unwrap();
        place(&mut ours, AT, &[opcode, 0xbf00]);
        oracle.set(&registers, status);
        ours.r = registers;
        ours.set_xpsr(status);
        if !oracle.step() {
            tally.not_judged += 1;
            oracle = Oracle::new(&data(&mut ours));
            continue;
        }
        steps(&mut ours, 1);
        let theirs = oracle.get();
        let ours_now = (ours.r, ours.xpsr());
        assert_eq!(ours_now, theirs, "opcode {opcode:04x} on {registers:08x?}");
        tally.equal += 1;
    }
    let mut addresses = (DATA..DATA + DATA_BYTES).step_by(4);
    let same = data(&mut ours).into_iter().all(|word| {
        let address = addresses.next().unwrap();
        oracle.0.read_u32le_iface(address) == Ok(word)
    });
    assert!(same, "memory differs");
    tally
}

#[test]
fn random_instructions_do_what_another_core_says() {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        let is_theirs = panic
            .location()
            .is_some_and(|at| at.file().contains("armagnac"));
        if !is_theirs {
            usual(panic);
        }
    }));
    let asked = std::env::var("TARGET_SIM_ORACLE_CASES").ok();
    let cases = asked.map_or(CASES, |text| text.parse().unwrap());
    let tally = compare(0x1234_5678_9abc_def0, cases);
    println!("{tally:?}");
    assert!(
        tally.equal > cases / 2,
        "too little was compared: {tally:?}"
    );
}
