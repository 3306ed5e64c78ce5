/* Caches, memory attributes and time of a Cortex-A9 with a PL310 (Zynq-7000).
 *
 * The HP ports of a Zynq do not look into the caches. Memory that a DMA shares with the CPU passes two levels on
 * the way: L1 is maintained by CP15 operations by address (ARMv7-A ARM, B4.2.1), L2 by the PL310's registers by
 * physical address (PL310 TRM, 3.3.10). Order matters: dirty lines move from L1 to L2 at any time, and fills
 * from L2 to L1. */
#include "../src/dma_internal.h"

#define LINE 32u
#define SECTION (1u << 20)
#define SECTION_UNCACHED 0x1C02u /* normal, not cacheable; cf. start.S */

#define PL310 0xF8F02000u
enum { PL310_SYNC = 0x730, PL310_INVALIDATE = 0x770, PL310_CLEAN = 0x7B0, PL310_CLEAN_WAY = 0x7BC, PL310_FLUSH_WAY = 0x7FC };
#define PL310_ALL_WAYS 0xFFu
#define GLOBAL_TIMER 0xF8F00200u

extern uint32_t axl_section_table[4096];

static volatile uint32_t *device(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

void axl_memory_barrier(void) { __asm__ volatile("dsb" ::: "memory"); }

void axl_wait_for_interrupt(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }

typedef struct {
    uintptr_t address;
    uint32_t row_bytes, rows, stride;
} region;

static uintptr_t first_line(uintptr_t address) { return address & ~(uintptr_t)(LINE - 1); }

/* `operation` for the address `line` of every line that the region touches. Operations by address are in order with
 * loads and stores of the same CPU to that address (ARMv7-A ARM, B2.2.9). */
#define EACH_LINE(REGION, operation)                                                               \
    for (uint32_t r = 0; r < (REGION).rows; r++) {                                                 \
        const uintptr_t row = (REGION).address + r * (REGION).stride, end = row + (REGION).row_bytes; \
        for (uintptr_t line = first_line(row); line < end; line += LINE)                           \
            operation;                                                                             \
    }

/* DCCMVAC, DCIMVAC. */
#define L1_CLEAN(LINE_ADDRESS) __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(LINE_ADDRESS) : "memory")
#define L1_INVALIDATE(LINE_ADDRESS) __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(LINE_ADDRESS) : "memory")

static void l1_clean(region all) {
    EACH_LINE(all, L1_CLEAN(line))
    axl_memory_barrier();
}

static void l1_invalidate(region all) {
    EACH_LINE(all, L1_INVALIDATE(line))
    axl_memory_barrier();
}

static void l2_each_line(uint32_t operation, region all) {
    EACH_LINE(all, *device(PL310 + operation) = (uint32_t)line)
    *device(PL310 + PL310_SYNC) = 0;
    axl_memory_barrier();
}

void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    const region all = {address, row_bytes, rows, stride};
    l1_clean(all);
    l2_each_line(PL310_CLEAN, all);
}

/* Emptying both caches takes less time than the lines of so much one by one, about 28 cycles each, even if the PL310
 * takes some cycles for each of its lines. */
#define EMPTIED (128u << 10)
static void flush_all(void);
int axl_cache_empties(uint32_t bytes) { return bytes >= EMPTIED; }
static int is_large(const region *all) { return (uint64_t)all->row_bytes * all->rows >= EMPTIED; }

void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    const region all = {address, row_bytes, rows, stride};
    if (is_large(&all)) {
        flush_all();
        return;
    }
    l1_invalidate(all);
    l2_each_line(PL310_INVALIDATE, all);
}

void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    const region all = {address, row_bytes, rows, stride};
    if (is_large(&all)) {
        flush_all();
        return;
    }
    l2_each_line(PL310_INVALIDATE, all);
    l1_invalidate(all);
}

void axl_cache_clean(uintptr_t address, uint32_t bytes) { axl_cache_clean_rows(address, bytes, 1, 0); }
void axl_cache_discard(uintptr_t address, uint32_t bytes) { axl_cache_discard_rows(address, bytes, 1, 0); }
void axl_cache_invalidate(uintptr_t address, uint32_t bytes) { axl_cache_invalidate_rows(address, bytes, 1, 0); }

void axl_ocm_invalidate(uintptr_t address, uint32_t bytes) {
#pragma clang loop unroll_count(4)
    for (uintptr_t line = first_line(address), end = address + bytes; line < end; line += LINE)
        L1_INVALIDATE(line);
    axl_memory_barrier();
}

/* OPERATION by set and way: on all of L1D, of 4 ways (bits 31:30) and 256 sets (bits 12:5). The ways of a set in a turn. */
#define L1_WAY(OPERATION, VALUE) __asm__ volatile("mcr p15, 0, %0, c7, " OPERATION ", 2" ::"r"(VALUE) : "memory")
#define L1_ALL(OPERATION)                                                                          \
    for (uint32_t end = 256u << 5; end != 0; end -= LINE) {                                        \
        const uint32_t set = end - LINE;                                                           \
        L1_WAY(OPERATION, set);                                                                    \
        L1_WAY(OPERATION, set | 1u << 30);                                                         \
        L1_WAY(OPERATION, set | 2u << 30);                                                         \
        L1_WAY(OPERATION, set | 3u << 30);                                                         \
    }                                                                                              \
    axl_memory_barrier();

static void l2_all(uint32_t operation) {
    *device(PL310 + operation) = PL310_ALL_WAYS;
    while (*device(PL310 + operation))
        continue; /* bits clear as ways are done */
    *device(PL310 + PL310_SYNC) = 0;
    axl_memory_barrier();
}

/* Nothing is left in L1D and L2: by line, a section takes longer. */
static void flush_all(void) {
    L1_ALL("c14") /* DCCISW */
    l2_all(PL310_FLUSH_WAY);
}

int axl_cache_clean_all(uint32_t bytes) {
    if (bytes < EMPTIED)
        return 0;
    L1_ALL("c10") /* DCCSW */
    l2_all(PL310_CLEAN_WAY);
    return 1;
}

void axl_map_uncached(uintptr_t address, uint32_t bytes) {
    const uint32_t first = (uint32_t)address / SECTION, last = (uint32_t)(address + bytes - 1) / SECTION;
    for (uint32_t i = first; i <= last; i++) {
        axl_section_table[i] = i * SECTION | SECTION_UNCACHED;
        axl_cache_clean((uintptr_t)&axl_section_table[i], sizeof(uint32_t));
    }
    __asm__ volatile("mcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); /* TLBIALL */
    flush_all();
}

/* Cortex-A9 MPCore TRM, 4.4.1: read the upper half again until it has not changed. */
uint64_t axl_timer(void) {
    uint32_t high, low;
    do {
        high = *device(GLOBAL_TIMER + 4);
        low = *device(GLOBAL_TIMER);
    } while (high != *device(GLOBAL_TIMER + 4));
    return (uint64_t)high << 32 | low;
}
