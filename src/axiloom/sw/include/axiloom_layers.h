/* Layers of int8 networks on the CPU: what the compiler's loops do slowly, written for 16 elements at a time.
 *
 * Sizes and constants are known where a function is called, so all are inlined and their branches go. With NEON
 * (Cortex-A9, Cortex-A53) by intrinsics, where the compiler does not find them itself; else in plain C. Results are
 * the same in every bit. */
#ifndef AXILOOM_LAYERS_H
#define AXILOOM_LAYERS_H

#include <stdint.h>

#ifdef __ARM_NEON
#include <arm_neon.h>
#endif

#define AXL_LAYER static inline __attribute__((always_inline, unused))

enum { AXL_FETCHED = 256 }; /* bytes ahead of a loop that lines are fetched: the memory takes as long as 256 bytes */

AXL_LAYER int32_t axl_clamp(int32_t x, int32_t lo, int32_t hi)
{
    const int32_t up = x > lo ? x : lo;
    return up < hi ? up : hi;
}

#ifdef __ARM_NEON
/* Sixteen within bounds; those that an int8 has anyway cost nothing. */
AXL_LAYER int8x16_t axl_within(int8x16_t x, int32_t lo, int32_t hi)
{
    const int8x16_t above = lo > -128 ? vmaxq_s8(x, vdupq_n_s8((int8_t)lo)) : x;
    return hi < 127 ? vminq_s8(above, vdupq_n_s8((int8_t)hi)) : above;
}
#endif

/* --- sums of two tensors, each in its own scale ---------------------------------------------------------------- */

AXL_LAYER int8_t axl_add_one(int32_t x, int32_t y, int32_t of_x, int32_t of_y, int shift, int32_t lo, int32_t hi)
{
    return (int8_t)axl_clamp((x * of_x + y * of_y + ((1 << shift) >> 1)) >> shift, lo, hi);
}

#ifdef __ARM_NEON
/* Eight sums behind a shift of 16. A multiplier of 16 bits without sign is one with sign or 65536 more than that; the
 * 65536 of x are x behind the shift. */
AXL_LAYER int16x8_t axl_add_eight_by_16(int8x8_t x, int8x8_t y, int32_t of_x, int32_t of_y)
{
    const int16x8_t xs = vmovl_s8(x), ys = vmovl_s8(y);
    int32x4_t low = vmull_n_s16(vget_low_s16(xs), (int16_t)of_x);
    int32x4_t high = vmull_n_s16(vget_high_s16(xs), (int16_t)of_x);
    low = vmlal_n_s16(low, vget_low_s16(ys), (int16_t)of_y);
    high = vmlal_n_s16(high, vget_high_s16(ys), (int16_t)of_y);
    int16x8_t sums = vcombine_s16(vrshrn_n_s32(low, 16), vrshrn_n_s32(high, 16));
    if (of_x > 32767)
        sums = vaddq_s16(sums, xs);
    return of_y > 32767 ? vaddq_s16(sums, ys) : sums;
}

/* Eight sums behind their shift. A multiplier of 16 bits without sign is 2 * half + odd, so that VMLAL.S16 takes
 * both products; odd multiples are put together first. */
AXL_LAYER int16x8_t axl_add_eight(int8x8_t x, int8x8_t y, int32_t of_x, int32_t of_y, int shift)
{
    if (shift == 16)
        return axl_add_eight_by_16(x, y, of_x, of_y);
    const int16x8_t xs = vshll_n_s8(x, 1), ys = vshll_n_s8(y, 1);
    const int16_t half_x = (int16_t)(of_x >> 1), half_y = (int16_t)(of_y >> 1);
    int32x4_t low = vmull_n_s16(vget_low_s16(xs), half_x), high = vmull_n_s16(vget_high_s16(xs), half_x);
    low = vmlal_n_s16(low, vget_low_s16(ys), half_y);
    high = vmlal_n_s16(high, vget_high_s16(ys), half_y);
    if ((of_x | of_y) & 1) {
        const int16x8_t odd = !(of_y & 1) ? vmovl_s8(x) : !(of_x & 1) ? vmovl_s8(y) : vaddl_s8(x, y);
        low = vaddw_s16(low, vget_low_s16(odd));
        high = vaddw_s16(high, vget_high_s16(odd));
    }
    const int32x4_t right = vdupq_n_s32(-shift);
    return vcombine_s16(vmovn_s32(vrshlq_s32(low, right)), vmovn_s32(vrshlq_s32(high, right)));
}
#endif

