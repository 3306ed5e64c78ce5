/* Start-up of a program on the vendor's API (Zynq-7000, CPU 0), in the state that a first-stage loader or a debugger
 * leaves: SVC mode, MMU and caches off. It sets up vectors, memory attributes, both caches, VFP and stacks, and goes on
 * to the C library's own start, which calls constructors and main.
 *
 * Encodings: ARM Architecture Reference Manual ARMv7-A, B1.8, B3.17 and B4.2; PL310 and Cortex-A9 MPCore: their TRMs. */

    .syntax unified
    .arm
    .fpu neon

    .equ SCU,              0xF8F00000
    .equ SCU_INVALIDATE,   0x0C
    .equ PL310,            0xF8F02000
    .equ PL310_CONTROL,    0x100
    .equ PL310_TAG_RAM,    0x108
    .equ PL310_DATA_RAM,   0x10C
    .equ PL310_INV_WAY,    0x77C
    .equ PL310_ALL_WAYS,   0xFFFF
    .equ GLOBAL_TIMER,     0xF8F00200
    .equ UART0,            0xE0000000
    .equ SLCR,             0xF8000000
    .equ FIQ, 0x11
    .equ IRQ, 0x12
    .equ ABT, 0x17
    .equ UND, 0x1B
    .equ SYS, 0x1F

    .section .vectors, "ax"
    .global _vector_table, _boot
    .balign 32
_vector_table:
    b _boot
    b undefined
    b supervisor_call
    b prefetch_abort
    b data_abort
    nop
    b irq
    b fiq

    .text
    .type _boot, %function
_boot:
    mrc     p15, 0, r0, c0, c0, 5       /* MPIDR: a second CPU stays here */
    and     r0, r0, #0xF
    cmp     r0, #0
