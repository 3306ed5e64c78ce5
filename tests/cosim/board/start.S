/* Start-up code of a program that knows nothing of Axiloom: vectors, a flat table, caches, VFP, stacks, main, _exit. */
    .syntax unified
    .arm
    .fpu vfpv3
#ifndef ON_IRQ                              /* an operating system has its own */
#define ON_IRQ irq
#define ON_CALL supervisor
#endif
    .section .vectors, "ax"
    .global _start
_start:
    b reset
    b undefined
    b ON_CALL
    b prefetch
    b data
    nop
    b ON_IRQ
    nop

    .text
reset:
    ldr r0, =_start
    mcr p15, 0, r0, c12, c0, 0          /* VBAR */
    ldr r0, =0xF8000008                 /* SLCR: unlock, RAM of L2, lock */
    ldr r1, =0xDF0D
    str r1, [r0]
    ldr r0, =0xF8000A1C
    ldr r1, =0x20202
    str r1, [r0]
    ldr r0, =0xF8000004
    ldr r1, =0x767B
    str r1, [r0]
    ldr r0, =table                      /* sections: RAM is cached, devices are not, the rest faults */
    ldr r1, =0x15DE6
    mov r2, #0
1:  str r1, [r0, r2, lsl #2]
    add r1, r1, #0x100000
    add r2, r2, #1
    cmp r2, #512
    bne 1b
    ldr r1, =0x40000C02
    mov r2, #0x400
2:  str r1, [r0, r2, lsl #2]
    add r1, r1, #0x100000
    add r2, r2, #1
    cmp r2, #0x800
    bne 2b
    mov r2, #0xE00
    ldr r1, =0xE0000C06
3:  str r1, [r0, r2, lsl #2]
    add r1, r1, #0x100000
    add r2, r2, #1
    cmp r2, #0x1000
    bne 3b
    orr r0, r0, #0x5B
    mcr p15, 0, r0, c2, c0, 0
    mvn r0, #0
    mcr p15, 0, r0, c3, c0, 0
    mov r0, #0
    mcr p15, 0, r0, c8, c7, 0
    mrc p15, 0, r0, c1, c0, 0
    ldr r1, =0x1805
    orr r0, r0, r1
    mcr p15, 0, r0, c1, c0, 0
    isb
    mrc p15, 0, r0, c1, c0, 2
    orr r0, r0, #0xF00000
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000
    vmsr fpexc, r0
#ifdef ENABLE_UART
    ldr r0, =0xE0000000                 /* what a boot loader does before */
    mov r1, #0x14
    str r1, [r0]
#endif
    cps #0x12
    ldr sp, =stacks + 0x1000
    cps #0x17
    ldr sp, =stacks + 0x2000
    cps #0x1B
    ldr sp, =stacks + 0x3000
    cps #0x13
    ldr sp, =stacks + 0x4000
    cps #0x1F
    ldr sp, =stacks + 0x8000
    bl main
    b _exit

    .type _exit, %function
    .global _exit
_exit:
    b .
    .size _exit, . - _exit

irq:
    sub lr, lr, #4
    push {r0-r3, r12, lr}
    vpush {d0-d7}
    bl on_irq
    vpop {d0-d7}
    ldm sp!, {r0-r3, r12, pc}^
data:
    sub lr, lr, #4                      /* behind the instruction */
    push {r0-r3, r12, lr}
    mrc p15, 0, r0, c6, c0, 0
    mrc p15, 0, r1, c5, c0, 0
    bl on_data_abort
    cmp r0, #0
    ldr r0, [sp, #20]
    subne r0, r0, #4                    /* again */
    str r0, [sp, #20]
    ldm sp!, {r0-r3, r12, pc}^
undefined:
    push {r0-r3, r12, lr}
    bl on_undefined
    ldm sp!, {r0-r3, r12, pc}^
supervisor:
    push {r0-r3, r12, lr}
    bl on_call
    ldm sp!, {r0-r3, r12, pc}^
prefetch:
    push {r0-r3, r12, lr}
    mrc p15, 0, r0, c6, c0, 2
    mrc p15, 0, r1, c5, c0, 1
    bl on_prefetch_abort
    pop {r0-r3, r12, lr}
    sub sp, sp, #4
    stm sp, {lr}^                       /* to who has jumped there */
    nop
    pop {lr}
    movs pc, lr

    .weak on_irq, on_data_abort, on_prefetch_abort, on_undefined, on_call
on_irq:
on_data_abort:
on_prefetch_abort:
on_undefined:
on_call:
    b .
    .ltorg

    .bss
    .balign 16384
    .global table
table:
    .space 16384
stacks:
    .space 0x8000
