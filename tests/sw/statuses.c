/* Every status that needs no cooperation of the DMA. Exit code: the line that is wrong. */
#include "axiloom.h"

#define EXPECT(call, expected)                                                                                        \
    do {                                                                                                              \
        if ((call) != (expected))                                                                                     \
            return __LINE__;                                                                                          \
    } while (0)

enum { DMA = 0x40400000, IN = 0x16000000, OUT = 0x16400000, BYTES = 65536, WORDS = BYTES / 4 };

static int32_t x[64];

int main(void) {
    int done = 0;
    EXPECT(dma_put_word(1, 0), DMA_ERR_NOT_READY);
    EXPECT(dma_start_send(1, 0), DMA_ERR_NOT_READY);
    EXPECT(dma_check_recv(&done), DMA_ERR_NOT_READY);
    EXPECT(dma_wait_send(), DMA_ERR_NOT_READY);
    EXPECT(dma_free(), DMA_ERR_NOT_READY);
    EXPECT(dma_in_buffer() == NULL, 1);
    EXPECT(dma_init(0, IN, BYTES, OUT, BYTES), DMA_ERR_ARGUMENT);
    EXPECT(dma_init(DMA + 2, IN, BYTES, OUT, BYTES), DMA_ERR_ARGUMENT);
    EXPECT(dma_init(DMA, IN + 4, BYTES, OUT, BYTES), AXL_DMA_CACHED ? DMA_ERR_ARGUMENT : DMA_OK);
    EXPECT(dma_init(DMA, IN, BYTES, OUT, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_init(DMA, IN, BYTES, OUT, BYTES), DMA_OK);
    EXPECT(dma_in_buffer() == (volatile uint32_t *)IN, 1);
    EXPECT(dma_out_buffer() == (volatile uint32_t *)OUT, 1);

    EXPECT(dma_put_word(1, WORDS - 1), DMA_OK);
    EXPECT(dma_put_word(1, WORDS), DMA_ERR_BOUNDS);
    EXPECT(dma_put_word(1, UINT32_MAX), DMA_ERR_BOUNDS);
    EXPECT(dma_put_tile_i32(x, 8, 8, 8, 1, 8, 8, WORDS - 64), DMA_OK);
    EXPECT(dma_put_tile_i32(x, 8, 8, 8, 1, 8, 8, WORDS - 63), DMA_ERR_BOUNDS);
    EXPECT(dma_put_tile_i32(x, 8, 8, 8, 1, 8, 8, UINT32_MAX), DMA_ERR_BOUNDS);
    EXPECT(dma_put_tile_i32(x, 9, 8, 8, 1, 8, 8, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_put_tile_i32(x, 8, 9, 8, 1, 8, 8, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_put_tile_i32(x, 1, 1, 8, 1, 65536, 65536, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_put_tile_i32(NULL, 8, 8, 8, 1, 8, 8, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_put_tile_i8((int8_t *)x, 1, 3, 8, 1, 1, 3, 0), DMA_ERR_ARGUMENT);
    EXPECT(dma_put_tile_i16((int16_t *)x, 1, 3, 8, 1, 1, 4, 0), DMA_OK);
    EXPECT(dma_get_tile_i32(x, 8, 8, 8, 1, 8, 8, WORDS - 63, 0), DMA_ERR_BOUNDS);
    EXPECT(dma_get_tile_i32(NULL, 8, 8, 8, 1, 8, 8, 0, 0), DMA_ERR_ARGUMENT);

    EXPECT(dma_start_send(0, 0), DMA_ERR_LENGTH);
    EXPECT(dma_start_send(WORDS + 1, 0), DMA_ERR_BOUNDS);
    EXPECT(dma_start_send(2, WORDS - 1), DMA_ERR_BOUNDS);
    EXPECT(dma_start_recv(UINT32_MAX, 1), DMA_ERR_BOUNDS);
#if AXL_LENGTH_BITS == 14
    EXPECT(dma_start_send(4096, 0), DMA_ERR_LENGTH); /* 16384 bytes do not fit in 14 bits */
    EXPECT(dma_start_recv(4096, 0), DMA_ERR_LENGTH);
    EXPECT(dma_start_send(4095, 0), DMA_OK);
    EXPECT(dma_wait_send(), DMA_OK);
#endif

    EXPECT(dma_wait_send(), DMA_OK); /* nothing is in flight */
    EXPECT(dma_check_recv(&done), DMA_OK);
    EXPECT(done, 1);
    EXPECT(dma_start_recv(4, 8), DMA_OK);
    EXPECT(dma_start_recv(4, 8), DMA_ERR_BUSY);
    EXPECT(dma_start_send(4, 0), DMA_OK);
    EXPECT(dma_wait_send(), DMA_OK);
    EXPECT(dma_wait_recv(), DMA_OK);
    EXPECT(dma_start_recv(4, 8), DMA_OK);
    EXPECT(dma_start_send(4, 0), DMA_OK);
    while (!done || dma_check_recv(&done) != DMA_OK) {}
    EXPECT(dma_wait_recv(), DMA_OK);
    EXPECT(dma_wait_send(), DMA_OK);
    EXPECT(dma_free(), DMA_OK);
    EXPECT(dma_start_send(4, 0), DMA_ERR_NOT_READY);
    EXPECT(dma_init(DMA, IN, BYTES, OUT, BYTES), DMA_OK);

    for (int s = DMA_OK; s <= DMA_ERR_TIMEOUT; s++)
        if (dma_status_text((dma_status)s)[0] == 'u')
            return __LINE__;
    return dma_status_text((dma_status)99)[0] == 'u' ? 0 : __LINE__;
}
