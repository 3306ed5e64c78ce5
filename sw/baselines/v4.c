/* v4_16 by hand: v3 with tiles of any size, TM x TN x TK (m, n, k), that each opcode is followed by.
 * One transfer a step. The flow is a macro: FLOW_Ns, FLOW_As, FLOW_Bs or FLOW_Cs, as for v3. */
#include "matmul.h"

#if !defined(TM) || !defined(TN) || !defined(TK)
#error "give the tile: -DTM=.. -DTN=.. -DTK=.."
#elif TM <= 0 || TN <= 0 || TK <= 0 || TM % S || TN % S || TK % S
#error "TM, TN and TK must be positive multiples of S"
#elif M % TM || N % TN || K % TK
#error "M, N and K must be multiples of TM, TN and TK: this driver does not pad"
#elif TM * TK > 4096 || TK * TN > 4096 || TM * TN > 4096
#error "a buffer of v4 holds 4096 words: TM * TK, TK * TN and TM * TN must not be more"
#elif TM >= 1024 || TN >= 1024 || TK >= 1024
#error "TM, TN and TK have 10 bits each in the word that follows an opcode"
#endif

enum { DIMS = TM | TN << 10 | TK << 20 };

static int32_t *put_opcode(int32_t *to, int32_t opcode) { return put(put(to, opcode), DIMS); }

static int32_t *put_A(int32_t *to, int m, int k) {
    return put_tile(put_opcode(to, LOAD_A), &A[m][k], TM, TK, K);
}

static int32_t *put_B(int32_t *to, int k, int n) {
    return put_tile(put_opcode(to, LOAD_B), &B[k][n], TK, TN, N);
}

/* Compute and store with what is packed up to `end` before it, and add the tile to C. */
static dma_status step(int32_t *end, int m, int n) {
    TRY(send_and_receive(put_opcode(put_opcode(end, COMPUTE), STORE_C), TM * TN));
    add_tile(&C[m][n], out, TM, TN);
    return DMA_OK;
}

static dma_status matmul(void) {
#if defined(FLOW_Ns)
    for (int m = 0; m < M; m += TM)
        for (int n = 0; n < N; n += TN)
            for (int k = 0; k < K; k += TK)
                TRY(step(put_B(put_A(in, m, k), k, n), m, n));
#elif defined(FLOW_As)
    for (int m = 0; m < M; m += TM)
        for (int k = 0; k < K; k += TK)
            for (int n = 0; n < N; n += TN)
                TRY(step(put_B(n == 0 ? put_A(in, m, k) : in, k, n), m, n));
#elif defined(FLOW_Bs)
    for (int k = 0; k < K; k += TK)
        for (int n = 0; n < N; n += TN)
            for (int m = 0; m < M; m += TM)
                TRY(step(put_A(m == 0 ? put_B(in, k, n) : in, m, k), m, n));
#elif defined(FLOW_Cs)
    for (int m = 0; m < M; m += TM)
        for (int n = 0; n < N; n += TN) {
            for (int k = 0; k < K - TK; k += TK)
                TRY(send(put_opcode(put_B(put_A(in, m, k), k, n), COMPUTE)));
            /* The store goes with the last step. */
            TRY(step(put_B(put_A(in, m, K - TK), K - TK, n), m, n));
        }
#else
#error "choose a flow of v4: -DFLOW_Ns, -DFLOW_As, -DFLOW_Bs or -DFLOW_Cs"
#endif
    return DMA_OK;
}

int main(void) {
    TRY(open_dma());
    TRY(matmul());
    return dma_free();
}
