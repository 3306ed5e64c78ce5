/* Caches and time of a RISC-V soft core with RV32IM and Zicbom, without an MMU.
 *
 * The DMA does not look into the D cache. Lines are maintained with the cache-block instructions of Zicbom (RISC-V
 * Cache Management Operations, 2.3); machine mode may use all three. */
#include "../src/dma_internal.h"

/* The bus answers a store when it is done, but a store may still wait in the core: accesses to the DMA's registers must
 * not overtake those to memory. */
void axl_memory_barrier(void) { __asm__ volatile("fence iorw, iorw" ::: "memory"); }

void axl_wait_for_interrupt(void) { __asm__ volatile("fence iorw, iorw\n\twfi" ::: "memory"); }

#define EACH_LINE(OPERATION)                                                                              \
    for (uint32_t r = 0; r < rows; r++) {                                                                 \
        const uintptr_t row = address + r * stride, end = row + row_bytes;                                \
        for (uintptr_t line = row & ~(uintptr_t)(AXL_CACHE_LINE - 1); line < end; line += AXL_CACHE_LINE) \
            __asm__ volatile("cbo." OPERATION " (%0)" ::"r"(line) : "memory");                            \
    }                                                                                                     \
    axl_memory_barrier();

void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) { EACH_LINE("clean") }

/* Cleaned, not thrown away: what lies beside in the same lines is not lost. */
void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) { EACH_LINE("clean") }

/* Flushed, for the same reason: what the DMA wrote to is not dirty. */
void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) { EACH_LINE("flush") }

void axl_cache_clean(uintptr_t address, uint32_t bytes) { axl_cache_clean_rows(address, bytes, 1, 0); }
void axl_cache_discard(uintptr_t address, uint32_t bytes) { axl_cache_discard_rows(address, bytes, 1, 0); }
void axl_cache_invalidate(uintptr_t address, uint32_t bytes) { axl_cache_invalidate_rows(address, bytes, 1, 0); }

#include "../src/by_line.h"

/* There is none. */
void axl_ocm_invalidate(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

/* What is cached was decided when the core was built: windows are where it caches nothing. If they are not, the
 * simulator reports a missing flush; on the board, results are wrong. */
void axl_map_uncached(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

/* The runtime's ticks are two cycles each. Read the upper half again until it has not changed (Privileged Architecture,
 * 3.1.10). A core in machine mode need not have the unprivileged `cycle`. */
uint64_t axl_timer(void) {
    uint32_t high, low, again;
    do
        __asm__ volatile("csrr %0, mcycleh\n\tcsrr %1, mcycle\n\tcsrr %2, mcycleh" : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return ((uint64_t)high << 32 | low) / 2;
}
