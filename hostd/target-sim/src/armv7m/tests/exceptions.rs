//! Faults and their status, escalation, priorities with groups and masks, returns.

use super::*;

const NVIC_ENABLE: u32 = 0xe000_e100;
const NVIC_PEND: u32 = 0xe000_e200;
const NVIC_PRIORITY: u32 = 0xe000_e400;
const AIRCR: u32 = 0xe000_ed0c;
const ICSR: u32 = 0xe000_ed04;
const HERE: u16 = 0xe7fe;

#[test]
fn each_fault_has_its_exception_and_its_bit() {
    // The program, the exception, CFSR.
    let cases: [(&[u16], u32, u32); 8] = [
        (&[0xde00], 6, 1 << 16),          // udf: UNDEFINSTR
        (&[0x4718], 6, 1 << 17),          // bx r3 to ARM state: INVSTATE, at its target
        (&[0xee30, 0x0a20], 6, 1 << 19),  // vadd with the unit off: NOCP
        (&[0xec51, 0x0f1e], 6, 1 << 19),  // a coprocessor that is not there
        (&[0xfb90, 0xf1f2], 6, 1 << 25),  // sdiv by zero: DIVBYZERO
        (&[0x6848], 6, 1 << 24),          // ldr unaligned: UNALIGNED
        (&[0x6021], 5, 1 << 9 | 1 << 15), // str where nothing is: PRECISERR, BFARVALID
        (&[0x4728], 4, 1),                // bx r5 to a device: IACCVIOL
    ];
    for (program, number, status) in cases {
        for enabled in [true, false] {
            let mut core = core(program);
            write(&mut core, CCR, 0x218);
            if enabled {
                write(&mut core, SHCSR, FAULTS_ENABLED);
            }
            core.r[1] = RAM + 2;
            core.r[2] = 0;
            core.r[3] = CODE;
            core.r[4] = 0x3000_0000;
            core.r[5] = 0x4000_0001;
            steps(&mut core, if program[0] >> 8 == 0x47 { 2 } else { 1 });
            let taken = if enabled { number } else { 3 };
            assert_eq!(core.r[PC], handler(taken), "{program:04x?}");
            assert_eq!(read(&mut core, CFSR), status, "{program:04x?}");
            let forced = if enabled { 0 } else { 1 << 30 };
            assert_eq!(read(&mut core, HFSR), forced, "{program:04x?}");
            if number == 5 {
                assert_eq!(read(&mut core, BFAR), 0x3000_0000);
            }
        }
    }
}

#[test]
fn without_traps_division_by_zero_is_zero() {
    let mut core = core(&[0xfb90, 0xf1f2, 0xfb90, 0xf1f3]);
    core.r[0] = 0x8000_0000;
    core.r[1] = 5;
    steps(&mut core, 1);
    assert_eq!(core.r[1], 0);
    core.r[3] = u32::MAX;
    steps(&mut core, 1);
    assert_eq!(core.r[1], 0x8000_0000, "the one overflow");
}

#[test]
fn a_fault_in_the_fault_handler_locks_up() {
    let mut core = core(&[0xde00]);
    place(&mut core, handler(3), &[0xde00]);
    assert_eq!(core.run(1000), Stop::Lockup);
    assert!(core.is_locked_up());
    assert_eq!(core.register(15), 0xffff_fffe);
}

#[test]
fn an_erased_vector_table_locks_up_at_once() {
    let mut core = core(&[]);
    core.bus.table.fill(0xff);
    core.reset();
    assert_eq!(core.run(100), Stop::Lockup);
    assert_eq!(core.register(15), 0xffff_fffe);
}

#[test]
fn statuses_are_cleared_by_writing_them_in_any_width() {
    let mut core = core(&[0xde00]);
    steps(&mut core, 1);
    assert_eq!(core.load(CFSR + 2, Width::Half), Ok(1));
    core.store(CFSR + 2, Width::Half, 1).unwrap();
    assert_eq!(read(&mut core, CFSR), 0);
}

