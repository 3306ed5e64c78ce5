"""float32 `div`: one row of adders for each bit of the quotient.

The rows do not restore: the next one adds the divisor where the rest became negative, and subtracts it
otherwise, so that a row has one LUT a bit. A quotient never lies in the middle between two numbers of 24
bits, so its 25th bit alone says how to round.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

_ROWS = 26
"""One bit before the point, 24 behind it, and one more where the first is 0."""
_A_STAGE = {10: 3, 14: 2, 27: 1}
"""Rows between two registers, by latency."""


class Quotient(Operator):
    """NaN of 0 / 0 and inf / inf; inf of any other number by 0."""

    forms = "div: float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return tuple(_A_STAGE) if name == "div" and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        x, y = (encoding.decode(operand) for operand in operands)
        with np.errstate(all="ignore"):
            return encoding.encode(x / y)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x, y = operands
        stages = Stages(m, name)
        zero_x, zero_y = encoding.is_zero(x), encoding.is_zero(y)
        large_x, large_y = encoding.exponent(x).all(), encoding.exponent(y).all()
        is_nan = encoding.is_nan(x) | encoding.is_nan(y) | (zero_x & zero_y) | (large_x & large_y)
        cycles = self.latency - 1
        kinds = Cat(is_nan, zero_x | large_y, zero_y | large_x, (x[31] ^ y[31]) & ~is_nan)
        is_nan, is_zero, is_infinite, sign = stages.later(stages.wire(kinds, "kinds"), "kind", cycles)
        exponent = encoding.exponent(x) - encoding.exponent(y) + Const(encoding.BIAS - 1)
        exponent = stages.later(stages.wire(exponent[:10], "difference"), "exponent", cycles)

        divisor: Value = Cat(encoding.fraction(y), 1)
        rest: Value = Cat(encoding.fraction(x), 1, 0, 0)
        bits: Value = Const(0, 0)
        negative: Value = Const(0, 1)
        for row in range(_ROWS):
            # 26 bits, of which the last is the sign.
            inverted = Cat(divisor, 0, 0) ^ (~negative).replicate(26)
            rest = stages.wire((rest + inverted + ~negative)[:26], f"rest_{row}")
            negative = rest[25]
            bits = Cat(~negative, bits)
            rest = Cat(0, rest[:25])
            if (row + 1) % _A_STAGE[self.latency] == 0 or row == _ROWS - 1:
                divisor = stages.later(divisor, f"divisor_{row}")
                rest = stages.later(rest, f"rest_{row}")
                bits = stages.later(bits, f"bits_{row}")
                negative = stages.later(negative, f"sign_{row}")

        return _rounded(stages, bits, exponent, is_nan, is_zero, is_infinite, sign)


def _rounded(
    stages: Stages,
    bits: Value,
    exponent: Value,
    is_nan: Value,
    is_zero: Value,
    is_infinite: Value,
    sign: Value,
) -> Value:
    """`exponent` is that of a quotient below 1."""
    is_one = bits[25]
    normal = Mux(is_one, bits[2:25], bits[1:24])
    # As in `multiply.py`: just below the smallest normal number.
    is_tiny = exponent[-1] | (~is_one & (exponent == 0))
    up = stages.wire(Mux(is_one, bits[1], bits[0]) | is_tiny, "up")
    packed = stages.wire((Cat(normal, exponent) + Cat(up, Const(0, 22), is_one))[:33], "packed")
    is_small = packed[32] | (packed[23:32] == 0)
    is_large = ~packed[32] & (packed[31] | packed[23:31].all())
    clear = stages.wire(is_nan | is_zero | is_infinite | is_small | is_large, "clear")
    full = stages.wire(is_nan | is_infinite | (is_large & ~is_zero), "full")
    fraction = Cat(Mux(clear, 0, packed[:22]), is_nan | (~clear & packed[22]))
    filled = Mux((is_zero | is_small) & ~full, 0, packed[23:31] | full.replicate(8))
    return stages.later(Cat(fraction, filled, sign), "result")
