"""float32 `exp`, within one unit in the last place.

x = k ln 2 + r, with k the nearest integer to x / ln 2 or the one beside it; r = h + l, with h a multiple of
1/256 and l at most 1/512. Then exp(x) = 2^k exp(h) (1 + l + l^2 / 2): exp(h) from a table of 30 bits, the
rest in 29 bits behind the point. What is left out is l^3 / 6, less than 2^-29. `reference` computes the same
integers, so that its bits are those of the RTL. The largest error seen is 0.79 units in the last place.

DSP slices hold the products: for k, for k ln 2, for l^2, and the last one.
"""

from __future__ import annotations

import math

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

POINT = 29
"""Bits behind the point of |x|, r and exp(h)."""
_LN2 = round(math.log(2) * (1 << 36))
"""In units of 2^-36: k has seven bits."""
_INVERSE = round((1 << 12) / math.log(2))
_STEP = POINT - 8
"""Bits of l."""
_TABLE = [round(math.exp(h / 256) * (1 << POINT)) for h in (*range(128), *range(-128, 0))]
"""exp(h / 256) for h in eight bits of two's complement."""
_LARGE = encoding.BIAS + 7
"""The exponent of 128, beyond which nothing is in range."""


class Exponential(Operator):
    """inf above 88.72, 0 below -87.33."""

    forms = "exp: float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (9,) if name == "exp" and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        real = encoding.decode(operands[0])
        negative = np.signbit(real)
        is_inside = abs(real) < 128
        # All of these are exact: a float64 holds them, and truncation is the RTL's.
        size = np.floor(np.where(is_inside, abs(real), 0).astype(np.float64) * (1 << POINT)).astype(np.int64)
        k = ((size >> POINT - 6) * _INVERSE + (1 << 17)) >> 18
        rest = size - (k * _LN2 >> 36 - POINT)
        rest = np.where(negative, -rest, rest)
        h = (rest + (1 << _STEP - 1)) >> _STEP
        low = rest - (h << _STEP)
        square = (low >> 8) ** 2 >> 14
        p = (low + square) >> 3
        y = np.array(_TABLE, np.int64)[h & 255]
        y = y + ((y >> 6) * p >> 26 - 6)
        is_one = y >> POINT & 1
        y = np.where(is_one, y, y << 1)
        exponent = np.where(negative, -k, k) + encoding.BIAS - 1 + is_one
        kept = (y >> 6) + (y >> 5 & 1)
        packed = (kept - (1 << 23)) + (exponent << 23)
        is_small = ~is_inside & negative | (packed < 1 << 23)
        is_large = ~is_inside & ~negative | (packed >= 255 << 23)
        result = np.where(is_small & ~(~is_inside & ~negative), 0, np.where(is_large, 255 << 23, packed))
        return np.where(np.isnan(real), encoding.NAN, result).astype(np.uint32)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x = operands[0]
        stages = Stages(m, name)
        exponent, negative = encoding.exponent(x), x[31]
        is_beyond = exponent >= _LARGE
        kinds = stages.later(Cat(encoding.is_nan(x), is_beyond, negative), "kinds", 3)
        is_negative = kinds[2]

        # 1: |x|
        top = Cat(Const(0, POINT + 7 - 24), encoding.fraction(x), 1)
        distance = (Const(_LARGE - 1) - exponent)[:8]
        size = Mux(is_beyond | encoding.is_zero(x) | (distance[6:] != 0), 0, top >> distance[:6])
        size = stages.later(size, "size")
        # 2, 3: k, and k ln 2
        k = stages.later(((size[POINT - 6 :] * Const(_INVERSE) + Const(1 << 17)) >> 18)[:8], "k")
        part = stages.later((k * Const(_LN2))[36 - POINT : 44], "part")
        size, k = stages.later(size, "size_later", 2), stages.later(k, "k_later", 1)
        # 4: r
        rest = (size - part)[: POINT + 1].as_signed()
        rest = stages.later(Mux(is_negative, -rest, rest)[: POINT + 1], "rest")
        power = stages.later(Mux(is_negative, -k, k)[:9], "power")
        kinds = stages.later(kinds, "kinds_4")
        # 5: the table, l, l^2
        rounded = stages.wire((rest.as_signed() + Const(1 << _STEP - 1))[: POINT + 1], "rounded")
        h = stages.wire(rounded[_STEP : _STEP + 8], "h")
        low = stages.wire((rest - Cat(Const(0, _STEP), rounded[_STEP:]))[: _STEP + 1], "l").as_signed()
        base = stages.later(Cat(*(_looked_up(bit, h) for bit in range(POINT + 1))), "base")
        coarse = low[8:].as_signed()
        square = stages.later((coarse * coarse)[14:], "square").as_unsigned()
        low = stages.later(low, "low").as_signed()
        # 6, 7, 8: exp(h) (1 + p)
        p = stages.later(((low + square) >> 3)[:20], "p").as_signed()
        base = stages.later(base, "base_6")
        scaled = stages.later(base[6:] * p, "scaled")
        base = stages.later(base, "base_7")
        y = stages.later((base + (scaled >> 20))[: POINT + 1], "y")
        kinds, power = stages.later(kinds, "kinds_8", 4), stages.later(power, "power_8", 4).as_signed()
        # 9
        is_one = y[POINT]
        normal = Mux(is_one, y[6:POINT], y[5 : POINT - 1])
        up = Mux(is_one, y[5], y[4])
        biased = stages.wire((power + Const(encoding.BIAS - 1) + is_one)[:10], "biased")
        packed = stages.wire((Cat(normal, biased) + up)[:33], "packed")
        is_nan, is_beyond, is_negative = kinds
        is_small = Mux(is_beyond, is_negative, packed[32] | (packed[23:32] == 0))
        is_large = Mux(is_beyond, ~is_negative, ~packed[32] & (packed[31] | packed[23:31].all()))
        result = Mux(is_small, 0, Mux(is_large, 0x7F800000, packed[:31]))
        return stages.later(Cat(Mux(is_nan, encoding.NAN, result)[:31], Const(0, 1)), "result")


def _looked_up(bit: int, index: Value) -> Value:
    """A bit of the table, by LUTs: as a memory it would be put into a block RAM."""
    column = sum((word >> bit & 1) << place for place, word in enumerate(_TABLE))
    return Const(column, 256).bit_select(index, 1)
