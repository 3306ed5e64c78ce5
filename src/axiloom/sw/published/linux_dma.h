/* The runtime library that the published measurements used, in structure: a Linux process that maps the DMA's
 * registers and its buffers uncached (/dev/mem with O_SYNC), and has msync around every start and every poll.
 * It stands here to be simulated beside those measurements (boards/pynq-z2-linux), not to be used: axiloom.h is
 * better. Lengths and offsets in words. */
#ifndef LINUX_DMA_H
#define LINUX_DMA_H

#include <stdint.h>

/* A strided matrix of int32, as MLIR hands it to a library: sizes and strides in elements. */
typedef struct {
    int32_t *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
} memref2;

void linux_dma_init(uint32_t registers, uint32_t in_address, uint32_t in_words, uint32_t out_address, uint32_t out_words);
uint32_t *linux_dma_in(void);
uint32_t *linux_dma_out(void);

int linux_dma_start_send(uint32_t words, uint32_t offset);
void linux_dma_wait_send(void);
int linux_dma_start_recv(uint32_t words, uint32_t offset);
void linux_dma_wait_recv(void);

/* A tile (`descriptor`: a memref2 for rank 2, a pointer to a pointer to the word for rank 0), row after row. */
int linux_copy_to(int64_t rank, const void *descriptor, uint32_t offset);
int linux_copy_from(int64_t rank, const void *descriptor, uint32_t offset);

#endif
