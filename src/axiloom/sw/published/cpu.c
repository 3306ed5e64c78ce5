/* The matmul of the CPU alone: three loops, not optimised. */
#include "kernel.h"

void kernel(int32_t *A, int32_t *B, int32_t *C) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            for (int k = 0; k < K; k++) {
                int32_t x = A[m * K + k];
                int32_t y = B[k * N + n];
                C[m * N + n] += x * y;
            }
}
