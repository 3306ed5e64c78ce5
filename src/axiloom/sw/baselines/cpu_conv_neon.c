/* O = F * I on the CPU as well as it can: NEON, int32 or int8 (-DBITS=8), written for a Cortex-A9.
 *
 * It is the matmul F (OC, taps) . X (taps, pixels), of whose X a block at a time is put together (im2col):
 * - Taps x pixels of a block take a quarter of L1, as in cpu_neon.c; each is packed once and used for all channels.
 * - 4 channels x 8 pixels stay in registers: VMLA.I32 of a Q register does a multiply-add a cycle, VMLAL.S16 on elements
 *   that are widened as they are packed does four (Cortex-A9 NEON MPE TRM, chapter 3).
 * - Filters are turned once, so that one load has a tap of four channels; zeros fill up what is not there, so that no
 *   size needs loops of its own. */
#include <arm_neon.h>
#include <string.h>

#include "conv.h"

enum { L1 = 32768, ROWS = 4, COLS = 8, WIDTH = 32 };
enum { PIXELS = OH * OW, TAPS = IC * FH * FW };

#if BITS == 32
typedef int32_t packed_element;
#else
typedef int16_t packed_element;
#endif
enum { AHEAD = 128 / sizeof(packed_element) }; /* of the filters: four lines, as many as a Cortex-A9 takes at a time */
enum { DEPTH = L1 / 4 / (WIDTH * sizeof(packed_element)) }; /* taps of a block */

static packed_element x[DEPTH * WIDTH] __attribute__((aligned(64)));
static packed_element f[(OC + ROWS - 1) / ROWS][TAPS * ROWS] __attribute__((aligned(64)));

static int smaller(int a, int b) { return a < b ? a : b; }

/* Where the window of a pixel begins in a plane of the image. */
static inline int window(int pixel) { return pixel / OW * SH * IW + pixel % OW * SW; }

/* Where a tap lies behind that, channel and all. */
static inline int tap_offset(int tap) { return tap / (FH * FW) * (IH * IW) + tap / FW % FH * IW + tap % FW; }

static inline void put8(packed_element *to, const element *from) {
#if BITS == 32
    vst1q_s32(to, vld1q_s32(from));
    vst1q_s32(to + 4, vld1q_s32(from + 4));
#else
    vst1q_s16(to, vmovl_s8(vld1_s8(from)));
#endif
}

/* Eight pixels of the taps from `first` on. */
static void pack_panel(packed_element *to, int first, int depth, int pixel) {
    const int count = smaller(COLS, PIXELS - pixel);
    int place[COLS];
    for (int p = 0; p < COLS; p++)
        place[p] = window(smaller(pixel + p, PIXELS - 1));
    const int together = count == COLS && place[COLS - 1] - place[0] == COLS - 1;
    const element *plane = &I[0][0][0];
    for (int tap = 0; tap < depth; tap++, to += COLS) {
        const element *from = plane + tap_offset(first + tap);
        if (together) {
            put8(to, from + place[0]);
            continue;
        }
        for (int p = 0; p < COLS; p++)
            to[p] = p < count ? from[place[p]] : 0;
    }
}

/* Filters of four channels, tap by tap. */
static void turn_filters(void) {
    for (int oc = 0; oc < OC; oc += ROWS)
        for (int r = 0; r < ROWS; r++) {
            const element *from = &F[smaller(oc + r, OC - 1)][0][0][0];
            packed_element *to = f[oc / ROWS] + r;
            for (int tap = 0; tap < TAPS; tap++, to += ROWS)
                *to = from[tap];
        }
}

/* o (4, 8) = or += filters . panel; only `channels` x `pixels` of it are there. */
static inline void multiply(int32_t *o, const packed_element *filter, const packed_element *panel, int depth, int add,
                            int channels, int pixels) {
    int32x4_t low[ROWS], high[ROWS];
    int32_t edge[ROWS][COLS];
    const int whole = channels == ROWS && pixels == COLS;
    for (int r = 0; r < ROWS; r++) {
        low[r] = high[r] = vdupq_n_s32(0);
        if (!add)
            continue;
        const int32_t *from = o + r * PIXELS;
        if (!whole) {
            for (int p = 0; p < COLS; p++)
                edge[r][p] = r < channels && p < pixels ? from[p] : 0;
            from = edge[r];
        }
        low[r] = vld1q_s32(from);
        high[r] = vld1q_s32(from + 4);
    }
    for (int tap = 0; tap < depth; tap++, panel += COLS, filter += ROWS) {
        __builtin_prefetch(filter + AHEAD);
#if BITS == 32
        const int32x4x2_t b = vld1q_s32_x2(panel);
        const int32x4_t a = vld1q_s32(filter);
#define STEP(r, half, lane)                                                       \
    low[r] = vmlaq_lane_s32(low[r], b.val[0], half(a), lane);                     \
    high[r] = vmlaq_lane_s32(high[r], b.val[1], half(a), lane)
        STEP(0, vget_low_s32, 0);
        STEP(1, vget_low_s32, 1);
        STEP(2, vget_high_s32, 0);
        STEP(3, vget_high_s32, 1);
#else
        const int16x8_t b = vld1q_s16(panel);
        const int16x4_t a = vld1_s16(filter);
#define STEP(r)                                                                   \
    low[r] = vmlal_lane_s16(low[r], vget_low_s16(b), a, r);                       \
    high[r] = vmlal_lane_s16(high[r], vget_high_s16(b), a, r)
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
#endif
    }
    for (int r = 0; r < channels; r++, o += PIXELS) {
        int32_t *to = whole ? o : edge[r];
        vst1q_s32(to, low[r]);
        vst1q_s32(to + 4, high[r]);
        if (!whole)
            memcpy(o, edge[r], (unsigned)pixels * sizeof *o);
    }
}

static void convolve(void) {
    int32_t *o = &O[0][0][0];
    turn_filters();
    for (int pixel = 0; pixel < PIXELS; pixel += WIDTH)
        for (int tap = 0; tap < TAPS; tap += DEPTH) {
            const int depth = smaller(DEPTH, TAPS - tap), end = smaller(pixel + WIDTH, PIXELS);
            for (int p = pixel; p < end; p += COLS)
                pack_panel(&x[(p - pixel) * depth], tap, depth, p);
            for (int oc = 0; oc < OC; oc += ROWS) {
                const packed_element *filter = f[oc / ROWS] + tap * ROWS;
                for (int p = pixel; p < end; p += COLS)
                    multiply(o + oc * PIXELS + p, filter, &x[(p - pixel) * depth], depth, tap > 0,
                             smaller(ROWS, OC - oc), smaller(COLS, end - p));
            }
        }
}

#ifdef LAYER
void LAYER(const element *image, const element *filters, int32_t *sums) {
    I = (const element(*)[IH][IW])image;
    F = (const element(*)[IC][FH][FW])filters;
    O = (int32_t(*)[OH][OW])sums;
    convolve();
}
#elif defined CALLS
/* From call to return it is measured; later calls find caches and branches as the one before has left them. */
__attribute__((noinline)) void one_call(void) { convolve(); }

int main(void) {
    for (int call = 0; call < CALLS; call++)
        one_call();
    return 0;
}
#else
int main(void) {
    convolve();
    return 0;
}
#endif
