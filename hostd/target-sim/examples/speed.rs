//! How many instructions per second the core executes, on the whole chip, compared with another core on
//! plain memory: `cargo run --release -p target-sim --example speed`.

use std::io::Write;
use std::time::Instant;

use armagnac::core::{ArmVersion, Config, Emulator, Processor};
use armagnac::decoder::Lut16AndGrouped32InstructionDecoder;
use target_sim::armv6m::Core;
use target_sim::cpu::Cpu;
use target_sim::stm32f0::{FLASH_BASE, SRAM_BASE, STM32F030R8, Stm32f0};

/// A mixed workload: loads, stores, arithmetic and branches over a table in SRAM.
///
/// ```text
///   outer: movs r0,#0 ; mov r1,r8 ; movs r2,#32
///   inner: ldrb r3,[r1,r0] ; adds r3,#7 ; eors r3,r2 ; strb r3,[r1,r0] ; adds r0,#1 ; lsls r4,r3,#3
///          subs r2,#1 ; bne inner ; b outer
/// ```
const PROGRAM: [u16; 12] = [
    0x2000, 0x4641, 0x2220, 0x5c0b, 0x3307, 0x4053, 0x540b, 0x3001, 0x00dc, 0x3a01, 0xd1f7, 0xe7f3,
];
/// Cycles of one iteration of the inner loop, and its instructions.
const ROUND_CYCLES: u64 = 2 + 1 + 1 + 2 + 1 + 1 + 1 + 3;
const ROUND_INSTRUCTIONS: u64 = 8;

const OURS: u64 = 200_000_000;
const THEIRS: u64 = 10_000_000;

fn ours() -> f64 {
    let mut chip = Stm32f0::new(STM32F030R8);
    for (place, opcode) in PROGRAM.iter().enumerate() {
        chip.flash_mut()[2 * place..2 * place + 2].copy_from_slice(&opcode.to_le_bytes());
    }
    let mut core = Core::new(chip);
    core.set_register(15, FLASH_BASE);
    core.set_register(16, 1 << 24);
    core.set_register(8, SRAM_BASE);
    let start = Instant::now();
    core.run(OURS / ROUND_INSTRUCTIONS * ROUND_CYCLES);
    rate(OURS, start)
}

fn theirs() -> f64 {
    let mut processor = Processor::new(Config::v7m());
    processor
        .map_ram(SRAM_BASE, 8192)
        .expect("nothing is there");
    processor
        .map_ram(FLASH_BASE, 65_536)
        .expect("nothing is there");
    for (place, opcode) in (FLASH_BASE..).step_by(2).zip(PROGRAM) {
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
    let (ours, theirs) = (ours(), theirs());
    let ratio = ours / theirs;
    writeln!(
        std::io::stdout(),
        "target-sim {ours:.0} M instructions/s, armagnac {theirs:.1} M/s, ratio {ratio:.1}"
    )
}
