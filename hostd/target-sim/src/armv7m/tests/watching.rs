//! What a debugger sees and does: registers, breakpoints, watchpoints, the cycle counter.

use super::*;
use crate::cpu::DebugControls;

const DEMCR: u32 = 0xe000_edfc;
const DWT_CTRL: u32 = 0xe000_1000;
const DWT_CYCCNT: u32 = 0xe000_1004;
const DWT_COMP: u32 = 0xe000_1020;
const DWT_FUNCTION: u32 = 0xe000_1028;
const TRACE: u32 = 1 << 24;

fn debugged(program: &[u16]) -> Core<Memory> {
    let mut core = core(program);
    core.set_debug(DebugControls {
        enabled: true,
        ..DebugControls::default()
    });
    core
}

#[test]
fn an_access_to_a_watched_word_stops_after_it() {
    // str r0,[r1]; ldr r2,[r1]; nop
    for (function, stops_at) in [(6, 2), (5, 4), (7, 2)] {
        let mut core = debugged(&[0x6008, 0x680a, NOP, 0xe7fe]);
        core.r[1] = RAM + 0x1000;
        write(&mut core, DEMCR, TRACE);
        write(&mut core, DWT_COMP, RAM + 0x1000);
        write(&mut core, DWT_FUNCTION, function);
        assert_eq!(core.run(1000), Stop::Watchpoint);
        assert_eq!(core.r[PC], CODE + stops_at, "function {function}");
        assert_eq!(read(&mut core, DWT_FUNCTION), function | 1 << 24);
        assert_eq!(read(&mut core, DWT_FUNCTION), function, "read once");
    }
}

#[test]
fn other_words_are_not_watched() {
    let mut core = debugged(&[0x6008, 0xe7fe]);
    core.r[1] = RAM + 0x1004;
    write(&mut core, DEMCR, TRACE);
    write(&mut core, DWT_COMP, RAM + 0x1000);
    write(&mut core, DWT_FUNCTION, 7);
    assert_eq!(core.run(100), Stop::Deadline);
}

#[test]
fn the_cycle_counter_counts_cycles() {
    let mut core = core(&[NOP, NOP, NOP, 0xe7fe]);
    assert_eq!(read(&mut core, DWT_CTRL) >> 28, 4, "comparators");
    write(&mut core, DEMCR, TRACE);
    write(&mut core, DWT_CTRL, 1);
    write(&mut core, DWT_CYCCNT, 100);
    steps(&mut core, 3);
    assert_eq!(read(&mut core, DWT_CYCCNT), 103);
    core.idle(1000);
    assert_eq!(read(&mut core, DWT_CYCCNT), 103, "halted");
    write(&mut core, DEMCR, 0);
    steps(&mut core, 1);
    assert_eq!(read(&mut core, DWT_CYCCNT), 103, "off");
}

#[test]
fn a_breakpoint_in_a_block_leaves_the_block_as_it_was() {
    // itt eq; moveq r0,#1; bkpt
    let mut core = debugged(&[0xbf04, 0x2001, 0xbe00]);
    core.zero = true;
    steps(&mut core, 2);
    let before = core.register(16);
    assert_eq!(core.run(100), Stop::Breakpoint);
    assert_eq!((core.register(15), core.register(16)), (CODE + 4, before));
}

#[test]
fn wanted_faults_stop_at_their_handlers() {
    let mut core = core(&[0xde00]);
    write(&mut core, SHCSR, FAULTS_ENABLED);
    core.set_debug(DebugControls {
        enabled: true,
        // VC_STATERR.
        catches: 1 << 7,
        ..DebugControls::default()
    });
    assert_eq!(core.run(100), Stop::VectorCatch);
    assert_eq!(core.r[PC], handler(6));
}

#[test]
fn the_identity_is_that_of_a_cortex_m4_with_single_precision() {
    let mut core = core(&[]);
    assert_eq!(read(&mut core, 0xe000_ed00), 0x410f_c241);
    assert_eq!(read(&mut core, 0xe000_ef40), 0x1011_0021);
    assert_eq!(read(&mut core, 0xe000_ef44), 0x1100_0011);
    core.set_register(0x5f, 3);
    assert_eq!(core.register(0x5f), 3, "S31");
}
