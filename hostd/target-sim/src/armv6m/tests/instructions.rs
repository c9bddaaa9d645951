//! Single instructions compared with the manual: results, flags, cycles.

use super::*;

/// Executes one instruction with the given R0, R1 and R2; returns R0 and the flags as NZCV.
fn one(opcode: u16, r0: u32, r1: u32, r2: u32) -> (u32, u32) {
    let mut core = core(&[opcode]);
    core.r[..3].copy_from_slice(&[r0, r1, r2]);
    steps(&mut core, 1);
    (core.r[0], core.xpsr() >> 28)
}

const N: u32 = 8;
const Z: u32 = 4;
const C: u32 = 2;
const V: u32 = 1;

#[test]
fn moves_and_arithmetic_set_the_flags() {
    assert_eq!(one(0x2000, 9, 0, 0), (0, Z), "movs r0, #0");
    assert_eq!(one(0x20ff, 9, 0, 0), (255, 0), "movs r0, #255");
    assert_eq!(one(0x3001, u32::MAX, 0, 0), (0, Z | C), "adds r0, #1");
    assert_eq!(one(0x3801, 0, 0, 0), (u32::MAX, N), "subs r0, #1");
    assert_eq!(one(0x2805, 5, 0, 0), (5, Z | C), "cmp r0, #5");
    assert_eq!(
        one(0x1888, 0, 0x7fff_ffff, 1),
        (0x8000_0000, N | V),
        "adds r0, r1, r2"
    );
    assert_eq!(
        one(0x1a88, 0, 0x8000_0000, 1),
        (0x7fff_ffff, C | V),
        "subs r0, r1, r2"
    );
    assert_eq!(one(0x1dc8, 0, 3, 0), (10, 0), "adds r0, r1, #7");
    assert_eq!(one(0x4248, 0, 1, 0), (u32::MAX, N), "negs r0, r1");
    assert_eq!(
        one(0x4348, 0x1_0001, 0x1_0001, 0),
        (0x2_0001, 0),
        "muls r0, r1"
    );
    assert_eq!(one(0x42c8, 1, u32::MAX, 0), (1, Z | C), "cmn r0, r1");
    assert_eq!(one(0x4208, 6, 9, 0), (6, Z), "tst r0, r1");
}

#[test]
fn carry_goes_in_and_out() {
    let mut core = core(&[0x3001, 0x4151, 0x41_91]);
    core.r[..3].copy_from_slice(&[u32::MAX, 5, 7]);
    steps(&mut core, 2);
    assert_eq!(core.r[1], 13, "adcs r1, r2 with carry");
    steps(&mut core, 1);
    assert_eq!(core.r[1], 5, "sbcs r1, r2 with borrow");
}

#[test]
fn logic_and_shifts() {
    assert_eq!(one(0x4008, 0b1100, 0b1010, 0), (0b1000, 0), "ands");
    assert_eq!(one(0x4048, 0b1100, 0b1010, 0), (0b0110, 0), "eors");
    assert_eq!(one(0x4308, 0b1100, 0b1010, 0), (0b1110, 0), "orrs");
    assert_eq!(one(0x4388, 0b1100, 0b1010, 0), (0b0100, 0), "bics");
    assert_eq!(one(0x43c8, 0, 0, 0), (u32::MAX, N), "mvns");
    assert_eq!(
        one(0x0808, 0, 0x8000_0000, 0),
        (0, Z | C),
        "lsrs r0, r1, #32"
    );
    assert_eq!(
        one(0x1008, 0, 0x8000_0000, 0),
        (u32::MAX, N | C),
        "asrs r0, r1, #32"
    );
    assert_eq!(one(0x0008, 7, 5, 0), (5, 0), "movs r0, r1 (lsls #0)");
    assert_eq!(one(0x4088, 3, 33, 0), (0, Z), "lsls r0, r1 by 33");
    assert_eq!(
        one(0x41c8, 1, 0x101, 0),
        (0x8000_0000, N | C),
        "rors uses the low byte"
    );
}

#[test]
fn extension_and_reversal() {
    assert_eq!(one(0xb208, 0, 0x1_8000, 0).0, 0xffff_8000, "sxth");
    assert_eq!(one(0xb248, 0, 0x180, 0).0, 0xffff_ff80, "sxtb");
    assert_eq!(one(0xb288, 0, 0x1_8000, 0).0, 0x8000, "uxth");
    assert_eq!(one(0xb2c8, 0, 0x180, 0).0, 0x80, "uxtb");
    assert_eq!(one(0xba08, 0, 0x1122_3344, 0).0, 0x4433_2211, "rev");
    assert_eq!(one(0xba48, 0, 0x1122_3344, 0).0, 0x2211_4433, "rev16");
    assert_eq!(one(0xbac8, 0, 0x1122_33c4, 0).0, 0xffff_c433, "revsh");
}

#[test]
fn memory_of_every_width() {
    let address = RAM + 0x1000;
    let mut core = core(&[0x6008, 0x684a, 0x784b, 0x570c, 0x884d, 0x5f8e]);
    // str r0,[r1]; ldr r2,[r1,#4]; ldrb r3,[r1,#1]; ldrsb r4,[r1,r4]; ldrh r5,[r1,#2]; ldrsh r6,[r1,r6]
    core.r[..2].copy_from_slice(&[0x8182_8384, address]);
    core.r[4] = 3;
    core.r[6] = 2;
    core.bus.store(0, address + 4, Width::Word, 77).unwrap();
    steps(&mut core, 6);
    assert_eq!(core.r[2..7], [77, 0x83, 0xffff_ff81, 0x8182, 0xffff_8182]);
}

