/* v1 by hand, flow Ns: no opcodes; A and B go in, their product comes out, the host adds it up over k.
 * One transfer each way a step. */
#include "matmul.h"

static dma_status matmul(void) {
    for (int m = 0; m < M; m += S)
        for (int n = 0; n < N; n += S)
            for (int k = 0; k < K; k += S) {
                int32_t *end = put_tile(in, &A[m][k], S, S, K);
                end = put_tile(end, &B[k][n], S, S, N);
                TRY(send_and_receive(end, S * S));
                add_tile(&C[m][n], out, S, S);
            }
    return DMA_OK;
}

int main(void) {
    TRY(open_dma());
    TRY(matmul());
    return dma_free();
}
