/* The channels of a DMA with scatter-gather: rings of descriptors. References are to PG021. */
#include "dma_sg.h"

#if AXL_DMA_SG

/* In memory that the CPU does not cache (sw/arm/link.ld), so that neither side needs maintenance. With a coherent port
 * they are in the caches, where the DMA looks (on Linux devices.c maps the section so); a whole ring would have to come
 * there first, so each descriptor is linked when it is filled in. */
#if AXL_DMA_COHERENT && !AXL_LINUX
#define UNCACHED
#else
#define UNCACHED __attribute__((section(".axl_uncached")))
#endif
/* In one page as far as it goes: the DMA reads ahead where a descriptor lies behind the one before, and in its page. */
#define WHOLE_PAGE __attribute__((aligned(AXL_DMA_COHERENT ? 4096 : 64)))
dma_descriptor DMA_EACH(dma_send_ring)[AXL_SEND_RING] UNCACHED WHOLE_PAGE;
dma_descriptor DMA_EACH(dma_recv_ring)[AXL_RECV_RING] UNCACHED;
dma_send_queue DMA_EACH(dma_sends);
dma_recv_queue DMA_EACH(dma_recvs);

#define AT_ONCE 8u /* descriptors that are linked before a call: small ones need no more */

/* The others are linked when the DMA is told of them for the first time: a program that queues few pays for few. In the
 * caches each is linked by itself. */
static void link_until(dma_descriptor *ring, uint32_t size, uint32_t *linked, uint32_t end) {
    uint32_t i = *linked;
    if (AXL_DMA_COHERENT || i == size)
        return;
    for (; i < size && i < end; i++)
        ring[i].next = axl_bus(&ring[(i + 1) & (size - 1)]);
    *linked = i;
}

/* PG021, "Programming Sequence" of scatter-gather: CURDESC while the channel is halted, then run, then TAILDESC. */
void dma_channel_prepare(const dma_channel *channel) {
#if TABLES
    if (dma_table_now) {
        const dma_descriptor *first = channel->base == MM2S ? dma_table_now->sends : dma_table_now->receives;
        dma_write_register(channel->base + CURDESC, axl_bus(first));
        return;
    }
#endif
    if (channel->base == MM2S) {
        dma_sends = (dma_send_queue){.at = dma_send_ring->words};
        link_until(dma_send_ring, AXL_SEND_RING, &dma_sends.linked, AT_ONCE);
        dma_write_register(MM2S + CURDESC, axl_bus(dma_send_ring));
    } else {
        dma_recvs = (dma_recv_queue){0};
        link_until(dma_recv_ring, AXL_RECV_RING, &dma_recvs.linked, AT_ONCE);
        dma_write_register(S2MM + CURDESC, axl_bus(dma_recv_ring));
    }
}

void dma_tell_sends(void) {
    if (dma_sends.told == dma_sends.pushed)
        return;
    dma_descriptor *last = &dma_send_ring[(dma_sends.pushed - 1) & (AXL_SEND_RING - 1)];
    last->control = dma_sends.control | DMA_EOF;
    link_until(dma_send_ring, AXL_SEND_RING, &dma_sends.linked, dma_sends.pushed);
    axl_memory_barrier();
    dma_sends.told = dma_sends.pushed;
    dma_sends.words = 0;
    dma_write_register(MM2S + TAILDESC, axl_bus(last));
}

void dma_post_recv(uintptr_t to, uint32_t row_bytes, uint32_t rows) {
    dma_descriptor *next = &dma_recv_ring[dma_recvs.posted & (AXL_RECV_RING - 1)];
    dma_link(next, &dma_recv_ring[(dma_recvs.posted + 1) & (AXL_RECV_RING - 1)]);
    if (AXL_DMA_COHERENT)
        dma_bring(&dma_recv_ring[(dma_recvs.posted + DMA_BRING_AHEAD) & (AXL_RECV_RING - 1)]);
    next->buffer = axl_bus((const void *)to);
    next->rows = rows;
    *(volatile uint64_t __attribute__((may_alias)) *)&next->control = row_bytes;
    dma_recvs.posted++;
}

void dma_tell_recvs(void) {
    if (dma_recvs.told == dma_recvs.posted)
        return;
    link_until(dma_recv_ring, AXL_RECV_RING, &dma_recvs.linked, dma_recvs.posted);
    axl_memory_barrier();
    dma_recvs.told = dma_recvs.posted;
    dma_write_register(S2MM + TAILDESC, axl_bus(&dma_recv_ring[(dma_recvs.posted - 1) & (AXL_RECV_RING - 1)]));
}

/* One descriptor a transfer. */
void dma_channel_start(const dma_channel *channel, uintptr_t address, uint32_t bytes) {
    if (channel->base == MM2S) {
        dma_queue_push(dma_queue_next(), (const void *)address, bytes, 0);
        dma_tell_sends();
    } else {
        dma_post_recv(address, bytes, 0);
        dma_tell_recvs();
    }
}

#endif
