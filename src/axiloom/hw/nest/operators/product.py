"""Products of integers, which wrap, and of fixed-point numbers, as ``isa/numerics/fixed`` rounds them."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Value

from axiloom.hw.nest.operators.convert import resized, saturated
from axiloom.hw.nest.operators.formats import Whole, whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.nest.operators.whole import signed_as

_EXACT_BITS = 16


class Product(Operator):
    """Of integers: the low bits, in the same format or a wider integer: ``int16`` to ``int32`` is exact, and
    takes one DSP slice where ``int32`` takes three. Of ``fixed<B,F>`` in ``fixed<32,2F>``, B at most 16:
    exact. In its own format: rounded to F bits of fraction, halves up; it stops at the ends of the range if B
    is less than 32, and wraps if it is 32."""

    forms = (
        "mul: integers and fixed<B,F>, to the same format; integers to wider ones; fixed<B,F> to fixed<32,2F>"
    )

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        x, r = whole(number), whole(result)
        if (
            name != "mul"
            or x is None
            or r is None
            or not (number == result or _is_exact(x, r) or _is_wider(x, r))
        ):
            return ()
        rounds = int(_is_rounded(x, r))
        if x.bits <= 8:
            return (*range(1 + rounds, 5), *([] if rounds else [0]))
        if x.bits <= _EXACT_BITS + 1:
            return (*range(2 + rounds, 5), 1 + rounds)
        if x.bits <= 34:
            return (*range(3 + rounds, 6), 2 + rounds)
        return (5, 6)

    def reference(self, *operands: Raw) -> Raw:
        number, result = whole(self.number), whole(self.result)
        assert number is not None
        assert result is not None
        x, y = (number.decode(operand) for operand in operands)
        product = x * y
        if not number.is_fixed or number != result:
            return result.encode(product)
        half = (1 << number.fraction) >> 1
        rounded = (product + half) >> number.fraction
        return result.encode(rounded if result.bits == 32 else result.saturated(rounded))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number, result = whole(self.number), whole(self.result)
        assert number is not None
        assert result is not None
        stages = Stages(m, name)
        rounds = _is_rounded(number, result)
        x, y = (signed_as(operand, number) for operand in operands)
        cycles = self.latency - rounds
        # Registers before the multiplier and behind it, as a DSP slice has them: one behind it comes first,
        # then one behind the sum of its products, then one before it.
        before = max(0, cycles - (3 if number.bits > _EXACT_BITS + 1 else 2))
        x, y = stages.later(x, "x", before), stages.later(y, "y", before)
        keep = 2 * number.bits if rounds else result.bits
        product = stages.later(resized(x * y, keep), "product", cycles - before)
        if not rounds:
            return product
        rounded = (signed_as(product, number) + Const((1 << number.fraction) >> 1)) >> number.fraction
        if result.bits < 32:
            rounded = saturated(stages.wire(rounded, "rounded"), result)
        return stages.later(rounded[: result.bits], "result")


def _is_exact(number: Whole, result: Whole) -> bool:
    return (
        number.bits <= _EXACT_BITS
        and number.is_fixed
        and result == Whole(32, True, 2 * number.fraction, True)
    )


def _is_wider(number: Whole, result: Whole) -> bool:
    is_integer = not number.is_fixed and not result.is_fixed
    return is_integer and number.signed == result.signed and result.bits > number.bits


def _is_rounded(number: Whole, result: Whole) -> bool:
    return number.is_fixed and number == result and (number.fraction > 0 or number.bits < 32)
