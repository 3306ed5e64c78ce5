/* A load for the RTL with almost no work for the CPU: TILES tiles of A and B, filled once from a generator,
 * cross the stream REPEAT times, and a tile of C comes back each time. bare_soc.cpp does the same. */
#include "axiloom.h"

enum { BATCH = TILES * (3 + A_WORDS + B_WORDS) + 1 };

static uint32_t fill(void) {
    uint32_t n = 0, random = 1;
    volatile uint32_t *words = dma_in_buffer();
    for (uint32_t tile = 0; tile < TILES; tile++) {
        words[n++] = LOAD_A;
        for (uint32_t i = 0; i < A_WORDS; i++) words[n++] = random = random * 1664525u + 1013904223u;
        words[n++] = LOAD_B;
        for (uint32_t i = 0; i < B_WORDS; i++) words[n++] = random = random * 1664525u + 1013904223u;
        words[n++] = COMPUTE;
    }
    words[n++] = STORE;
    return n;
}

int main(void) {
    dma_status status = dma_init(DMA, IN_ADDRESS, IN_BYTES, OUT_ADDRESS, OUT_BYTES);
    if (!status && fill() != BATCH) status = DMA_ERR_BOUNDS;
    for (uint32_t i = 0; !status && i < REPEAT; i++) {
        status = dma_start_recv(C_WORDS, 0);
        if (!status) status = dma_start_send(BATCH, 0);
        if (!status) status = dma_wait_send();
        if (!status) status = dma_wait_recv();
    }
    return status;
}
