//! Watchpoints: what a debugger sets up, and where the core stops.

use super::*;
use crate::bus::Width;
use crate::cpu::DebugControls;

const DWT_CTRL: u32 = 0xe000_1000;
const DWT_COMP: u32 = 0xe000_1020;
const DWT_MASK: u32 = 0xe000_1024;
const DWT_FUNCTION: u32 = 0xe000_1028;
const NEXT: u32 = 16;
const MATCHED: u32 = 1 << 24;

const PLACE: u32 = RAM + 0x1000;
const NOP: u16 = 0xbf00;

/// A debugger has switched the unit on, or not.
fn watched(program: &[u16], watches: bool) -> Core<Memory> {
    let mut core = core(program);
    core.set_debug(DebugControls {
        enabled: true,
        watches,
        ..DebugControls::default()
    });
    core.r[1] = PLACE;
    core
}

fn read(core: &mut Core<Memory>, address: u32) -> u32 {
    core.load(address, Width::Word).unwrap()
}

fn write(core: &mut Core<Memory>, address: u32, value: u32) {
    core.store(address, Width::Word, value).unwrap();
}

#[test]
fn an_access_to_a_watched_word_stops_after_it() {
    // str r0,[r1]; ldr r2,[r1]; nop
    for (function, stops_at) in [(6, 2), (5, 4), (7, 2), (4, 4)] {
        let mut core = watched(&[0x6008, 0x680a, NOP, 0xe7fe], true);
        let value = if function == 4 { CODE + 2 } else { PLACE };
        write(&mut core, DWT_COMP + NEXT, value);
        write(&mut core, DWT_FUNCTION + NEXT, function);
        assert_eq!(core.run(1000), Stop::Watchpoint);
        assert_eq!(core.r[PC], CODE + stops_at, "function {function}");
        let flags = read(&mut core, DWT_FUNCTION + NEXT);
        assert_eq!(flags, function | MATCHED);
        let flags = read(&mut core, DWT_FUNCTION + NEXT);
        assert_eq!(flags, function, "read once");
        assert_eq!(read(&mut core, DWT_FUNCTION), 0, "the other");
    }
}

#[test]
fn a_step_stops_for_the_same_reason() {
    let mut core = watched(&[NOP, 0x6008, NOP], true);
    write(&mut core, DWT_COMP, PLACE);
    write(&mut core, DWT_FUNCTION, 6);
    assert_eq!(core.step(), Stop::Deadline);
    assert_eq!(core.step(), Stop::Watchpoint);
    assert_eq!(core.step(), Stop::Deadline);
    assert_eq!(read(&mut core, DWT_FUNCTION), 6 | MATCHED);
}

#[test]
fn a_mask_widens_what_is_watched() {
    // strb r0,[r1,#5]; nop; b to itself
    for (mask, stop) in [
        (0, Stop::Deadline),
        (2, Stop::Deadline),
        (3, Stop::Watchpoint),
    ] {
        let mut core = watched(&[0x7148, NOP, 0xe7fe], true);
        write(&mut core, DWT_COMP, PLACE);
        write(&mut core, DWT_MASK, mask);
        assert_eq!(read(&mut core, DWT_MASK), mask);
        write(&mut core, DWT_FUNCTION, 7);
        assert_eq!(core.run(100), stop, "mask {mask}");
    }
}

#[test]
fn there_are_two_which_software_cannot_reach() {
    // ldr r0,[r1]; str r1,[r1]; b to itself
    let mut core = watched(&[0x6808, 0x6009, 0xe7fe], true);
    assert_eq!(read(&mut core, DWT_CTRL), 2 << 28);
    write(&mut core, DWT_COMP + 2 * NEXT, PLACE);
    assert_eq!(read(&mut core, DWT_COMP + 2 * NEXT), 0);
    write(&mut core, DWT_FUNCTION, u32::MAX);
    assert_eq!(read(&mut core, DWT_FUNCTION), 15);
    write(&mut core, DWT_FUNCTION, 0);
    core.r[0] = 7;
    core.r[1] = DWT_CTRL;
    core.run(100);
    assert_eq!(core.r[0], 0);
    core.r[1] = DWT_COMP;
    core.r[PC] = CODE;
    core.run(200);
    assert_eq!(read(&mut core, DWT_COMP), 0);
}

#[test]
fn nothing_is_compared_while_the_unit_is_off() {
    let mut core = watched(&[0x6008, NOP, 0xe7fe], false);
    write(&mut core, DWT_COMP, PLACE);
    write(&mut core, DWT_FUNCTION, 7);
    assert_eq!(core.run(100), Stop::Deadline);
    assert_eq!(read(&mut core, DWT_FUNCTION), 7);
    // A reset leaves it alone, the power does not.
    core.reset();
    assert_eq!(read(&mut core, DWT_FUNCTION), 7);
    core.power_up();
    assert_eq!(read(&mut core, DWT_FUNCTION), 0);
}
