"""float32 `mul`: two DSP slices for the significands.

Steps, with registers between them: the product's two parts, as wide as a slice multiplies; their sum, in the
second slice; and one carry chain through significand and exponent that rounds.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

_LOW = 17
"""Unsigned bits of a slice's narrow operand (AMD UG479: 25 x 18, both signed)."""


class Product(Operator):
    """NaN of 0 * inf."""

    forms = "mul: float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (4, 3) if name == "mul" and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        x, y = (encoding.decode(operand) for operand in operands)
        with np.errstate(all="ignore"):
            return encoding.encode(x * y)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        x, y = (
            stages.later(operand, label, self.latency - 3)
            for operand, label in zip(operands, "xy", strict=True)
        )

        # 1, 2
        wide = Cat(encoding.fraction(x), 1)
        narrow = Cat(encoding.fraction(y), 1)
        low = stages.later(wide * narrow[:_LOW], "low")
        high = stages.later(wide * narrow[_LOW:], "high")
        rest = stages.later(low[:_LOW], "rest")
        upper = stages.later((high + low[_LOW:])[: 48 - _LOW], "upper")
        product = Cat(rest, upper)

        is_infinite = encoding.exponent(x).all() | encoding.exponent(y).all()
        is_zero = encoding.is_zero(x) | encoding.is_zero(y)
        is_nan = encoding.is_nan(x) | encoding.is_nan(y) | (is_infinite & is_zero)
        sign = (x[31] ^ y[31]) & ~is_nan
        kinds = stages.later(Cat(is_nan, is_infinite, is_zero & ~is_infinite, sign), "kinds", 2)
        # Less 127, and more 1 if the product is 2 or more: 128 less is one bit, and the 1 is added below.
        exponent = stages.later(encoding.exponent(x) + encoding.exponent(y), "exponents")
        exponent = stages.later((exponent - 127).as_unsigned()[:10], "exponent")

        # 3
        is_nan, is_infinite, is_zero, sign = kinds
        is_two = product[47]
        normal = Mux(is_two, product[24:47], product[23:46])
        half = Mux(is_two, product[23], product[22])
        lost = product[:22].any() | (is_two & product[22])
        # Just below the smallest normal number, all ones: without an exponent for them they are rounded up to
        # it. Others of that size become zero, whatever is added.
        is_tiny = exponent[-1] | (~is_two & (exponent == 0))
        up = stages.wire((half & (normal[0] | lost)) | is_tiny, "up")
        step = Cat(up, Const(0, 22), is_two)
        packed = stages.wire((Cat(normal, exponent) + step)[:33], "packed")
        is_small = (is_zero | packed[32] | (packed[23:32] == 0)) & ~is_infinite & ~is_nan
        is_large = ~packed[32] & (packed[31] | packed[23:31].all())
        result = Signal(32, name=f"{name}_result", reset_less=True)
        clear = is_small | is_large | is_infinite | is_nan
        m.d.sync += [
            result[:22].eq(Mux(clear, 0, packed[:22])),
            result[22].eq(is_nan | (~clear & packed[22])),
            result[23:31].eq(
                Mux(is_small, 0, packed[23:31] | (is_infinite | is_nan | is_large).replicate(8))
            ),
            result[31].eq(sign),
        ]
        return result
