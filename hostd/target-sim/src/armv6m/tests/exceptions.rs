//! Faults, lockup, priorities, nesting, sleep, and how a debugger changes them.

use super::super::exceptions::{HARD_FAULT, PENDSV, SVCALL, SYSTICK};
use super::*;
use crate::bus::NEVER;
use crate::cpu::DebugControls;

const NVIC_ENABLE: u32 = 0xe000_e100;
const NVIC_PEND: u32 = 0xe000_e200;
const NVIC_PRIORITY: u32 = 0xe000_e400;
const ICSR: u32 = 0xe000_ed04;
const SCR: u32 = 0xe000_ed10;
const SHPR3: u32 = 0xe000_ed20;
const BX_LR: u16 = 0x4770;
const NOP: u16 = 0xbf00;
const WFI: u16 = 0xbf30;
const WFE: u16 = 0xbf20;
const CPSID: u16 = 0xb672;
const CPSIE: u16 = 0xb662;
const HERE: u16 = 0xe7fe;

fn write(core: &mut Core<Memory>, address: u32, value: u32) {
    core.store(address, Width::Word, value).unwrap();
}

#[test]
fn undefined_unaligned_and_unmapped_all_fault() {
    let faulting: [&[u16]; 7] = [
        &[0xde00],         // udf
        &[0xb100],         // cbz, not in ARMv6-M
        &[0xe800, 0x0000], // not in ARMv6-M
        &[0xf7f0, 0xa000], // udf.w
        &[0x6848],         // ldr r0,[r1,#4] unaligned
        &[0x6010],         // str r0,[r2] where nothing is
        &[0x4718],         // bx r3 to ARM state: faults at its target
    ];
    for program in faulting {
        let mut core = core(program);
        core.r[1] = RAM + 2;
        core.r[2] = 0x3000_0000;
        core.r[3] = CODE;
        steps(&mut core, 1);
        if program[0] == 0x4718 {
            steps(&mut core, 1);
        }
        assert_eq!(core.r[PC], handler(HARD_FAULT), "{program:04x?}");
        assert_eq!(core.ipsr, HARD_FAULT);
        let returns_to = core.bus.load(0, core.r[SP] + 24, Width::Word);
        assert_eq!(returns_to, Ok(CODE), "{program:04x?}");
    }
}

#[test]
fn a_fault_in_the_fault_handler_locks_up() {
    let mut core = core(&[0xde00]);
    place(&mut core, handler(HARD_FAULT), &[0xde00]);
    assert_eq!(core.run(1000), Stop::Lockup);
    assert!(core.is_locked_up());
    assert_eq!(core.register(15), 0xffff_fffe);
    assert_eq!(core.run(2000), Stop::Lockup);
    assert_eq!(core.cycles(), 2000, "time goes on");
    core.reset();
    assert!(!core.is_locked_up());
}

#[test]
fn an_erased_vector_table_locks_up_at_once() {
    let mut core = core(&[]);
    core.bus.table.fill(0xff);
    core.reset();
    assert_eq!(core.run(100), Stop::Lockup);
    assert_eq!(core.register(15), 0xffff_fffe);
    // The values that a real part shows in this state.
    assert_eq!(core.register(13), 0xffff_ffd8);
    assert_eq!(core.register(16), 0x0100_0003);
}

#[test]
fn frames_are_aligned_and_undone() {
    let mut core = core(&[0xdf05, 0x2001]);
    place(&mut core, handler(SVCALL), &[BX_LR]);
    core.r[SP] = STACK - 4;
    core.r[..4].copy_from_slice(&[1, 2, 3, 4]);
    steps(&mut core, 1);
    assert_eq!(core.r[SP], STACK - 40, "one word lower than needed");
    assert_eq!(core.r[LR], 0xffff_fff9);
    core.r[..4].fill(0);
    steps(&mut core, 1);
    assert_eq!(
        (core.r[SP], core.r[PC], core.ipsr),
        (STACK - 4, CODE + 2, 0)
    );
    assert_eq!(core.r[..4], [1, 2, 3, 4]);
}

#[test]
fn thread_mode_returns_to_the_process_stack() {
    let mut core = core(&[0xdf00, NOP]);
    place(&mut core, handler(SVCALL), &[BX_LR]);
    core.set_process_sp(RAM + 0x4000);
    core.select_process_stack(true);
    steps(&mut core, 1);
    assert_eq!((core.r[LR], core.r[SP]), (0xffff_fffd, STACK));
    assert_eq!(core.process_sp(), RAM + 0x4000 - 32);
    steps(&mut core, 1);
    assert_eq!((core.r[SP], core.r[PC]), (RAM + 0x4000, CODE + 2));
}

