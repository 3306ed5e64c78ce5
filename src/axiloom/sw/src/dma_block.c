/* Copies of dense blocks between tensors and the DMA windows. Independent of the platform. */
#include <string.h>

#include "dma_internal.h"

/* Words of n elements, or 0 if they overflow 32 bits. */
static uint32_t words_of(uint64_t n, uint32_t bytes) {
    const uint64_t words = (n * bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    return words > UINT32_MAX ? 0 : (uint32_t)words;
}

static dma_status check_put(const void *src, uint32_t rows, uint64_t elements, uint32_t bytes, uint32_t row_words,
                            uint32_t offset) {
    const uint32_t words = words_of(elements, bytes);
    const uint64_t all = (uint64_t)rows * row_words;
    if (!src || words == 0 || words > row_words || all == 0 || all > UINT32_MAX)
        return DMA_ERR_ARGUMENT;
    return dma_check_bounds(&dma_in_window, (uint32_t)all, offset);
}

/* In memory, packed words of a little endian machine are the elements in order. */
#define DEFINE_PUT_BLOCK(NAME, T)                                                                                  \
    dma_status NAME(const T *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,                 \
                    ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,         \
                    uint32_t row_words, uint32_t offset) {                                                         \
        const uint64_t elements = (uint64_t)planes * height * width;                                               \
        const dma_status status = check_put(src, rows, elements, sizeof(T), row_words, offset);                    \
        if (status != DMA_OK)                                                                                      \
            return status;                                                                                         \
        for (uint32_t r = 0; r < rows; r++) {                                                                      \
            T *dst = (T *)(void *)(dma_in_window.words + offset + r * row_words);                                  \
            T *const end = dst + row_words * (sizeof(uint32_t) / sizeof(T));                                       \
            for (uint32_t p = 0; p < planes; p++)                                                                  \
                for (uint32_t h = 0; h < height; h++, dst += width) {                                              \
                    const T *line = src + (ptrdiff_t)r * row_stride + (ptrdiff_t)p * plane_stride +                \
                                    (ptrdiff_t)h * line_stride;                                                    \
                    if (stride == 1)                                                                               \
                        memcpy(dst, line, width * sizeof(T));                                                      \
                    else                                                                                           \
                        for (uint32_t w = 0; w < width; w++)                                                       \
                            dst[w] = line[(ptrdiff_t)w * stride];                                                  \
                }                                                                                                  \
            memset(dst, 0, (size_t)((char *)end - (char *)dst));                                                   \
        }                                                                                                          \
        return DMA_OK;                                                                                             \
    }

DEFINE_PUT_BLOCK(dma_put_block_i8, int8_t)
DEFINE_PUT_BLOCK(dma_put_block_i16, int16_t)
DEFINE_PUT_BLOCK(dma_put_block_i32, int32_t)
DEFINE_PUT_BLOCK(dma_put_block_u8, uint8_t)
DEFINE_PUT_BLOCK(dma_put_block_f32, float)

static dma_status check_get(const void *dst, uint32_t planes, uint32_t height, uint32_t width, uint32_t pitch,
                            uint32_t bytes, uint32_t offset) {
    const uint32_t words = words_of((uint64_t)planes * height * pitch, bytes);
    if (!dst || words == 0 || width == 0 || width > pitch)
        return DMA_ERR_ARGUMENT;
    return dma_check_bounds(&dma_out_window, words, offset);
}

#define DEFINE_GET_BLOCK(NAME, T)                                                                                  \
    dma_status NAME(T *dst, uint32_t planes, uint32_t height, uint32_t width, ptrdiff_t plane_stride,              \
                    ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch, uint32_t offset) {                    \
        const dma_status status = check_get(dst, planes, height, width, pitch, sizeof *dst, offset);               \
        if (status != DMA_OK)                                                                                      \
            return status;                                                                                         \
        const T *src = (const T *)(const void *)(dma_out_window.words + offset);                                   \
        for (uint32_t p = 0; p < planes; p++)                                                                      \
            for (uint32_t h = 0; h < height; h++, src += pitch) {                                                  \
                T *line = dst + (ptrdiff_t)p * plane_stride + (ptrdiff_t)h * line_stride;                          \
                if (stride == 1)                                                                                   \
                    memcpy(line, src, width * sizeof(T));                                                          \
                else                                                                                               \
                    for (uint32_t w = 0; w < width; w++)                                                           \
                        line[(ptrdiff_t)w * stride] = src[w];                                                      \
            }                                                                                                      \
        return DMA_OK;                                                                                             \
    }

DEFINE_GET_BLOCK(dma_get_block_i8, int8_t)
DEFINE_GET_BLOCK(dma_get_block_u8, uint8_t)
DEFINE_GET_BLOCK(dma_get_block_i16, int16_t)

/* Sums are unsigned: they wrap, as the accelerator's do. */
dma_status dma_get_block_i32(int32_t *dst, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch,
                             uint32_t offset, int accumulate) {
    const dma_status status = check_get(dst, planes, height, width, pitch, sizeof *dst, offset);
    if (status != DMA_OK)
        return status;
    const int32_t *src = (const int32_t *)(const void *)(dma_out_window.words + offset);
    for (uint32_t p = 0; p < planes; p++)
        for (uint32_t h = 0; h < height; h++, src += pitch) {
            int32_t *at = dst + (ptrdiff_t)p * plane_stride + (ptrdiff_t)h * line_stride;
            for (uint32_t w = 0; w < width; w++, at += stride)
                *at = (int32_t)((accumulate ? (uint32_t)*at : 0) + (uint32_t)src[w]);
        }
    return DMA_OK;
}

/* Sums are rounded one by one. */
dma_status dma_get_block_f32(float *dst, uint32_t planes, uint32_t height, uint32_t width, ptrdiff_t plane_stride,
                             ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch, uint32_t offset,
                             int accumulate) {
    const dma_status status = check_get(dst, planes, height, width, pitch, sizeof *dst, offset);
    if (status != DMA_OK)
        return status;
    const float *src = (const float *)(const void *)(dma_out_window.words + offset);
    for (uint32_t p = 0; p < planes; p++)
        for (uint32_t h = 0; h < height; h++, src += pitch) {
            float *at = dst + (ptrdiff_t)p * plane_stride + (ptrdiff_t)h * line_stride;
            for (uint32_t w = 0; w < width; w++, at += stride)
                *at = accumulate ? *at + src[w] : src[w];
        }
    return DMA_OK;
}
