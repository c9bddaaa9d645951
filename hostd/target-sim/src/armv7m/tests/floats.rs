//! The floating-point unit's context: rights, exceptions that save it, lazily or at once.

use super::*;

const CPACR: u32 = 0xe000_ed88;
const FPCCR: u32 = 0xe000_ef34;
const FPCAR: u32 = 0xe000_ef38;
const FPDSCR: u32 = 0xe000_ef3c;
/// vadd.f32 s0, s0, s1
const VADD: [u16; 2] = [0xee30, 0x0a20];
const ONE: u32 = 0x3f80_0000;
const TWO: u32 = 0x4000_0000;

fn with_floats(program: &[u16]) -> Core<Memory> {
    let mut core = core(program);
    write(&mut core, CPACR, 0xf << 20);
    core.set_register(0x40, ONE);
    core.set_register(0x41, ONE);
    core
}

#[test]
fn the_first_instruction_starts_a_context() {
    let mut core = with_floats(&VADD);
    write(&mut core, FPDSCR, 1 << 24);
    steps(&mut core, 1);
    assert_eq!(core.register(0x40), TWO);
    assert_eq!(core.register(20) >> 24, 4, "CONTROL.FPCA");
    assert_eq!(core.register(0x21), 1 << 24, "the default modes");
}

#[test]
fn rights_may_be_those_of_privileged_code_only() {
    // msr control,r0; vadd
    let mut core = with_floats(&[0xf380, 0x8814, VADD[0], VADD[1]]);
    write(&mut core, CPACR, 5 << 20);
    core.r[0] = 1;
    steps(&mut core, 2);
    assert_eq!(core.ipsr, 3);
    assert_eq!(read(&mut core, CFSR), 1 << 19);
}

/// vadd; svc, with a handler that changes S0 or does nothing.
fn interrupted(handler_code: &[u16], control: Option<u32>) -> Core<Memory> {
    let mut core = with_floats(&[VADD[0], VADD[1], 0xdf00]);
    if let Some(control) = control {
        write(&mut core, FPCCR, control);
    }
    place(&mut core, handler(11), handler_code);
    steps(&mut core, 2);
    assert_eq!(core.ipsr, 11);
    core
}

#[test]
fn a_handler_without_floats_costs_only_the_space() {
    let mut core = interrupted(&[BX_LR], None);
    assert_eq!(core.r[LR], 0xffff_ffe9);
    assert_eq!(core.r[SP], STACK - 104);
    assert_eq!(read(&mut core, FPCAR), STACK - 104 + 32);
    assert_eq!(read(&mut core, FPCCR) & 1, 1, "still to be saved");
    write(&mut core, STACK - 104 + 32, 77);
    steps(&mut core, 1);
    assert_eq!(core.register(0x40), TWO, "never touched");
    assert_eq!((core.r[SP], core.register(20) >> 24), (STACK, 4));
    assert_eq!(read(&mut core, FPCCR) & 1, 0);
}

#[test]
fn a_handler_with_floats_saves_them_first_and_gets_them_back() {
    let mut core = interrupted(&[VADD[0], VADD[1], BX_LR], None);
    write(&mut core, STACK - 104 + 32, 77);
    steps(&mut core, 1);
    assert_eq!(core.register(0x40), 0x4040_0000, "three");
    assert_eq!(read(&mut core, STACK - 104 + 32), TWO, "saved");
    steps(&mut core, 1);
    assert_eq!(core.register(0x40), TWO, "restored");
}

#[test]
fn without_laziness_all_is_saved_at_once() {
    let mut core = interrupted(&[BX_LR], Some(1 << 31));
    assert_eq!(read(&mut core, STACK - 104 + 32), TWO);
    core.set_register(0x40, 5);
    steps(&mut core, 1);
    assert_eq!(core.register(0x40), TWO);
}

#[test]
fn without_automation_frames_are_short() {
    let core = interrupted(&[BX_LR], Some(0));
    assert_eq!((core.r[LR], core.r[SP]), (0xffff_fff9, STACK - 32));
}

#[test]
fn flags_of_a_comparison_move_to_the_core() {
    // vcmp.f32 s0,s1; vmrs apsr_nzcv,fpscr
    let mut core = with_floats(&[0xeeb4, 0x0a60, 0xeef1, 0xfa10]);
    steps(&mut core, 2);
    assert!(core.zero && core.carry && !core.negative && !core.overflow);
}
