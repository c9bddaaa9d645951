//! An entry for fuzzers: any bytes become a program that a target runs.

use super::{BareBoard, Target};
use crate::chip::{Part, STM32F030R8, STM32F446RE};

/// How long a target runs one program, in nanoseconds.
const DURATION_NS: u64 = 2_000_000;

/// How much later than requested a target may stop: an instruction may have to wait for a mass erase, which
/// takes longer on the larger part.
const LATE_NS_MAX: u64 = 10_000_000_000;

/// Stack pointer and entry point, for a program that would not start by itself: the end of 8 KiB of RAM,
/// and the first half word after the smaller part's full vector table.
const START: [u8; 8] = [0x00, 0x20, 0x00, 0x20, 0xc1, 0x00, 0x00, 0x08];

/// Programs `data` into the flash of fresh targets, one of each family, and runs it from power up.
///
/// # Panics
/// If simulated time does not pass as requested. Nothing else may panic.
pub fn program(data: &[u8]) {
    for part in [STM32F030R8, STM32F446RE] {
        program_part(part, data);
    }
}

fn program_part(part: Part, data: &[u8]) {
    let mut target = Target::new(part);
    let flash = target.chip().flash_mut();
    let length = data.len().min(flash.len());
    flash[..length].copy_from_slice(&data[..length]);
    flash[..START.len()].copy_from_slice(&START);
    target.set_power(true, &mut BareBoard);
    target.run_until(DURATION_NS, &mut BareBoard);
    let late_ns = target
        .now_ns()
        .checked_sub(DURATION_NS)
        .expect("time passes");
    assert!(late_ns <= LATE_NS_MAX, "{late_ns} ns late");
}

#[cfg(test)]
mod tests {
    use super::program;
    use crate::chip::{Part, STM32F030R8, STM32F446RE};
    use crate::firmware::{demo_elf, load_elf};
    use crate::target::Target;

    fn random(state: &mut u64) -> u8 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        state.to_le_bytes()[6]
    }

    #[test]
    fn no_random_program_breaks_a_target() {
        let mut state = 0x5eed;
        for _ in 0..200 {
            let data: Vec<u8> = (0..1024).map(|_| random(&mut state)).collect();
            program(&data);
        }
    }

    #[test]
    fn no_damaged_firmware_breaks_a_target() {
        for part in [STM32F030R8, STM32F446RE] {
            damage(part);
        }
    }

    fn damage(part: Part) {
        let mut target = Target::new(part);
        load_elf(target.chip(), demo_elf(&part)).unwrap();
        let whole: Vec<u8> = target.chip().flash()[..4096].to_vec();
        let mut state = 0xdeca_fbad;
        for _ in 0..200 {
            let mut damaged = whole.clone();
            for _ in 0..8 {
                let place =
                    usize::from(random(&mut state)) * 16 + usize::from(random(&mut state) & 15);
                damaged[place] = random(&mut state);
            }
            program(&damaged);
        }
    }
}