#[test]
fn groups_decide_what_interrupts_and_the_rest_what_is_first() {
    let mut core = core(&[HERE]);
    place(&mut core, handler(16), &[HERE]);
    place(&mut core, handler(17), &[HERE]);
    // Two bits of group: 0x40 and 0x50 are in one.
    write(&mut core, AIRCR, 0x05fa_0500);
    write(&mut core, NVIC_PRIORITY, 0x4050);
    write(&mut core, NVIC_ENABLE, 3);
    write(&mut core, NVIC_PEND, 1);
    core.run(100);
    assert_eq!(core.ipsr, 16);
    write(&mut core, NVIC_PEND, 2);
    core.run(200);
    assert_eq!(core.ipsr, 16, "the same group");
    write(&mut core, AIRCR, 0x05fa_0300);
    core.run(300);
    assert_eq!(core.ipsr, 17, "without subpriorities it is more urgent");
    assert_eq!(read(&mut core, ICSR) & 0x9ff, 17, "nested");
}

#[test]
fn a_base_priority_masks_what_is_less_urgent() {
    let mut core = core(&[HERE]);
    place(&mut core, handler(16), &[HERE]);
    write(&mut core, NVIC_PRIORITY, 0x80);
    write(&mut core, NVIC_ENABLE, 1);
    core.set_register(20, 0x8000);
    write(&mut core, NVIC_PEND, 1);
    core.run(100);
    assert_eq!(core.ipsr, 0);
    core.set_register(20, 0x9000);
    core.run(200);
    assert_eq!(core.ipsr, 16);
}

#[test]
fn fault_mask_keeps_all_but_the_most_urgent_away_and_ends_with_the_handler() {
    // cpsid f; bx lr, in a handler
    let mut core = core(&[HERE]);
    place(&mut core, handler(16), &[0xb671, BX_LR]);
    write(&mut core, NVIC_ENABLE, 3);
    write(&mut core, NVIC_PEND, 1);
    steps(&mut core, 2);
    assert!(core.faultmask);
    write(&mut core, NVIC_PEND, 2);
    steps(&mut core, 1);
    assert_eq!((core.ipsr, core.faultmask), (0, false), "returned");
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 17);
}

#[test]
fn a_senseless_return_is_a_usage_fault() {
    let mut core = core(&[0xdf00]);
    write(&mut core, SHCSR, FAULTS_ENABLED);
    // bx to a value that says handler, though nothing was interrupted but a thread
    place(&mut core, handler(11), &[0x4718]);
    core.r[3] = 0xffff_fff1;
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 11);
    steps(&mut core, 1);
    assert_eq!(read(&mut core, CFSR), 1 << 18, "INVPC");
}

#[test]
fn a_stack_where_nothing_is_becomes_a_fault_of_its_own() {
    let mut core = core(&[0xdf00]);
    core.r[SP] = 0x3000_0000;
    core.step();
    assert_eq!(core.ipsr, 3);
    assert_eq!(read(&mut core, CFSR), 1 << 12, "STKERR");
}

#[test]
fn the_vector_table_can_move() {
    let mut core = core(&[0xdf00]);
    write(&mut core, 0xe000_ed08, RAM + 0x4000);
    write(&mut core, RAM + 0x4000 + 11 * 4, (RAM + 0x5000) | 1);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], RAM + 0x5000);
}

#[test]
fn a_breakpoint_without_a_debugger_is_a_debug_event() {
    let mut core = core(&[0xbe00]);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], handler(3));
    assert_eq!(read(&mut core, HFSR), 1 << 31);
}

#[test]
fn interrupts_beyond_thirty_two_work_like_the_others() {
    let mut core = core(&[HERE]);
    write(&mut core, 0xe000_ed08, RAM + 0x4000);
    write(&mut core, RAM + 0x4000 + (16 + 37) * 4, (RAM + 0x5000) | 1);
    write(&mut core, NVIC_ENABLE + 4, 1 << 5);
    assert_eq!(read(&mut core, NVIC_ENABLE + 4), 1 << 5);
    write(&mut core, NVIC_PEND + 4, 1 << 5);
    core.run(40);
    assert_eq!(core.ipsr, 16 + 37);
    assert_eq!(read(&mut core, 0xe000_e304), 1 << 5, "active");
    write(&mut core, NVIC_ENABLE + 0xc, u32::MAX);
    assert_eq!(read(&mut core, NVIC_ENABLE + 0xc), 1, "97 of them");
}
