/* Caches, memory attributes and time of a Cortex-A53 (Zynq UltraScale+).
 *
 * The HP ports do not look into the caches. Both levels are maintained by address with one instruction (arm64_lines.h),
 * as they are by a Linux process. */
#include "../src/arm64_lines.h"

#define BLOCK_SHIFT 21
#define UNCACHED 0x0060000000000709u /* cf. start.S */

extern uint64_t axl_block_table[512];

void axl_memory_barrier(void) { __asm__ volatile("dsb sy" ::: "memory"); }

void axl_wait_for_interrupt(void) { __asm__ volatile("dsb sy\n\twfi" ::: "memory"); }

void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    axl_clean_lines(address, row_bytes, rows, stride);
}

/* Cleaned, not thrown away: what lies beside in the same lines is not lost. */
void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    axl_clean_lines(address, row_bytes, rows, stride);
}

void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    axl_invalidate_lines(address, row_bytes, rows, stride);
}

void axl_cache_clean(uintptr_t address, uint32_t bytes) { axl_cache_clean_rows(address, bytes, 1, 0); }
void axl_cache_discard(uintptr_t address, uint32_t bytes) { axl_cache_discard_rows(address, bytes, 1, 0); }
void axl_cache_invalidate(uintptr_t address, uint32_t bytes) { axl_cache_invalidate_rows(address, bytes, 1, 0); }

#include "../src/by_line.h"

/* The queues' slots are not in on-chip memory here. */
void axl_ocm_invalidate(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

/* DC CISW of a level: its number in bits 3:1, the set above the line's 6 bits, the way at the top. */
static void flush_level(uint32_t level, uint32_t sets, uint32_t ways) {
    for (uint32_t way = 0; way < ways; way++)
        for (uint32_t set = 0; set < sets; set++) {
            const uint64_t one = way * (0x100000000u / ways) | set << 6 | level << 1;
            __asm__ volatile("dc cisw, %0" ::"r"(one) : "memory");
        }
    axl_memory_barrier();
}

/* Nothing is left in L1D (32 KiB, 4 ways) and L2 (1 MiB, 16 ways; UG1085, 3.1): by address, a window takes longer. */
static void flush_all(void) {
    flush_level(0, 128, 4);
    flush_level(1, 1024, 16);
}

/* Blocks of 2 MiB. An entry must not change from one valid kind to another (ARMv8-A ARM, D5.10.1). */
void axl_map_uncached(uintptr_t address, uint32_t bytes) {
    const uintptr_t first = address >> BLOCK_SHIFT, last = (address + bytes - 1) >> BLOCK_SHIFT;
    for (uintptr_t i = first; i <= last; i++)
        for (int valid = 0; valid < 2; valid++) {
            axl_block_table[i] = valid ? i << BLOCK_SHIFT | UNCACHED : 0;
            __asm__ volatile("dsb sy\n\ttlbi vmalle1\n\tdsb sy\n\tisb" ::: "memory");
        }
    flush_all();
}

/* The system counter, in the runtime's ticks: AXL_CPU_HZ / 2 a second. */
uint64_t axl_timer(void) {
    uint64_t now, hz;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0" : "=r"(now), "=r"(hz));
    return now / hz * (AXL_CPU_HZ / 2) + now % hz * (AXL_CPU_HZ / 2) / hz;
}
