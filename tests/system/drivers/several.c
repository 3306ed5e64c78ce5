/* Products on two accelerators of one system, v3_8 and v4_16 with tiles of 16, by hand: each has its own DMA.
 *
 * TURNS: the first is waited for before the second one begins. HANG: the second one's store is left out, or (2) the
 * first one is sent a word that is no opcode. */
#include "axiloom.h"

#define TRY(call) do { dma_status status_ = (call); if (status_) return status_; } while (0)
#ifndef TURNS
#define TURNS 0
#endif
#ifndef HANG
#define HANG 0
#endif

enum { SMALL = 8, LARGE = 16, ROUNDS = 6 };
enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE = 8 };

int32_t A0[ROUNDS][SMALL][SMALL], B0[SMALL][SMALL], C0[ROUNDS][SMALL][SMALL];
int32_t A1[ROUNDS][LARGE][LARGE], B1[LARGE][LARGE], C1[ROUNDS][LARGE][LARGE];

/* An opcode, and its dims where the accelerator wants them. */
static dma_status head(uint32_t opcode, uint32_t dims, uint32_t *at) {
    TRY(dma_put_word(opcode, (*at)++));
    return dims ? dma_put_word(dims, (*at)++) : DMA_OK;
}

static dma_status tile(const int32_t *from, uint32_t size, uint32_t *at) {
    TRY(dma_put_tile_i32(from, size, size, size, 1, size, size, *at));
    *at += size * size;
    return DMA_OK;
}

static uint32_t packed[AXL_DMAS]; /* words */

/* One product in one packet. */
static dma_status pack(uint32_t id, const int32_t *a, const int32_t *b, uint32_t size) {
    const uint32_t dims = id == AXL_ID_v4_16 ? size | size << 10 | size << 20 : 0;
    uint32_t at = 0;
    TRY(dma_select(id));
    TRY(head(LOAD_A, dims, &at));
    TRY(tile(a, size, &at));
    TRY(head(HANG == 2 && id == AXL_ID_v3_8 ? 0x77 : LOAD_B, dims, &at));
    TRY(tile(b, size, &at));
    TRY(head(COMPUTE, dims, &at));
    if (HANG != 1 || id == AXL_ID_v3_8)
        TRY(head(STORE, dims, &at));
    packed[id] = at;
    return DMA_OK;
}

static dma_status begin(uint32_t id, uint32_t size) {
    TRY(dma_select(id));
    TRY(dma_start_recv(size * size, 0));
    return dma_start_send(packed[id], 0);
}

static dma_status end(uint32_t id, int32_t *c, uint32_t size) {
    TRY(dma_select(id));
    TRY(dma_wait_send());
    TRY(dma_wait_recv());
    return dma_get_tile_i32(c, size, size, size, 1, size, size, 0, 0);
}

int main(void) {
    if (dma_select(2) != DMA_ERR_ARGUMENT)
        return 100;
    TRY(dma_select(AXL_ID_v4_16));
    if (dma_put_word(0, 0) != DMA_ERR_NOT_READY)
        return 101;
    TRY(dma_init(AXL_DMA_v4_16));
    TRY(dma_select(AXL_ID_v3_8));
    if (dma_put_word(0, 0) != DMA_ERR_NOT_READY)
        return 102;
    TRY(dma_init(AXL_DMA_v3_8));
    for (int i = 0; i < ROUNDS; i++) {
        TRY(pack(AXL_ID_v3_8, &A0[i][0][0], &B0[0][0], SMALL));
        TRY(pack(AXL_ID_v4_16, &A1[i][0][0], &B1[0][0], LARGE));
        TRY(begin(AXL_ID_v4_16, LARGE));
        if (TURNS)
            TRY(end(AXL_ID_v4_16, &C1[i][0][0], LARGE));
        TRY(begin(AXL_ID_v3_8, SMALL)); /* while the other one's 520 words are still on their way */
        TRY(end(AXL_ID_v3_8, &C0[i][0][0], SMALL));
        if (!TURNS)
            TRY(end(AXL_ID_v4_16, &C1[i][0][0], LARGE));
    }
    for (uint32_t id = 0; id < AXL_DMAS; id++) {
        TRY(dma_select(id));
        TRY(dma_free());
    }
    return 0;
}
