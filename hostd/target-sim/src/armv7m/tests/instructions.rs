//! Branches, tables, the stack, exclusive accesses, unaligned ones and bit-bands.

use super::*;

#[test]
fn long_and_conditional_branches() {
    let mut core = core(&[0xf000, 0xb87e, NOP]);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 0x100, "b.w");
    place(&mut core, CODE + 0x100, &[0xf47f, 0xaf7e]);
    core.zero = false;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE, "bne.w backwards");
    core.r[PC] = CODE + 0x100;
    core.zero = true;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 0x104, "bne.w not taken");
}

#[test]
fn a_comparison_with_zero_branches_forward() {
    let mut core = core(&[0xb110, 0xb910]);
    core.r[0] = 0;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 8, "cbz r0");
    core.r[PC] = CODE + 2;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 4, "cbnz r0 with zero");
}

#[test]
fn tables_of_bytes_and_halves() {
    let mut core = core(&[0xe8df, 0xf000, 0x0a06]);
    core.r[0] = 1;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 4 + 20, "tbb [pc, r0]");
    core.r[PC] = CODE;
    place(&mut core, CODE, &[0xe8df, 0xf010, 0x0003, 0x0107]);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 4 + 0x20e, "tbh [pc, r0, lsl #1]");
}

#[test]
fn a_block_executes_what_its_conditions_say() {
    // ite eq; moveq r0,#1; movne r0,#2; adds r1,#1
    for (zero, expected) in [(true, 1), (false, 2)] {
        let mut core = core(&[0xbf0c, 0x2001, 0x2002, 0x3101]);
        core.zero = zero;
        core.carry = true;
        steps(&mut core, 3);
        assert_eq!(core.r[0], expected);
        assert_eq!(core.zero, zero, "no flags inside");
        assert_eq!(core.xpsr() & 0x0600_fc00, 0, "the block is over");
        core.r[1] = u32::MAX;
        steps(&mut core, 1);
        assert!(core.zero, "flags outside");
    }
}

#[test]
fn an_interrupted_block_goes_on() {
    // itt eq; moveq r0,#1; svceq 0 is not allowed there, so: udf, whose handler returns behind it
    let mut core = core(&[0xbf04, 0x2001, 0xde00]);
    place(&mut core, handler(3), &[BX_LR]);
    core.zero = true;
    steps(&mut core, 2);
    let before = core.xpsr();
    assert_ne!(before & 0x0600_fc00, 0);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], handler(3));
    let stacked = core.bus.load(0, core.r[SP] + 28, Width::Word).unwrap();
    assert_eq!(stacked & 0x0600_fc00, before & 0x0600_fc00);
    steps(&mut core, 1);
    assert_eq!((core.r[PC], core.xpsr()), (CODE + 4, before));
}

#[test]
fn wide_lists_on_the_stack_and_a_return() {
    // push.w {r4-r8, lr}; pop.w {r4-r8, pc}
    let mut core = core(&[0xe92d, 0x41f0, 0xe8bd, 0x81f0]);
    core.r[8] = 88;
    core.r[LR] = (CODE + 0x40) | 1;
    steps(&mut core, 1);
    assert_eq!(core.r[SP], STACK - 24);
    core.r[8] = 0;
    steps(&mut core, 1);
    assert_eq!(
        (core.r[8], core.r[SP], core.r[PC]),
        (88, STACK, CODE + 0x40)
    );
}

#[test]
fn an_exclusive_store_needs_its_load() {
    // ldrex r0,[r1]; strex r2,r3,[r1]; strex r2,r3,[r1]
    let mut core = core(&[0xe851, 0x0f00, 0xe841, 0x3200, 0xe841, 0x3200]);
    core.r[1] = RAM + 0x1000;
    core.r[3] = 7;
    steps(&mut core, 2);
    assert_eq!(core.r[2], 0);
    assert_eq!(core.bus.load(0, RAM + 0x1000, Width::Word), Ok(7));
    steps(&mut core, 1);
    assert_eq!(core.r[2], 1, "once only");
}

#[test]
fn words_may_lie_anywhere_but_pairs_and_lists_may_not() {
    // ldr r0,[r1]; ldrd r2,r3,[r1]
    let mut core = core(&[0x6808, 0xe9d1, 0x2300]);
    core.r[1] = RAM + 0x1001;
    write(&mut core, RAM + 0x1000, 0x4433_2211);
    write(&mut core, RAM + 0x1004, 0x8877_6655);
    steps(&mut core, 1);
    assert_eq!(core.r[0], 0x5544_3322);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], handler(3));
    assert_eq!(read(&mut core, CFSR), 1 << 24, "UNALIGNED");
}

#[test]
fn each_bit_of_memory_is_a_word_elsewhere() {
    let mut core = core(&[0x6008, 0x680a]);
    write(&mut core, RAM + 0x1000, 0);
    // Bit 13 of the word.
    core.r[1] = 0x2200_0000 + 0x1000 * 32 + 13 * 4;
    core.r[0] = 1;
    steps(&mut core, 2);
    assert_eq!(core.bus.load(0, RAM + 0x1000, Width::Word), Ok(1 << 13));
    assert_eq!(core.r[2], 1);
}

#[test]
fn a_program_may_change_itself() {
    // strh r0,[r1]; then the changed instruction
    let mut core = core(&[0x8008, 0x2201]);
    core.run(1);
    core.r[PC] = CODE;
    core.r[0] = 0x2207;
    core.r[1] = CODE + 2;
    steps(&mut core, 2);
    assert_eq!(core.r[2], 7);
}

#[test]
fn special_registers() {
    // msr basepri,r0; mrs r1,basepri; msr basepri_max,r2; mrs r3,basepri; msr faultmask,r0; mrs r4,faultmask
    let mut core = core(&[
        0xf380, 0x8811, 0xf3ef, 0x8111, 0xf382, 0x8812, 0xf3ef, 0x8311, 0xf380, 0x8813, 0xf3ef,
        0x8413,
    ]);
    core.r[0] = 0x8f;
    core.r[2] = 0xc0;
    steps(&mut core, 6);
    assert_eq!(core.r[1], 0x80, "four bits");
    assert_eq!(core.r[3], 0x80, "only stricter");
    assert_eq!(core.r[4], 1);
    assert_eq!(core.register(20), 0x0001_8000);
}

#[test]
fn unprivileged_code_cannot_change_much() {
    // msr control,r0; isb; msr primask,r0; cpsid i; ldr r1,[r2]
    let mut core = core(&[
        0xf380, 0x8814, 0xf3bf, 0x8f6f, 0xf380, 0x8810, 0xb672, 0x6811,
    ]);
    core.r[0] = 1;
    core.r[2] = 0xe000_ed00;
    steps(&mut core, 4);
    assert!(!core.primask);
    steps(&mut core, 1);
    assert_eq!(
        core.r[PC],
        handler(3),
        "the system's registers are not for it"
    );
    assert_eq!(read(&mut core, CFSR), 0x8200);
    assert_eq!(read(&mut core, BFAR), 0xe000_ed00);
}
