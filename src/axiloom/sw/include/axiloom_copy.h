/* Copies between matrices and the DMA windows that are compiled into a driver, where rows, columns and strides are
 * constants: a full tile of contiguous rows becomes straight NEON loads and stores. The arguments are those of
 * dma_put_tile_* and dma_get_tile_i32 in axiloom.h; nothing is checked here, the compiler has laid out the window. */
#ifndef AXILOOM_COPY_H
#define AXILOOM_COPY_H

#include <string.h>

#include "axiloom.h"
#ifdef __ARM_NEON
#include <arm_neon.h>
#endif

#define AXL_INLINE static inline __attribute__((always_inline, unused))
#define AXL_APART static __attribute__((noinline, unused))

/* Rows of bytes, which begin so many bytes apart on either side. */
AXL_APART void axl_copy_rows(void *to, uint32_t to_stride, const void *from, uint32_t from_stride, uint32_t row_bytes,
                             uint32_t rows) {
    for (uint32_t row = 0; row < rows; row++)
        memcpy((uint8_t *)to + row * to_stride, (const uint8_t *)from + row * from_stride, row_bytes);
}

/* A place of the caller's for rows of a packet, each filled up to `padded` bytes there; and what takes such a packet. */
typedef struct {
    void *to;
    uint32_t row_bytes, rows, padded;
} dma_rows;
AXL_APART void axl_take_rows(void *places, const int32_t *packet, uint32_t count, uint32_t unused) {
    const uint8_t *from = (const uint8_t *)packet;
    (void)unused;
    for (const dma_rows *place = (const dma_rows *)places; count--; place++) {
        axl_copy_rows(place->to, place->row_bytes, from, place->padded, place->row_bytes, place->rows);
        from += place->rows * place->padded;
    }
}

/* The windows for packing and unpacking; the compiler cannot move accesses over the calls that start a transfer. */
AXL_INLINE int32_t *axl_in_window(void) { return (int32_t *)(uintptr_t)dma_in_buffer(); }
AXL_INLINE const int32_t *axl_out_window(void) { return (const int32_t *)(uintptr_t)dma_out_buffer(); }

/* A whole number of words; the windows are aligned to words, matrices to their elements. */
AXL_INLINE void axl_copy_row(void *to, const void *from, uint32_t bytes) {
#ifdef __ARM_NEON
    uint8_t *d = (uint8_t *)to;
    const uint8_t *s = (const uint8_t *)from;
    for (; bytes >= 32; bytes -= 32, d += 32, s += 32)
        vst1q_u8_x2(d, vld1q_u8_x2(s));
    if (bytes >= 16) {
        vst1q_u8(d, vld1q_u8(s));
        bytes -= 16, d += 16, s += 16;
    }
    for (; bytes >= 4; bytes -= 4, d += 4, s += 4)
        memcpy(d, s, 4);
#else
    memcpy(to, from, bytes);
#endif
}

/* Sums wrap, as the accelerator's do. */
AXL_INLINE void axl_add_row(int32_t *to, const int32_t *from, uint32_t cols) {
    uint32_t c = 0;
#ifdef __ARM_NEON
    for (; c + 8 <= cols; c += 8) {
        const int32x4x2_t sum = vld1q_s32_x2(to + c), more = vld1q_s32_x2(from + c);
        const int32x4x2_t both = {{vaddq_s32(sum.val[0], more.val[0]), vaddq_s32(sum.val[1], more.val[1])}};
        vst1q_s32_x2(to + c, both);
    }
    for (; c + 4 <= cols; c += 4)
        vst1q_s32(to + c, vaddq_s32(vld1q_s32(to + c), vld1q_s32(from + c)));
#endif
    for (; c < cols; c++)
        to[c] = (int32_t)((uint32_t)to[c] + (uint32_t)from[c]);
}

/* The rows that are read next come into the caches meanwhile: a Cortex-A9 takes four lines at a time (its TRM, 7.1). */
enum { AXL_LINE = 32, AXL_LINES_AHEAD = 4 };
AXL_INLINE void axl_prefetch_row(const void *row, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += AXL_LINE)
        __builtin_prefetch((const char *)row + at);
}

