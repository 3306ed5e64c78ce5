/* Copies between matrices and the DMA windows. Independent of the platform. */
#include <string.h>

#include "dma_internal.h"

dma_status dma_put_word(uint32_t word, uint32_t offset) {
    dma_status status = dma_check_bounds(&dma_in_window, 1, offset);
    if (status == DMA_OK)
        dma_in_window.words[offset] = word;
    return status;
}

/* Words of a tile, or 0 if they are not whole or overflow 32 bits. */
static uint32_t tile_words(uint32_t rows, uint32_t cols, uint32_t per_word) {
    uint64_t words = (uint64_t)rows * (cols / per_word);
    if (cols % per_word || words > UINT32_MAX)
        return 0;
    return (uint32_t)words;
}

static dma_status check_tile(const dma_window *window, const void *matrix, uint32_t rows, uint32_t cols,
                             uint32_t tile_rows, uint32_t tile_cols, uint32_t per_word, uint32_t offset) {
    uint32_t words = tile_words(tile_rows, tile_cols, per_word);
    if (!matrix || words == 0 || rows > tile_rows || cols > tile_cols)
        return DMA_ERR_ARGUMENT;
    return dma_check_bounds(window, words, offset);
}

/* In memory, packed words of a little endian machine are the elements in order: a tile is an array of T.
 * Contiguous rows go by memcpy, which is where the time of a driver is spent. */
#define DEFINE_PUT_TILE(NAME, T)                                                                              \
    dma_status NAME(const T *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride, ptrdiff_t col_stride,   \
                    uint32_t tile_rows, uint32_t tile_cols, uint32_t offset) {                                \
        dma_status status = check_tile(&dma_in_window, src, rows, cols, tile_rows, tile_cols,                 \
                                       (uint32_t)(sizeof(uint32_t) / sizeof(T)), offset);                     \
        if (status != DMA_OK)                                                                                 \
            return status;                                                                                    \
        T *dst = (T *)(void *)(dma_in_window.words + offset);                                                 \
        for (uint32_t r = 0; r < rows; r++, dst += tile_cols) {                                               \
            const T *row = src + (ptrdiff_t)r * row_stride;                                                   \
            if (col_stride == 1)                                                                              \
                memcpy(dst, row, cols * sizeof(T));                                                           \
            else                                                                                              \
                for (uint32_t c = 0; c < cols; c++, row += col_stride)                                        \
                    dst[c] = *row;                                                                            \
            if (cols < tile_cols)                                                                             \
                memset(dst + cols, 0, (tile_cols - cols) * sizeof(T));                                        \
        }                                                                                                     \
        if (rows < tile_rows)                                                                                 \
            memset(dst, 0, (size_t)(tile_rows - rows) * tile_cols * sizeof(T));                               \
        return DMA_OK;                                                                                        \
    }

DEFINE_PUT_TILE(dma_put_tile_i8, int8_t)
DEFINE_PUT_TILE(dma_put_tile_i16, int16_t)
DEFINE_PUT_TILE(dma_put_tile_i32, int32_t)
DEFINE_PUT_TILE(dma_put_tile_u8, uint8_t)
DEFINE_PUT_TILE(dma_put_tile_f32, float)

dma_status dma_put_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t padded, uint32_t offset) {
    return dma_put_tile_i8((const int8_t *)from, rows, row_bytes, (ptrdiff_t)row_bytes, 1, rows, padded, offset);
}

/* Sums are unsigned: they wrap, as the accelerator's do. */
static void add_row(int32_t *dst, const int32_t *src, uint32_t cols, ptrdiff_t col_stride) {
    if (col_stride == 1) {
        for (uint32_t c = 0; c < cols; c++)
            dst[c] = (int32_t)((uint32_t)dst[c] + (uint32_t)src[c]);
        return;
    }
    for (uint32_t c = 0; c < cols; c++, dst += col_stride)
        *dst = (int32_t)((uint32_t)*dst + (uint32_t)src[c]);
}

static void copy_row(int32_t *dst, const int32_t *src, uint32_t cols, ptrdiff_t col_stride) {
    if (col_stride == 1) {
        memcpy(dst, src, cols * sizeof *dst);
        return;
    }
    for (uint32_t c = 0; c < cols; c++, dst += col_stride)
        *dst = src[c];
}

dma_status dma_get_tile_i32(int32_t *dst, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset,
                            int accumulate) {
    dma_status status = check_tile(&dma_out_window, dst, rows, cols, tile_rows, tile_cols, 1, offset);
    if (status != DMA_OK)
        return status;
    const int32_t *src = (const int32_t *)(const void *)(dma_out_window.words + offset);
    for (uint32_t r = 0; r < rows; r++, src += tile_cols) {
        int32_t *row = dst + (ptrdiff_t)r * row_stride;
        if (accumulate)
            add_row(row, src, cols, col_stride);
        else
            copy_row(row, src, cols, col_stride);
    }
    return DMA_OK;
}

/* Sums are rounded one by one. */
dma_status dma_get_tile_f32(float *dst, uint32_t rows, uint32_t cols, ptrdiff_t row_stride, ptrdiff_t col_stride,
                            uint32_t tile_rows, uint32_t tile_cols, uint32_t offset, int accumulate) {
    const dma_status status = check_tile(&dma_out_window, dst, rows, cols, tile_rows, tile_cols, 1, offset);
    if (status != DMA_OK)
        return status;
    const float *src = (const float *)(const void *)(dma_out_window.words + offset);
    for (uint32_t r = 0; r < rows; r++, src += tile_cols) {
        float *at = dst + (ptrdiff_t)r * row_stride;
        for (uint32_t c = 0; c < cols; c++, at += col_stride)
            *at = accumulate ? *at + src[c] : src[c];
    }
    return DMA_OK;
}
