"""Conversions among integers, fixed-point numbers and truth values.

From integer to integer the low bits are kept, as in C. Where a format is fixed-point, a number that lies
between two of the result is rounded to the nearest, halves up, and one outside its range becomes the range's
end. A truth value is 0 or 1, and any number but 0 is true.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.formats import BOOL, Whole, whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.nest.operators.whole import signed_as

_TRUTH = Whole(1, signed=False)


def _format(name: str) -> Whole | None:
    return _TRUTH if name == BOOL else whole(name)


class Convert(Operator):
    forms = "convert: among integers, fixed<B,F> and bool"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        x, r = _format(number), _format(result)
        if name != "convert" or x is None or r is None or number == result:
            return ()
        return (1, 0) if x.is_fixed or r.is_fixed else (0, 1)

    @property
    def is_wired(self) -> bool:
        number, result = _format(self.number), _format(self.result)
        assert number is not None
        assert result is not None
        is_cut = result is not _TRUTH and not number.is_fixed and not result.is_fixed
        return is_cut and self.latency == 0

    def reference(self, *operands: Raw) -> Raw:
        number, result = _format(self.number), _format(self.result)
        assert number is not None
        assert result is not None
        units = number.decode(operands[0])
        if result is _TRUTH:
            return (units != 0).astype(np.uint8)
        if not number.is_fixed and not result.is_fixed:
            return result.encode(units)
        shift = result.fraction - number.fraction
        if shift >= 0:
            return result.encode(result.saturated(units << shift))
        return result.encode(result.saturated((units + ((1 << -shift) >> 1)) >> -shift))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number, result = _format(self.number), _format(self.result)
        assert number is not None
        assert result is not None
        stages = Stages(m, name)
        value = signed_as(operands[0], number)
        if result is _TRUTH:
            return stages.later(value.any(), "converted", self.latency)
        shift = result.fraction - number.fraction
        if shift > 0:
            value = Cat(Const(0, shift), value)
            value = value.as_signed() if number.signed else value
        elif shift < 0:
            value = stages.wire((value + Const((1 << -shift) >> 1)) >> -shift, "rounded")
        if number.is_fixed or result.is_fixed:
            converted = saturated(value, result)
        else:
            converted = resized(value, result.bits)
        return stages.later(converted, "converted", self.latency)


def ends(number: Whole) -> tuple[Const, Const]:
    """The lowest and the highest number, as raw bits: a choice with a sign in it would get a bit more."""
    mask = (1 << number.bits) - 1
    return Const(number.lowest & mask, number.bits), Const(number.highest, number.bits)


def resized(value: Value, bits: int) -> Value:
    """The low bits, or more bits of the same value."""
    if len(value) >= bits:
        return value[:bits]
    more = value[-1] if value.shape().signed else Const(0, 1)
    return Cat(value, more.replicate(bits - len(value)))


def saturated(value: Value, number: Whole) -> Value:
    """`value`, or the end of the format's range that it lies beyond."""
    signed = value.shape().signed
    lowest, highest = ends(number)
    magnitude = number.bits - number.signed
    if len(value) - signed <= magnitude and (number.signed or not signed):
        return resized(value, number.bits)
    negative = value[-1] if signed else Const(0, 1)
    end = len(value) - signed
    above = value[magnitude:end] if magnitude < end else Const(0, 1)
    if not number.signed:
        return Mux(negative, lowest, Mux(above.any(), highest, resized(value, number.bits)))
    is_inside = Mux(negative, above.all(), ~above.any())
    return Mux(is_inside, resized(value, number.bits), Mux(negative, lowest, highest))