/* Rows of `bytes` bytes to be ahead by. */
AXL_INLINE uint32_t axl_rows_ahead(uint32_t bytes) {
    return bytes >= AXL_LINES_AHEAD * AXL_LINE ? 1 : AXL_LINES_AHEAD * AXL_LINE / bytes;
}

/* `n` bytes and none beside them. The last chunk may begin inside the one before it, so that no rest goes one by one:
 * rows at an edge are of any length, at any address. */
AXL_INLINE void axl_copy_bytes(uint8_t *to, const uint8_t *from, uint32_t n) {
    uint32_t at = 0;
#ifdef __ARM_NEON
    if (n >= 16) {
        for (; at + 32 <= n; at += 32)
            vst1q_u8_x2(to + at, vld1q_u8_x2(from + at));
        if (at + 16 <= n) {
            vst1q_u8(to + at, vld1q_u8(from + at));
            at += 16;
        }
        if (at < n)
            vst1q_u8(to + n - 16, vld1q_u8(from + n - 16));
        return;
    }
    if (n >= 8) {
        const uint8x8_t first = vld1_u8(from), last = vld1_u8(from + n - 8);
        vst1_u8(to, first);
        vst1_u8(to + n - 8, last);
        return;
    }
#endif
    for (; at < n; at++)
        to[at] = from[at];
}

/* Whole words from an address that is aligned to them: what tiles in a window are made of. */
AXL_INLINE void axl_zero_words(void *to, uint32_t bytes) {
    uint8_t *d = (uint8_t *)to;
#ifdef __ARM_NEON
    for (; bytes >= 16; bytes -= 16, d += 16)
        vst1q_u8(d, vdupq_n_u8(0));
#endif
    for (uint32_t *word = (uint32_t *)(void *)d; bytes >= 4; bytes -= 4)
        *word++ = 0;
}

/* Tiles at the edges, and transposed ones. For all sizes in one function: a copy of it that the compiler makes for the
 * sizes of one call is more code, and each line of it is read from memory before it runs. Rows are zeroed before what
 * they hold comes over it. */
#define AXL_DEFINE_PUT(T, KIND)                                                                                  \
    AXL_APART void axl_put_edge_##KIND(T *to, const T *from, uint32_t rows, uint32_t cols,                      \
                                        ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t tile_rows,          \
                                        uint32_t tile_cols) {                                                    \
        const uint32_t row = tile_cols * (uint32_t)sizeof(T), used = cols * (uint32_t)sizeof(T);                 \
        for (uint32_t r = 0; r < rows; r++, to += tile_cols, from += row_stride) {                               \
            if (cols != tile_cols)                                                                               \
                axl_zero_words(to, row);                                                                         \
            if (col_stride == 1)                                                                                 \
                axl_copy_bytes((uint8_t *)to, (const uint8_t *)from, used);                                      \
            else                                                                                                 \
                for (uint32_t c = 0; c < cols; c++)                                                              \
                    to[c] = from[(ptrdiff_t)c * col_stride];                                                     \
        }                                                                                                        \
        axl_zero_words(to, (tile_rows - rows) * row);                                                            \
    }                                                                                                            \
    AXL_INLINE void axl_put_tile_##KIND(int32_t *window, const T *from, uint32_t rows, uint32_t cols,           \
                                         ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t tile_rows,         \
                                         uint32_t tile_cols) {                                                   \
        T *to = (T *)(void *)window;                                                                             \
        if (rows != tile_rows || cols != tile_cols || col_stride != 1) {                                         \
            axl_put_edge_##KIND(to, from, rows, cols, row_stride, col_stride, tile_rows, tile_cols);            \
            return;                                                                                              \
        }                                                                                                        \
        for (uint32_t r = 0; r < tile_rows; r++, from += row_stride, to += tile_cols)                            \
            axl_copy_row(to, from, tile_cols * (uint32_t)sizeof(T));                                             \
    }

AXL_DEFINE_PUT(int8_t, i8)
AXL_DEFINE_PUT(uint8_t, u8)
AXL_DEFINE_PUT(int16_t, i16)
AXL_DEFINE_PUT(int32_t, i32)
AXL_DEFINE_PUT(float, f32)

