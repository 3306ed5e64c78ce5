// A matmul in the style of the published drivers by hand: C (8, 8) += A . B on v3_4, A stays for a row of tiles.
#include "mlir/ExecutionEngine/axi/api_v1.h"

#define M 8
#define N 8
#define K 8
#define TILE 4

int A[M * K], B[K * N], C[M * N];
#ifndef RECEIVED
#define RECEIVED (TILE * TILE)
#endif

void v3_as(int *a, int *b, int *c) {
    LOG("ACC: MM_4x4v3" << ", stationary A");
    struct dma dma1;
    dma1.dma_init(0x40400000, 0x16000000, 65536, 0x16400000, 65536);
    dma1.initDMAControls(); // a second time, as nothing is under way

    for (int m = 0; m < M; m += TILE) {
        for (int k = 0; k < K; k += TILE) {
            unsigned int *in = dma1.dma_get_inbuffer();
            int length = 0;
            in[length++] = 1;
            for (int tm = 0; tm < TILE; tm++)
                for (int tk = 0; tk < TILE; tk++)
                    in[length++] = a[(m + tm) * K + (k + tk)];
            dma1.dma_start_send(length, 0);
            dma1.dma_wait_send();

            for (int n = 0; n < N; n += TILE) {
                unsigned int opcode = 2, last[2] = {4, 8};
                dma1.dma_copy_to_inbuffer(&opcode, 1, 0);
                for (int tk = 0; tk < TILE; tk++)
                    dma1.dma_copy_to_inbuffer(reinterpret_cast<unsigned int *>(b + (k + tk) * N + n), TILE, 1 + tk * TILE);
                dma1.dma_start_send(1 + TILE * TILE, 0);
                dma1.dma_wait_send();
                dma1.dma_copy_to_inbuffer(last, 1, 0);
                dma1.dma_start_send(1, 0);
                dma1.dma_wait_send();

                dma1.dma_copy_to_inbuffer(last + 1, 1, 0);
                dma1.dma_start_recv(RECEIVED, 0);
                dma1.dma_start_send(1, 0);
                while (dma1.dma_check_send()) {
                }
                dma1.dma_wait_recv();
                unsigned int *out = dma1.dma_get_outbuffer();
                for (int tm = 0; tm < TILE; tm++)
                    for (int tn = 0; tn < TILE; tn++)
                        c[(m + tm) * N + (n + tn)] += out[tm * TILE + tn];
            }
        }
    }
    dma1.dma_free();
}

int main() {
    unsigned int word = 0;
    struct dma outside;
    if (outside.dma_copy_to_inbuffer(&word, 1, 0) != -1) // it has no window yet
        return 100;
    v3_as(A, B, C);
    return 0;
}