/* Elements of axl_add_int8() that the caller has fetched. */
AXL_LAYER void axl_add_row(int8_t *restrict out, const int8_t *restrict x, const int8_t *restrict y, uint32_t count,
                           int32_t of_x, int32_t of_y, int shift, int32_t lo, int32_t hi)
{
    uint32_t i = 0;
#ifdef __ARM_NEON
    for (; i + 16 <= count; i += 16) {
        const int8x16_t a = vld1q_s8(&x[i]), b = vld1q_s8(&y[i]);
        const int16x8_t low = axl_add_eight(vget_low_s8(a), vget_low_s8(b), of_x, of_y, shift);
        const int16x8_t high = axl_add_eight(vget_high_s8(a), vget_high_s8(b), of_x, of_y, shift);
        const int8x16_t both = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
        vst1q_s8(&out[i], axl_within(both, lo, hi));
    }
#endif
    for (; i < count; i++)
        out[i] = axl_add_one(x[i], y[i], of_x, of_y, shift, lo, hi);
}

/* out = clamp((x * of_x + y * of_y + half) >> shift, lo, hi), of multipliers of 16 bits without sign, a shift of 1 to
 * 16, and sums that fit 16 bits behind it. */
AXL_LAYER void axl_add_int8(int8_t *restrict out, const int8_t *restrict x, const int8_t *restrict y, uint32_t count,
                            int32_t of_x, int32_t of_y, int shift, int32_t lo, int32_t hi)
{
    uint32_t i = 0;
    for (; i + 32 <= count; i += 32) {
        axl_preload(&x[i + AXL_FETCHED], 1);
        axl_preload(&y[i + AXL_FETCHED], 1);
        axl_preload(&out[i + AXL_FETCHED], 1);
        axl_add_row(&out[i], &x[i], &y[i], 32, of_x, of_y, shift, lo, hi);
    }
    axl_add_row(&out[i], &x[i], &y[i], count - i, of_x, of_y, shift, lo, hi);
}

/* A row of `table` for each number, added to the row of its place: places come again after `places` rows. A row that a
 * number names may lie anywhere, so it is fetched two rows ahead. */
AXL_LAYER void axl_embed_int8(int8_t *restrict out, const int8_t *restrict table, const int32_t *restrict numbers,
                              const int8_t *restrict place, uint32_t rows, uint32_t places, uint32_t width,
                              int32_t of_word, int32_t of_place, int shift, int32_t lo, int32_t hi)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (row + 2 < rows)
            axl_preload(&table[(uint32_t)numbers[row + 2] * width], (width + 31) / 32);
        axl_preload(&place[row % places * width + 2 * width], (width + 31) / 32);
        axl_preload(&out[(row + 2) * width], (width + 31) / 32);
        axl_add_row(&out[row * width], &table[(uint32_t)numbers[row] * width], &place[row % places * width], width,
                    of_word, of_place, shift, lo, hi);
    }
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Four entries in one register. */
AXL_LAYER void axl_table_four(int8_t *restrict out, const int8_t *restrict x, const int8_t *restrict table)
{
    const uint8_t *const entries = (const uint8_t *)table;
    uint32_t four;
    __builtin_memcpy(&four, x, 4);
    four ^= 0x80808080u;
    four = (uint32_t)entries[four & 0xff] | (uint32_t)entries[four >> 8 & 0xff] << 8 |
           (uint32_t)entries[four >> 16 & 0xff] << 16 | (uint32_t)entries[four >> 24] << 24;
    __builtin_memcpy(out, &four, 4);
}

