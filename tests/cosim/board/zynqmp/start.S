/* Start-up code of a program for a Cortex-A53, in EL3, or with ONLY_EL1 in EL1: vectors, VFP, a stack, main, _exit. */
    .section .vectors, "ax"
    .global _start
_start:
    ldr x0, =vectors
#ifdef ONLY_EL1
    msr VBAR_EL1, x0
    mov x2, #0x300000
    msr CPACR_EL1, x2
#else
    msr VBAR_EL3, x0
    mrs x2, SCR_EL3
    orr x2, x2, #0xE                    /* all to EL3 */
    msr SCR_EL3, x2
    msr CPTR_EL3, xzr
#endif
#ifdef ENABLE_UART
    ldr x0, =0xFF000000                 /* what a boot loader does before */
    mov w1, #0x14
    str w1, [x0]
#endif
    ldr x0, =stack + 0x8000
    mov sp, x0
    isb
    bl main
    b _exit
    .type _exit, %function
    .global _exit
_exit:
    b .
    .size _exit, . - _exit
    .balign 0x800
vectors:
    .rept 4
    .balign 0x80
    b .
    .endr
    .balign 0x200
    b sync
    .balign 0x80
    b irq
    .balign 0x80
    b .
    .balign 0x80
    b .
    .balign 0x800
.macro SAVE
    sub sp, sp, #0x100
    stp x0, x1, [sp]
    stp x2, x3, [sp, #0x10]
    stp x4, x5, [sp, #0x20]
    stp x6, x7, [sp, #0x30]
    stp x8, x9, [sp, #0x40]
    stp x10, x11, [sp, #0x50]
    stp x12, x13, [sp, #0x60]
    stp x14, x15, [sp, #0x70]
    stp x16, x17, [sp, #0x80]
    stp x18, x30, [sp, #0x90]
.endm
.macro RESTORE
    ldp x0, x1, [sp]
    ldp x2, x3, [sp, #0x10]
    ldp x4, x5, [sp, #0x20]
    ldp x6, x7, [sp, #0x30]
    ldp x8, x9, [sp, #0x40]
    ldp x10, x11, [sp, #0x50]
    ldp x12, x13, [sp, #0x60]
    ldp x14, x15, [sp, #0x70]
    ldp x16, x17, [sp, #0x80]
    ldp x18, x30, [sp, #0x90]
    add sp, sp, #0x100
    eret
.endm
irq:
    SAVE
    bl on_irq
    RESTORE
sync:
    SAVE
#ifdef ONLY_EL1
    mrs x0, ESR_EL1
    mrs x1, ELR_EL1
    bl on_exception
    msr ELR_EL1, x0
#else
    mrs x0, ESR_EL3
    mrs x1, ELR_EL3
    bl on_exception
    msr ELR_EL3, x0
#endif
    RESTORE
    .bss
    .balign 16
stack:
    .space 0x8000
