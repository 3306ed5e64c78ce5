/* One copy, with all its arguments from outside. */
#include "axiloom.h"

uint32_t element, rows, cols, tile_rows, tile_cols, offset, accumulate;
int32_t row_stride, col_stride;
int32_t origin;           /* element of `matrix` that is (0, 0) */
int32_t matrix[4096];     /* of elements of any type */
int32_t status;

int main(void) {
    if (dma_init(0x40400000, 0x16000000, 8192, 0x16400000, 8192) != DMA_OK)
        return 1;
    switch (element) {
    case 1:
        status = dma_put_tile_i8((const int8_t *)matrix + origin, rows, cols, row_stride, col_stride, tile_rows,
                                 tile_cols, offset);
        return 0;
    case 2:
        status = dma_put_tile_i16((const int16_t *)matrix + origin, rows, cols, row_stride, col_stride, tile_rows,
                                  tile_cols, offset);
        return 0;
    case 4:
        status = dma_put_tile_i32(matrix + origin, rows, cols, row_stride, col_stride, tile_rows, tile_cols, offset);
        return 0;
    default:
        status = dma_get_tile_i32(matrix + origin, rows, cols, row_stride, col_stride, tile_rows, tile_cols, offset,
                                  (int)accumulate);
        return 0;
    }
}
