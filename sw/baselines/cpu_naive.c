/* C (M, N) += A (M, K) . B (K, N) on the CPU in plain loops: int32, wrapping, row major. */
#include <stdint.h>

#if !defined(M) || !defined(N) || !defined(K)
#error "give the sizes: -DM=.. -DN=.. -DK=.."
#endif

int32_t A[M][K] __attribute__((aligned(64)));
int32_t B[K][N] __attribute__((aligned(64)));
int32_t C[M][N] __attribute__((aligned(64)));

int main(void) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            uint32_t sum = (uint32_t)C[m][n];
            for (int k = 0; k < K; k++)
                sum += (uint32_t)A[m][k] * (uint32_t)B[k][n];
            C[m][n] = (int32_t)sum;
        }
    return 0;
}
