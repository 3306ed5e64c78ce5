/* Waiting: compiled into each loop that waits, which then is little more than the read of a register. Not for
 * drivers. References are to PG021. */
#ifndef DMA_LOOK_H
#define DMA_LOOK_H

#include "dma_internal.h"

#define DMA_INLINE static inline __attribute__((always_inline, unused))

/* One look: *done, and if so the *bytes that were moved. */
#if AXL_DMA_SG

#include "dma_sg.h"

/* One look at a descriptor that is `awaited`. The descriptor first, then a register: errors show there. With a coherent port
 * the descriptor stays in L1 until the DMA writes to it, so that such a look takes next to nothing, `meanwhile` does something
 * useful, and a register is read now and then. Without, only the register lets time go on for a simulated DMA. */
DMA_INLINE dma_status dma_descriptor_look(const dma_descriptor *awaited, uint32_t *looks, void (*meanwhile)(void),
                                          int *done) {
    *done = (awaited->status & DMA_COMPLETE) != 0;
    if (*done)
        return DMA_OK;
    uint32_t channel = (*looks)++ & 1 ? S2MM : MM2S;
    if (SPINS) {
        meanwhile();
        if (*looks % REGISTER_LOOKS)
            return DMA_OK;
        channel = *looks & REGISTER_LOOKS ? S2MM : MM2S;
    }
    return dma_read_register(channel + DMASR) & DMASR_ERRORS ? DMA_ERR_HALTED : DMA_OK;
}

DMA_INLINE dma_status dma_channel_look(const dma_channel *channel, int *done, uint32_t *bytes) {
    const uint32_t errors = dma_read_register(channel->base + DMASR) & DMASR_ERRORS;
    const dma_descriptor *last = channel->base == MM2S
                                     ? &dma_send_ring[(dma_sends.pushed - 1) & (AXL_SEND_RING - 1)]
                                     : &dma_recv_ring[(dma_recvs.posted - 1) & (AXL_RECV_RING - 1)];
    const uint32_t status = last->status;
    *done = (status & DMA_COMPLETE) != 0;
    *bytes = status & DMA_BYTES;
    if (errors)
        return DMA_ERR_HALTED;
    if (!*done)
        return DMA_OK;
    if (channel->base == MM2S)
        dma_sends.done = dma_sends.pushed;
    else
        dma_recvs.taken = dma_recvs.posted;
    return channel->base == S2MM && !(status & DMA_RXEOF) ? DMA_ERR_LONG : DMA_OK;
}

#else

DMA_INLINE dma_status dma_channel_look(const dma_channel *channel, int *done, uint32_t *bytes) {
    const uint32_t status = dma_read_register(channel->base + DMASR);
    *done = (status & DMASR_IDLE) != 0;
    if (status & DMASR_ERRORS)
        return DMA_ERR_HALTED;
    /* S2MM_LENGTH: after the transfer it reads the number of bytes received. */
    *bytes = channel->words * (uint32_t)sizeof(uint32_t);
    if (*done && channel->base == S2MM)
        *bytes = dma_read_register(channel->base + LENGTH);
    return DMA_OK;
}

#endif

/* Nor may another DMA's flag keep the CPU awake. */
DMA_INLINE void dma_clear_others(void) {
#if AXL_DMAS > 1
    for (uint32_t i = 0; i < AXL_DMAS; i++)
        for (uint32_t base = MM2S; i != dma_now && dma_registers_of[i] && base <= S2MM; base += S2MM)
            *(volatile uint32_t *)(dma_registers_of[i] + base + DMASR) = DMASR_IRQS;
#endif
}

/* The interrupts stay masked in the CPU: an interrupt only ends its sleep. A flag is cleared before the look that
 * follows it, so that none is missed. The other channel's may be cleared at any time: whoever waits for that one
 * looks before it sleeps. */
DMA_INLINE void dma_sleep(const dma_channel *channel, int woken) {
    if (woken) {
        dma_write_register((channel->base ^ S2MM) + DMASR, DMASR_IRQS);
        dma_clear_others();
    }
    axl_wait_for_interrupt();
    dma_write_register(channel->base + DMASR, DMASR_IRQS);
}

/* Call `look` until it says done or fails, as long as AXL_TIMEOUT_US allows; asleep in between if AXL_DMA_IRQ. */
DMA_INLINE dma_status dma_wait_until(const dma_channel *channel, dma_status (*look)(int *done)) {
#ifdef AXL_TIMEOUT_US
    const uint64_t allowed = (uint64_t)(AXL_TIMEOUT_US) * (AXL_CPU_HZ / 2) / 1000000u;
    uint64_t limit = AXL_TIMEOUT_LOOKS == 1 ? axl_timer() + allowed : 0;
    uint32_t left = AXL_TIMEOUT_LOOKS;
#endif
    for (int woken = 0;; woken = 1) {
        int done;
        const dma_status status = look(&done);
        if (status != DMA_OK)
            return axl_wait_failed(channel, status);
        if (done)
            return DMA_OK;
#ifdef AXL_TIMEOUT_US
        if (AXL_TIMEOUT_LOOKS == 1 || --left == 0) {
            const uint64_t now = axl_timer();
            if (limit == 0)
                limit = now + allowed;
            if (now > limit)
                return axl_wait_failed(channel, DMA_ERR_TIMEOUT);
            left = AXL_TIMEOUT_LOOKS;
        }
#endif
        if (AXL_DMA_IRQ)
            dma_sleep(channel, woken);
    }
}

#endif
