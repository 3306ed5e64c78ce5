/* What the CPU's own matmuls share: C (M, N) += A (M, K) . B (K, N), int32 sums that wrap, row major.
 *
 * Sizes and the type of A and B come from the compile line: -DM=64 -DN=64 -DK=64 [-DBITS=8], 32 by default. */
#ifndef BASELINE_CPU_H
#define BASELINE_CPU_H

#include <stdint.h>

#ifndef BITS
#define BITS 32
#endif

#if !defined(M) || !defined(N) || !defined(K)
#error "give the sizes: -DM=.. -DN=.. -DK=.."
#elif M <= 0 || N <= 0 || K <= 0
#error "M, N and K must be positive"
#endif

#if BITS == 32
typedef int32_t element;
#elif BITS == 8
typedef int8_t element;
#else
#error "BITS, the width of A's and B's elements, must be 8 or 32"
#endif

#ifdef LAYER
/* A layer of a network: a function of this name, on arrays that others have. */
static const element (*A)[K];
static const element (*B)[N];
static int32_t (*C)[N];
#else
/* Read and written by name, by the simulator or by whoever links against the kernel. */
element A[M][K] __attribute__((aligned(64)));
element B[K][N] __attribute__((aligned(64)));
int32_t C[M][N] __attribute__((aligned(64)));
#endif

/* Rows m.. of C, columns n.., with k..: plain loops. */
static inline void plain(int m_first, int n_first, int k_first, int m_end, int n_end) {
    for (int m = m_first; m < m_end; m++)
        for (int n = n_first; n < n_end; n++) {
            uint32_t sum = (uint32_t)C[m][n];
            for (int k = k_first; k < K; k++)
                sum += (uint32_t)(int32_t)A[m][k] * (uint32_t)(int32_t)B[k][n];
            C[m][n] = (int32_t)sum;
        }
}

#endif
