/* What dma_sg.c (rings) and dma_queue.c share. Not for drivers. */
#ifndef DMA_SG_H
#define DMA_SG_H

#include "dma_internal.h"

#if AXL_DMA_SG

#include "axiloom_sg.h"

enum { DMA_BYTES = (1u << 26) - 1, DMA_RXEOF = 1u << 26 };
#define DMA_COMPLETE (1u << 31)

typedef struct {
    uint32_t posted;  /* descriptors filled in */
    uint32_t told;    /* of these, known to the DMA */
    uint32_t taken;   /* of these, waited for */
    uint32_t linked;  /* descriptors of the ring that know their next one */
} dma_recv_queue;

extern dma_recv_queue DMA_EACH(dma_recvs);
extern dma_descriptor DMA_EACH(dma_recv_ring)[AXL_RECV_RING];
#if AXL_DMAS > 1
#define dma_recvs dma_recvs_of[dma_now]
#define dma_recv_ring dma_recv_ring_of[dma_now]
#endif

#include "axiloom_sg_push.h"

#define SPINS (AXL_DMA_COHERENT && !AXL_DMA_IRQ && !AXL_PROCESS) /* a wait looks at descriptors in the caches */
#define REGISTER_LOOKS 256u /* looks at a descriptor in the caches for each at a register */
#define AHEAD_LINES 4u      /* that may be on their way: a Cortex-A9 takes four at a time (its TRM, 7.1) */

void dma_queue_prepare(void);
void dma_queue_lend(void);

#define TABLES AXL_DMA_COHERENT
#if TABLES
#include "axiloom_table.h"
extern dma_table *DMA_EACH(dma_table_now), *DMA_EACH(dma_table_next); /* whose the DMA is, and will be with the next reset */
#if AXL_DMAS > 1
#define dma_table_now dma_table_now_of[dma_now]
#define dma_table_next dma_table_next_of[dma_now]
#endif
#endif

/* Receives first: the device must not wait for them. */
void dma_tell_recvs(void);
void dma_tell_sends(void);
void dma_post_recv(uintptr_t to, uint32_t row_bytes, uint32_t rows);

/* Post the next descriptor as it was posted a ring ago. */
static inline void dma_post_again(uint32_t row_bytes) {
    dma_descriptor *next = &dma_recv_ring[dma_recvs.posted & (AXL_RECV_RING - 1)];
    *(volatile uint64_t __attribute__((may_alias)) *)&next->control = row_bytes;
    dma_recvs.posted++;
}

#endif
#endif
