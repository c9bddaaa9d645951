//! The memory protection unit.

use super::*;

const MPU_TYPE: u32 = 0xe000_ed90;
const MPU_CTRL: u32 = 0xe000_ed94;
const MPU_RBAR: u32 = 0xe000_ed9c;
const MPU_RASR: u32 = 0xe000_eda0;
const PAGE: u32 = RAM + 0x2000;

/// A region of 256 bytes at [`PAGE`], over the background map.
fn protected(program: &[u16], attributes: u32) -> Core<Memory> {
    let mut core = core(program);
    write(&mut core, SHCSR, FAULTS_ENABLED);
    write(&mut core, MPU_RBAR, PAGE | 0x10 | 3);
    write(&mut core, MPU_RASR, attributes | 7 << 1 | 1);
    write(&mut core, MPU_CTRL, 5);
    core.r[1] = PAGE;
    core
}

fn faults(core: &mut Core<Memory>) -> bool {
    core.step();
    core.ipsr == 4
}

#[test]
fn there_are_eight_regions() {
    let mut core = protected(&[], 0);
    assert_eq!(read(&mut core, MPU_TYPE), 0x800);
    assert_eq!(read(&mut core, MPU_RBAR), PAGE | 3);
    write(&mut core, MPU_RBAR, 0x0000_0017);
    assert_eq!(read(&mut core, MPU_RASR), 0, "region 7 is off");
}

#[test]
fn rights_depend_on_who_and_what() {
    const LOAD: u16 = 0x6808;
    const STORE: u16 = 0x6008;
    // Access permissions, and whether privileged and other code may load and store.
    let table = [
        (0, [false, false], [false, false]),
        (1, [true, true], [false, false]),
        (2, [true, true], [true, false]),
        (3, [true, true], [true, true]),
        (5, [true, false], [false, false]),
        (6, [true, false], [true, false]),
    ];
    for (permission, privileged, user) in table {
        for (is_user, rights) in [(false, privileged), (true, user)] {
            for (opcode, may) in [(LOAD, rights[0]), (STORE, rights[1])] {
                let mut core = protected(&[opcode], permission << 24);
                if is_user {
                    // A second region lets other code run at all.
                    write(&mut core, MPU_RBAR, RAM | 0x10);
                    write(&mut core, MPU_RASR, 3 << 24 | 15 << 1 | 1);
                    core.set_register(20, 1 << 24);
                }
                let faulted = faults(&mut core);
                assert_eq!(faulted, !may, "{permission} {is_user} {opcode:04x}");
                if faulted {
                    assert_eq!(read(&mut core, CFSR), 0x82);
                    assert_eq!(read(&mut core, MMFAR), PAGE);
                }
            }
        }
    }
}

#[test]
fn nothing_is_executed_where_that_is_forbidden() {
    let mut core = protected(&[0x4708], 3 << 24 | 1 << 28);
    core.r[1] = PAGE | 1;
    steps(&mut core, 1);
    assert!(faults(&mut core));
    assert_eq!(read(&mut core, CFSR), 1);
}

#[test]
fn a_part_of_a_region_can_be_off() {
    // ldr r0,[r1]; ldr r0,[r1,#32]
    let mut core = protected(&[0x6808, 0x6a08], 1 << 8);
    assert!(!faults(&mut core), "the first eighth has the background");
    assert!(faults(&mut core));
}

#[test]
fn without_a_background_unknown_addresses_are_forbidden() {
    let mut core = protected(&[0x6808], 3 << 24);
    write(&mut core, MPU_CTRL, 1);
    core.step();
    assert_eq!(read(&mut core, CFSR) & 1, 1, "even the program");
}

#[test]
fn hard_faults_see_the_whole_memory() {
    let mut core = protected(&[0xde00], 0);
    place(&mut core, handler(3), &[0x6808]);
    write(&mut core, SHCSR, 0);
    steps(&mut core, 2);
    assert_eq!(core.r[PC], handler(3) + 2);
}
