//! A debug session: a core is halted, looked at, stepped and stopped, and flash is programmed.

use flash::{Access, DebugFailure, Debugger, Image, Stop, Watchpoint, Wish};
use target_sim::chip::{STM32F030R8, STM32F446RE};
use target_sim::firmware::DEMO_ELF;

use super::bench::{Bench, Fault, demo, noise};

const CHIP: &str = "STM32F030R8Tx";
const SP: u8 = 13;
const PC: u8 = 15;
const MSP: u8 = 17;

fn attached(bench: &Bench) -> Debugger {
    Debugger::attach(bench.link(), &Wish::new(CHIP), &Stop::new()).unwrap()
}

#[test]
fn a_core_is_stopped_where_it_should_and_goes_on() {
    let bench = Bench::powered(STM32F030R8);
    let mut debugger = attached(&bench);
    assert!(debugger.chip().starts_with("STM32F030R8"));
    let (range, sector) = debugger.flash()[0].clone();
    assert_eq!((range, sector), (0x0800_0000..0x0801_0000, 1024));
    let image = Image::parse(DEMO_ELF, "demo.elf", None).unwrap();
    assert_eq!(image, demo());
    let segments = image.placed(0, "").unwrap().segments;
    let segments: Vec<_> = segments
        .iter()
        .map(|s| (s.address, s.data.clone()))
        .collect();
    debugger.program(&segments).unwrap();
    // As after a reset: at the handler that the vector table names.
    let mut vector = [0; 4];
    debugger.read(0x0800_0004, &mut vector).unwrap();
    let start = u32::from_le_bytes(vector) & !1;
    assert!(debugger.is_halted().unwrap());
    assert_eq!(debugger.register(PC).unwrap(), start);
    let mut stack = [0; 4];
    debugger.read(0x0800_0000, &mut stack).unwrap();
    for register in [SP, MSP] {
        let value = debugger.register(register).unwrap();
        assert_eq!(value, u32::from_le_bytes(stack), "register {register}");
    }
    debugger.step().unwrap();
    let second = debugger.register(PC).unwrap();
    assert!(second != start && second.abs_diff(start) <= 4);
    // From the beginning again, to the second instruction.
    debugger.reset(true).unwrap();
    debugger.set_breakpoint(second).unwrap();
    debugger.run().unwrap();
    assert!(debugger.is_halted().unwrap());
    assert_eq!(debugger.register(PC).unwrap(), second);
    debugger.clear_breakpoint(second).unwrap();
    debugger.set_register(0, 0x1234_5678).unwrap();
    assert_eq!(debugger.register(0).unwrap(), 0x1234_5678);
    debugger.write(0x2000_0f01, &[1, 2, 3]).unwrap();
    let mut read = [0; 5];
    debugger.read(0x2000_0f00, &mut read).unwrap();
    assert_eq!(read[1..4], [1, 2, 3]);
    debugger.run().unwrap();
    bench.text_after_ms(50);
    assert!(!debugger.is_halted().unwrap());
    debugger.halt().unwrap();
    assert!(debugger.is_halted().unwrap());
}

#[test]
fn a_core_stops_at_the_use_of_a_place() {
    for (part, chip, comparators) in [
        (STM32F030R8, "STM32F030R8Tx", 2),
        (STM32F446RE, "STM32F446RETx", 4),
    ] {
        let bench = Bench::powered(part);
        let wish = Wish::new(chip);
        let mut debugger = Debugger::attach(bench.link(), &wish, &Stop::new()).unwrap();
        debugger.halt().unwrap();
        assert_eq!(debugger.has_fpu().unwrap(), part == STM32F446RE);
        assert_eq!(debugger.watchpoints().unwrap(), comparators);
        stops_at_the_use_of_a_place(&bench, &mut debugger);
    }
}

