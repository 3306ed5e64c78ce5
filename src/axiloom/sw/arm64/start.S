/* Start-up of a Cortex-A53 (Zynq UltraScale+, CPU 0) with MMU and caches off: in EL3 from the first-stage loader, in EL2
 * or EL1 from another one or the simulator; main runs in EL1. Register fields: ARMv8-A ARM, D13.2; Cortex-A53 TRM, 4.3.
 * The loader has zeroed .bss; nothing here touches it. Caches are empty after reset (A53 TRM, 6.2), and a loader has
 * cleaned them of the program. */

    .equ SCR_NS_64,        0x431        /* EL1 and EL2 are not secure, and 64 bits wide */
    .equ HCR_64,           0x80000000
    .equ TO_EL1,           0x3C5        /* EL1 with its own stack pointer, interrupts masked */
    .equ COUNTER,          0xFF260000   /* IOU_SCNTRS: control, and the frequency at 0x20 (UG1087) */
    .equ COUNTER_HZ,       100000000
    .equ MAIR,             0x44FF04     /* 0: device nGnRE, 1: normal write-back, 2: normal not cached */
    .equ TCR,              0x803520     /* 4 GiB from 0 (T0SZ 32), granule 4 KiB, walks cached as the tables are; no TTBR1 */
    .equ UNCACHED_BLOCK,   0x15E00000   /* 2 MiB that hold link.ld's region `uncached` */

/* So much of the program's beginning comes into L2 before it runs: the runtime, and small drivers as a whole. */
    .equ CODE_AHEAD,       0x2000

    .section .text.start, "ax"
    .global _start
    .type _start, %function
_start:
    msr     daifset, #15
    mrs     x0, CurrentEL
    cmp     x0, #8
    b.eq    2f
    b.lo    1f

    msr     cptr_el3, xzr               /* floating point and SIMD do not trap */
    mrs     x0, s3_1_c15_c2_1           /* CPUECTLR.SMPEN, before caches are on (TRM, 4.3.82) */
    orr     x0, x0, #0x40
    msr     s3_1_c15_c2_1, x0
    ldr     x1, =COUNTER
    ldr     w0, =COUNTER_HZ
    str     w0, [x1, #0x20]
    msr     cntfrq_el0, x0
    mov     w0, #1
    str     w0, [x1]
    mov     x0, #SCR_NS_64
    msr     scr_el3, x0
    ldr     x0, =HCR_64
    msr     hcr_el2, x0
    msr     cptr_el2, xzr
    msr     cntvoff_el2, xzr
    mov     x0, #TO_EL1
    msr     spsr_el3, x0
    adr     x0, 1f
    msr     elr_el3, x0
    isb
    eret

2:  ldr     x0, =HCR_64
    msr     hcr_el2, x0
    msr     cptr_el2, xzr
    msr     cntvoff_el2, xzr
    mov     x0, #TO_EL1
    msr     spsr_el2, x0
    adr     x0, 1f
    msr     elr_el2, x0
    isb
    eret

1:  ldr     x0, =axl_stack_top
    mov     sp, x0
    mov     x0, #(3 << 20)              /* CPACR.FPEN */
    msr     cpacr_el1, x0
    ic      iallu
    tlbi    vmalle1
    ldr     x0, =MAIR
    msr     mair_el1, x0
    ldr     x0, =TCR
    msr     tcr_el1, x0
    ldr     x0, =axl_gigabyte_table
    msr     ttbr0_el1, x0
    dsb     sy
    isb
    mrs     x0, sctlr_el1
    orr     x0, x0, #0x1000             /* L1I */
    orr     x0, x0, #0x0004             /* data caches */
    orr     x0, x0, #0x0001             /* MMU */
    bic     x0, x0, #0x0002             /* unaligned loads and stores of normal memory are allowed */
    msr     sctlr_el1, x0
    isb

    /* Code that runs for the first time waits for DDR line by line; preloads do not wait for each other. */
    ldr     x0, =axl_text_start
    ldr     x1, =axl_text_end
    add     x2, x0, #CODE_AHEAD
    cmp     x1, x2
    csel    x1, x1, x2, lo
3:  prfm    pldl2keep, [x0]
    add     x0, x0, #64
    cmp     x0, x1
    b.lo    3b

    bl      main

    ldr     x1, =axiloom_exit_code      /* what is dirty stays in the caches: a debugger reads through the CPU */
    str     w0, [x1]
    dsb     sy
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

/* Translation tables, flat: 4 GiB, the first of them in blocks of 2 MiB (ARMv8-A ARM, D5.3). Attributes:
 *   ...705  normal, write-back, inner shareable (index 1)
 *   ...709  normal, not cached (index 2), never executed
 *   ...401  device (index 0), never executed */
    .equ CACHED,   0x0000000000000705
    .equ UNCACHED, 0x0060000000000709
    .equ DEVICE,   0x0060000000000401

    .section .data.axl_tables, "aw"
    .type axl_gigabyte_table, %object
    .size axl_gigabyte_table, 32
    .balign 4096
axl_gigabyte_table:
    .quad   axl_block_table + 3
    .quad   0x40000000 | CACHED
    .quad   0x80000000 | DEVICE         /* programmable logic */
    .quad   0xC0000000 | DEVICE         /* peripherals of the processing system */

    .global axl_block_table
    .type axl_block_table, %object
    .size axl_block_table, 4096
    .balign 4096
axl_block_table:
    .set    block, 0
    .rept   512
    .if block == UNCACHED_BLOCK
    .quad   block | UNCACHED
    .else
    .quad   block | CACHED
    .endif
    .set    block, block + 0x200000
    .endr
