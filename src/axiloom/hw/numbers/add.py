"""The sum of two float32, subnormal numbers too.

Steps: the larger magnitude is x; y goes right to x's exponent; the sum or the difference; normalised, but not
below the least exponent; rounded. What lies behind the last bit is three bits: two, and one for all the rest.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.places import normalised, rounded_up, shifted_right

_BEHIND = 3
_FARTHEST = 26
_INFINITE = 255


class Add(Function):
    """A difference of 0 is positive; inf - inf is NaN."""

    external = "float32.add"
    operand_bits = (32, 32)
    result_bits = 32
    latency = 5

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        a, b = operands
        # 1
        swap = a[:31] < b[:31]
        x = stages.later(stages.wire(Mux(swap, b, a), "larger"), "x")
        y = stages.later(stages.wire(Mux(swap, a, b), "smaller"), "y")
        # 2
        large = encoding.exponent(x).all()
        subtract = x[31] ^ y[31]
        is_nan = large & (encoding.fraction(x).any() | (encoding.exponent(y).all() & subtract))
        kinds = stages.later(Cat(subtract, is_nan, large, x[31]), "kinds")
        exponents = [encoding.exponent(operand) | ~encoding.exponent(operand).any() for operand in (x, y)]
        far = stages.wire((exponents[0] - exponents[1])[:8], "far")
        places = stages.wire(Mux(far > _FARTHEST, _FARTHEST, far)[:5], "places")
        moved = shifted_right(stages, _significand(y), places, "down")
        y_bits, x_bits = stages.later(moved, "y_moved"), stages.later(_significand(x), "x_bits")
        exponent = stages.later(exponents[0], "exponent")
        # 3
        total = stages.wire((x_bits + (y_bits ^ kinds[0].replicate(27)) + kinds[0])[:28], "sum")
        # A difference has no carry: the borrow that an inverted y lacks takes its place.
        total = stages.later(Cat(total[:27], total[27] & ~kinds[0]), "total")
        exponent = stages.later(exponent, "exponent_3")
        kinds = stages.later(kinds, "kinds_3")
        # 4
        carry = total[27]
        most = stages.wire((exponent - 1)[:8], "most")
        most = stages.wire(Mux(most > _FARTHEST + 1, _FARTHEST + 1, most)[:5], "most_places")
        left, zeros = normalised(stages, total[:27], most, "zeros")
        right = Cat(total[0] | total[1], total[2:28])
        bits = stages.later(stages.wire(Mux(carry, right, left), "bits"), "bits_4")
        power = stages.wire((exponent + carry - Mux(carry, 0, zeros))[:9], "power")
        # Without a first bit the number is subnormal, or 0.
        power = stages.later(Mux(carry | left[26], power, 0), "power_4")
        is_zero = stages.later(~total.any(), "is_zero")
        kinds = stages.later(kinds, "kinds_4")
        # 5
        packed = stages.wire((Cat(bits[_BEHIND:26], power) + rounded_up(bits, _BEHIND))[:32], "packed")
        subtract, is_nan, large, sign = kinds
        is_beyond = large | (packed[23:32] >= _INFINITE)
        magnitude = Mux(is_beyond, _INFINITE << 23, packed[:31])[:31]
        signed = Cat(magnitude, sign & ~(is_zero & subtract))
        return stages.later(stages.wire(Mux(is_nan, encoding.NAN, signed), "kind"), "result")


def _significand(raw: Value) -> Value:
    """24 bits, and those behind them."""
    return Cat(Const(0, _BEHIND), encoding.fraction(raw), encoding.exponent(raw).any())
