/* Cache maintenance by address on AArch64, through both levels to memory: the same on bare metal (EL1) and in a Linux
 * process (EL0, as Linux sets SCTLR_EL1.UCI). A region of rows is as in dma_internal.h. */
#ifndef AXL_ARM64_LINES_H
#define AXL_ARM64_LINES_H

#include "dma_internal.h"

#define AXL_EACH_LINE(OPERATION, address, row_bytes, rows, stride)                                         \
    for (uint32_t r = 0; r < (rows); r++) {                                                                \
        const uintptr_t row = (address) + (uintptr_t)r * (stride), end = row + (row_bytes);                \
        for (uintptr_t line = row & ~(uintptr_t)(AXL_CACHE_LINE - 1); line < end; line += AXL_CACHE_LINE)  \
            __asm__ volatile("dc " OPERATION ", %0" ::"r"(line) : "memory");                               \
    }                                                                                                      \
    axl_memory_barrier();

/* ARMv8-A ARM, C5.3. */
static inline void axl_clean_lines(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    AXL_EACH_LINE("cvac", address, row_bytes, rows, stride)
}

/* `dc ivac` is not for EL0, and a Cortex-A53 cleans with it too (its TRM, 4.3). DC CIVAC does the same to a line that is
 * not dirty, and none is: it was cleaned before the DMA got it, and the CPU does not write there meanwhile. */
static inline void axl_invalidate_lines(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    AXL_EACH_LINE("civac", address, row_bytes, rows, stride)
}

#endif