AXL_LAYER void axl_table_sixteen(int8_t *restrict out, const int8_t *restrict x, const int8_t *restrict table)
{
    axl_table_four(out, x, table);
    axl_table_four(&out[4], &x[4], table);
    axl_table_four(&out[8], &x[8], table);
    axl_table_four(&out[12], &x[12], table);
}
#endif

/* out = table[x + 128], of 256 entries. */
AXL_LAYER void axl_table_int8(int8_t *restrict out, const int8_t *restrict x, const int8_t *restrict table,
                              uint32_t count)
{
    uint32_t i = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 32 <= count; i += 32) {
        axl_preload(&x[i + AXL_FETCHED], 1);
        axl_preload(&out[i + AXL_FETCHED], 1);
        axl_table_sixteen(&out[i], &x[i], table);
        axl_table_sixteen(&out[i + 16], &x[i + 16], table);
    }
#endif
    for (; i < count; i++)
        out[i] = table[x[i] + 128];
}

/* --- transpositions ----------------------------------------------------------------------------------------------- */

#ifdef __ARM_NEON
/* Eight rows of eight become eight columns: pairs of bytes, of two and of four are exchanged between registers. */
AXL_LAYER void axl_transpose_eight(int8_t *restrict out, uint32_t to, const int8_t *restrict x, uint32_t from)
{
    const int8x8x2_t a = vtrn_s8(vld1_s8(x), vld1_s8(&x[from]));
    const int8x8x2_t b = vtrn_s8(vld1_s8(&x[2 * from]), vld1_s8(&x[3 * from]));
    const int8x8x2_t c = vtrn_s8(vld1_s8(&x[4 * from]), vld1_s8(&x[5 * from]));
    const int8x8x2_t d = vtrn_s8(vld1_s8(&x[6 * from]), vld1_s8(&x[7 * from]));
    for (int odd = 0; odd < 2; odd++) {
        const int16x4x2_t ab = vtrn_s16(vreinterpret_s16_s8(a.val[odd]), vreinterpret_s16_s8(b.val[odd]));
        const int16x4x2_t cd = vtrn_s16(vreinterpret_s16_s8(c.val[odd]), vreinterpret_s16_s8(d.val[odd]));
        for (int pair = 0; pair < 2; pair++) {
            const int32x2x2_t four = vtrn_s32(vreinterpret_s32_s16(ab.val[pair]), vreinterpret_s32_s16(cd.val[pair]));
            int8_t *const at = &out[(uint32_t)(2 * pair + odd) * to];
            vst1_s8(at, vreinterpret_s8_s32(four.val[0]));
            vst1_s8(&at[4 * to], vreinterpret_s8_s32(four.val[1]));
        }
    }
}
#endif