#[test]
fn lists_of_registers() {
    let address = RAM + 0x1000;
    let mut core = core(&[0xc107, 0xc9e1, 0xb503, 0xbc0c]);
    // stmia r1!,{r0-r2}; ldmia r1,{r0,r5-r7} writing back; push {r0,r1,lr}; pop {r2,r3}
    core.r[..3].copy_from_slice(&[1, address, 3]);
    for (at, value) in (address + 12..).step_by(4).zip([10, 11, 12, 13]) {
        core.bus.store(0, at, Width::Word, value).unwrap();
    }
    steps(&mut core, 2);
    assert_eq!(core.bus.load(0, address + 4, Width::Word), Ok(address));
    assert_eq!(
        [core.r[0], core.r[5], core.r[6], core.r[7]],
        [10, 11, 12, 13]
    );
    assert_eq!(core.r[1], address + 28);
    core.r[LR] = 99;
    steps(&mut core, 2);
    assert_eq!(core.r[2..4], [10, address + 28]);
    assert_eq!(core.bus.load(0, core.r[SP], Width::Word), Ok(99));
}

#[test]
fn branches_and_their_conditions() {
    let mut core = core(&[0x2805, 0xd100, 0x2101, 0xdb01]);
    // cmp r0,#5; bne +4; movs r1,#1; blt +6
    core.r[0] = 4;
    steps(&mut core, 2);
    assert_eq!(core.r[PC], CODE + 6, "bne taken");
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 12, "blt taken: 4 < 5");
    place(&mut core, CODE + 12, &[0xe7fe]);
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 12, "b to itself");
}

#[test]
fn calls_go_far_both_ways_and_come_back() {
    let mut core = core(&[0xf000, 0xf87e, 0x2207]);
    // bl +0xfc; movs r2,#7
    place(&mut core, CODE + 0x100, &[0xf7ff, 0xff7f]);
    steps(&mut core, 1);
    assert_eq!((core.r[PC], core.r[LR]), (CODE + 0x100, CODE + 5));
    steps(&mut core, 1);
    assert_eq!(
        (core.r[PC], core.r[LR]),
        (CODE + 2, CODE + 0x105),
        "bl backwards"
    );
    core.set_register(15, CODE + 0x200);
    place(&mut core, CODE + 0x200, &[0x4718, 0x4790]);
    core.r[3] = (CODE + 0x202) | 1;
    core.r[2] = (CODE + 4) | 1;
    steps(&mut core, 2);
    assert_eq!(
        (core.r[PC], core.r[LR]),
        (CODE + 4, CODE + 0x205),
        "bx r3; blx r2"
    );
}

#[test]
fn the_program_counter_reads_four_ahead() {
    let mut core = core(&[0x467b, 0xa001, 0x4801, 0x4487]);
    // mov r3,pc; adr r0,+4; ldr r0,[pc,#4]; add pc,r0
    place(&mut core, CODE + 12, &[0x1234, 0x0000]);
    steps(&mut core, 2);
    assert_eq!((core.r[3], core.r[0]), (CODE + 4, CODE + 8));
    steps(&mut core, 1);
    assert_eq!(core.r[0], 0x1234);
    core.r[0] = 0x20;
    steps(&mut core, 1);
    assert_eq!(core.r[PC], CODE + 6 + 4 + 0x20);
}

#[test]
fn special_registers() {
    let mut core = core(&[
        0xf380, 0x8800, 0xf3ef, 0x8100, 0xf380, 0x8809, 0xf3ef, 0x8209,
    ]);
    core.r[0] = 0xa000_0003;
    steps(&mut core, 2);
    assert_eq!(core.r[1], 0xa000_0000, "apsr");
    steps(&mut core, 2);
    assert_eq!(core.r[2], 0xa000_0000, "psp loses its low bits");
}

#[test]
fn changing_the_stack_pointer_in_use_swaps_r13() {
    let mut core = core(&[0xf381, 0x8809, 0xf380, 0x8814]);
    core.r[0] = 2;
    core.r[1] = RAM + 0x4000;
    steps(&mut core, 2);
    assert_eq!((core.r[SP], core.main_sp()), (RAM + 0x4000, STACK));
    assert_eq!(core.register(20), 0x0200_0000);
}

#[test]
fn cycles_are_those_of_the_cortex_m0() {
    let cycles = |program: &[u16], count| {
        let mut core = core(program);
        core.r[1] = RAM + 0x1000;
        core.r[LR] = CODE | 1;
        steps(&mut core, count);
        core.cycles()
    };
    assert_eq!(cycles(&[0x2000], 1), 1, "movs");
    assert_eq!(cycles(&[0x4348], 1), 1, "muls");
    assert_eq!(cycles(&[0x6008], 1), 2, "str");
    assert_eq!(cycles(&[0x6808], 1), 2, "ldr");
    assert_eq!(cycles(&[0xb507], 1), 5, "push of four");
    assert_eq!(cycles(&[0xc90c], 1), 3, "ldm of two");
    assert_eq!(cycles(&[0xe7fe], 1), 3, "b");
    assert_eq!(cycles(&[0xd0fe], 1), 1, "beq not taken");
    assert_eq!(cycles(&[0xd1fe], 1), 3, "bne taken");
    assert_eq!(cycles(&[0x4770], 1), 3, "bx lr");
    assert_eq!(cycles(&[0xf000, 0xf87e], 1), 4, "bl");
    assert_eq!(cycles(&[0xf3bf, 0x8f4f], 1), 4, "dsb");
    assert_eq!(
        cycles(&[0xb500, 0xbd00], 2),
        2 + 5,
        "push {{lr}}; pop {{pc}}"
    );
}
