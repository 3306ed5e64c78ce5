/* v3 by hand: the device adds up over k, until STORE_C sends its tile of C and clears it. One transfer a step.
 * The flow is a macro: FLOW_Ns, FLOW_As (a tile of A stays in the device), FLOW_Bs (of B), FLOW_Cs (of C). */
#include "matmul.h"

static int32_t *put_A(int32_t *to, int m, int k) { return put_tile(put(to, LOAD_A), &A[m][k], S, S, K); }
static int32_t *put_B(int32_t *to, int k, int n) { return put_tile(put(to, LOAD_B), &B[k][n], S, S, N); }

/* Compute and store with what is packed up to `end` before it, and add the tile to C. */
static dma_status step(int32_t *end, int m, int n) {
    TRY(send_and_receive(put(put(end, COMPUTE), STORE_C), S * S));
    add_tile(&C[m][n], out, S, S);
    return DMA_OK;
}

static dma_status matmul(void) {
#if defined(FLOW_Ns)
    for (int m = 0; m < M; m += S)
        for (int n = 0; n < N; n += S)
            for (int k = 0; k < K; k += S)
                TRY(step(put_B(put_A(in, m, k), k, n), m, n));
#elif defined(FLOW_As)
    for (int m = 0; m < M; m += S)
        for (int k = 0; k < K; k += S)
            for (int n = 0; n < N; n += S)
                TRY(step(put_B(n == 0 ? put_A(in, m, k) : in, k, n), m, n));
#elif defined(FLOW_Bs)
    for (int k = 0; k < K; k += S)
        for (int n = 0; n < N; n += S)
            for (int m = 0; m < M; m += S)
                TRY(step(put_A(m == 0 ? put_B(in, k, n) : in, m, k), m, n));
#elif defined(FLOW_Cs)
    for (int m = 0; m < M; m += S)
        for (int n = 0; n < N; n += S) {
            for (int k = 0; k < K - S; k += S)
                TRY(send(put(put_B(put_A(in, m, k), k, n), COMPUTE)));
            /* The store goes with the last step. */
            TRY(step(put_B(put_A(in, m, K - S), K - S, n), m, n));
        }
#else
#error "choose a flow of v3: -DFLOW_Ns, -DFLOW_As, -DFLOW_Bs or -DFLOW_Cs"
#endif
    return DMA_OK;
}

int main(void) {
    TRY(open_dma());
    TRY(matmul());
    return dma_free();
}