fn stops_at_the_use_of_a_place(bench: &Bench, debugger: &mut Debugger) {
    // str r1, [r0]; adds r1, #1; b to the first.
    let (code, place) = (0x2000_0100, 0x2000_0800);
    let program = [0x6001_u16, 0x3101, 0xE7FC].map(u16::to_le_bytes);
    debugger.write(code, program.as_flattened()).unwrap();
    for (register, value) in [(0, place), (1, 5), (PC, code)] {
        debugger.set_register(register, value).unwrap();
    }
    let count = debugger.watchpoints().unwrap();
    let at = |address, bytes, access| Watchpoint {
        address,
        bytes,
        access,
    };
    let (read, write) = (at(place, 4, Access::Read), at(place, 4, Access::Write));
    debugger.set_watchpoint(read).unwrap();
    debugger.set_watchpoint(write).unwrap();
    debugger.run().unwrap();
    bench.text_after_ms(1);
    assert!(debugger.is_halted().unwrap());
    // The read watchpoint, which was set first, was not hit.
    assert_eq!(debugger.take_hit().unwrap(), Some(write));
    assert_eq!(debugger.take_hit().unwrap(), None);
    let mut stored = [0; 4];
    debugger.read(place, &mut stored).unwrap();
    assert_eq!(u32::from_le_bytes(stored), 5);
    debugger.clear_watchpoint(write).unwrap();
    debugger.run().unwrap();
    bench.text_after_ms(1);
    assert!(!debugger.is_halted().unwrap());
    for refused in [
        at(place + 1, 2, Access::Any),
        at(place, 3, Access::Any),
        at(place, 0, Access::Any),
    ] {
        let why = debugger.set_watchpoint(refused);
        assert!(matches!(why, Err(DebugFailure::Refused(_))), "{why:?}");
    }
    for _ in 1..count {
        debugger.set_watchpoint(write).unwrap();
    }
    let why = debugger.set_watchpoint(write);
    assert!(matches!(why, Err(DebugFailure::Refused(_))), "{why:?}");
}

#[test]
fn programming_passes_over_watchpoints_which_stay() {
    let bench = Bench::powered(STM32F030R8);
    let mut debugger = attached(&bench);
    debugger.halt().unwrap();
    // All of the memory that the algorithm is in.
    let everywhere = Watchpoint {
        address: 0x2000_0000,
        bytes: 0x2000,
        access: Access::Any,
    };
    debugger.set_watchpoint(everywhere).unwrap();
    let image = demo();
    let segments: Vec<_> = image.placed(0, "").unwrap().segments;
    let segments: Vec<_> = segments
        .iter()
        .map(|s| (s.address, s.data.clone()))
        .collect();
    debugger.program(&segments).unwrap();
    assert_eq!(debugger.take_hit().unwrap(), None);
    debugger.run().unwrap();
    bench.text_after_ms(50);
    assert!(debugger.is_halted().unwrap());
    assert_eq!(debugger.take_hit().unwrap(), Some(everywhere));
}

#[test]
fn what_is_refused_does_not_end_the_session() {
    let bench = Bench::powered(STM32F030R8);
    let mut debugger = attached(&bench);
    debugger.halt().unwrap();
    let nowhere = debugger.read(0x6000_0000, &mut [0; 4]);
    assert!(
        matches!(nowhere, Err(DebugFailure::Refused(_))),
        "{nowhere:?}"
    );
    let taken = (0..64).find_map(|n| debugger.set_breakpoint(0x0800_0100 + 4 * n).err());
    assert!(matches!(taken, Some(DebugFailure::Refused(_))), "{taken:?}");
    let outside = debugger.program(&[(0x0900_0000, noise(4))]);
    assert!(
        matches!(outside, Err(DebugFailure::Refused(_))),
        "{outside:?}"
    );
    debugger.read(0x0800_0000, &mut [0; 4]).unwrap();
}

#[test]
fn a_target_or_a_link_that_is_lost_is_told() {
    let bench = Bench::powered(STM32F030R8);
    let mut debugger = attached(&bench);
    bench.with(|target, console| target.set_power(false, console));
    let lost = debugger.halt();
    assert!(matches!(lost, Err(DebugFailure::Lost(_))), "{lost:?}");
    let packets = bench.traffic().packets;
    for fault in [Fault::LinkBreaks, Fault::LinkCancels] {
        let bench = Bench::failing(STM32F030R8, packets / 2, fault);
        Debugger::attach(bench.link(), &Wish::new(CHIP), &Stop::new()).unwrap_err();
    }
    let bench = Bench::powered(STM32F030R8);
    let stop = Stop::new();
    let mut debugger = Debugger::attach(bench.link(), &Wish::new(CHIP), &stop).unwrap();
    stop.cancel();
    let lost = debugger.halt();
    assert!(matches!(lost, Err(DebugFailure::Lost(_))), "{lost:?}");
}
