/* C += A . B on the CPU as well as it can: NEON, int32 or int8 (-DBITS=8), written for a Cortex-A9.
 *
 * - 4 x 8 of C stay in registers, so that the multiplier is what limits: VMLA.I32 of a Q register keeps it busy for
 *   four cycles, one multiply-add a cycle (Cortex-A9 NEON MPE TRM, chapter 3); 32 of them need 12 words loaded.
 * - Elements of 8 bits are widened to 16 as they are packed: VMLAL.S16 does four multiply-adds a cycle.
 * - B is read in blocks of DEPTH x WIDTH, packed into panels of 8 columns that are read in order. A block is a quarter
 *   of L1, which replaces at random: a larger one is thrown out by the A and C that stream past it.
 * - With -DPACKED, B's blocks lie packed in P before the run (what a B that is constant allows), one after the other.
 * - A B that takes no more than half of L1 is read where it is; packing it costs more than it brings.
 * - What is used next is on its way meanwhile (PLD): rows of A line by line, the next tile of C, B's next rows.
 * - What the tiles leave over at the edges goes by plain loops. */
#include <arm_neon.h>

#include "cpu.h"

enum { L1 = 32768 };
enum { ROWS = 4, COLS = 8, STEP = BITS == 32 ? 2 : 4 };        /* of C in registers; k's a turn of the loop */
enum { WIDTH = 32, DEPTH = L1 / 4 / (WIDTH * (BITS == 32 ? 4 : 2)) }; /* of a block of B, packed */
enum { M_WHOLE = M / ROWS * ROWS, N_WHOLE = N / COLS * COLS, K_WHOLE = K / STEP * STEP };

enum { LINE = 32, CHUNK = LINE / sizeof(element) };            /* bytes of a cache line; k's a line of A has */
enum { LINES_AHEAD = 4 };                                      /* that a Cortex-A9 takes at a time (its TRM, 7.1) */

static int smaller(int a, int b) { return a < b ? a : b; }

/* What comes after a tile: a row of A from the same k on, and the tile of C. */
struct next {
    const element *a;
    const int32_t *c;
};

/* At each line of A that the tile has read: a line of each. */
static inline void prefetch(struct next next, int k) {
    __builtin_prefetch(next.a + k);
    if (k < ROWS * CHUNK)
        __builtin_prefetch(next.c + k / CHUNK * N);
}

/* After the tile that is the `tile`th of row m's, COLS columns before n_next. */
static inline struct next after(int m, int tile, int n_first, int n_next, int n_end, int k) {
    const int m_next = smaller(m + ROWS, M - ROWS);
    const int32_t *c = n_next < n_end ? &C[m][n_next] : &C[m_next][n_first];
    return (struct next){&A[m_next + tile % ROWS][k], c};
}

static inline void load(int32x4_t low[ROWS], int32x4_t high[ROWS], const int32_t *c) {
    for (int r = 0; r < ROWS; r++, c += N) {
        low[r] = vld1q_s32(c);
        high[r] = vld1q_s32(c + 4);
    }
}

static inline void store(int32_t *c, const int32x4_t low[ROWS], const int32x4_t high[ROWS]) {
    for (int r = 0; r < ROWS; r++, c += N) {
        vst1q_s32(c, low[r]);
        vst1q_s32(c + 4, high[r]);
    }
}

#if BITS == 32
typedef int32_t packed_element;
enum { A_STRIDE = K };

/* c (4, 8) += a (4, depth) . b (depth, 8), rows of b `stride` apart and `ahead` of them prefetched. Sums, two rows of
 * b and two columns of a fill 14 of the 16 registers: no more may be unrolled. */