/* Whole rows of a tile. With a coherent port a queue takes tiles in parts, so that their number is no constant. */
#define AXL_WHOLE(rows, cols, tile_rows, tile_cols) ((AXL_DMA_COHERENT || (rows) == (tile_rows)) && (cols) == (tile_cols))
#define AXL_ROWS(rows, tile_rows) (AXL_DMA_COHERENT ? (rows) : (tile_rows))

/* Two lines of words: VLDM and VSTM take twice as many registers as VLD1 and VST1 do. */
AXL_INLINE void axl_add_two_lines(int32_t *to, const int32_t *from) {
#if defined(__ARM_NEON) && defined(__arm__)
    __asm__ volatile("vldmia %1, {d16-d23}\n\t"
                     "vldmia %0, {d24-d31}\n\t"
                     "vadd.i32 q8, q8, q12\n\t"
                     "vadd.i32 q9, q9, q13\n\t"
                     "vadd.i32 q10, q10, q14\n\t"
                     "vadd.i32 q11, q11, q15\n\t"
                     "vstmia %0, {d16-d23}"
                     :
                     : "r"(to), "r"(from)
                     : "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "memory");
#else
    axl_add_row(to, from, 2 * AXL_LINE / sizeof(int32_t));
#endif
}

/* Rows of whole lines behind a coherent port, where lines behind a tile may be prefetched, as none is ever stale. The queue has
 * asked for the first four of the tile. First comes what is in L2, as what is not holds up the others. */
AXL_INLINE void axl_add_lines(int32_t *to, const int32_t *from, ptrdiff_t row_stride, uint32_t rows, uint32_t cols) {
    const uint32_t words = AXL_LINE / sizeof(int32_t), bytes = cols * (uint32_t)sizeof(int32_t);
    const ptrdiff_t ahead = (ptrdiff_t)axl_rows_ahead(bytes);
    for (; rows; rows--, to += row_stride, from += cols) {
        axl_prefetch_row(from + AXL_LINES_AHEAD * words, bytes);
        axl_prefetch_row(to + ahead * row_stride, bytes);
        uint32_t c = 0;
        for (; c + 2 * words <= cols; c += 2 * words)
            axl_add_two_lines(to + c, from + c);
        if (c < cols)
            axl_add_row(to + c, from + c, words);
    }
}

/* `place`: prefetch the place of the tile too, which pays where L1 does not have it any more. */
AXL_INLINE void axl_add_rows(int32_t *to, const int32_t *from, ptrdiff_t row_stride, uint32_t rows, uint32_t cols,
                             uint32_t tile_cols, int place) {
    if (AXL_DMA_COHERENT && place && cols == tile_cols && cols % (AXL_LINE / sizeof(int32_t)) == 0) {
        axl_add_lines(to, from, row_stride, rows, cols);
        return;
    }
    const uint32_t bytes = cols * (uint32_t)sizeof(int32_t), ahead = axl_rows_ahead(bytes);
    for (uint32_t r = 0; r < ahead && r < rows; r++) {
        axl_prefetch_row(from + r * tile_cols, bytes);
        if (place)
            axl_prefetch_row(to + (ptrdiff_t)r * row_stride, bytes);
    }
    for (uint32_t r = 0; r < rows; r++, to += row_stride, from += tile_cols) {
        if (r + ahead < rows) {
            axl_prefetch_row(from + ahead * tile_cols, bytes);
            if (place)
                axl_prefetch_row(to + (ptrdiff_t)ahead * row_stride, bytes);
        }
        axl_add_row(to, from, cols);
    }
}

AXL_APART void axl_get_edge(int32_t *to, const int32_t *from, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_cols, int accumulate) {
    if (col_stride == 1 && accumulate) { /* as axl_add_rows, in less code */
        const uint32_t bytes = cols * (uint32_t)sizeof(int32_t), ahead = axl_rows_ahead(bytes);
        for (uint32_t r = 0; r < rows + ahead; r++) {
            if (r < rows)
                axl_prefetch_row(from + r * tile_cols, bytes);
            if (r >= ahead)
                axl_add_row(to + (ptrdiff_t)(r - ahead) * row_stride, from + (r - ahead) * tile_cols, cols);
        }
        return;
    }
    for (uint32_t r = 0; r < rows; r++, to += row_stride, from += tile_cols)
        for (uint32_t c = 0; c < cols; c++) {
            int32_t *at = to + (ptrdiff_t)c * col_stride;
            *at = (int32_t)((accumulate ? (uint32_t)*at : 0) + (uint32_t)from[c]);
        }
}

#define AXL_DEFINE_ADD_TILE(NAME, PLACE)                                                                     \
    AXL_INLINE void NAME(int32_t *to, const int32_t *from, uint32_t rows, uint32_t cols,                     \
                         ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols) { \
        if (AXL_WHOLE(rows, cols, tile_rows, tile_cols) && col_stride == 1)                                  \
            axl_add_rows(to, from, row_stride, AXL_ROWS(rows, tile_rows), tile_cols, tile_cols, PLACE);      \
        else                                                                                                 \
            axl_get_edge(to, from, rows, cols, row_stride, col_stride, tile_cols, 1);                        \
    }

AXL_DEFINE_ADD_TILE(axl_add_tile_i32, 0)
AXL_DEFINE_ADD_TILE(axl_add_tile_ahead_i32, 1)

AXL_INLINE void axl_get_tile_i32(int32_t *to, const int32_t *from, uint32_t rows, uint32_t cols,
                                 ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t tile_rows,
                                 uint32_t tile_cols) {
    if (!AXL_WHOLE(rows, cols, tile_rows, tile_cols) || col_stride != 1) {
        axl_get_edge(to, from, rows, cols, row_stride, col_stride, tile_cols, 0);
        return;
    }
    for (uint32_t r = 0; r < AXL_ROWS(rows, tile_rows); r++, to += row_stride, from += tile_cols)
        axl_copy_row(to, from, tile_cols * (uint32_t)sizeof(int32_t));
}

/* Any number of elements, aligned to their size: what NEON leaves over goes one by one. */
#ifdef __ARM_NEON
#define AXL_WIDE(LANES, LOAD, STORE)          \
    for (; c + (LANES) <= n; c += (LANES))    \
        STORE(to + c, LOAD(from + c));
#else
#define AXL_WIDE(LANES, LOAD, STORE)
#endif
#define AXL_DEFINE_COPY_LINE(T, KIND, WIDE, LANES)                                              \
    AXL_INLINE void axl_copy_line_##KIND(T *to, const T *from, uint32_t n) {                   \
        uint32_t c = 0;                                                                         \
        AXL_WIDE(2 * (LANES), vld1q_##WIDE##_x2, vst1q_##WIDE##_x2)                             \
        AXL_WIDE(LANES, vld1q_##WIDE, vst1q_##WIDE)                                             \
        for (; c < n; c++)                                                                      \
            to[c] = from[c];                                                                    \
    }

AXL_DEFINE_COPY_LINE(int8_t, i8, s8, 16)
AXL_DEFINE_COPY_LINE(uint8_t, u8, u8, 16)
AXL_DEFINE_COPY_LINE(int16_t, i16, s16, 8)
AXL_DEFINE_COPY_LINE(int32_t, i32, s32, 4)
AXL_DEFINE_COPY_LINE(float, f32, f32, 4)

#define AXL_DEFINE_GET_TILE(T, KIND)                                                                              \
    AXL_INLINE void axl_get_tile_##KIND(T *to, const T *from, uint32_t rows, uint32_t cols, ptrdiff_t row_stride, \
                                        ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols) {           \
        (void)tile_rows;                                                                                          \
        for (uint32_t r = 0; r < rows; r++, to += row_stride, from += tile_cols) {                                \
            if (col_stride == 1) {                                                                                \
                axl_copy_line_##KIND(to, from, cols);                                                             \
                continue;                                                                                         \
            }                                                                                                     \
            for (uint32_t c = 0; c < cols; c++)                                                                   \
                to[(ptrdiff_t)c * col_stride] = from[c];                                                          \
        }                                                                                                         \
    }

AXL_DEFINE_GET_TILE(int8_t, i8)
AXL_DEFINE_GET_TILE(uint8_t, u8)
AXL_DEFINE_GET_TILE(int16_t, i16)

/* Blocks as dma_put_block_* and dma_get_block_* have them. */
#define AXL_DEFINE_PUT_BLOCK(T, KIND)                                                                             \
    AXL_INLINE void axl_put_block_##KIND(int32_t *window, const T *from, uint32_t rows, uint32_t planes,         \
                                          uint32_t height, uint32_t width, ptrdiff_t row_stride,                  \
                                          ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,        \
                                          uint32_t row_words) {                                                   \
        const uint32_t elements = planes * height * width, room = row_words * 4 / (uint32_t)sizeof(T);            \
        for (uint32_t r = 0; r < rows; r++, from += row_stride, window += row_words) {                            \
            T *to = (T *)(void *)window;                                                                          \
            for (uint32_t p = 0; p < planes; p++)                                                                 \
                for (uint32_t h = 0; h < height; h++, to += width) {                                              \
                    const T *line = from + (ptrdiff_t)p * plane_stride + (ptrdiff_t)h * line_stride;              \
                    if (stride == 1)                                                                              \
                        axl_copy_line_##KIND(to, line, width);                                                    \
                    else                                                                                          \
                        for (uint32_t w = 0; w < width; w++)                                                      \
                            to[w] = line[(ptrdiff_t)w * stride];                                                  \
                }                                                                                                 \
            for (uint32_t e = elements; e < room; e++)                                                            \
                *to++ = 0;                                                                                        \
        }                                                                                                         \
    }

