/* What the parts of the runtime share. Not for drivers. */
#ifndef DMA_INTERNAL_H
#define DMA_INTERNAL_H

#include "axiloom.h"

typedef struct {
    uint32_t *words;   /* NULL before dma_init */
    uint32_t size;     /* words */
} dma_window;

extern dma_window dma_in_window, dma_out_window;

/* DMA_OK if `words` words at `offset` lie in the window. Written so that no sum can overflow. */
static inline dma_status dma_check_bounds(const dma_window *window, uint32_t words, uint32_t offset) {
    if (!window->words)
        return DMA_ERR_NOT_READY;
    if (words > window->size || offset > window->size - words)
        return DMA_ERR_BOUNDS;
    return DMA_OK;
}

/* Platform (sw/arm/platform.c): caches and memory attributes. Addresses and sizes in bytes. */
void axl_cache_clean(uintptr_t address, uint32_t bytes);      /* what the CPU wrote is in memory */
void axl_cache_discard(uintptr_t address, uint32_t bytes);    /* before DMA writes: no dirty line is left */
void axl_cache_invalidate(uintptr_t address, uint32_t bytes); /* after it has: the next read comes from memory */
void axl_map_uncached(uintptr_t address, uint32_t bytes);
void axl_memory_barrier(void);                                /* earlier accesses are done before later ones */

#endif
