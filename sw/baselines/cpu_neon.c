/* C (M, N) += A (M, K) . B (K, N) on the CPU as well as it can: int32, wrapping, row major, NEON.
 *
 * A block of B, at most 64 x 32, is packed into panels of 8 columns that are read in order; its 8 KiB stay in L1
 * beside 4 rows of A. The innermost loop holds 4 x 8 of C in registers. */
#include <arm_neon.h>
#include <stdint.h>

#if !defined(M) || !defined(N) || !defined(K)
#error "give the sizes: -DM=.. -DN=.. -DK=.."
#elif M <= 0 || N <= 0 || K <= 0 || M % 4 || N % 8 || K % 2
#error "M, N and K must be positive multiples of 4, 8 and 2: this kernel does not pad"
#endif

enum { DEPTH = 64, WIDTH = 32 }; /* of a block of B */
enum { ROWS = 4, COLS = 8 };     /* of C in registers */

int32_t A[M][K] __attribute__((aligned(64)));
int32_t B[K][N] __attribute__((aligned(64)));
int32_t C[M][N] __attribute__((aligned(64)));

static int32_t packed[DEPTH * WIDTH] __attribute__((aligned(64)));

static int smaller(int a, int b) { return a < b ? a : b; }

/* depth x cols of B, panel after panel. */
static void pack(const int32_t *b, int depth, int cols) {
    int32_t *to = packed;
    for (int n = 0; n < cols; n += COLS)
        for (int k = 0; k < depth; k++, to += COLS) {
            vst1q_s32(to, vld1q_s32(&b[k * N + n]));
            vst1q_s32(to + 4, vld1q_s32(&b[k * N + n + 4]));
        }
}

/* c (4, 8) += a (4, depth) . panel (depth, 8). Two steps of k at a time: sums, two rows of the panel and two columns
 * of a fill 14 of the 16 registers, and no more may be unrolled. */
static void multiply(int32_t *c, const int32_t *a, const int32_t *panel, int depth) {
    int32x4_t low[ROWS], high[ROWS];
    for (int r = 0; r < ROWS; r++) {
        low[r] = vld1q_s32(&c[r * N]);
        high[r] = vld1q_s32(&c[r * N + 4]);
    }
#pragma clang loop unroll(disable)
    for (int k = 0; k < depth; k += 2, panel += 2 * COLS) {
        const int32x4_t low0 = vld1q_s32(panel), high0 = vld1q_s32(panel + 4);
        const int32x4_t low1 = vld1q_s32(panel + 8), high1 = vld1q_s32(panel + 12);
        for (int r = 0; r < ROWS; r++) {
            const int32x2_t pair = vld1_s32(&a[r * K + k]);
            low[r] = vmlaq_lane_s32(low[r], low0, pair, 0);
            high[r] = vmlaq_lane_s32(high[r], high0, pair, 0);
            low[r] = vmlaq_lane_s32(low[r], low1, pair, 1);
            high[r] = vmlaq_lane_s32(high[r], high1, pair, 1);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        vst1q_s32(&c[r * N], low[r]);
        vst1q_s32(&c[r * N + 4], high[r]);
    }
}

int main(void) {
    for (int k = 0; k < K; k += DEPTH) {
        const int depth = smaller(DEPTH, K - k);
        for (int n = 0; n < N; n += WIDTH) {
            const int cols = smaller(WIDTH, N - n);
            pack(&B[k][n], depth, cols);
            for (int m = 0; m < M; m += ROWS)
                for (int panel = 0; panel < cols; panel += COLS)
                    multiply(&C[m][n + panel], &A[m][k], &packed[panel * depth], depth);
        }
    }
    return 0;
}
