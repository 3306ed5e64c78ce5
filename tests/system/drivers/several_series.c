/* Series of products on v3_8 and v4_16 of one system, begun and continued in turn, so that what one has under way (packets
 * and tiles, or with a scatter-gather DMA a queue) must outlast the other's turn. */
#if AXL_DMA_SG
#include "axiloom_sg.h"
#else
#include "axiloom_packets.h"
#endif

#define TRY(call) do { dma_status status_ = (call); if (status_) return status_; } while (0)

enum { SMALL = 8, LARGE = 16, ROUNDS = 6 };
enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE = 8 };

int32_t A0[ROUNDS][SMALL][SMALL] __attribute__((aligned(64))), B0[SMALL][SMALL] __attribute__((aligned(64)));
int32_t A1[ROUNDS][LARGE][LARGE] __attribute__((aligned(64))), B1[LARGE][LARGE] __attribute__((aligned(64)));
int32_t C0[ROUNDS][SMALL][SMALL], C1[ROUNDS][LARGE][LARGE];

static const struct series {
    uint32_t id, size, dims;
    int32_t *a, *b, *c;
} both[] = {
    {AXL_ID_v3_8, SMALL, 0, &A0[0][0][0], &B0[0][0], &C0[0][0][0]},
    {AXL_ID_v4_16, LARGE, LARGE | LARGE << 10 | LARGE << 20, &A1[0][0][0], &B1[0][0], &C1[0][0][0]},
};

#if AXL_DMA_SG
DMA_TAKER_COPY(take_small, SMALL, SMALL, SMALL, 1)
DMA_TAKER_COPY(take_large, LARGE, LARGE, LARGE, 1)

static dma_status start(const struct series *s) {
    return dma_queue_open(s->size * s->size, s->size == SMALL ? take_small : take_large);
}

static dma_status head(uint32_t opcode, uint32_t dims) {
    TRY(dma_queue_word(opcode));
    return dims ? dma_queue_word(dims) : DMA_OK;
}

static dma_status tile(const int32_t *from, uint32_t size) {
    dma_clean_rows(from, 4 * size, size, 4 * size);
    return dma_queue_rows(from, 4 * size, size, 4 * size);
}

static dma_status go_on(const struct series *s, uint32_t round) {
    const uint32_t words = s->size * s->size;
    TRY(head(LOAD_A, s->dims));
    TRY(tile(s->a + round * words, s->size));
    TRY(head(LOAD_B, s->dims));
    TRY(tile(s->b, s->size));
    TRY(head(COMPUTE, s->dims));
    TRY(dma_queue_receive(s->c + round * words, s->size, s->size));
    TRY(head(STORE, s->dims));
    return dma_queue_tell();
}

static dma_status finish(const struct series *s) {
    (void)s;
    return dma_queue_close();
}
#else
static dma_status start(const struct series *s) { return dma_tiles_expect(ROUNDS, s->size * s->size); }

static dma_status head(uint32_t opcode, uint32_t dims, uint32_t *at) {
    TRY(dma_put_word(opcode, (*at)++));
    return dims ? dma_put_word(dims, (*at)++) : DMA_OK;
}

static dma_status tile(const int32_t *from, uint32_t size, uint32_t *at) {
    TRY(dma_put_tile_i32(from, size, size, size, 1, size, size, *at));
    *at += size * size;
    return DMA_OK;
}

static dma_status take(const struct series *s, uint32_t round) {
    uint32_t at;
    TRY(dma_tiles_next(&at));
    return dma_get_tile_i32(s->c + round * s->size * s->size, s->size, s->size, s->size, 1, s->size, s->size, at, 0);
}

/* Sends a product and takes the one before it. */
static dma_status go_on(const struct series *s, uint32_t round) {
    const uint32_t begin = round % 2 * 1024;
    uint32_t at = begin;
    TRY(dma_packet_wait());
    TRY(head(LOAD_A, s->dims, &at));
    TRY(tile(s->a + round * s->size * s->size, s->size, &at));
    TRY(head(LOAD_B, s->dims, &at));
    TRY(tile(s->b, s->size, &at));
    TRY(head(COMPUTE, s->dims, &at));
    TRY(head(STORE, s->dims, &at));
    TRY(dma_packet_clean(at - begin, begin));
    TRY(dma_packet_send(at - begin, begin));
    return round ? take(s, round - 1) : DMA_OK;
}

static dma_status finish(const struct series *s) {
    TRY(take(s, ROUNDS - 1));
    return dma_packet_flush();
}
#endif

int main(void) {
    TRY(dma_select(AXL_ID_v3_8));
    TRY(dma_init(AXL_DMA_v3_8));
    TRY(dma_select(AXL_ID_v4_16));
    TRY(dma_init(AXL_DMA_v4_16));
    for (uint32_t i = 0; i < 2; i++) {
        TRY(dma_select(both[i].id));
        TRY(start(&both[i]));
    }
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < 2; i++) {
            TRY(dma_select(both[i].id));
            TRY(go_on(&both[i], round));
        }
    for (uint32_t i = 0; i < 2; i++) {
        TRY(dma_select(both[i].id));
        TRY(finish(&both[i]));
    }
    return 0;
}
