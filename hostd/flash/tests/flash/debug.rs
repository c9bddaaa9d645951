//! A debug session: a core is halted, looked at, stepped and stopped, and flash is programmed.

use flash::{DebugFailure, Debugger, Image, Stop, Wish};
use target_sim::chip::STM32F030R8;
use target_sim::firmware::DEMO_ELF;

use super::bench::{Bench, Fault, demo, noise};

const CHIP: &str = "STM32F030R8Tx";
const PC: u8 = 15;

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
    let image = Image::parse(DEMO_ELF, "demo.elf").unwrap();
    assert_eq!(image, demo());
    let segments: Vec<_> = image.placed(0).unwrap();
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
