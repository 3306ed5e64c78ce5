/* Drivers as written by hand for the published measurements: everything of a step in one transfer, element by
 * element, wait, receive, accumulate. Loop orders are those of the measured ones. */
#include "kernel.h"

static int put(uint32_t *buffer, int length, uint32_t opcode) {
    if (VERSION > 1)
        buffer[length++] = opcode;
    return length;
}

#define PUT_A                                                                                                 \
    do {                                                                                                      \
        data_len = put(in, data_len, LOAD_A);                                                                 \
        for (int tm = 0; tm < TILE; tm++)                                                                     \
            for (int tk = 0; tk < TILE; tk++)                                                                 \
                in[data_len + tile_k * tm + tk] = (uint32_t)A[(m + tm) * K + (k + tk)];                       \
        data_len += TILE * TILE;                                                                              \
    } while (0)

#define PUT_B                                                                                                 \
    do {                                                                                                      \
        data_len = put(in, data_len, LOAD_B);                                                                 \
        for (int tk = 0; tk < TILE; tk++)                                                                     \
            for (int tn = 0; tn < TILE; tn++)                                                                 \
                in[data_len + tile_n * tk + tn] = (uint32_t)B[(k + tk) * N + (n + tn)];                       \
        data_len += TILE * TILE;                                                                              \
    } while (0)

#define SEND                                                                                                  \
    do {                                                                                                      \
        linux_dma_start_send((uint32_t)data_len, 0);                                                          \
        linux_dma_wait_send();                                                                                \
        data_len = 0;                                                                                         \
    } while (0)

#define ASK                                                                                                   \
    do {                                                                                                      \
        if (VERSION == 3)                                                                                     \
            data_len = put(in, data_len, STORE_C);                                                            \
    } while (0)

#define GET_C                                                                                                 \
    do {                                                                                                      \
        linux_dma_start_recv(TILE * TILE, 0);                                                                 \
        linux_dma_wait_recv();                                                                                \
        uint32_t *out = linux_dma_out();                                                                      \
        for (int tm = 0; tm < TILE; tm++)                                                                     \
            for (int tn = 0; tn < TILE; tn++)                                                                 \
                C[(m + tm) * N + (n + tn)] += (int32_t)out[tile_n * tm + tn];                                 \
    } while (0)

void kernel(int32_t *A, int32_t *B, int32_t *C) {
    int tile_m = TILE, tile_n = TILE, tile_k = TILE, data_len = 0;
    linux_dma_init(0x40400000, 0x16000000, 16384, 0x16400000, 16384);
    uint32_t *in = linux_dma_in();
#if FLOW == NS
    for (int k = 0; k < K; k += tile_k)
        for (int n = 0; n < N; n += tile_n)
            for (int m = 0; m < M; m += tile_m) {
                PUT_A;
                PUT_B;
                data_len = put(in, data_len, COMPUTE);
                ASK;
                SEND;
                GET_C;
            }
#elif FLOW == AS
    for (int k = 0; k < K; k += tile_k)
        for (int m = 0; m < M; m += tile_m) {
            PUT_A;
            SEND;
            for (int n = 0; n < N; n += tile_n) {
                PUT_B;
                data_len = put(in, data_len, COMPUTE);
                ASK;
                SEND;
                GET_C;
            }
        }
#elif FLOW == BS
    for (int k = 0; k < K; k += tile_k)
        for (int n = 0; n < N; n += tile_n) {
            PUT_B;
            SEND;
            for (int m = 0; m < M; m += tile_m) {
                PUT_A;
                data_len = put(in, data_len, COMPUTE);
                ASK;
                SEND;
                GET_C;
            }
        }
#else
    for (int m = 0; m < M; m += tile_m)
        for (int n = 0; n < N; n += tile_n) {
            for (int k = 0; k < K; k += tile_k) {
                PUT_A;
                PUT_B;
                data_len = put(in, data_len, COMPUTE);
                SEND;
            }
            ASK;
            SEND;
            GET_C;
        }
#endif
}