#[test]
fn the_more_urgent_goes_first_and_interrupts_the_other() {
    let mut core = core(&[NOP, NOP, HERE]);
    place(&mut core, handler(16), &[NOP, BX_LR]);
    place(&mut core, handler(17), &[NOP, BX_LR]);
    write(&mut core, NVIC_ENABLE, 3);
    write(&mut core, NVIC_PRIORITY, 0x0000_40c0); // interrupt 0: 3, interrupt 1: 1
    write(&mut core, NVIC_PEND, 1);
    steps(&mut core, 2);
    assert_eq!(core.ipsr, 16);
    write(&mut core, NVIC_PEND, 2);
    steps(&mut core, 1);
    assert_eq!((core.ipsr, core.r[LR]), (17, 0xffff_fff1), "nested");
    write(&mut core, NVIC_PEND, 1);
    steps(&mut core, 2);
    assert_eq!(core.ipsr, 16, "back in the first");
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 0);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 16, "pended again while it was active");
}

#[test]
fn among_equals_the_lower_number_goes_first_and_none_interrupts_another() {
    let mut core = core(&[NOP, HERE]);
    place(&mut core, handler(18), &[NOP, BX_LR]);
    write(&mut core, NVIC_ENABLE, 0xf);
    write(&mut core, NVIC_PEND, 0b1100);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 18);
    write(&mut core, NVIC_PEND, 1);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 18);
}

#[test]
fn primask_holds_everything_back_but_faults() {
    let mut core = core(&[CPSID, NOP, NOP, CPSIE, NOP]);
    write(&mut core, NVIC_ENABLE, 1);
    steps(&mut core, 1);
    write(&mut core, NVIC_PEND, 1);
    steps(&mut core, 3);
    assert_eq!((core.ipsr, core.r[PC]), (0, CODE + 8));
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 16, "taken after cpsie");

    let mut core = super::core(&[CPSID, 0xdf00]);
    steps(&mut core, 2);
    assert_eq!(core.ipsr, HARD_FAULT, "a held-back SVC is a fault");
    let returns_to = core.bus.load(0, core.r[SP] + 24, Width::Word);
    assert_eq!(returns_to, Ok(CODE + 2));
}

#[test]
fn pendsv_is_set_and_cleared_by_software() {
    let mut core = core(&[NOP, NOP]);
    write(&mut core, SHPR3, 0x00c0_0000);
    write(&mut core, ICSR, 1 << 28);
    assert_eq!(core.load(ICSR, Width::Word).unwrap() >> 12 & 0x3f, PENDSV);
    write(&mut core, ICSR, 1 << 27);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 0);
    write(&mut core, ICSR, 1 << 28);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, PENDSV);
}

#[test]
fn waiting_for_an_interrupt_jumps_over_the_time() {
    let mut core = core(&[WFI, 0x2001, HERE]);
    place(&mut core, handler(16), &[0x2102, BX_LR]);
    write(&mut core, NVIC_ENABLE, 1);
    core.bus.line_at = 1_000_000_000;
    assert_eq!(core.run(500_000_000), Stop::Deadline);
    assert!(core.is_sleeping());
    assert_eq!(core.next_activity(), 1_000_000_000);
    assert_eq!(core.run(999_999_999), Stop::Deadline);
    assert_eq!(core.run(1_000_000_017), Stop::Deadline);
    assert_eq!((core.r[1], core.ipsr), (2, 16));
    core.run(1_000_000_051);
    assert_eq!(core.ipsr, 16, "taken again: the line is still high");
    core.bus.lines = 0;
    core.run(1_000_000_200);
    assert_eq!(core.r[0], 1);
    assert!((1_000_000_200..1_000_000_220).contains(&core.cycles()));
}

#[test]
fn wfi_wakes_under_primask_without_taking_the_interrupt() {
    let mut core = core(&[CPSID, WFI, 0x2001, HERE]);
    write(&mut core, NVIC_ENABLE, 1);
    core.bus.line_at = 5000;
    core.run(4000);
    assert!(core.is_sleeping());
    core.run(5100);
    assert_eq!((core.r[0], core.ipsr), (1, 0));
}

#[test]
fn wfe_waits_for_an_event() {
    let mut core = core(&[0xbf40, WFE, WFE, 0x2001, HERE]);
    core.run(100);
    assert!(core.is_sleeping(), "sev lets the first wfe pass");
    assert_eq!(core.register(15), CODE + 6);
    assert_eq!(core.next_activity(), NEVER);
    // With SEVONPEND, even an interrupt that is not enabled is an event.
    write(&mut core, SCR, 1 << 4);
    write(&mut core, NVIC_PEND, 1);
    core.run(200);
    assert_eq!(core.r[0], 1);
}

