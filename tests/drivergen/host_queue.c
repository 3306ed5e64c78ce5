/* Queues of a scatter-gather DMA, with Python in place of the device. Everything is read as late as the driver allows:
 * what is packed or written too early goes wrong. Rows must be whole beats, as the real DMA has them. */
#include <stdlib.h>
#include <string.h>

#include "axiloom_sg.h"
#include "axiloom_table.h"
#include "dma_internal.h"

void host_send(const uint32_t *words, uint32_t count, int armed);
uint32_t host_recv(uint32_t *words, uint32_t count);

enum { LINE = 32, MOST = 4096, TILES = 3 };

typedef struct {
    const uint8_t *from; /* NULL: a word */
    void *packed;        /* what is to be freed */
    uint32_t row_bytes, rows, stride, word;
} piece;
typedef struct {
    uint8_t *to;
    uint32_t rows, cols, stride;
} place;

static piece pieces[MOST];
static place places[TILES];
static uint32_t pending, expected, beat_bytes = 4, tile_words;
static dma_take *taker;
static int is_open;
static uint32_t part_rows, part_words, part_stride; /* words of a row */
static const uint8_t *own, *own_end;

void host_stream(uint32_t bits) { beat_bytes = bits / 8; }

/* All that is queued is read now. */
static void flush(void) {
    for (uint32_t i = 0; i < pending; i++) {
        const piece p = pieces[i];
        if (!p.from)
            host_send(&p.word, 1, expected != 0);
        for (uint32_t r = 0; p.from && r < p.rows; r++) {
            uint32_t *words = malloc(p.row_bytes);
            memcpy(words, p.from + (size_t)r * p.stride, p.row_bytes);
            host_send(words, p.row_bytes / 4, expected != 0);
            free(words);
        }
        free(p.packed);
    }
    pending = 0;
}

static dma_status append(piece p) {
    if (!is_open)
        return DMA_ERR_NOT_READY;
    if (pending == MOST)
        flush();
    pieces[pending++] = p;
    return DMA_OK;
}

static dma_status take_oldest(void) {
    const place to = places[0];
    const uint32_t words = taker ? tile_words : to.rows * to.cols / 4; /* in place they may be of several sizes */
    flush();
    uint32_t *tile = malloc(words * 4);
    if (host_recv(tile, words) != words)
        return DMA_ERR_TIMEOUT;
    for (uint32_t r = 0; taker && r < to.rows; r += part_rows) { /* in parts, where the queue may do so */
        const uint32_t rows = to.rows - r < part_rows ? to.rows - r : part_rows;
        taker(to.to + (size_t)r * part_stride, (const int32_t *)tile + (size_t)r * part_words, rows, to.cols);
    }
    if (!taker)
        for (uint32_t r = 0; r < to.rows; r++)
            memcpy(to.to + (size_t)r * to.stride, (uint8_t *)tile + (size_t)r * to.cols, to.cols);
    free(tile);
    memmove(places, places + 1, sizeof places - sizeof *places);
    expected--;
    return DMA_OK;
}

static dma_status expect(place to) {
    if (!is_open)
        return DMA_ERR_NOT_READY;
    if (expected == TILES) {
        const dma_status status = take_oldest();
        if (status != DMA_OK)
            return status;
    }
    places[expected++] = to;
    return DMA_OK;
}

dma_status dma_queue_open(uint32_t words, dma_take *take) {
    if (is_open)
        return DMA_ERR_BUSY;
    is_open = 1;
    tile_words = words;
    taker = take;
    part_rows = UINT32_MAX;
    part_words = part_stride = 0;
    own = own_end = NULL;
    return DMA_OK;
}

/* As with a coherent port: in halves, where the rows of a place are in one piece. */
dma_status dma_queue_open_ahead(dma_take *take, uint32_t row_bytes, uint32_t rows, uint32_t stride,
                                uint32_t most) {
    const dma_status status = dma_queue_open(rows * row_bytes / 4, take);
    if (status == DMA_OK && most > 1 && stride && rows % 2 == 0) {
        part_rows = rows / 2;
        part_words = row_bytes / 4;
        part_stride = stride;
    }
    return status;
}

dma_status dma_queue_own(void *to, uint32_t bytes) {
    if (!is_open || taker || expected || own)
        return DMA_ERR_NOT_READY;
    own = to;
    own_end = own + bytes;
    memset(to, 0x55, bytes);
    return DMA_OK;
}

dma_status dma_queue_clean_all(uint32_t bytes) {
    (void)bytes;
    return is_open ? DMA_OK : DMA_ERR_NOT_READY;
}

dma_status dma_queue_close(void) {
    while (expected) {
        const dma_status status = take_oldest();
        if (status != DMA_OK)
            return status;
    }
    flush();
    is_open = 0;
    return DMA_OK;
}

void dma_clean_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    (void)from, (void)row_bytes, (void)rows, (void)stride;
}

dma_status dma_queue_word(uint32_t word) { return append((piece){.word = word}); }

