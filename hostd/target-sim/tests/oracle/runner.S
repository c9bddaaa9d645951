/* Executes instructions under qemu-arm: reads cases from standard input, writes what became of the registers
 * and of the data to standard output. A case: 2 words of code, r0 to r12, lr, the flags, FPSCR, s0 to s15.
 * A result: the same without the code, and a checksum of the data. */
    .syntax unified
    .thumb
    .equ CASE_BYTES, 136
    .equ RESULT_BYTES, 132
    .equ DATA, 0x20001000
    .equ DATA_WORDS, 256

    .text
    .global _start
    .thumb_func
_start:
next_case:
    ldr sp, =stack_end
    ldr r4, =case
    mov r5, #CASE_BYTES
1:  mov r0, #0
    mov r1, r4
    mov r2, r5
    mov r7, #3
    svc 0
    cmp r0, #0
    ble finish
    add r4, r4, r0
    subs r5, r5, r0
    bne 1b

    /* The data is the same for each case. */
    ldr r0, =DATA
    ldr r1, =0x9e3779b9
    mov r2, #DATA_WORDS
    mov r3, r1
2:  str r3, [r0], #4
    add r3, r3, r1
    eor r3, r3, r3, ror #13
    subs r2, r2, #1
    bne 2b

    ldr r0, =case
    ldr r1, =0x20000000
    ldrd r2, r3, [r0]
    strd r2, r3, [r1]
    add r0, r0, #8
    mov sp, r0
    add r1, r0, #64
    vldmia r1, {s0-s15}
    ldr r1, [r0, #60]
    vmsr fpscr, r1
    ldr r1, [r0, #56]
    msr apsr_nzcvqg, r1
    ldr lr, [r0, #52]
    ldmia sp, {r0-r12}
    add sp, sp, #256
    b.w slot

    .thumb_func
slot_done:
    stmia sp, {r0-r12}
    str lr, [sp, #52]
    mrs r0, apsr
    str r0, [sp, #56]
    vmrs r0, fpscr
    str r0, [sp, #60]
    add r1, sp, #64
    vstmia r1, {s0-s15}
    mov r6, sp
    ldr sp, =stack_end

    ldr r0, =DATA
    mov r2, #DATA_WORDS
    mov r3, #0
3:  ldr r1, [r0], #4
    eor r3, r1, r3, ror #31
    subs r2, r2, #1
    bne 3b
    str r3, [r6, #128]

    mov r4, r6
    mov r5, #RESULT_BYTES
4:  mov r0, #1
    mov r1, r4
    mov r2, r5
    mov r7, #4
    svc 0
    cmp r0, #0
    ble finish
    add r4, r4, r0
    subs r5, r5, r0
    bne 4b
    b next_case

finish:
    mov r0, #0
    mov r7, #1
    svc 0
    .ltorg

    .section .slot, "awx"
    .thumb_func
slot:
    .word 0, 0
    b.w slot_done
    .space 0x3000 - 12

    .bss
    .balign 8
case:
    .space 512
    .space 4096
stack_end:
    .space 8
