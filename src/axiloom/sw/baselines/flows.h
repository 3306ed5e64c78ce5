/* The flows, one transfer a step: opcode words, what is loaded, and what starts the work are packed together.
 *
 * A driver says before it includes this file how its accelerator is told:
 *     put_opcode(to, opcode)   an opcode and the words that follow it, if there are any
 *     put_answer(to)           what makes it compute, if it has not yet, and send a tile of C
 * The flow is a macro: FLOW_Ns, FLOW_As (a tile of A stays in the device), FLOW_Bs (of B) or FLOW_Cs (of C, which only
 * a device that adds up can do). */
#ifndef BASELINE_FLOWS_H
#define BASELINE_FLOWS_H

#include "matmul.h"

static int32_t *put_A(int32_t *to, int m, int k) { return put_tile(put_opcode(to, LOAD_A), &A[m][k], TM, TK, K); }
static int32_t *put_B(int32_t *to, int k, int n) { return put_tile(put_opcode(to, LOAD_B), &B[k][n], TK, TN, N); }

/* Get a tile for what is packed up to `end`, and add it to C. */
static dma_status step(int32_t *end, int m, int n) {
    TRY(send_and_receive(put_answer(end), TM * TN));
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
#error "choose a flow: -DFLOW_Ns, -DFLOW_As, -DFLOW_Bs or -DFLOW_Cs"
#endif
    return DMA_OK;
}

int main(void) {
    TRY(open_dma());
    TRY(matmul());
    return dma_free();
}

#endif