static inline void multiply(int32_t *c, const int32_t *a, const int32_t *b, int stride, int depth, int ahead,
                            struct next next) {
    int32x4_t low[ROWS], high[ROWS];
    load(low, high, c);
#pragma clang loop unroll(disable)
    for (int line = 0; line < depth; line += CHUNK) {
        prefetch(next, line);
        const int end = smaller(depth, line + CHUNK);
#pragma clang loop unroll(disable)
        for (int k = line; k < end; k += STEP, b += STEP * stride) {
            const int32x4x2_t b0 = vld1q_s32_x2(b), b1 = vld1q_s32_x2(b + stride);
            if (ahead) {
                __builtin_prefetch(b + ahead * stride);
                __builtin_prefetch(b + (ahead + 1) * stride);
            }
            for (int r = 0; r < ROWS; r++) {
                const int32x2_t pair = vld1_s32(&a[r * A_STRIDE + k]);
                low[r] = vmlaq_lane_s32(low[r], b0.val[0], pair, 0);
                high[r] = vmlaq_lane_s32(high[r], b0.val[1], pair, 0);
                low[r] = vmlaq_lane_s32(low[r], b1.val[0], pair, 1);
                high[r] = vmlaq_lane_s32(high[r], b1.val[1], pair, 1);
            }
        }
    }
    store(c, low, high);
}

/* Four rows of A from k on, as multiply() wants them: as they are. */
static inline const int32_t *rows_of_A(int m, int k, int depth) {
    (void)depth;
    return &A[m][k];
}
#else
typedef int16_t packed_element;
enum { A_STRIDE = DEPTH };

static int16_t rows[ROWS][DEPTH] __attribute__((aligned(64)));

/* One step of k; the lane must be a constant. */
#define ADD_STEP(lane)                                                                \
    do {                                                                              \
        const int16x8_t row = vld1q_s16(b + (lane) * stride);                         \
        for (int r = 0; r < ROWS; r++) {                                              \
            low[r] = vmlal_lane_s16(low[r], vget_low_s16(row), four[r], lane);        \
            high[r] = vmlal_lane_s16(high[r], vget_high_s16(row), four[r], lane);     \
        }                                                                             \
    } while (0)

/* c (4, 8) += a (4, depth) . b (depth, 8), rows of b `stride` apart. */
static inline void multiply(int32_t *c, const int16_t *a, const int16_t *b, int stride, int depth, int ahead,
                            struct next next) {
    int32x4_t low[ROWS], high[ROWS];
    load(low, high, c);
#pragma clang loop unroll(disable)
    for (int k = 0; k < depth; k += STEP, b += STEP * stride) {
        if (k % CHUNK == 0)
            prefetch(next, k);
        if (ahead) /* else b is in L1 */
            for (int row = 0; row < STEP; row += LINE / (COLS * (int)sizeof(packed_element)))
                __builtin_prefetch(b + (ahead + row) * stride);
        int16x4_t four[ROWS];
        for (int r = 0; r < ROWS; r++)
            four[r] = vld1_s16(&a[r * A_STRIDE + k]);
        ADD_STEP(0);
        ADD_STEP(1);
        ADD_STEP(2);
        ADD_STEP(3);
    }
    store(c, low, high);
}

/* Four rows of A from k on, widened. */
static inline const int16_t *rows_of_A(int m, int k, int depth) {
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < depth; i++)
            rows[r][i] = A[m + r][k + i];
    return rows[0];
}
#endif

#ifdef PACKED
packed_element P[K_WHOLE * N_WHOLE] __attribute__((aligned(64)));

/* Four rows of C by the columns of a block. The first of them bring it into L1, `ahead` rows before they need it. */
static inline void multiply_panels(const packed_element *b, int m, int n, int k, int depth, int cols, int ahead) {
    const packed_element *a = rows_of_A(m, k, depth);
    for (int panel = 0; panel < cols; panel += COLS)
        multiply(&C[m][n + panel], a, &b[panel * depth], COLS, depth, ahead,
                 after(m, panel / COLS, n, n + panel + COLS, n + cols, k));
}

