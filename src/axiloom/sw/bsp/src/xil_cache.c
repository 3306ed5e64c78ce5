/* Caches of a Cortex-A9 with a PL310. L1 by CP15 operations (ARMv7-A ARM, B4.2.1), L2 by registers, by physical address
 * (PL310 TRM, 3.3.10). Dirty lines go from L1 to L2 at any time, and fills from L2 to L1: so cleaning begins with L1, and
 * invalidating with L2. */
#include "xil_cache.h"

#include "xil_io.h"
#include "xil_mmu.h"
#include "xparameters.h"

#define LINE 32u
#define L2_CONTROL (XPS_L2CC_BASEADDR + 0x100u)
#define L2_SYNC (XPS_L2CC_BASEADDR + 0x730u)
#define L2_INVALIDATE_LINE (XPS_L2CC_BASEADDR + 0x770u)
#define L2_INVALIDATE_WAYS (XPS_L2CC_BASEADDR + 0x77Cu)
#define L2_CLEAN_LINE (XPS_L2CC_BASEADDR + 0x7B0u)
#define L2_FLUSH_LINE (XPS_L2CC_BASEADDR + 0x7F0u)
#define L2_FLUSH_WAYS (XPS_L2CC_BASEADDR + 0x7FCu)
#define L2_ALL_WAYS 0xFFFFu

#define IN_L1(operation, value) __asm__ volatile("mcr p15, 0, %0, c7, " operation ::"r"(value) : "memory")
#define INVALIDATE_MVA "c6, 1"
#define CLEAN_MVA "c10, 1"
#define FLUSH_MVA "c14, 1"
#define INVALIDATE_SET_WAY "c6, 2"
#define FLUSH_SET_WAY "c14, 2"

#define EACH_LINE(begin, bytes, statement)                                                         \
    for (u32 line = (u32)(begin) & ~(LINE - 1), end = (u32)(begin) + (bytes); line < end; line += LINE) \
        statement;

#define L1_ALL(operation)                                                                          \
    for (u32 way = 0; way < 4; way++)                                                              \
        for (u32 set = 0; set < 256; set++)                                                        \
            IN_L1(operation, way << 30 | set << 5);                                                \
    dsb();

static void l2_sync(void) {
    Xil_Out32(L2_SYNC, 0);
    while (Xil_In32(L2_SYNC))
        continue;
    dsb();
}

static void l2_ways(u32 operation) {
    dsb();
    Xil_Out32(operation, L2_ALL_WAYS);
    while (Xil_In32(operation))
        continue;
    l2_sync();
}

static int l2_is_on(void) { return Xil_In32(L2_CONTROL) & 1; }

static void set_control(u32 bits, int on) {
    const u32 control = mfcp(XREG_CP15_SYS_CONTROL);
    mtcp(XREG_CP15_SYS_CONTROL, on ? control | bits : control & ~bits);
    dsb();
    isb();
}

void Xil_L1DCacheFlush(void) { L1_ALL(FLUSH_SET_WAY) }
void Xil_L1DCacheInvalidate(void) { L1_ALL(INVALIDATE_SET_WAY) }
void Xil_L1DCacheFlushRange(u32 adr, u32 len) {
    EACH_LINE(adr, len, IN_L1(FLUSH_MVA, line))
    dsb();
}
void Xil_L1DCacheInvalidateRange(u32 adr, u32 len) {
    EACH_LINE(adr, len, IN_L1(INVALIDATE_MVA, line))
    dsb();
}

void Xil_L2CacheFlush(void) { l2_ways(L2_FLUSH_WAYS); }
void Xil_L2CacheInvalidate(void) { l2_ways(L2_INVALIDATE_WAYS); }
void Xil_L2CacheFlushRange(u32 adr, u32 len) {
    EACH_LINE(adr, len, Xil_Out32(L2_FLUSH_LINE, line))
    l2_sync();
}
void Xil_L2CacheInvalidateRange(u32 adr, u32 len) {
    EACH_LINE(adr, len, Xil_Out32(L2_INVALIDATE_LINE, line))
    l2_sync();
}
void Xil_L2CacheEnable(void) {
    if (!l2_is_on()) {
        l2_ways(L2_INVALIDATE_WAYS);
        Xil_Out32(L2_CONTROL, 1);
        dsb();
    }
}
void Xil_L2CacheDisable(void) {
    if (l2_is_on()) {
        l2_ways(L2_FLUSH_WAYS);
        Xil_Out32(L2_CONTROL, 0);
        dsb();
    }
}