AXL_DEFINE_PUT_BLOCK(int8_t, i8)
AXL_DEFINE_PUT_BLOCK(uint8_t, u8)
AXL_DEFINE_PUT_BLOCK(int16_t, i16)
AXL_DEFINE_PUT_BLOCK(int32_t, i32)
AXL_DEFINE_PUT_BLOCK(float, f32)

#define AXL_DEFINE_GET_BLOCK(NAME, T, LINE, ONE)                                                                  \
    AXL_INLINE void NAME(T *to, const int32_t *window, uint32_t planes, uint32_t height, uint32_t width,          \
                         ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch) {       \
        const T *from = (const T *)(const void *)window;                                                          \
        for (uint32_t p = 0; p < planes; p++)                                                                     \
            for (uint32_t h = 0; h < height; h++, from += pitch) {                                                \
                T *line = to + (ptrdiff_t)p * plane_stride + (ptrdiff_t)h * line_stride;                          \
                if (stride == 1)                                                                                  \
                    LINE;                                                                                         \
                else                                                                                              \
                    for (uint32_t w = 0; w < width; w++, line += stride)                                          \
                        *line = ONE;                                                                              \
            }                                                                                                     \
    }

AXL_DEFINE_GET_BLOCK(axl_get_block_i8, int8_t, axl_copy_line_i8(line, from, width), from[w])
AXL_DEFINE_GET_BLOCK(axl_get_block_u8, uint8_t, axl_copy_line_u8(line, from, width), from[w])
AXL_DEFINE_GET_BLOCK(axl_get_block_i16, int16_t, axl_copy_line_i16(line, from, width), from[w])
AXL_DEFINE_GET_BLOCK(axl_get_block_i32, int32_t, axl_copy_line_i32(line, from, width), from[w])
AXL_DEFINE_GET_BLOCK(axl_add_block_i32, int32_t, axl_add_row(line, from, width),
                     (int32_t)((uint32_t)*line + (uint32_t)from[w]))

/* Sums of floats are rounded one by one, and not by NEON: on a Cortex-A9 that makes zeros of small numbers. */
AXL_INLINE void axl_add_line_f32(float *to, const float *from, uint32_t n) {
    for (uint32_t c = 0; c < n; c++)
        to[c] += from[c];
}

AXL_DEFINE_GET_BLOCK(axl_get_block_f32, float, axl_copy_line_f32(line, from, width), from[w])
AXL_DEFINE_GET_BLOCK(axl_add_block_f32, float, axl_add_line_f32(line, from, width), *line + from[w])

/* A tile is a block of one plane. */
AXL_INLINE void axl_get_tile_f32(float *to, const int32_t *from, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                                 ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols) {
    (void)tile_rows;
    axl_get_block_f32(to, from, 1, rows, cols, 0, row_stride, col_stride, tile_cols);
}
AXL_INLINE void axl_add_tile_f32(float *to, const int32_t *from, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                                 ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols) {
    (void)tile_rows;
    axl_add_block_f32(to, from, 1, rows, cols, 0, row_stride, col_stride, tile_cols);
}

#endif
