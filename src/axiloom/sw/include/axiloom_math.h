/* Elementary functions of floats for what networks compute on the CPU, without libm.
 *
 * Only operations that IEEE 754 defines in every bit (+ - * /, conversions, comparisons; no fused multiply-add, the
 * toolchain compiles with -ffp-contract=off), so that a result is the same on every machine and in the reference
 * (drivergen/evaluate/elementary.py, which does the same steps). About 2 ulp; NaN gives NaN. Methods: Muller, "Elementary
 * Functions", ch. 11 (range reduction of exp by Cody and Waite, of sine by Payne and Hanek, log by atanh, log1p by
 * Kahan); Taylor series of tanh, erf and expm1 near 0. */
#ifndef AXILOOM_MATH_H
#define AXILOOM_MATH_H

#include <stdint.h>
#include <string.h>

#define AXL_MATH static inline __attribute__((unused))

AXL_MATH uint32_t axl_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

AXL_MATH float axl_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Halfway cases to even; 2^23 and more are whole already. */
AXL_MATH float axl_roundevenf(float x) {
    const float a = __builtin_fabsf(x);
    return a < 8388608.0f ? __builtin_copysignf((a + 8388608.0f) - 8388608.0f, x) : x;
}

AXL_MATH float axl_floorf(float x) {
    const float near = axl_roundevenf(x);
    return near > x ? near - 1.0f : near;
}

AXL_MATH float axl_ceilf(float x) {
    const float near = axl_roundevenf(x);
    return near < x ? near + 1.0f : near;
}

AXL_MATH float axl_rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }

/* 2^n for n from -126 to 127. */
AXL_MATH float axl_power_of_2(int32_t n) { return axl_float((uint32_t)(n + 127) << 23); }

AXL_MATH float axl_expf(float x) {
    if (x != x)
        return x;
    if (x > 88.8f)
        return __builtin_inff();
    if (x < -104.0f)
        return 0.0f;
    const float n = axl_roundevenf(x * 1.44269504f);
    const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.98412698e-4f;
    p = p * r + 1.38888889e-3f;
    p = p * r + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    const float e = (p * (r * r) + r) + 1.0f;
    /* In two steps: the result may be subnormal, or 2^n alone too large. */
    const int32_t half = (int32_t)n / 2;
    return (e * axl_power_of_2(half)) * axl_power_of_2((int32_t)n - half);
}

