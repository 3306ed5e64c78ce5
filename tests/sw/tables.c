/* Tables of descriptors, in front of a device that sends back what it gets. Exit code: the line that is wrong. */
#include "axiloom_table.h"

#define EXPECT(call, expected)  \
    do {                        \
        if ((call) != (expected)) \
            return __LINE__;    \
    } while (0)

enum { DMA = 0x40400000, IN = 0x16000000, OUT = 0x16400000, BYTES = 65536, ROWS = 16, COLS = 8, STRIDE = 24 };

static int32_t A[3][ROWS][2 * COLS] __attribute__((aligned(64)));
static int32_t C[3][ROWS][STRIDE] __attribute__((aligned(64)));

/* The first row of the tile is words, the others lie in A, which has twice as many columns. */
static const uint32_t words[] AXL_BEATS = {1, 2, 3, 4, 5, 6, 7, 8};
static const dma_piece sent[] = {
    DMA_ROWS(2, 0, 32, 1, 32),
    DMA_ROWS(0, 64, 32, 14, 64),
    DMA_ROWS(0, 960, 32, 1, 32),
};
static const dma_piece added[] = {DMA_TILE(1, 0, ROWS, COLS)};
DMA_TAKER_ADD(add_to_C, ROWS, COLS, STRIDE, 1)
DMA_TABLE(adds, 2, words, sent, added, .take = add_to_C, .row_bytes = 32, .rows = ROWS, .stride = 4 * STRIDE, .most = 2)

static dma_status call(dma_table *table, const void *a, void *c) {
    return dma_table_run(table, (const void *const[]){a, c});
}

static dma_status init(dma_table *table) { return dma_table_init(table, DMA, IN, BYTES, OUT, BYTES); }

#if FAILS
int main(void) {
    dma_status status = init(&adds);
    if (status == DMA_OK)
        status = call(&adds, A[0], C[0]);
    return status != DMA_OK && call(&adds, A[0], C[0]) == DMA_ERR_BUSY ? (int)status : 99;
}
#else
static const dma_piece written[] = {DMA_ROWS(1, 0, 32, ROWS, 4 * STRIDE)};
DMA_TABLE(writes, 2, words, sent, written, .unit = AXL_CACHE_LINE)

/* Is each element of `c` `times` that of `a`, and nothing written beside? */
static int is(int a, int c, int32_t times) {
    for (int row = 0; row < ROWS; row++)
        for (int col = 0; col < STRIDE; col++) {
            const int32_t one = row ? A[a][row][col % (2 * COLS)] : col + 1;
            if (C[c][row][col] != (col < COLS ? times * one : 0))
                return 0;
        }
    return 1;
}

int main(void) {
    for (int a = 0; a < 3; a++)
        for (int row = 0; row < ROWS; row++)
            for (int col = 0; col < 2 * COLS; col++)
                A[a][row][col] = 1000 * a + 100 * row + col;
    EXPECT(call(&adds, A[0], C[0]), DMA_ERR_NOT_READY);
    EXPECT(dma_table_init(&adds, DMA, IN, BYTES, OUT, ROWS * COLS * 2), DMA_ERR_BOUNDS);
    EXPECT(init(&adds), DMA_OK);
    for (int same = 1; same <= 2; same++) { /* three calls with other pointers each, then the same ones again */
        for (int a = 0; a < 3; a++)
            EXPECT(call(&adds, A[a], C[a]), DMA_OK);
        for (int a = 0; a < 3; a++)
            EXPECT(is(a, a, same), 1);
    }
    EXPECT(call(&adds, A[2], C[2]), DMA_OK); /* the same pointers twice in a row, and once more */
    EXPECT(call(&adds, A[2], C[2]), DMA_OK);
    EXPECT(is(2, 2, 4), 1);

    EXPECT(call(&adds, (const char *)A[0] + 4, C[0]), AXL_STREAM_BITS == 32 ? DMA_OK : DMA_ERR_ALIGNMENT);
#if AXL_STREAM_BITS > 32
    EXPECT(is(0, 0, 2), 1);
    EXPECT(call(&adds, A[0], C[0]), DMA_OK);
    EXPECT(is(0, 0, 3), 1);
#endif
    EXPECT(init(&adds), DMA_OK);
    EXPECT(call(&adds, A[1], C[1]), DMA_OK);
    EXPECT(is(1, 1, 3), 1);

    EXPECT(call(&writes, A[2], C[1]), DMA_OK); /* the DMA changes hands */
    EXPECT(is(2, 1, 1), 1);
    EXPECT(call(&writes, A[1], (char *)C[1] + 8), DMA_ERR_ALIGNMENT);
    EXPECT(call(&writes, A[1], C[1]), DMA_OK);
    EXPECT(is(1, 1, 1), 1);
    EXPECT(call(&adds, A[1], C[1]), DMA_OK);
    EXPECT(is(1, 1, 2), 1);

    EXPECT(dma_queue_open(ROWS * COLS, add_to_C), DMA_OK);
    EXPECT(dma_queue_receive(C[1], ROWS, COLS), DMA_OK);
    EXPECT(dma_queue_rows(words, 32, 1, 32), DMA_OK);
    EXPECT(dma_queue_rows(A[1][1], 32, ROWS - 1, 64), DMA_OK);
    EXPECT(dma_queue_close(), DMA_OK);
    EXPECT(is(1, 1, 3), 1);
    EXPECT(call(&adds, A[1], C[1]), DMA_OK);
    EXPECT(is(1, 1, 4), 1);
    EXPECT(dma_start_recv(ROWS * COLS, 0), DMA_OK);
    EXPECT(dma_start_send(ROWS * COLS, 0), DMA_OK);
    EXPECT(dma_wait_send(), DMA_OK);
    EXPECT(dma_wait_recv(), DMA_OK);
    EXPECT(call(&adds, A[1], C[1]), DMA_OK);
    EXPECT(is(1, 1, 5), 1);

    EXPECT(dma_free(), DMA_OK);
    EXPECT(call(&adds, A[1], C[1]), DMA_ERR_NOT_READY);
    return 0;
}
#endif