dma_status dma_queue_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    if (((uintptr_t)from | row_bytes | (rows > 1 ? stride : 0)) % beat_bytes)
        return DMA_ERR_ALIGNMENT;
    if (rows > DMA_MAX_ROWS || (rows > 1 && stride > DMA_MAX_STRIDE))
        return DMA_ERR_BOUNDS;
    return append((piece){.from = from, .row_bytes = row_bytes, .rows = rows, .stride = stride});
}

dma_status dma_queue_receive(void *to, uint32_t rows, uint32_t cols) {
    return taker ? expect((place){to, rows, cols, 0}) : DMA_ERR_NOT_READY;
}

dma_status dma_queue_receive_rows(void *to, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    const uint8_t *end = (uint8_t *)to + (size_t)(rows - 1) * stride + row_bytes;
    if (taker || row_bytes * rows > tile_words * 4)
        return DMA_ERR_NOT_READY;
    if (((uintptr_t)to | row_bytes | (rows > 1 ? stride : 0)) % (own ? beat_bytes : LINE))
        return DMA_ERR_ALIGNMENT;
    if (rows > DMA_MAX_ROWS || (rows > 1 && stride > DMA_MAX_STRIDE))
        return DMA_ERR_BOUNDS;
    if (own && ((uint8_t *)to < own || end > own_end))
        return DMA_ERR_BOUNDS;
    return expect((place){to, rows, row_bytes, stride});
}

#define DEFINE(KIND, T)                                                                                               \
    dma_status dma_queue_tile_##KIND(const T *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,                \
                                     ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols) {                  \
        T *packed = calloc((size_t)tile_rows * tile_cols, sizeof *packed);                                            \
        const uint32_t bytes = tile_rows * tile_cols * (uint32_t)sizeof(T);                                           \
        for (uint32_t r = 0; r < rows; r++)                                                                           \
            for (uint32_t c = 0; c < cols; c++)                                                                       \
                packed[r * tile_cols + c] = src[(ptrdiff_t)r * row_stride + (ptrdiff_t)c * col_stride];               \
        return append((piece){.from = (uint8_t *)packed, .packed = packed, .row_bytes = bytes, .rows = 1});           \
    }                                                                                                                 \
    dma_status dma_queue_matrix_##KIND(const T *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,              \
                                       uint32_t tile_rows, uint32_t tile_cols) {                                      \
        const uint32_t size = sizeof(T);                                                                              \
        if (rows == tile_rows && cols == tile_cols)                                                                   \
            return dma_queue_rows(src, cols * size, rows, (uint32_t)row_stride * size);                               \
        return dma_queue_tile_##KIND(src, rows, cols, row_stride, 1, tile_rows, tile_cols);                           \
    }
DEFINE(i8, int8_t)
DEFINE(u8, uint8_t)
DEFINE(i16, int16_t)
DEFINE(i32, int32_t)
DEFINE(f32, float)

/* --- tables: all is sent, then all that came back is taken, tiles in halves --------------------------------- */

dma_status dma_table_init(dma_table *table, uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                          uint32_t out_bytes) {
    (void)table;
    return dma_init(dma_addr, in_addr, in_bytes, out_addr, out_bytes);
}

static uint8_t *row_of(const dma_table *t, const dma_piece *p, const void *const *arguments, uint32_t row) {
    const void *from = p->argument < t->arguments ? arguments[p->argument] : t->words;
    return (uint8_t *)(uintptr_t)from + p->offset + (size_t)row * (p->rows & DMA_MAX_STRIDE);
}

static uint32_t rows_of(const dma_piece *p) { return p->rows ? p->rows >> 19 : 1; }

static dma_status take_tile(const dma_table *t, const dma_piece *p, const void *const *arguments) {
    const uint32_t words = t->rows * t->row_bytes / 4, half = t->most > 1 && t->rows % 2 == 0 ? t->rows / 2 : t->rows;
    uint8_t *to = (uint8_t *)(uintptr_t)arguments[p->argument] + p->offset;
    int32_t *tile = malloc(words * 4);
    if (host_recv((uint32_t *)tile, words) != words)
        return DMA_ERR_TIMEOUT;
    for (uint32_t row = 0; row < p->rows; row += half)
        t->take(to + (size_t)row * t->stride, tile + row * t->row_bytes / 4, p->rows - row < half ? p->rows - row : half, p->size);
    free(tile);
    return DMA_OK;
}

dma_status dma_table_run(dma_table *t, const void *const *arguments) {
    for (const dma_piece *p = t->sent; p < t->sent + t->sent_count; p++)
        for (uint32_t row = 0; row < rows_of(p); row++) {
            const uint8_t *from = row_of(t, p, arguments, row);
            if (((uintptr_t)from | p->size) % beat_bytes)
                return DMA_ERR_ALIGNMENT;
            host_send((const uint32_t *)(const void *)from, p->size / 4, 1);
        }
    for (const dma_piece *p = t->received; p < t->received + t->received_count; p++) {
        if (t->take && take_tile(t, p, arguments) != DMA_OK)
            return DMA_ERR_TIMEOUT;
        for (uint32_t row = 0; !t->take && row < rows_of(p); row++)
            if (host_recv((uint32_t *)(void *)row_of(t, p, arguments, row), p->size / 4) != p->size / 4)
                return DMA_ERR_TIMEOUT;
    }
    return DMA_OK;
}