1:  wfene
    bne     1b

    ldr     r0, =_vector_table
    mcr     p15, 0, r0, c12, c0, 0      /* VBAR */

    ldr     r1, =SCU
    movw    r0, #0xFFFF
    str     r0, [r1, #SCU_INVALIDATE]
    ldr     r0, [r1]
    orr     r0, r0, #1
    str     r0, [r1]

    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0       /* invalidate TLB, L1I, branch predictor */
    mcr     p15, 0, r0, c7, c5, 0
    mcr     p15, 0, r0, c7, c5, 6
    movw    r0, #0x1FE0                 /* and L1D: 4 ways (bits 31:30), 256 sets (12:5) */
2:  orr     r1, r0, #0x40000000
    orr     r2, r0, #0x80000000
    orr     r3, r0, #0xC0000000
    mcr     p15, 0, r0, c7, c6, 2
    mcr     p15, 0, r1, c7, c6, 2
    mcr     p15, 0, r2, c7, c6, 2
    mcr     p15, 0, r3, c7, c6, 2
    subs    r0, r0, #0x20
    bpl     2b
    dsb

    ldr     r1, =SLCR                   /* unlock, timing of L2's memory, lock: UG585, 3.4.10 */
    ldr     r0, =0xDF0D
    str     r0, [r1, #8]
    ldr     r2, =SLCR + 0xA1C
    ldr     r0, =0x20202
    str     r0, [r2]
    ldr     r0, =0x767B
    str     r0, [r1, #4]
    ldr     r1, =PL310
    mov     r0, #0
    str     r0, [r1, #PL310_CONTROL]
    ldr     r0, =0x111
    str     r0, [r1, #PL310_TAG_RAM]
    ldr     r0, =0x121
    str     r0, [r1, #PL310_DATA_RAM]
    ldr     r2, =PL310 + PL310_INV_WAY
    ldr     r0, =PL310_ALL_WAYS
    str     r0, [r2]
3:  ldr     r0, [r2]                    /* bits clear as ways are done */
    cmp     r0, #0
    bne     3b
    mov     r0, #1
    str     r0, [r1, #PL310_CONTROL]
    dsb

    ldr     r0, =MMUTable
    orr     r0, r0, #0x4A               /* TTBR0: walks of shared, write-back memory */
    mcr     p15, 0, r0, c2, c0, 0
    mov     r0, #0
    mcr     p15, 0, r0, c2, c0, 2
    mvn     r0, #0
    mcr     p15, 0, r0, c3, c0, 0       /* DACR: no permissions are looked at, as in the vendor's start */
    mrc     p15, 0, r0, c1, c0, 1
    orr     r0, r0, #0x41               /* ACTLR: SMP, FW */
    mcr     p15, 0, r0, c1, c0, 1
    isb
    mrc     p15, 0, r0, c1, c0, 0
    ldr     r1, =0x1805                 /* branch prediction, L1I, L1D, MMU */
    orr     r0, r0, r1
    bic     r0, r0, #2                  /* unaligned accesses of normal memory are allowed */
    mcr     p15, 0, r0, c1, c0, 0
    dsb
    isb

    mrc     p15, 0, r0, c1, c0, 2
    orr     r0, r0, #0x00F00000
    mcr     p15, 0, r0, c1, c0, 2
    isb
    mov     r0, #0x40000000
    vmsr    fpexc, r0

    ldr     r1, =UART0                  /* a first-stage loader enables it, a debugger need not */
    mov     r0, #0x14
    str     r0, [r1]

    ldr     r1, =GLOBAL_TIMER           /* from 0 on */
    mov     r0, #0
    str     r0, [r1, #8]
    str     r0, [r1]
    str     r0, [r1, #4]
    mov     r0, #1
    str     r0, [r1, #8]

    cps     #FIQ
    ldr     sp, =axl_exception_stack
    cps     #IRQ
    ldr     sp, =axl_exception_stack
    cps     #ABT
    ldr     sp, =axl_exception_stack
    cps     #UND
    ldr     sp, =axl_exception_stack
    cps     #SYS
    ldr     sp, =axl_stack_top

    ldr     r0, =__bss_start
    ldr     r1, =__bss_end
    mov     r2, #0
4:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     4b

    ldr     r0, =begin_end              /* as a kernel hands a program its arguments */
    ldr     r1, =begin
5:  ldr     r2, [r0, #-4]!
    push    {r2}
    cmp     r0, r1
    bne     5b
    b       _start
    .ltorg
    .size _boot, . - _boot

/* No arguments, no environment; the auxiliary vector: pages of 4 KiB, program headers. */
    .section .rodata
    .balign 4
begin:
    .word   0, 0, 0
    .word   6, 4096                     /* AT_PAGESZ */
    .word   3, headers, 4, 32, 5, 3     /* AT_PHDR, AT_PHENT, AT_PHNUM */
    .word   0, 0, 0, 0, 0               /* stays a multiple of 8 bytes */
begin_end:
headers:                                /* for thread-local storage, and for who unwinds exceptions of C++ */
    .word   7, 0, axl_tls, axl_tls, axl_tls_file, axl_tls_memory, 4, 8                              /* PT_TLS */
    .word   1, 0, _vector_table, _vector_table, axl_text_bytes, axl_text_bytes, 5, 4                /* PT_LOAD */
    .word   0x70000001, 0, __exidx_start, __exidx_start, axl_exidx_bytes, axl_exidx_bytes, 4, 4     /* PT_ARM_EXIDX */

    .text
    .global _exit
    .type _exit, %function
_exit:                                  /* R0: the status */
    b       .
    .size _exit, . - _exit

/* An interrupt's handler runs in System mode, on the program's stack, with interrupts masked: so a handler may allow
 * others (Xil_EnableNestedInterrupts) and nothing of its own is lost. */
    .macro in_system_mode adjust, function
    sub     lr, lr, #\adjust
    srsdb   sp!, #SYS
    cps     #SYS
    push    {r0-r3, r12, lr}
    mov     r0, sp
    bic     r1, r0, #7
    mov     sp, r1
    vmrs    r2, fpscr
    vpush   {d0-d7}
    vpush   {d16-d31}
    push    {r0, r2}
    bl      \function
    pop     {r0, r2}
    vpop    {d16-d31}
    vpop    {d0-d7}
    vmsr    fpscr, r2
    mov     sp, r0
    pop     {r0-r3, r12, lr}
    rfeia   sp!
    .endm

irq:
    in_system_mode 4, axl_irq
fiq:
    in_system_mode 4, axl_fiq

/* The C library's system calls (number in R7, arguments in R0 to R5, result in R0), and a program's own. A call may be
 * interrupted where its caller may. Vector registers are kept: to the caller this is one instruction. */
supervisor_call:
    srsdb   sp!, #SYS
    cps     #SYS
    push    {r0-r5, r7, r12, lr}
    ldr     r4, [sp, #40]               /* SPSR */
    mov     r5, sp
    bic     r1, r5, #7
    mov     sp, r1
    vmrs    r2, fpscr
    vpush   {d0-d7}
    vpush   {d16-d31}
    push    {r2, r3}
    tst     r4, #0x80
    bne     6f
    cpsie   i
6:  mov     r0, r5
    bl      axl_system_call
    str     r0, [r5]
    cpsid   i
    pop     {r2, r3}
    vpop    {d16-d31}
    vpop    {d0-d7}
    vmsr    fpscr, r2
    mov     sp, r5
    pop     {r0-r5, r7, r12, lr}
    rfeia   sp!

/* R0 of the handlers below: its registered argument. Abort and Undefined stay in their modes, so that a loop in a handler
 * is seen for what it is. A handler that comes back has the instruction executed again. */
    .macro in_own_mode adjust, number, address
    push    {r0-r3, r12, lr}
    sub     r1, lr, #\adjust
    ldr     r0, =\address
    str     r1, [r0]
    mov     r0, #\number
    bl      axl_exception
    pop     {r0-r3, r12, lr}
    subs    pc, lr, #\adjust
    .endm

undefined:
    in_own_mode 4, 1, UndefinedExceptionAddr
prefetch_abort:
    in_own_mode 4, 3, PrefetchAbortAddr
data_abort:
    in_own_mode 8, 4, DataAbortAddr
    .ltorg

    .global UndefinedExceptionAddr, PrefetchAbortAddr, DataAbortAddr
    .bss
    .balign 4
UndefinedExceptionAddr: .space 4
PrefetchAbortAddr:      .space 4
DataAbortAddr:          .space 4

/* 4096 sections of 1 MiB, flat: ARMv7-A ARM, B3.5.1 and B3.8; the ranges are those of UG585, 4.1.
 *   0x11C0E normal, write-back write-allocate, shared;  0xC02 strongly ordered;  0xC06 device;  0 fault */
    .section .mmu_tbl, "aw"
    .global MMUTable
    .type MMUTable, %object
    .balign 16384
    .macro sections count, attributes
    .rept   \count
    .if \attributes
    .word   section << 20 | \attributes
    .else
    .word   0
    .endif
    .set    section, section + 1
    .endr
    .endm
MMUTable:
    .set    section, 0
    sections AXL_RAM_SECTIONS, 0x11C0E  /* DDR and low on-chip memory */
    sections 1024 - AXL_RAM_SECTIONS, 0
    sections 2048, 0xC02                /* programmable logic behind GP0 and GP1 */
    sections 512, 0
    sections 3, 0xC06                   /* I/O peripherals */
    sections 381, 0
    sections 16, 0xC06                  /* SLCR, timers, the private page */
    sections 111, 0
    sections 1, 0x11C0E                 /* high on-chip memory */
    .size MMUTable, . - MMUTable
