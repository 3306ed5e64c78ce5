"""The product of two bfloat16 in float32: exact unless it is subnormal or infinite.

Steps: the significands' product; normalised, with the exponent of its first bit; to the right again where
that is subnormal, rounded and packed.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.places import kinds_of, normalised, rounded_up, shifted_right

_INFINITE = 255
_FARTHEST = 26
"""Places to the right behind which nothing is left but the bit that says so."""


class Product(Function):
    """``float32.mul`` of two operands that are bfloat16, as ``bfloat16.to_float32`` makes them."""

    external = "float32.mul of bfloat16"
    operand_bits = (16, 16)
    result_bits = 32
    latency = 4

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        (a, b) = operands
        # 1
        is_normal = [operand[7:15].any() for operand in operands]
        significands = [Cat(operand[:7], normal) for operand, normal in zip(operands, is_normal, strict=True)]
        exponents = [operand[7:15] | ~normal for operand, normal in zip(operands, is_normal, strict=True)]
        is_nan, is_infinite = _kinds(a, b)
        product = stages.later(significands[0] * significands[1], "product")
        exponent = stages.later(exponents[0] + exponents[1], "exponents")
        kinds = stages.later(Cat(is_nan, is_infinite, a[15] ^ b[15]), "kinds", 3)
        # 2
        moved, zeros = normalised(stages, product, Const(15, 4), "zeros")
        # The exponent of the first bit; 1 is the least of a normal number.
        first = (exponent - encoding.BIAS + 1 - zeros).as_signed()
        moved = stages.later(moved, "moved")
        first = stages.later(stages.wire(first[:11], "first"), "first_later").as_signed()
        # 3
        back = stages.wire((1 - first)[:11], "back")
        is_normal_result = first >= 1
        places = Mux(is_normal_result, 0, Mux(back > _FARTHEST, _FARTHEST, back))[:5]
        wide = shifted_right(stages, Cat(Const(0, 10), moved), stages.wire(places, "places"), "down")
        wide = stages.later(wide, "wide")
        high = stages.later(stages.wire(Mux(is_normal_result, first, 0)[:10], "high"), "high_later")
        # 4: 24 bits, and two behind them; the first bit is the exponent's lowest step
        up = rounded_up(wide, 2)
        base = Mux(wide[25], high, 0)
        packed = stages.wire((Cat(wide[2:25], base) + up)[:33], "packed")
        is_nan, is_infinite, sign = kinds
        is_beyond = is_infinite | (packed[23:33] >= _INFINITE)
        magnitude = Mux(is_beyond, _INFINITE << 23, packed[:31])[:31]
        result = Mux(is_nan, encoding.NAN, Cat(magnitude, sign))
        return stages.later(stages.wire(result, "packed_kind"), "result")


def _kinds(a: Value, b: Value) -> tuple[Value, Value]:
    """Whether the product is NaN, and whether it is infinite because an operand is."""
    nan, infinite, zero = kinds_of(a, b)
    is_nan = nan[0] | nan[1] | (infinite[0] & zero[1]) | (infinite[1] & zero[0])
    return is_nan, infinite[0] | infinite[1]
