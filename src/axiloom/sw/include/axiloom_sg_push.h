/* How words and rows get into descriptors. Included by axiloom_sg.h or by the runtime: not by drivers.
 *
 * With a plain port the two functions at the end are inline, as a driver of many small tiles spends its time there.
 * With a coherent port they are in dma_queue.c alone: small problems run through that, and most of their time is code
 * that comes for the first time. */
#ifndef AXILOOM_SG_PUSH_H
#define AXILOOM_SG_PUSH_H

#if !AXL_DMA_COHERENT
#undef DMA_PUSH
#define DMA_PUSH static inline
#endif

static inline dma_descriptor *dma_queue_next(void) { return &dma_send_ring[dma_sends.pushed & (AXL_SEND_RING - 1)]; }
/* One descriptor stays free, so that each value of TAILDESC differs from the last. */
static inline int dma_queue_full(void) { return dma_sends.pushed - dma_sends.done >= AXL_SEND_RING - 1; }

/* The lines of a descriptor are on their way when it is filled in. */
static inline void dma_bring(const dma_descriptor *next) {
    __builtin_prefetch((const void *)next, 1);
    if (AXL_CACHE_LINE < sizeof *next)
        __builtin_prefetch((const void *)next->words, 1);
}
#define DMA_BRING_AHEAD 3u /* descriptors */

/* With a coherent port descriptors are linked here; else when the DMA is told of them for the first time (dma_sg.c). */
static inline void dma_link(dma_descriptor *to, const dma_descriptor *next) {
    if (AXL_DMA_COHERENT) {
        to->next = axl_bus((const volatile void *)next);
    }
}

/* The status is written with the length, in one access: descriptors may be uncached. */
static inline void dma_queue_push(dma_descriptor *to, const volatile void *from, uint32_t row_bytes, uint32_t rows) {
    dma_sends.control = row_bytes | (dma_sends.pushed == dma_sends.told ? DMA_SOF : 0);
    dma_link(to, &dma_send_ring[(dma_sends.pushed + 1) & (AXL_SEND_RING - 1)]);
    if (AXL_DMA_COHERENT)
        dma_bring(&dma_send_ring[(dma_sends.pushed + DMA_BRING_AHEAD) & (AXL_SEND_RING - 1)]);
    to->buffer = axl_bus(from);
    to->rows = rows;
    *(volatile uint64_t __attribute__((may_alias)) *)&to->control = dma_sends.control;
    dma_sends.pushed++;
    dma_sends.at = dma_queue_next()->words;
}

/* Single words that were queued become a descriptor. */
static inline void dma_queue_end_words(void) {
    dma_descriptor *to = dma_queue_next();
    const uint32_t words = (uint32_t)(dma_sends.at - to->words);
    if (words == 0)
        return;
    dma_queue_push(to, to->words, words * (uint32_t)sizeof(uint32_t), 0);
    dma_sends.words += words;
}

#ifdef DMA_PUSH
DMA_PUSH dma_status dma_queue_first_word(uint32_t word) {
    dma_queue_end_words();
    if (dma_queue_full()) {
        const dma_status status = dma_queue_make_room();
        if (status != DMA_OK)
            return status;
    }
    dma_sends.at = dma_queue_next()->words;
    *dma_sends.at++ = word;
    return DMA_OK;
}

DMA_PUSH dma_status dma_queue_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    if ((uintptr_t)from % (AXL_STREAM_BITS / 8))
        return DMA_ERR_ALIGNMENT;
    dma_queue_end_words();
    if (dma_queue_full()) {
        const dma_status status = dma_queue_make_room();
        if (status != DMA_OK)
            return status;
    }
    dma_queue_push(dma_queue_next(), from, row_bytes, rows == 1 ? 0 : rows << 19 | stride);
    dma_sends.words += rows * row_bytes / (uint32_t)sizeof(uint32_t);
    return dma_sends.words < DMA_QUEUE_TELL ? DMA_OK : dma_queue_tell();
}

#endif
#endif
