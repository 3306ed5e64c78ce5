"""The quotient of two bfloat16.

The significands, normalised, are divided a bit a cycle: ten bits, and one that says whether a rest is left.
That is enough to round once, also where the result is subnormal. The model divides in float32 and rounds
that: 24 bits are so many more than 2 x 8 that it is the same number.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.convert import NAN
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.places import kinds_of, normalised, rounded_up, shifted_right

_ROWS = 10
_FARTHEST = 11
_INFINITE = 255


class Divide(Function):
    """0 / 0 and inf / inf are NaN, a / 0 is infinite."""

    external = "bfloat16.div"
    operand_bits = (16, 16)
    result_bits = 16
    latency = 2 + _ROWS + 2

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        a, b = operands
        # 1, 2
        dividend, a_power = _normal(stages, a, "dividend")
        divisor, b_power = _normal(stages, b, "divisor")
        exponent = stages.later(
            stages.wire((a_power - b_power + encoding.BIAS)[:11], "exponents"),
            "exponent",
        )
        kinds = stages.later(_kinds(a, b), "kinds", _ROWS + 3)
        # Bits of dividend / divisor, from the one before the point on.
        rest: Value = stages.later(Cat(dividend, Const(0, 1)), "rest")
        divisor = stages.later(divisor, "divisor_2")
        bits: Value = Const(0, 0)
        for row in range(_ROWS):
            difference = stages.wire((rest - divisor)[:10], f"difference_{row}")
            fits = ~difference[9]
            left = stages.wire(Mux(fits, difference, rest)[:9], f"left_{row}")
            bits = stages.later(Cat(fits, bits), f"bits_{row}")
            rest = stages.later(Cat(Const(0, 1), left)[:9], f"rest_{row}")
            divisor = stages.later(divisor, f"divisor_{row + 3}")
        exponent = stages.later(exponent, "exponent_rows", _ROWS).as_signed()
        # The first bit of a quotient below 1 is the second one.
        is_one = bits[_ROWS - 1]
        above, below = Cat(rest.any(), bits), Cat(0, rest.any(), bits[: _ROWS - 1])
        digits = stages.wire(Mux(is_one, above, below)[:11], "digits")
        first = stages.wire((exponent - ~is_one)[:11], "first").as_signed()
        back = stages.wire((1 - first)[:11], "back")
        is_normal = first >= 1
        places = Mux(is_normal, 0, Mux(back > _FARTHEST, _FARTHEST, back))[:4]
        wide = shifted_right(stages, digits, stages.wire(places, "places"), "down")
        wide = stages.later(wide, "wide")
        high = stages.later(stages.wire(Mux(is_normal, first, 0)[:10], "high"), "high_later")
        # 8 bits, and three behind them
        base = Mux(wide[10], high, 0)
        packed = stages.wire((Cat(wide[3:10], base) + rounded_up(wide, 3))[:17], "packed")
        is_nan, is_zero, is_infinite, sign = kinds
        is_beyond = is_infinite | (packed[7:17] >= _INFINITE)
        magnitude = Mux(is_zero, 0, Mux(is_beyond, _INFINITE << 7, packed[:15]))[:15]
        return stages.later(stages.wire(Mux(is_nan, NAN, Cat(magnitude, sign)), "kind"), "result")


def _normal(stages: Stages, raw: Value, label: str) -> tuple[Value, Value]:
    """The significand with its first bit in front, and the exponent of that bit; a cycle later."""
    is_normal = raw[7:15].any()
    moved, zeros = normalised(stages, Cat(raw[:7], is_normal), Const(7, 3), f"{label}_zeros")
    power = ((raw[7:15] | ~is_normal) - zeros).as_signed()
    return stages.later(moved, label), stages.later(power[:10], f"{label}_power").as_signed()


def _kinds(a: Value, b: Value) -> Value:
    """Whether the quotient is NaN, 0, or infinite whatever the significands are; and its sign."""
    nan, infinite, zero = kinds_of(a, b)
    is_nan = nan[0] | nan[1] | (zero[0] & zero[1]) | (infinite[0] & infinite[1])
    return Cat(is_nan, zero[0] | infinite[1], infinite[0] | zero[1], a[15] ^ b[15])