void Xil_DCacheFlush(void) {
    Xil_L1DCacheFlush();
    Xil_L2CacheFlush();
}

void Xil_DCacheFlushRange(INTPTR adr, u32 len) {
    if (!len)
        return;
    Xil_L1DCacheFlushRange((u32)adr, len);
    Xil_L2CacheFlushRange((u32)adr, len);
}

void Xil_DCacheFlushLine(u32 adr) { Xil_DCacheFlushRange((INTPTR)(adr & ~(LINE - 1)), LINE); }

void Xil_DCacheStoreLine(u32 adr) {
    IN_L1(CLEAN_MVA, adr & ~(LINE - 1));
    dsb();
    Xil_Out32(L2_CLEAN_LINE, adr & ~(LINE - 1));
    l2_sync();
}

/* What the program has in them is lost, but for its stack: that is above the stack pointer. */
void Xil_DCacheInvalidate(void) {
    extern char axl_stack_top[];
    const u32 here = (u32)__builtin_frame_address(0) & ~(LINE - 1);
    Xil_DCacheFlushRange((INTPTR)here, (u32)axl_stack_top - here);
    l2_ways(L2_INVALIDATE_WAYS);
    L1_ALL(INVALIDATE_SET_WAY)
}

void Xil_DCacheInvalidateRange(INTPTR adr, u32 len) {
    const u32 begin = (u32)adr, end = begin + len;
    if (!len)
        return;
    if (begin & (LINE - 1))
        Xil_DCacheFlushLine(begin);
    if (end & (LINE - 1))
        Xil_DCacheFlushLine(end);
    Xil_L2CacheInvalidateRange(begin, len);
    Xil_L1DCacheInvalidateRange(begin, len);
}

void Xil_DCacheInvalidateLine(u32 adr) {
    Xil_L2CacheInvalidateRange(adr & ~(LINE - 1), LINE);
    Xil_L1DCacheInvalidateRange(adr & ~(LINE - 1), LINE);
}

void Xil_DCacheEnable(void) {
    if (mfcp(XREG_CP15_SYS_CONTROL) & 4)
        return;
    L1_ALL(INVALIDATE_SET_WAY)
    set_control(4, 1);
    Xil_L2CacheEnable();
}

void Xil_DCacheDisable(void) {
    Xil_L1DCacheFlush();
    set_control(4, 0);
    Xil_L1DCacheFlush();
    Xil_L2CacheDisable();
}

void Xil_ICacheInvalidate(void) {
    mtcp(XREG_CP15_INVAL_IC_POU, 0);
    mtcp(XREG_CP15_INVAL_BRANCH_ARRAY, 0);
    dsb();
    isb();
}
void Xil_ICacheInvalidateRange(INTPTR adr, u32 len) {
    EACH_LINE(adr, len, mtcp(XREG_CP15_INVAL_IC_LINE_MVA_POU, line))
    dsb();
    isb();
}
void Xil_ICacheInvalidateLine(u32 adr) { Xil_ICacheInvalidateRange((INTPTR)adr, 1); }
void Xil_ICacheEnable(void) {
    Xil_ICacheInvalidate();
    set_control(1u << 12, 1);
}
void Xil_ICacheDisable(void) {
    Xil_ICacheInvalidate();
    set_control(1u << 12, 0);
}

void Xil_SetTlbAttributes(INTPTR Addr, u32 attrib) {
    const u32 section = (u32)Addr >> 20;
    MMUTable[section] = section << 20 | (attrib & 0xFFFFFu);
    Xil_DCacheFlush();
    mtcp(XREG_CP15_INVAL_UTLB_UNLOCKED, 0);
    Xil_ICacheInvalidate();
}

void *Xil_MemMap(UINTPTR PhysAddr, size_t size, u32 flags) {
    for (UINTPTR at = PhysAddr & ~0xFFFFFu; flags && at < PhysAddr + size; at += 1u << 20)
        Xil_SetTlbAttributes((INTPTR)at, flags);
    return (void *)PhysAddr;
}

void Xil_EnableMMU(void) {
    Xil_DCacheInvalidate();
    set_control(5, 1);
}
void Xil_DisableMMU(void) {
    Xil_DCacheFlush();
    set_control(5, 0);
}