#[test]
fn sleep_on_exit_stays_in_handlers() {
    let mut core = core(&[NOP, 0x2001, HERE]);
    place(&mut core, handler(16), &[0x3101, BX_LR]);
    write(&mut core, SCR, 2);
    write(&mut core, NVIC_ENABLE, 1);
    write(&mut core, NVIC_PEND, 1);
    core.run(100);
    assert!(core.is_sleeping());
    assert_eq!(
        (core.r[0], core.register(1)),
        (0, 0),
        "the frame restored R1, the thread never ran"
    );
}

#[test]
fn systick_interrupts_at_its_period() {
    let mut core = core(&[HERE]);
    // ldr r1,[pc,#4]; ldr r2,[r1]; adds r2,#1; str r2,[r1]; bx lr
    place(
        &mut core,
        handler(SYSTICK),
        &[0x4902, 0x680a, 0x3201, 0x600a, BX_LR, NOP],
    );
    place(&mut core, handler(SYSTICK) + 12, &[0x1000, 0x2000]);
    write(&mut core, 0xe000_e014, 999);
    write(&mut core, 0xe000_e018, 0);
    write(&mut core, 0xe000_e010, 7);
    core.run(10_500);
    assert_eq!(core.bus.load(0, RAM + 0x1000, Width::Word), Ok(10));
}

#[test]
fn a_returning_handler_with_a_bad_value_faults() {
    let mut core = core(&[0xdf00]);
    place(&mut core, handler(SVCALL), &[BX_LR]);
    steps(&mut core, 1);
    core.r[LR] = 0xffff_fff1; // to a handler, but none is left
    steps(&mut core, 1);
    assert_eq!(core.ipsr, HARD_FAULT);
}

#[test]
fn a_bad_stack_becomes_a_fault_and_then_lockup() {
    let mut core = core(&[0xdf00]);
    core.r[SP] = 0x3000_0000;
    place(&mut core, handler(HARD_FAULT), &[0xb500]);
    steps(&mut core, 1);
    assert_eq!(core.ipsr, HARD_FAULT);
    assert_eq!(core.step(), Stop::Lockup, "its push faults too");
}

#[test]
fn software_can_ask_for_a_reset() {
    let mut core = core(&[0x6008]);
    core.r[..2].copy_from_slice(&[0x05fa_0004, 0xe000_ed0c]);
    assert_eq!(core.run(100), Stop::ResetRequest);
    core.set_register(15, CODE);
    core.r[0] = 0x0000_0004;
    assert_eq!(
        core.step(),
        Stop::Deadline,
        "without the key nothing happens"
    );
}

#[test]
fn bkpt_faults_without_a_debugger_and_halts_with_one() {
    let mut core = core(&[NOP, 0xbe00]);
    core.set_debug(DebugControls {
        enabled: true,
        ..DebugControls::default()
    });
    assert_eq!(core.run(100), Stop::Breakpoint);
    assert_eq!(
        core.register(15),
        CODE + 2,
        "at the instruction, not behind it"
    );
    core.set_debug(DebugControls::default());
    core.run(core.cycles() + 1);
    assert_eq!(core.ipsr, HARD_FAULT);
}

#[test]
fn comparators_stop_before_the_instruction() {
    let mut core = core(&[0x2001, 0x2102, 0x2203, HERE]);
    core.set_debug(DebugControls {
        enabled: true,
        breakpoints: vec![CODE + 4],
        ..DebugControls::default()
    });
    assert_eq!(core.run(100), Stop::Breakpoint);
    assert_eq!((core.register(15), core.r[1], core.r[2]), (CODE + 4, 2, 0));
}

#[test]
fn a_fault_can_be_caught_at_its_handler() {
    let mut core = core(&[0xde00]);
    core.set_debug(DebugControls {
        enabled: true,
        catches: crate::cpu::CATCH_HARD_FAULT,
        ..DebugControls::default()
    });
    assert_eq!(core.run(100), Stop::VectorCatch);
    assert_eq!(core.register(15), handler(HARD_FAULT));
}

#[test]
fn masked_interrupts_wait_until_the_mask_is_off() {
    let mut core = core(&[NOP, NOP, NOP]);
    write(&mut core, NVIC_ENABLE, 1);
    write(&mut core, NVIC_PEND, 1);
    core.set_debug(DebugControls {
        enabled: true,
        mask_interrupts: true,
        ..DebugControls::default()
    });
    steps(&mut core, 2);
    assert_eq!(core.ipsr, 0);
    core.set_debug(DebugControls::default());
    steps(&mut core, 1);
    assert_eq!(core.ipsr, 16);
}