/* out[column * to + row] = x[row * from + column]. */
AXL_LAYER void axl_transpose_int8(int8_t *restrict out, uint32_t to, const int8_t *restrict x, uint32_t from,
                                  uint32_t rows, uint32_t columns)
{
    uint32_t row = 0;
#ifdef __ARM_NEON
    for (; row + 8 <= rows; row += 8) {
        for (uint32_t next = row + 8; next < row + 16 && next < rows; next++)
            axl_preload(&x[next * from], (columns + 31) / 32);
        uint32_t column = 0;
        for (; column + 8 <= columns; column += 8) {
            /* Of the eight lines that the next 32 rows go to, two each time. */
            const uint32_t next = column + row / 4 % 8;
            axl_preload(&out[next * to + row / 32 * 32 + 32], 1);
            axl_preload(&out[(next + 1) * to + row / 32 * 32 + 32], 1);
            axl_transpose_eight(&out[column * to + row], to, &x[row * from + column], from);
        }
        for (; column < columns; column++)
            for (uint32_t one = row; one < row + 8; one++)
                out[column * to + one] = x[one * from + column];
    }
#endif
    for (; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++)
            out[column * to + row] = x[row * from + column];
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Four of axl_powers_of_row(). The bytes of ~(x + 128) are added to `base`, which lies 127 entries in front of the
 * largest, so that each power takes one instruction for its index and one for its load. */
AXL_LAYER uint32_t axl_powers_of_four(int32_t *restrict powers, const int8_t *restrict x, uintptr_t base)
{
    uint32_t four;
    __builtin_memcpy(&four, x, 4);
    four ^= 0x7f7f7f7fu;
    const int32_t a = *(const int32_t *)(base + 4 * (four & 0xff));
    const int32_t b = *(const int32_t *)(base + 4 * (four >> 8 & 0xff));
    const int32_t c = *(const int32_t *)(base + 4 * (four >> 16 & 0xff));
    const int32_t d = *(const int32_t *)(base + 4 * (four >> 24));
    powers[0] = a;
    powers[1] = b;
    powers[2] = c;
    powers[3] = d;
    return (uint32_t)a + (uint32_t)b + ((uint32_t)c + (uint32_t)d);
}
#endif

/* powers = table[largest - x]; their sum. */
AXL_LAYER uint32_t axl_powers_of_row(int32_t *restrict powers, const int8_t *restrict x, const int32_t *restrict table,
                                     int32_t largest, uint32_t width)
{
    uint32_t sum = 0, i = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uintptr_t base = (uintptr_t)table + (uintptr_t)(4 * (largest - 127));
    for (; i + 4 <= width; i += 4)
        sum += axl_powers_of_four(&powers[i], &x[i], base);
#endif
    for (; i < width; i++) {
        powers[i] = table[largest - x[i]];
        sum += (uint32_t)powers[i];
    }
    return sum;
}

/* The largest of a row. */
AXL_LAYER int8_t axl_max_of_row(const int8_t *restrict x, uint32_t width)
{
    int8_t largest = -128;
    uint32_t i = 0;
#ifdef __ARM_NEON
    int8x16_t most = vdupq_n_s8(-128);
    for (; i + 16 <= width; i += 16)
        most = vmaxq_s8(most, vld1q_s8(&x[i]));
    int8x8_t half = vmax_s8(vget_low_s8(most), vget_high_s8(most));
    for (int step = 0; step < 3; step++)
        half = vpmax_s8(half, half);
    largest = vget_lane_s8(half, 0);
#endif
    for (; i < width; i++)
        largest = largest > x[i] ? largest : x[i];
    return largest;
}

#ifdef __ARM_NEON
/* Four powers times the inverse, rounded. */
AXL_LAYER int16x4_t axl_parts_of_four(const int32_t *powers, int32_t inverse, int32x4_t half, int shift)
{
    const int32x4_t scaled = vmlaq_n_s32(half, vld1q_s32(powers), inverse);
    if (shift == 16)
        return vmin_s16(vshrn_n_s32(scaled, 16), vdup_n_s16(127));
    return vmovn_s32(vminq_s32(vshlq_s32(scaled, vdupq_n_s32(-shift)), vdupq_n_s32(127)));
}
#endif

/* out = min((powers * inverse + half) >> shift, 127). */
AXL_LAYER void axl_parts_of_row(int8_t *restrict out, const int32_t *restrict powers, uint32_t inverse, int shift,
                                uint32_t width)
{
    const uint32_t half = (1u << shift) >> 1;
    uint32_t i = 0;
#ifdef __ARM_NEON
    const int32x4_t halves = vdupq_n_s32((int32_t)half);
    for (; i + 16 <= width; i += 16) {
        const int16x4_t a = axl_parts_of_four(&powers[i], (int32_t)inverse, halves, shift);
        const int16x4_t b = axl_parts_of_four(&powers[i + 4], (int32_t)inverse, halves, shift);
        const int16x4_t c = axl_parts_of_four(&powers[i + 8], (int32_t)inverse, halves, shift);
        const int16x4_t d = axl_parts_of_four(&powers[i + 12], (int32_t)inverse, halves, shift);
        vst1q_s8(&out[i], vcombine_s8(vmovn_s16(vcombine_s16(a, b)), vmovn_s16(vcombine_s16(c, d))));
    }
#endif
    for (; i < width; i++) {
        const int32_t part = (int32_t)((uint32_t)powers[i] * inverse + half) >> shift;
        out[i] = (int8_t)(part < 127 ? part : 127);
    }
}

/* x / y of integers. A Cortex-A9 divides doubles alone; the quotient of two numbers of 32 bits is exact in them: it is
 * farther from the next integer than they round. */
AXL_LAYER int32_t axl_quotient(int32_t x, int32_t y)
{
#if defined(__arm__) && defined(__ARM_NEON) && !defined(__ARM_FEATURE_IDIV)
    return (int32_t)((double)x / (double)y);
#else
    return x / y;
#endif
}

/* Softmax of each row: powers by a table of how far below the largest an element is, times what `numerator` over their
 * sum is, rounded. `powers` is room for a row. */
AXL_LAYER void axl_softmax_int8(int8_t *restrict out, const int8_t *restrict x, const int32_t *restrict table,
                                int32_t *restrict powers, uint32_t rows, uint32_t width, int32_t numerator, int shift)
{
    for (uint32_t row = 0; row < rows; row++, x += width, out += width) {
        axl_preload(x + AXL_FETCHED, (width + 31) / 32);
        const uint32_t sum = axl_powers_of_row(powers, x, table, axl_max_of_row(x, width), width);
        axl_preload(out + AXL_FETCHED, (width + 31) / 32); /* here, as four lines at most are on their way */
        axl_parts_of_row(out, powers, (uint32_t)axl_quotient(numerator, (int32_t)sum), shift, width);
    }
}

/* What a layer norm rounds by: shifts behind the scale of a row and behind the gain, and bounds. */
typedef struct {
    int of_row, of_gain;
    int32_t lo, hi;
} axl_norm;

AXL_LAYER int8_t axl_normalise_one(int32_t x, int32_t width, int32_t sum, int32_t scale, int32_t gain, int32_t offset,
                                   axl_norm norm)
{
    const uint32_t half = (1u << norm.of_row) >> 1;
    const uint32_t scaled = ((uint32_t)x * (uint32_t)width - (uint32_t)sum) * (uint32_t)scale + half;
    const uint32_t part = (uint32_t)((int32_t)scaled >> norm.of_row);
    return (int8_t)axl_clamp((int32_t)(part * (uint32_t)gain + (uint32_t)offset) >> norm.of_gain, norm.lo, norm.hi);
}

#ifdef __ARM_NEON
/* Four of axl_normalise_one(), behind their last shift: x * (width * scale) + (half - sum * scale), as all wraps. */
AXL_LAYER int32x4_t axl_normalise_four(int16x4_t x, int32_t scale, int32x4_t begin, const int32_t *gain,
                                       const int32_t *offset, axl_norm norm)
{
    const int32x4_t scaled = vmlaq_n_s32(begin, vmovl_s16(x), scale);
    const int32x4_t part = vshlq_s32(scaled, vdupq_n_s32(-norm.of_row));
    return vshlq_s32(vmlaq_s32(vld1q_s32(offset), part, vld1q_s32(gain)), vdupq_n_s32(-norm.of_gain));
}

/* Sixteen, whose steps are between each other, as each waits for the one before. */
AXL_LAYER int8x16_t axl_normalise_sixteen(int8x16_t x, int32_t scale, int32x4_t begin, const int32_t *gain,
                                          const int32_t *offset, axl_norm norm)
{
    const int16x8_t low = vmovl_s8(vget_low_s8(x)), high = vmovl_s8(vget_high_s8(x));
    const int32x4_t a = axl_normalise_four(vget_low_s16(low), scale, begin, gain, offset, norm);
    const int32x4_t b = axl_normalise_four(vget_high_s16(low), scale, begin, gain + 4, offset + 4, norm);
    const int32x4_t c = axl_normalise_four(vget_low_s16(high), scale, begin, gain + 8, offset + 8, norm);
    const int32x4_t d = axl_normalise_four(vget_high_s16(high), scale, begin, gain + 12, offset + 12, norm);
    const int8x8_t left = vqmovn_s16(vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)));
    const int8x8_t right = vqmovn_s16(vcombine_s16(vqmovn_s32(c), vqmovn_s32(d)));
    return axl_within(vcombine_s8(left, right), norm.lo, norm.hi);
}
#endif

