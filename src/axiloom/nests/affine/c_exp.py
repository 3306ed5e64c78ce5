"""`exp` of float32 in C, with the bits that ``hw/nest/operators/float/exponential.py`` describes."""

from __future__ import annotations

import math

POINT = 29


def c_exp() -> str:
    """``float circuit_exp(float)``, of operands that are flushed."""
    table = ", ".join(str(round(math.exp(h / 256) * (1 << POINT))) for h in (*range(128), *range(-128, 0)))
    ln2, inverse = round(math.log(2) * (1 << 36)), round((1 << 12) / math.log(2))
    step = POINT - 8
    return f"""\
static const int64_t exp_table[256] = {{{table}}};
static inline float circuit_exp(float x)
{{
    if (x != x) return x;
    if (!(__builtin_fabsf(x) < 128)) return x < 0 ? 0 : __builtin_inff();
    int64_t size = (int64_t)__builtin_floor((double)__builtin_fabsf(x) * {1 << POINT}.0);
    int64_t k = ((size >> {POINT - 6}) * {inverse} + (1 << 17)) >> 18;
    int64_t rest = size - (k * {ln2}L >> {36 - POINT});
    if (__builtin_signbit(x)) rest = -rest, k = -k;
    int64_t h = (rest + (1 << {step - 1})) >> {step}, low = rest - (h << {step});
    int64_t square = (low >> 8) * (low >> 8) >> 14, p = (low + square) >> 3, y = exp_table[h & 255];
    y += (y >> 6) * p >> 20;
    int64_t one = y >> {POINT} & 1;
    if (!one) y <<= 1;
    int64_t packed = (y >> 6) + (y >> 5 & 1) - (1 << 23) + ((k + 126 + one) << 23);
    if (packed < 1 << 23) return 0;
    if (packed >= 255L << 23) return __builtin_inff();
    union {{ uint32_t bits; float value; }} result = {{(uint32_t)packed}};
    return result.value;
}}
"""
