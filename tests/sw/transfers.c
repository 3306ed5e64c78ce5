/* Sends `words` words of `values` in two unaligned pieces and receives `asked` words. */
#include "axiloom.h"

uint32_t words, asked;
uint32_t values[4096], results[4096];
int32_t status;

static dma_status send(uint32_t count, uint32_t offset) {
    dma_status s = dma_start_send(count, offset);
    return s ? s : dma_wait_send();
}

int main(void) {
    const uint32_t half = words / 2;
    if (dma_init(0x40400000, 0x16000000, 32768, 0x16400000, 32768) != DMA_OK)
        return 1;
    for (int round = 0; round < 2; round++) { /* the second round finds the lines of the first in the caches */
        for (uint32_t i = 0; i < words; i++)
            dma_put_word(values[i] + (uint32_t)round, 3 + i);
        status = dma_start_recv(asked, 5);
        if (!status)
            status = send(half, 3);
        if (!status)
            status = send(words - half, 3 + half);
        if (!status)
            status = dma_wait_recv();
        for (uint32_t i = 0; i < asked; i++)
            results[i] = dma_out_buffer()[5 + i];
        if (status)
            return 0;
    }
    return 0;
}