/* The sum of a row and of its squares. */
AXL_LAYER void axl_sums_of_row(const int8_t *restrict x, uint32_t width, int32_t *sum, int32_t *squares)
{
    uint32_t i = 0;
    uint32_t one = 0, two = 0;
#ifdef __ARM_NEON
    int32x4_t ones = vdupq_n_s32(0), twos = vdupq_n_s32(0);
    for (; i + 16 <= width; i += 16) {
        const int8x16_t next = vld1q_s8(&x[i]);
        ones = vpadalq_s16(ones, vpaddlq_s8(next));
        twos = vpadalq_s16(twos, vmull_s8(vget_low_s8(next), vget_low_s8(next)));
        twos = vpadalq_s16(twos, vmull_s8(vget_high_s8(next), vget_high_s8(next)));
    }
    const int32x2_t both = vpadd_s32(vpadd_s32(vget_low_s32(ones), vget_high_s32(ones)),
                                     vpadd_s32(vget_low_s32(twos), vget_high_s32(twos)));
    one = (uint32_t)vget_lane_s32(both, 0);
    two = (uint32_t)vget_lane_s32(both, 1);
#endif
    for (; i < width; i++) {
        one += (uint32_t)(int32_t)x[i];
        two += (uint32_t)(x[i] * x[i]);
    }
    *sum = (int32_t)one;
    *squares = (int32_t)two;
}

