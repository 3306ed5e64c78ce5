/* right.c for streams wider than a word: each opcode fills a beat. */
#include "common.h"

enum { HEAD = AXL_STREAM_BITS / 32 };

static dma_status send_head(uint32_t opcode) {
    TRY(dma_put_word(opcode, 0));
    for (uint32_t i = 1; i < HEAD; i++) TRY(dma_put_word(0, i));
    return DMA_OK;
}

static dma_status send_operand(uint32_t opcode, int32_t (*tile)[4]) {
    TRY(send_head(opcode));
    TRY(dma_put_tile_i32(&tile[0][0], 4, 4, 4, 1, 4, 4, HEAD));
    return send_now(HEAD + 16);
}

int main(void) {
    TRY(start());
    TRY(send_operand(1, A));
    TRY(send_operand(2, B));
    TRY(send_head(4));
    TRY(send_now(HEAD));
    TRY(dma_start_recv(16, 0));
    TRY(send_head(8));
    TRY(send_now(HEAD));
    TRY(dma_wait_recv());
    return dma_get_tile_i32(&C[0][0], 4, 4, 4, 1, 4, 4, 0, 0);
}
