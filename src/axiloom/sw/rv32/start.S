/* Start-up of a RISC-V core with RV32IM in machine mode, from reset: caches are empty and on, interrupts are off.
 * Registers: RISC-V Privileged Architecture, 3.1. The loader has zeroed .bss; nothing here touches it. */

    .equ MEIE, 0x800 /* mie: the external interrupt, which the DMA's two lines are joined to */

    .section .text.start, "ax"
    .global _start
    .type _start, %function
_start:
    la      sp, axl_stack_top
    la      t0, axl_trap
    csrw    mtvec, t0
    csrci   mstatus, 8      /* MIE: an interrupt only ends a WFI (3.3.3) ... */
    li      t0, MEIE
    csrw    mie, t0         /* ... and only one that is enabled here does */

    call    main

    la      t0, axiloom_exit_code   /* what is dirty stays in the cache: a debugger reads through the CPU */
    sw      a0, 0(t0)
    fence   iorw, iorw
    j       axiloom_exit

    .global axiloom_exit
    .type axiloom_exit, %function
axiloom_exit:
    wfi
    j       axiloom_exit

    .balign 4
    .type axl_trap, %function
axl_trap:                   /* a debugger finds mcause, mepc and mtval */
    j       axl_trap

    .section .bss.axiloom_exit_code, "aw", %nobits
    .global axiloom_exit_code
    .type axiloom_exit_code, %object
    .size axiloom_exit_code, 4
    .balign 4
axiloom_exit_code:
    .space  4
