"""Conversions between float32 and integers, fixed-point numbers and truth values."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.convert import ends, saturated
from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import BOOL, FLOAT32, Whole, whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.nest.operators.whole import signed_as


def _format(name: str) -> Whole | None:
    return Whole(1, signed=False) if name == BOOL else whole(name)


class FromFloat(Operator):
    """To an integer: towards zero, as C. To fixed-point: to the nearest, halves up. What lies outside
    the range becomes its end, NaN becomes 0. To bool: whether it is not 0; NaN is true."""

    forms = "convert: float32 to integers and fixed<B,F> to bool"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        is_one = name == "convert" and number == FLOAT32 and _format(result) is not None
        return ((0, 1) if result == BOOL else (3,)) if is_one else ()

    def reference(self, *operands: Raw) -> Raw:
        reals = encoding.decode(operands[0])
        if self.result == BOOL:
            return (reals != 0).astype(np.uint8)
        number = whole(self.result)
        assert number is not None
        x = np.where(np.isnan(reals), np.float32(0), reals).astype(np.float64) * 2.0**number.fraction
        beyond = 2.0 ** (number.bits + 1)
        x = np.clip(x, -beyond, beyond)
        # Halves are only where adding one is exact.
        units = np.where(abs(x) < 2.0**30, np.floor(x + 0.5), x) if number.is_fixed else np.trunc(x)
        whole_units = np.array([int(unit) for unit in units], object)
        return number.encode(number.saturated(whole_units))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x = operands[0]
        stages = Stages(m, name)
        if self.result == BOOL:
            return stages.later(~encoding.is_zero(x), "converted", self.latency)
        number = whole(self.result)
        assert number is not None
        # As wide as the result and one bit more, the point behind it; moved right until its exponent is 0.
        bits = max(number.bits + 1, encoding.FRACTION + 2)
        aligned = Cat(Const(0, bits - 24), encoding.fraction(x), 1)
        distance = Const(encoding.BIAS + bits - 1 - number.fraction) - encoding.exponent(x)
        is_beyond = distance < 0
        is_small = distance > bits
        kinds = stages.later(Cat(is_beyond, encoding.is_nan(x), x[31]), "kinds")
        sign = kinds[2]
        kinds = stages.later(kinds, "kinds2")
        is_gone = is_small | encoding.is_zero(x)
        aligned = stages.later(Mux(is_gone, 0, aligned), "aligned")
        distance = stages.later(distance[:7], "distance")

        wide = Cat(Const(0, bits + 1), aligned) >> distance
        units, half = wide[bits + 1 : 2 * bits + 1], wide[bits]
        # Halves up: with a sign, to the smaller magnitude.
        up = half & (~sign | wide[:bits].any()) if number.is_fixed else Const(0, 1)
        units, up = stages.later(units, "units"), stages.later(up, "up")

        is_beyond, is_nan, negative = kinds
        signed = stages.wire(_signed_sum(units, up, negative), "signed")
        inside = saturated(signed, number)
        lowest, highest = ends(number)
        beyond = Mux(negative, lowest, highest)
        return stages.later(Mux(is_nan, 0, Mux(is_beyond, beyond, inside)), "converted")


def _signed_sum(units: Value, up: Value, negative: Value) -> Value:
    """units + up, or its negative: ~units + 1 - up."""
    inverted = Cat(units, 0, 0) ^ negative.replicate(len(units) + 2)
    step = Mux(negative, ~up, up)
    return (inverted + step)[: len(units) + 2].as_signed()


class ToFloat(Operator):
    """To the nearest, halves to even. true is 1."""

    forms = "convert: integers and fixed<B,F> and bool, to float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        is_one = name == "convert" and result == FLOAT32 and _format(number) is not None
        return ((0, 1) if number == BOOL else (3,)) if is_one else ()

    def reference(self, *operands: Raw) -> Raw:
        number = _format(self.number)
        assert number is not None
        units = number.decode(operands[0]).astype(np.int64 if number.signed else np.uint64)
        return encoding.encode(np.ldexp(units.astype(np.float32), -number.fraction))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        number = _format(self.number)
        assert number is not None
        if self.number == BOOL:
            pattern = Cat(Const(0, 23), operands[0].replicate(7), Const(0, 2))
            return stages.later(pattern, "converted", self.latency)
        value = signed_as(operands[0], number)
        negative = value[-1] if number.signed else Const(0, 1)
        magnitude = ((value ^ negative.replicate(number.bits)) + negative)[: number.bits]
        magnitude = stages.later(magnitude, "magnitude")
        sign = stages.later(negative, "sign", 2)

        # Normalised by 16, 8, 4, 2 and 1 bits; the exponent is that of the last bit less what was moved.
        size = 32 if number.bits <= 32 else 64
        normal = Cat(Const(0, size - number.bits), magnitude)
        moved: list[Value] = []
        for shift in (32, 16, 8, 4, 2, 1) if size == 64 else (16, 8, 4, 2, 1):
            is_moved = stages.wire(~normal[size - shift :].any(), f"by_{shift}")
            moved_left = Cat(Const(0, shift), normal[: size - shift])
            normal = stages.wire(Mux(is_moved, moved_left, normal), f"left_{shift}")
            moved.insert(0, is_moved)
        normal = stages.later(normal, "normal")
        moved = stages.later(Cat(*moved), "moved")

        top = encoding.BIAS + number.bits - 1 - number.fraction - 1
        low = size - 24
        up = normal[low - 1] & (normal[low] | normal[: low - 1].any())
        exponent = (Const(top) - moved)[:8]
        # The leading 1 is added to the exponent.
        packed = (Cat(normal[low:-1], exponent) + Cat(up, Const(0, 22), 1))[:31]
        return stages.later(Mux(normal[-1], Cat(packed, sign), 0), "converted")
