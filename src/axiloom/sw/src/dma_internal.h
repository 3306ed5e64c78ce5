/* What the parts of the runtime share. Not for drivers. */
#ifndef DMA_INTERNAL_H
#define DMA_INTERNAL_H

#include "axiloom.h"
#include "dma_registers.h"

/* Leave the function with the status of a call that failed. */
#define TRY(call)                             \
    do {                                      \
        const dma_status try_status = (call); \
        if (try_status != DMA_OK)             \
            return try_status;                \
    } while (0)

typedef struct {
    uint32_t *words;   /* NULL before dma_init */
    uint32_t size;     /* words */
} dma_window;

extern dma_window DMA_EACH(dma_in_window), DMA_EACH(dma_out_window);

/* DMA_OK if `words` words at `offset` lie in the window. Written so that no sum can overflow. */
static inline dma_status dma_check_bounds(const dma_window *window, uint32_t words, uint32_t offset) {
    if (!window->words)
        return DMA_ERR_NOT_READY;
    if (words > window->size || offset > window->size - words)
        return DMA_ERR_BOUNDS;
    return DMA_OK;
}

enum { DMACR_THRESHOLD_ONE = DMACR_IRQTHRESHOLD };
enum { DMASR_IRQS = DMASR_IOC_IRQ | DMASR_ERR_IRQ }; /* Dly_Irq is never enabled */

typedef struct {
    uint32_t base;       /* MM2S or S2MM */
    uint32_t words;      /* of the transfer in flight, 0 if none */
    uint32_t offset;
} dma_channel;

extern dma_channel DMA_EACH(dma_send_channel), DMA_EACH(dma_recv_channel);
extern uintptr_t DMA_EACH(dma_registers);

#if AXL_DMAS > 1
#define dma_in_window dma_in_window_of[dma_now]
#define dma_out_window dma_out_window_of[dma_now]
#define dma_send_channel dma_send_channel_of[dma_now]
#define dma_recv_channel dma_recv_channel_of[dma_now]
#define dma_registers dma_registers_of[dma_now]
#endif

#if AXL_REMOTE /* sw/remote/platform.c: the registers are on no bus of this machine */
uint32_t axl_read_register(uintptr_t address);
void axl_write_register(uintptr_t address, uint32_t value);
#else
static inline uint32_t axl_read_register(uintptr_t address) { return *(volatile uint32_t *)address; }
static inline void axl_write_register(uintptr_t address, uint32_t value) { *(volatile uint32_t *)address = value; }
#endif

static inline uint32_t dma_read_register(uint32_t offset) { return axl_read_register(dma_registers + offset); }

static inline void dma_write_register(uint32_t offset, uint32_t value) {
    axl_write_register(dma_registers + offset, value);
}

/* What differs between the two kinds of DMA: dma_simple.c, dma_sg.c (AXL_DMA_SG). One transfer a channel. */
void dma_channel_prepare(const dma_channel *channel); /* after a reset, before it runs */
void dma_channel_start(const dma_channel *channel, uintptr_t address, uint32_t bytes);

dma_status dma_restart(void); /* a reset, for what begins anew */

/* Platform: what an operating system has to give before the DMA may be used, and what is said where a wait failed.
 * Registers and windows come with their physical addresses and go with those that the CPU has for them. */
#if AXL_LINUX || AXL_REMOTE
dma_status axl_open_dma(uintptr_t *registers, uintptr_t *in, uint32_t in_bytes, uintptr_t *out, uint32_t out_bytes);
#else
static inline dma_status axl_open_dma(const uintptr_t *registers, const uintptr_t *in, uint32_t in_bytes,
                                      const uintptr_t *out, uint32_t out_bytes) {
    (void)registers, (void)in, (void)in_bytes, (void)out, (void)out_bytes;
    return DMA_OK;
}
#endif
#if AXL_PROCESS
dma_status axl_wait_failed(const dma_channel *channel, dma_status status); /* returns the status */
#else
static inline dma_status axl_wait_failed(const dma_channel *channel, dma_status status) {
    (void)channel;
    return status;
}
#endif

/* Platform (sw/arm/platform.c, sw/linux/platform.c): caches and memory attributes. Addresses and sizes in bytes. A region of rows is
 * `rows` times `row_bytes` bytes that begin `stride` bytes apart. */
void axl_cache_clean(uintptr_t address, uint32_t bytes);      /* what the CPU wrote is in memory */
void axl_cache_discard(uintptr_t address, uint32_t bytes);    /* before DMA writes: no dirty line is left */
void axl_cache_invalidate(uintptr_t address, uint32_t bytes); /* after it has: the next read comes from memory */
void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride);
void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride);
void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride);
int axl_cache_empties(uint32_t bytes); /* does discarding as many at once empty all caches: is nothing dirty left? */
int axl_cache_clean_all(uint32_t bytes); /* if that takes less time than cleaning as many; whether it did */
void axl_ocm_invalidate(uintptr_t address, uint32_t bytes);   /* the same for on-chip memory, which only L1 holds */
void axl_map_uncached(uintptr_t address, uint32_t bytes);
void axl_memory_barrier(void);                                /* earlier accesses are done before later ones */
void axl_wait_for_interrupt(void);

#endif
