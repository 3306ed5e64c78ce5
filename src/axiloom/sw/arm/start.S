/* Start-up of a Cortex-A9 (Zynq-7000, CPU 0) from the boot ROM's or the simulator's state: MMU and caches off.
 * Register encodings: ARM Architecture Reference Manual ARMv7-A, B3.17 and B4.2; PL310: its TRM, chapter 3;
 * global timer: Cortex-A9 MPCore TRM, 4.4. The loader has zeroed .bss; nothing here touches it. */

    .syntax unified
    .arm
    .fpu neon

    .equ SCU,              0xF8F00000
    .equ SCU_INVALIDATE,   0x0C
    .equ PL310,            0xF8F02000
    .equ PL310_CONTROL,    0x100
    .equ PL310_SYNC,       0x730
    .equ PL310_INV_WAY,    0x77C
    .equ PL310_CLEAN_WAY,  0x7BC
    .equ PL310_ALL_WAYS,   0xFF
    .equ GLOBAL_TIMER,     0xF8F00200
    .equ UNCACHED_SECTION, 0x15F        /* 0x15F00000, as in link.ld */

/* L1D, the same on every Zynq-7000: 32 KiB, 4 ways (bits 31:30), 256 sets (bits 12:5). */
    .equ L1D_WAY,          0x40000000
    .equ L1D_LAST_LINE,    0x1FE0
    .equ L1D_LINE,         0x20

/* So much of the program's beginning comes into L2 before it runs: the runtime, and small drivers as a whole. */
    .equ CODE_AHEAD,       0x2000

/* One operation on every line of L1D: MCR p15, 0, r, c7, \crm, 2 is invalidate (c6) or clean (c10) by set and
 * way; the four ways of a set in a turn. Clobbers r0 to r3. */
    .macro l1d_all crm
    movw    r0, #L1D_LAST_LINE
1:  orr     r1, r0, #L1D_WAY
    orr     r2, r0, #2 * L1D_WAY
    orr     r3, r0, #3 * L1D_WAY
    mcr     p15, 0, r0, c7, \crm, 2
    mcr     p15, 0, r1, c7, \crm, 2
    mcr     p15, 0, r2, c7, \crm, 2
    mcr     p15, 0, r3, c7, \crm, 2
    subs    r0, r0, #L1D_LINE
    bpl     1b
    dsb
    .endm

    .section .text.start, "ax"
    .global _start
    .type _start, %function
