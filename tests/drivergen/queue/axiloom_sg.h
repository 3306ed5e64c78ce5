/* Stands in front of the real header for drivers that run on this machine: host_queue.c has the functions that append
 * to the DMA's rings there. */
#define dma_queue_word ring_word
#define dma_queue_rows ring_rows
#define dma_queue_matrix_i8 ring_matrix_i8
#define dma_queue_matrix_i16 ring_matrix_i16
#define dma_queue_matrix_i32 ring_matrix_i32
#define dma_queue_matrix_u8 ring_matrix_u8
#define dma_queue_matrix_f32 ring_matrix_f32
#include_next "axiloom_sg.h"
#undef dma_queue_word
#undef dma_queue_rows
#undef dma_queue_matrix_i8
#undef dma_queue_matrix_i16
#undef dma_queue_matrix_i32
#undef dma_queue_matrix_u8
#undef dma_queue_matrix_f32

dma_status dma_queue_word(uint32_t word);
dma_status dma_queue_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride);
dma_status dma_queue_matrix_i8(const int8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                               uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_matrix_i16(const int16_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                                uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_matrix_i32(const int32_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                                uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_matrix_u8(const uint8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                               uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_matrix_f32(const float *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                                uint32_t tile_rows, uint32_t tile_cols);
