/* What the hand-written drivers share: C (M, N) += A (M, K) . B (K, N), int32, wrapping, row major.
 *
 * Sizes come from the compile line: -DM=64 -DN=64 -DK=64 -DS=16, S the size of the accelerator's tile, which is
 * TM x TN x TK where it can be chosen. Opcodes are those of the bit-mask encoding. flows.h goes on from here. */
#ifndef BASELINE_MATMUL_H
#define BASELINE_MATMUL_H

#include "axiloom.h"

#if !defined(M) || !defined(N) || !defined(K) || !defined(S)
#error "give the sizes: -DM=.. -DN=.. -DK=.. -DS=.. (S is the tile of the accelerator)"
#elif S <= 0 || M <= 0 || N <= 0 || K <= 0 || M % S || N % S || K % S
#error "M, N and K must be positive multiples of S: these drivers do not pad"
#endif

#ifndef TM
#define TM S
#define TN S
#define TK S
#endif

enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE_C = 8 };

/* Read and written by name: by the simulator, or by whoever links against the driver. */
int32_t A[M][K] __attribute__((aligned(64)));
int32_t B[K][N] __attribute__((aligned(64)));
int32_t C[M][N] __attribute__((aligned(64)));

/* Leave the function with the status of a call that failed. */
#define TRY(call)                          \
    do {                                   \
        const dma_status status_ = (call); \
        if (status_ != DMA_OK)             \
            return status_;                \
    } while (0)

static int32_t *in, *out; /* the windows */

static dma_status open_dma(void) {
    TRY(dma_init(0x40400000, 0x16000000, 65536, 0x16400000, 65536));
    in = (int32_t *)dma_in_buffer();
    out = (int32_t *)dma_out_buffer();
    return DMA_OK;
}

/* Packing: each function returns where the next word goes. The sizes are constants here, so that the
 * compiler unrolls and vectorises; dma_put_tile_i32 learns them only when it runs. */
static inline int32_t *put(int32_t *to, int32_t word) {
    *to = word;
    return to + 1;
}

/* -DPREFETCH: rows come into the caches ahead of their use. Off, as hardly anybody writes it; what it is worth:
 * python -m benchmarks hand_prefetch. */
#ifndef PREFETCH
#define PREFETCH 0
#endif
enum { LINE_WORDS = 8 };

static inline void prefetch_row(const int32_t *row, int cols) {
    for (int c = 0; PREFETCH && c < cols; c += LINE_WORDS)
        __builtin_prefetch(row + c);
}

static inline int32_t *put_tile(int32_t *restrict to, const int32_t *restrict from, int rows, int cols, int stride) {
    for (int r = 0; r < rows; r++, from += stride) {
        prefetch_row(from + (r + 1 < rows ? stride : 0), cols);
        for (int c = 0; c < cols; c++)
            *to++ = from[c];
    }
    return to;
}

/* The tile in the output window is added to C; sums are unsigned, so that they wrap. */
static inline void add_tile(int32_t *restrict to, const int32_t *restrict from, int rows, int cols) {
    for (int r = 0; r < rows; r++, to += N, from += cols) {
        prefetch_row(from + (r + 1 < rows ? cols : 0), cols);
        prefetch_row(to + (r + 1 < rows ? N : 0), cols);
        for (int c = 0; c < cols; c++)
            to[c] = (int32_t)((uint32_t)to[c] + (uint32_t)from[c]);
    }
}

/* Send what is packed up to `end`. */
static dma_status send(const int32_t *end) {
    TRY(dma_start_send((uint32_t)(end - in), 0));
    return dma_wait_send();
}

/* Send what makes the device answer with `words`. The receive is armed first: the device never waits for it. */
static dma_status send_and_receive(const int32_t *end, uint32_t words) {
    TRY(dma_start_recv(words, 0));
    TRY(send(end));
    return dma_wait_recv();
}

#endif
