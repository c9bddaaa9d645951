//! No instruction stream, register contents or private register writes make the core panic; it always makes
//! progress or stops with a reason.

use super::*;
use crate::cpu::DebugControls;
use crate::word::low_byte;

/// Runs `count` cycles of a program made of random half words.
fn run_random(seed: u64, cycles: u64) {
    let mut random = Random(seed | 1);
    let mut core = core(&[]);
    for byte in &mut core.bus.ram {
        *byte = low_byte(random.next());
    }
    // Half of the instructions are wide ones, and many of those floating-point ones.
    for address in (RAM..RAM + 0x1_0000).step_by(4) {
        match random.below(4) {
            0 => core
                .bus
                .store(0, address, Width::Half, 0xe800 | random.next() & 0x1fff),
            1 => core.bus.store(
                0,
                address,
                Width::Word,
                0x0a00_ec00 | random.next() & 0xf1ff_03ff,
            ),
            _ => Ok(()),
        }
        .unwrap();
    }
    for vector in (8..0x100).step_by(4) {
        let target = (RAM + random.below(0x1_0000)) | 1;
        core.bus.store(0, vector, Width::Word, target).unwrap();
    }
    core.set_debug(DebugControls {
        enabled: random.below(2) == 1,
        ..DebugControls::default()
    });
    let mut until = 0;
    while until < cycles {
        for number in 0..0x60 {
            let value = match random.below(4) {
                0 => RAM + random.below(0x1_0000),
                1 => 0xe000_e000 + random.below(0x1000),
                2 => random.below(64),
                _ => random.next(),
            };
            core.set_register(number, value);
        }
        core.set_register(16, random.next() | 1 << 24);
        core.set_register(15, RAM + random.below(0x1_0000));
        core.bus.lines = random.next() & random.next() & random.next();
        for _ in 0..4 {
            let address = random_private(&mut random);
            core.store(address, Width::Word, random.next()).unwrap();
        }
        core.store(0xe000_ed88, Width::Word, 0xf << 20).unwrap();
        until = core.cycles() + 200;
        for _ in 0..20 {
            if core.run(until) == Stop::Deadline {
                break;
            }
            if core.is_locked_up() {
                core.reset();
            }
            core.set_register(15, RAM + random.below(0x1_0000));
        }
        let late = core.cycles().saturating_sub(until);
        assert!(late <= 200, "an instruction has a limited duration");
    }
}

fn random_private(random: &mut Random) -> u32 {
    let page = [0xe000_e000, 0xe000_1000, 0xe000_0000, 0xe004_0000][random.below(4) as usize];
    page | random.next() & 0xffc
}

#[test]
fn no_instruction_stream_panics() {
    for seed in 1..=40 {
        run_random(seed, 20_000);
    }
}