AXL_MATH float axl_logf(float x) {
    if (x != x || x < 0)
        return __builtin_nanf("");
    if (x == 0)
        return -__builtin_inff();
    if (x > 3.4028234e38f)
        return x;
    float e = 0;
    if (x < 1.17549435e-38f) {
        x = x * 33554432.0f;
        e = -25.0f;
    }
    /* x = m 2^e with m from sqrt(1/2) to sqrt(2) */
    const uint32_t bits = axl_bits(x) - 0x3F3504F3u;
    e = e + (float)((int32_t)bits >> 23);
    const float f = axl_float((bits & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s;
    float p = 2.22222222e-1f;
    p = p * z + 2.85714286e-1f;
    p = p * z + 4.0e-1f;
    p = p * z + 6.66666667e-1f;
    return e * 0.693359375f + ((s + s) + (s * (z * p) + e * -2.12194440e-4f));
}

AXL_MATH float axl_log1pf(float x) {
    const float u = 1.0f + x;
    if (!(u > 0) || u > 3.4028234e38f)
        return axl_logf(u);
    return axl_logf(u) - ((u - 1.0f) - x) / u; /* what the sum has lost */
}

AXL_MATH float axl_expm1f(float x) {
    if (!(__builtin_fabsf(x) < 1.0f))
        return axl_expf(x) - 1.0f;
    if (x == 0)
        return x;
    float p = 2.08767570e-9f;
    p = p * x + 2.50521084e-8f;
    p = p * x + 2.75573192e-7f;
    p = p * x + 2.75573192e-6f;
    p = p * x + 2.48015873e-5f;
    p = p * x + 1.98412698e-4f;
    p = p * x + 1.38888889e-3f;
    p = p * x + 8.33333333e-3f;
    p = p * x + 4.16666667e-2f;
    p = p * x + 1.66666667e-1f;
    p = p * x + 0.5f;
    return (p * x) * x + x;
}

/* x to the power n, as products by squaring. */
AXL_MATH float axl_powif(float x, int64_t n) {
    float y = 1.0f;
    for (uint64_t k = n < 0 ? 0u - (uint64_t)n : (uint64_t)n; k; k >>= 1) {
        if (k & 1u)
            y = y * x;
        x = x * x;
    }
    return n < 0 ? 1.0f / y : y;
}

/* The sine of x and so many quarter turns. */
AXL_MATH float axl_sine(float x, uint32_t quarters) {
    static const uint32_t one_over_2_pi[8] = {0,           0x28BE60DBu, 0x9391054Au, 0x7F09D5F4u,
                                              0x7D4D3770u, 0x36D8A566u, 0x4F10E410u, 0};
    const uint32_t bits = axl_bits(x) & 0x7FFFFFFFu;
    float r = x;
    if (bits >= 0x7F800000u)
        return __builtin_nanf("");
    if (bits > 0x3F490FDAu) { /* pi / 4: x / (2 pi) less whole turns, in 64 bits, of which the first two are quarters */
        const uint32_t shift = (bits >> 23) - 126u, *words = &one_over_2_pi[shift / 32], part = shift % 32;
        const uint64_t m = (uint64_t)((bits << 8) | 0x80000000u);
        uint64_t w[3];
        for (int i = 0; i < 3; i++)
            w[i] = (uint32_t)((((uint64_t)words[i] << 32 | words[i + 1]) << part) >> 32);
        const uint64_t turns = ((m * w[0]) << 32) + m * w[1] + ((m * w[2]) >> 32);
        const uint32_t whole = (uint32_t)((turns + (1ull << 61)) >> 62);
        r = (float)((double)(int64_t)(turns - ((uint64_t)whole << 62)) * 3.4061215800304934e-19);
        r = x < 0 ? -r : r;
        quarters += x < 0 ? 0u - whole : whole;
    }
    const float z = r * r;
    float p = (-1.9515295891e-4f * z + 8.3321608736e-3f) * z + -1.6666654611e-1f, y = (p * z) * r + r;
    if (quarters & 1u) {
        p = (2.443315711809948e-5f * z + -1.388731625493765e-3f) * z + 4.166664568298827e-2f;
        y = (p * z) * z - z * 0.5f + 1.0f;
    }
    return quarters & 2u ? -y : y;
}

AXL_MATH float axl_sinf(float x) { return axl_sine(x, 0); }

AXL_MATH float axl_cosf(float x) { return axl_sine(x, 1); }

AXL_MATH float axl_tanhf(float x) {
    const float a = __builtin_fabsf(x);
    if (!(a >= 0.5f)) {
        const float z = x * x;
        float p = 3.59212803e-3f;
        p = p * z + -8.86323553e-3f;
        p = p * z + 2.18694885e-2f;
        p = p * z + -5.39682540e-2f;
        p = p * z + 1.33333333e-1f;
        p = p * z + -3.33333333e-1f;
        return (p * z) * x + x;
    }
    const float t = a > 10.0f ? 1.0f : 1.0f - 2.0f / (axl_expf(a + a) + 1.0f);
    return x < 0 ? -t : t;
}

AXL_MATH float axl_erff(float x) {
    const float a = __builtin_fabsf(x), z = x * x;
    if (!(a >= 1.0f)) {
        float p = 1.31225333e-8f;
        p = p * z + -1.45038522e-7f;
        p = p * z + 1.46003659e-6f;
        p = p * z + -1.32275132e-5f;
        p = p * z + 1.06837607e-4f;
        p = p * z + -7.57575758e-4f;
        p = p * z + 4.62962963e-3f;
        p = p * z + -2.38095238e-2f;
        p = p * z + 1.0e-1f;
        p = p * z + -3.33333333e-1f;
        return ((p * z) * x + x) * 1.12837917f;
    }
    float e = 1.0f;
    if (a < 4.0f) {
        /* exp(x^2) erfc(x) on [1, 4] as a polynomial of 1 / (1 + x / 2), a Chebyshev fit: error 5e-8 */
        const float t = 1.0f / (1.0f + a * 0.5f);
        float p = -5.354057e-2f;
        p = p * t + -5.733846e-2f;
        p = p * t + 4.0383749e-1f;
        p = p * t + 1.0126916e-1f;
        p = p * t + 3.3084022e-1f;
        p = p * t + 2.7361827e-1f;
        p = p * t + 6.064e-4f;
        e = 1.0f - axl_expf(-z) * p;
    }
    return x < 0 ? -e : e;
}

#endif