_start:
    cpsid   if
    ldr     sp, =axl_stack_top

    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0       /* invalidate TLB */
    mcr     p15, 0, r0, c7, c5, 0       /* invalidate L1I */
    mcr     p15, 0, r0, c7, c5, 6       /* invalidate branch predictor */
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x1800             /* L1I and branch prediction: they need no MMU */
    mcr     p15, 0, r0, c1, c0, 0
    isb
    l1d_all c6                          /* contents are undefined after power-up */

    ldr     r1, =PL310
    ldr     r0, =PL310_ALL_WAYS
    str     r0, [r1, #PL310_INV_WAY]
3:  ldr     r0, [r1, #PL310_INV_WAY]    /* bits clear as ways are done */
    cmp     r0, #0
    bne     3b
    mov     r0, #1
    str     r0, [r1, #PL310_CONTROL]
    dsb

#if AXL_DMA_COHERENT
    /* What comes through the ACP looks into L1 by the SCU's copy of its tags: MPCore TRM, 2.2; A9 TRM, 4.3.10. */
    ldr     r1, =SCU
    movw    r0, #0xFFFF
    str     r0, [r1, #SCU_INVALIDATE]
    ldr     r0, [r1]
    orr     r0, r0, #1                  /* SCU on */
    str     r0, [r1]
    mrc     p15, 0, r0, c1, c0, 1
    orr     r0, r0, #0x41               /* ACTLR: SMP and FW */
    mcr     p15, 0, r0, c1, c0, 1
    isb
#endif

    ldr     r0, =axl_section_table
    mcr     p15, 0, r0, c2, c0, 0       /* TTBR0, walks uncached */
    mov     r0, #0
    mcr     p15, 0, r0, c2, c0, 2       /* TTBCR: TTBR0 for all addresses */
    mov     r0, #1
    mcr     p15, 0, r0, c3, c0, 0       /* DACR: domain 0 is a client, AP is checked */
    isb
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x1800
    orr     r0, r0, #0x0005             /* MMU, L1D */
    bic     r0, r0, #0x0002             /* unaligned loads and stores of normal memory are allowed */
    mcr     p15, 0, r0, c1, c0, 0
    isb

    mrc     p15, 0, r0, c1, c0, 2       /* CPACR: full access to cp10, cp11 */
    orr     r0, r0, #0x00F00000
    mcr     p15, 0, r0, c1, c0, 2
    isb
    mov     r0, #0x40000000             /* FPEXC.EN */
    vmsr    fpexc, r0

    ldr     r1, =GLOBAL_TIMER
    mov     r0, #1
    str     r0, [r1, #8]

    /* Code that runs for the first time waits for DDR line by line; PLD has four lines on their way at a time. L2 is
     * for data and instructions alike. */
    ldr     r0, =axl_text_start
    ldr     r1, =axl_text_end
    add     r2, r0, #CODE_AHEAD
    cmp     r1, r2
    movhi   r1, r2
4:  pld     [r0]
    add     r0, r0, #L1D_LINE
    cmp     r0, r1
    blo     4b

    bl      main

    ldr     r1, =axiloom_exit_code
    str     r0, [r1]
    dsb
    l1d_all c10                         /* what the program wrote is in DDR for the DMA, JTAG, the host */
    ldr     r1, =PL310
    ldr     r0, =PL310_ALL_WAYS
    str     r0, [r1, #PL310_CLEAN_WAY]
5:  ldr     r0, [r1, #PL310_CLEAN_WAY]
    cmp     r0, #0
    bne     5b
    str     r0, [r1, #PL310_SYNC]
    dsb
    b       axiloom_exit

    .global axiloom_exit
    .type axiloom_exit, %function
axiloom_exit:
    wfi
    b       axiloom_exit
    .ltorg

    .section .bss.axiloom_exit_code, "aw", %nobits
    .global axiloom_exit_code
    .type axiloom_exit_code, %object
    .size axiloom_exit_code, 4
    .balign 4
axiloom_exit_code:
    .space  4

/* First-level translation table: 4096 sections of 1 MiB, flat. Attributes: ARMv7-A ARM, B3.5.1 and B3.8.
 *   0x1C0E  normal, write-back write-allocate, not shared (shared lines would not be cached by one A9 alone)
 *   0x11C0E the same and shared, in SMP mode: the lines that the SCU keeps coherent with the ACP
 *   0x1C02  normal, not cached: the section of link.ld's region `uncached`
 *   0x0C16  device, never executed
 *   0       fault */
#if AXL_DMA_COHERENT
    .equ CACHED_ATTRIBUTES, 0x11C0E
#else
    .equ CACHED_ATTRIBUTES, 0x1C0E
#endif
    .section .data.axl_section_table, "aw"
    .global axl_section_table
    .type axl_section_table, %object
    .size axl_section_table, 16384
    .balign 16384
axl_section_table:
    .set    section, 0
    .rept   512                         /* 0x00000000: DDR, 512 MiB */
    .if section == UNCACHED_SECTION
    .word   section << 20 | 0x1C02
    .else
    .word   section << 20 | CACHED_ATTRIBUTES
    .endif
    .set    section, section + 1
    .endr
    .rept   512
    .word   0
    .set    section, section + 1
    .endr
    .rept   2048                        /* 0x40000000: programmable logic behind GP0 and GP1 */
    .word   section << 20 | 0x0C16
    .set    section, section + 1
    .endr
    .rept   512
    .word   0
    .set    section, section + 1
    .endr
    .rept   512                         /* 0xE0000000: peripherals, SLCR, private registers of the CPUs */
    .word   section << 20 | 0x0C16
    .set    section, section + 1
    .endr
