/* The channels of a DMA in direct register ("simple") mode. References are to PG021. */
#include "dma_internal.h"

#if !AXL_DMA_SG

enum { ADDRESS = 0x18, LENGTH = 0x28 };

void dma_channel_prepare(const dma_channel *channel) { (void)channel; }

/* PG021, "Programming Sequence": address first; the write of LENGTH starts the transfer. */
void dma_channel_start(const dma_channel *channel, uintptr_t address, uint32_t bytes) {
    dma_write_register(channel->base + ADDRESS, (uint32_t)address);
    dma_write_register(channel->base + LENGTH, bytes);
}

dma_status dma_channel_look(const dma_channel *channel, int *done, uint32_t *bytes) {
    const uint32_t status = dma_read_register(channel->base + DMASR);
    *done = (status & DMASR_IDLE) != 0;
    if (status & DMASR_ERRORS)
        return DMA_ERR_HALTED;
    /* PG021, S2MM_LENGTH: after the transfer it reads the number of bytes received. */
    *bytes = channel->words * (uint32_t)sizeof(uint32_t);
    if (*done && channel->base == S2MM)
        *bytes = dma_read_register(channel->base + LENGTH);
    return DMA_OK;
}

#endif
