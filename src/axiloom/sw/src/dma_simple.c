/* The channels of a DMA in direct register ("simple") mode. References are to PG021. */
#include "dma_look.h"

#if !AXL_DMA_SG

void dma_channel_prepare(const dma_channel *channel) { (void)channel; }

/* PG021, "Programming Sequence": address first; the write of LENGTH starts the transfer. */
void dma_channel_start(const dma_channel *channel, uintptr_t address, uint32_t bytes) {
    dma_write_register(channel->base + ADDRESS, axl_bus((const void *)address));
    dma_write_register(channel->base + LENGTH, bytes);
}

#endif