static void multiply_blocks(void) {
    enum { AHEAD = LINES_AHEAD * LINE / (COLS * sizeof(packed_element)) };
    for (int k = 0; k < K_WHOLE; k += DEPTH) {
        const int depth = smaller(DEPTH, K_WHOLE - k);
        for (int n = 0; n < N_WHOLE; n += WIDTH) {
            const int cols = smaller(WIDTH, N_WHOLE - n);
            const packed_element *b = &P[k * N_WHOLE + n * depth];
            if (M_WHOLE)
                multiply_panels(b, 0, n, k, depth, cols, AHEAD);
            for (int m = ROWS; m < M_WHOLE; m += ROWS)
                multiply_panels(b, m, n, k, depth, cols, 0);
        }
    }
}
#else
static packed_element packed[DEPTH * WIDTH] __attribute__((aligned(64)));

#if BITS == 32
static inline void copy8(int32_t *to, const int32_t *from) {
    vst1q_s32(to, vld1q_s32(from));
    vst1q_s32(to + 4, vld1q_s32(from + 4));
}
#else
static inline void copy8(int16_t *to, const int8_t *from) { vst1q_s16(to, vmovl_s8(vld1_s8(from))); }
#endif

/* depth x cols of B, panel after panel. */
static void pack(const element *b, int depth, int cols) {
    packed_element *to = packed;
    for (int n = 0; n < cols; n += COLS)
        for (int k = 0; k < depth; k++, to += COLS) {
            __builtin_prefetch(&b[(k + LINES_AHEAD) * N + n]);
            copy8(to, &b[k * N + n]);
        }
}

static void multiply_blocks(void) {
    for (int k = 0; k < K_WHOLE; k += DEPTH) {
        const int depth = smaller(DEPTH, K_WHOLE - k);
        for (int n = 0; n < N_WHOLE; n += WIDTH) {
            const int cols = smaller(WIDTH, N_WHOLE - n);
            pack(&B[k][n], depth, cols);
            for (int m = 0; m < M_WHOLE; m += ROWS) {
                const packed_element *a = rows_of_A(m, k, depth);
                for (int panel = 0; panel < cols; panel += COLS)
                    multiply(&C[m][n + panel], a, &packed[panel * depth], COLS, depth, 0,
                             after(m, panel / COLS, n, n + panel + COLS, n + cols, k));
            }
        }
    }
}
#endif

#if BITS == 32
enum { IN_PLACE = K * N * sizeof(element) <= L1 / 2 };

static inline void multiply_rows(int m, int ahead) {
    for (int n = 0; n < N_WHOLE; n += COLS)
        multiply(&C[m][n], &A[m][0], &B[0][n], N, K_WHOLE, ahead, after(m, n / COLS, 0, n + COLS, N_WHOLE, 0));
}

static void multiply_in_place(void) {
    if (M_WHOLE)
        multiply_rows(0, LINES_AHEAD); /* brings B into L1 */
    for (int m = ROWS; m < M_WHOLE; m += ROWS)
        multiply_rows(m, 0);
}
#else
enum { IN_PLACE = 0 };
static void multiply_in_place(void) {}
#endif

static void multiply_all(void) {
    if (IN_PLACE)
        multiply_in_place();
    else
        multiply_blocks();
    plain(0, 0, K_WHOLE, M_WHOLE, N_WHOLE); /* what is left of k, of n, of m */
    plain(0, N_WHOLE, 0, M_WHOLE, N);
    plain(M_WHOLE, 0, 0, M, N);
}

#ifdef LAYER
/* C = A . B, BATCHES times. */
void LAYER(const element *a, const element *b, int32_t *c) {
    for (uint32_t i = 0; i < BATCHES; i++, a += M * K, b += K * N, c += M * N) {
        for (uint32_t place = 0; place < M * N; place++)
            c[place] = 0;
        A = (const element(*)[K])a;
        B = (const element(*)[N])b;
        C = (int32_t(*)[N])c;
        multiply_all();
    }
}
#elif defined CALLS
/* From call to return it is measured; later calls find caches and branches as the one before has left them. */
__attribute__((noinline)) void one_call(void) { multiply_all(); }

int main(void) {
    for (int call = 0; call < CALLS; call++)
        one_call();
    return 0;
}
#else
int main(void) {
    multiply_all();
    return 0;
}
#endif
