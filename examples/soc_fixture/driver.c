/* A driver by hand for v3_16, with nothing but the runtime's header: C (64, 64) = A (64, 64) . B (64, 64), flow Cs.
 * Opcode and tile of A, opcode and tile of B, and the compute opcode share one transfer. */
#include "axiloom.h"

enum { SIZE = 64, TILE = 16, WORDS = TILE * TILE };
enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE = 8 };

int32_t A[SIZE][SIZE], B[SIZE][SIZE], C[SIZE][SIZE];

static dma_status multiply(int m, int n, int k) {
    dma_status status = dma_put_word(LOAD_A, 0);
    if (!status) status = dma_put_tile_i32(&A[m][k], TILE, TILE, SIZE, 1, TILE, TILE, 1);
    if (!status) status = dma_put_word(LOAD_B, 1 + WORDS);
    if (!status) status = dma_put_tile_i32(&B[k][n], TILE, TILE, SIZE, 1, TILE, TILE, 2 + WORDS);
    if (!status) status = dma_put_word(COMPUTE, 2 + 2 * WORDS);
    if (!status) status = dma_start_send(3 + 2 * WORDS, 0);
    return status ? status : dma_wait_send();
}

static dma_status store(int m, int n) {
    dma_status status = dma_start_recv(WORDS, 0);
    if (!status) status = dma_put_word(STORE, 0);
    if (!status) status = dma_start_send(1, 0);
    if (!status) status = dma_wait_send();
    if (!status) status = dma_wait_recv();
    return status ? status : dma_get_tile_i32(&C[m][n], TILE, TILE, SIZE, 1, TILE, TILE, 0, 0);
}

int main(void) {
    dma_status status = dma_init(0x40400000, 0x16000000, 65536, 0x16400000, 65536);
    for (int m = 0; m < SIZE; m += TILE)
        for (int n = 0; n < SIZE; n += TILE) {
            for (int k = 0; k < SIZE; k += TILE)
                if (!status) status = multiply(m, n, k);
            if (!status) status = store(m, n);
        }
    return status;
}
