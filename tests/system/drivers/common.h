/* One 4x4 tile on v3_4 (bit-mask encoding) by hand, in steps that each test leaves out or gets wrong. */
#include "axiloom.h"

#define TRY(call) do { dma_status status_ = (call); if (status_) return status_; } while (0)

int32_t A[4][4], B[4][4], C[4][4];

static inline dma_status send_now(uint32_t words) {
    TRY(dma_start_send(words, 0));
    return dma_wait_send();
}

static inline dma_status start(void) { return dma_init(0x40400000, 0x16000000, 65536, 0x16400000, 65536); }

static inline dma_status send_tile(uint32_t opcode, int32_t (*tile)[4]) {
    TRY(dma_put_word(opcode, 0));
    TRY(dma_put_tile_i32(&tile[0][0], 4, 4, 4, 1, 4, 4, 1));
    return send_now(17);
}

static inline dma_status send_opcode(uint32_t opcode) {
    TRY(dma_put_word(opcode, 0));
    return send_now(1);
}