/* Layer norm of each row: (x * width - sum) * scale, rounded, times a gain and plus an offset for each column. The
 * scale of a row is `unit` over the root of its variance, in f32, each step rounded once. */
AXL_LAYER void axl_layer_norm_int8(int8_t *restrict out, const int8_t *restrict x, const int32_t *restrict gain,
                                   const int32_t *restrict offset, uint32_t rows, uint32_t width, float epsilon,
                                   float unit, axl_norm norm)
{
    for (uint32_t row = 0; row < rows; row++, x += width, out += width) {
        axl_preload(x + AXL_FETCHED, (width + 31) / 32);
        int32_t sum, squares;
        axl_sums_of_row(x, width, &sum, &squares);
        axl_preload(out + AXL_FETCHED, (width + 31) / 32); /* here, as four lines at most are on their way */
        const int64_t variance = (int64_t)squares * (int64_t)width - (int64_t)sum * sum;
        const int32_t scale = (int32_t)(unit / __builtin_sqrtf((float)variance + epsilon));
        uint32_t i = 0;
#ifdef __ARM_NEON
        const uint32_t begin = ((1u << norm.of_row) >> 1) - (uint32_t)sum * (uint32_t)scale;
        const int32_t whole = (int32_t)(width * (uint32_t)scale);
        const int32x4_t begins = vdupq_n_s32((int32_t)begin);
        for (; i + 16 <= width; i += 16)
            vst1q_s8(&out[i], axl_normalise_sixteen(vld1q_s8(&x[i]), whole, begins, &gain[i], &offset[i], norm));
#endif
        for (; i < width; i++)
            out[i] = axl_normalise_one(x[i], (int32_t)width, sum, scale, gain[i], offset[i], norm);
    }
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

/* A window's rows, columns, their strides, and the rows and columns of padding in front of the image. */
typedef struct {
    uint32_t rows, columns, down, right, above, left;
} axl_window;

/* line (0 .. `width`) = the largest of each column of the `rows` rows at `x`. */
AXL_LAYER void axl_max_of_rows(int8_t *restrict line, const int8_t *restrict x, uint32_t rows, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        line[i] = x[i];
    for (uint32_t row = 1; row < rows; row++)
        for (uint32_t i = 0; i < width; i++)
            line[i] = line[i] > x[row * width + i] ? line[i] : x[row * width + i];
}

#ifdef __ARM_NEON
/* The same 16 elements at `i` of axl_max_of_columns(), for steps of 1 or 2. */
AXL_LAYER int8x16_t axl_max_of_sixteen(const int8_t *line, uint32_t columns, uint32_t right)
{
    int8x16_t largest = vdupq_n_s8(-128);
    for (uint32_t column = 0; column < columns; column += right) {
        if (right == 1) {
            largest = vmaxq_s8(largest, vld1q_s8(&line[column]));
            continue;
        }
        const int8x16x2_t next = vld2q_s8(&line[column]);
        largest = vmaxq_s8(largest, next.val[0]);
        if (column + 1 < columns)
            largest = vmaxq_s8(largest, next.val[1]);
    }
    return largest;
}
#endif

/* out (0 .. `width`) = the largest of `columns` elements of `line`, from `right` times the index on. Up to 32 elements
 * behind the last one are read. */
AXL_LAYER void axl_max_of_columns(int8_t *restrict out, const int8_t *restrict line, uint32_t width, uint32_t columns,
                                  uint32_t right)
{
    uint32_t i = 0;
#ifdef __ARM_NEON
    if (right <= 2 && width >= 16) {
        for (; i + 16 <= width; i += 16)
            vst1q_s8(&out[i], axl_max_of_sixteen(&line[i * right], columns, right));
        if (i < width)
            vst1q_s8(&out[width - 16], axl_max_of_sixteen(&line[(width - 16) * right], columns, right));
        return;
    }
#endif
    for (; i < width; i++) {
        int8_t largest = line[i * right];
        for (uint32_t column = 1; column < columns; column++)
            largest = largest > line[i * right + column] ? largest : line[i * right + column];
        out[i] = largest;
    }
}

/* The largest of each window: x is planes x height x width, out planes x out_height x out_width. Padding is -128.
 * `line` has left + width elements, as many behind them as the last window needs, and 32 more. First along columns, which lie
 * apart by the width of the image, then along the row that is left of them. */
AXL_LAYER void axl_max_pool_int8(int8_t *restrict out, const int8_t *restrict x, int8_t *restrict line,
                                 uint32_t line_length, uint32_t planes, uint32_t height, uint32_t width,
                                 uint32_t out_height, uint32_t out_width, axl_window window)
{
    for (uint32_t i = 0; i < line_length; i++)
        line[i] = -128;
    for (uint32_t plane = 0; plane < planes; plane++) {
        for (uint32_t row = 0; row < out_height; row++, out += out_width) {
            const uint32_t first = row * window.down > window.above ? row * window.down - window.above : 0;
            const uint32_t end = row * window.down + window.rows - window.above;
            const uint32_t rows = (end < height ? end : height) - first;
            const int8_t *const from = &x[(plane * height + first) * width];
            axl_preload(from + window.rows * width + AXL_FETCHED, (window.down * width + 31) / 32);
            if (rows == window.rows)
                axl_max_of_rows(&line[window.left], from, window.rows, width);
            else
                axl_max_of_rows(&line[window.left], from, rows, width);
            axl_preload(out + AXL_FETCHED, (out_width + 31) / 32);
            axl_max_of_columns(out, line, out_width, window.columns, window.right);
        }
    }
}

#endif
