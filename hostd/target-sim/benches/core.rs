//! `cargo xtask bench core`: how many instructions per second the cores execute, on their whole chips, compared
//! with another core on plain memory.

use std::io::Write;
use std::time::Instant;

use armagnac::core::{ArmVersion, Config, Emulator, Processor};
use armagnac::decoder::Lut16AndGrouped32InstructionDecoder;
use target_sim::chip::{Chip, FLASH_BASE, SRAM_BASE, STM32F030R8, STM32F446RE};
use target_sim::cpu::Cpu;
use target_sim::stm32f0::Stm32f0;
use target_sim::stm32f4::Stm32f4;
use target_sim::{armv6m, armv7m};

/// A mixed workload: loads, stores, arithmetic and branches over a table in SRAM.
///
/// ```text
///   outer: movs r0,#0 ; mov r1,r8 ; movs r2,#32
///   inner: ldrb r3,[r1,r0] ; adds r3,#7 ; eors r3,r2 ; strb r3,[r1,r0] ; adds r0,#1 ; lsls r4,r3,#3
///          subs r2,#1 ; bne inner ; b outer
/// ```
const NARROW: [u16; 12] = [
    0x2000, 0x4641, 0x2220, 0x5c0b, 0x3307, 0x4053, 0x540b, 0x3001, 0x00dc, 0x3a01, 0xd1f7, 0xe7f3,
];
/// Instructions of one iteration of the inner loop.
const NARROW_ROUND: u64 = 8;

/// The same as a compiler for the larger core may have it, with a multiplication, a bit field and a block.
///
/// ```text
///   outer: mov.w r0,#0 ; mov r1,r8 ; movs r2,#32
///   inner: ldrb.w r3,[r1,r0] ; mla r3,r3,r2,r0 ; ubfx r4,r3,#2,#8 ; strb.w r4,[r1],#0 ; cmp r4,#64
///          it hi ; addhi r5,#1 ; add.w r0,r0,#1 ; subs r2,#1 ; bne.w inner ; b outer
/// ```
const WIDE: [u16; 22] = [
    0xf04f, 0x0000, 0x4641, 0x2220, 0xf811, 0x3000, 0xfb03, 0x0302, 0xf3c3, 0x0487, 0xf801, 0x4b00,
    0x2c40, 0xbf88, 0x3501, 0xf100, 0x0001, 0x3a01, 0xf47f, 0xaff0, 0xe7ea, 0xbf00,
];
const WIDE_ROUND: u64 = 10;

const OURS: u64 = 200_000_000;
const THEIRS: u64 = 10_000_000;

/// Runs a program on a core for a time; returns the rate of its instructions.
fn rate_of(core: &mut dyn Cpu, round: u64) -> f64 {
    core.set_register(15, FLASH_BASE);
    core.set_register(16, 1 << 24);
    core.set_register(8, SRAM_BASE);
    // The loop takes the same cycles each time, all but once in 32.
    let (round_from, warm) = (core.cycles(), 100_000);
    let mut rounds = 0;
    while core.cycles() < round_from + warm {
        let before = core.register(2);
        core.step();
        rounds += u64::from(core.register(2) != before);
    }
    let cycles = core.cycles() - round_from;
    let until = core.cycles() + OURS / round * cycles / rounds;
    let start = Instant::now();
    core.run(until);
    rate(OURS, start)
}

fn load(chip: &mut dyn Chip, program: &[u16]) {
    for (place, opcode) in program.iter().enumerate() {
        chip.flash_mut()[2 * place..2 * place + 2].copy_from_slice(&opcode.to_le_bytes());
    }
}

fn small() -> f64 {
    let mut chip = Stm32f0::new(STM32F030R8);
    load(&mut chip, &NARROW);
    rate_of(&mut armv6m::Core::new(chip), NARROW_ROUND)
}

fn large(program: &[u16], round: u64) -> f64 {
    let mut chip = Stm32f4::new(STM32F446RE);
    load(&mut chip, program);
    rate_of(&mut armv7m::Core::new(chip), round)
}

fn theirs() -> f64 {
    let mut processor = Processor::new(Config::v7m());
    processor
        .map_ram(SRAM_BASE, 8192)
        .expect("nothing is there");
    processor
        .map_ram(FLASH_BASE, 65_536)
        .expect("nothing is there");
    for (place, opcode) in (FLASH_BASE..).step_by(2).zip(NARROW) {
        processor.write_u16le_iface(place, opcode).expect("mapped");
    }
    processor.registers.pc = FLASH_BASE;
    processor.registers.psr.set(1 << 24);
    processor.registers.set(8u32.into(), SRAM_BASE);
    // The fastest decoder of that core.
    let decoder = Lut16AndGrouped32InstructionDecoder::new(ArmVersion::V7M);
    processor.instruction_decoder = Box::new(decoder);
    let start = Instant::now();
    for _ in 0..THEIRS {
        if processor.next_event().is_err() {
            return f64::NAN;
        }
    }
    rate(THEIRS, start)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 53 bits"
)]
fn rate(instructions: u64, start: Instant) -> f64 {
    instructions as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn main() -> std::io::Result<()> {
    let (small, same, wide) = (
        small(),
        large(&NARROW, NARROW_ROUND),
        large(&WIDE, WIDE_ROUND),
    );
    let theirs = theirs();
    let mut out = std::io::stdout();
    writeln!(out, "million instructions per second")?;
    writeln!(out, "  ARMv6-M             {small:.0}")?;
    writeln!(out, "  ARMv7-M, same code  {same:.0}")?;
    writeln!(out, "  ARMv7-M, Thumb-2    {wide:.0}")?;
    writeln!(out, "  armagnac, same code {theirs:.1}")
}
