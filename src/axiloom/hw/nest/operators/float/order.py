"""float32 comparisons, `max`, `min`, `neg`, `abs`."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import BOOL, FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.nest.operators.whole import COMPARISONS


class Compare(Operator):
    """As C: nothing compares to NaN but `ne`, which holds; -0 equals 0."""

    forms = "lt, le, eq, ne, gt, ge: float32, the result bool"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (1, 0) if name in COMPARISONS and number == FLOAT32 and result == BOOL else ()

    def reference(self, *operands: Raw) -> Raw:
        x, y = (encoding.decode(operand) for operand in operands)
        return np.asarray(COMPARISONS[self.name](x, y)).astype(np.uint8)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x, y = operands
        if self.name in ("gt", "ge"):
            x, y = y, x
        none = encoding.is_nan(x) | encoding.is_nan(y)
        zeros = encoding.is_zero(x) & encoding.is_zero(y)
        if self.name in ("eq", "ne"):
            holds = ~none & (zeros | (x == y))
        elif self.name in ("lt", "gt"):
            holds = ~none & ~zeros & _is_less(x, y)
        else:
            holds = ~none & (zeros | ~_is_less(y, x))
        return Stages(m, name).later(~holds if self.name == "ne" else holds, self.name, self.latency)


class Extreme(Operator):
    """As C's fmaxf and fminf: of a number and NaN the number. The larger of -0 and 0 is 0."""

    forms = "max, min: float32"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (1, 0) if name in ("max", "min") and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        x, y = (encoding.decode(operand) for operand in operands)
        # np.fmax does not treat all NaNs alike.
        largest = np.where(x > y, x, y) if self.name == "max" else np.where(x < y, x, y)
        extreme = np.where(np.isnan(x), y, np.where(np.isnan(y), x, largest))
        negative = np.signbit(x) & np.signbit(y) if self.name == "max" else np.signbit(x) | np.signbit(y)
        zero = np.where(negative, np.float32(-0.0), np.float32(0.0))
        return encoding.encode(np.where((x == 0) & (y == 0), zero, extreme))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x, y = operands
        stages = Stages(m, name)
        no_x = stages.wire(encoding.is_nan(x), "no_x")
        no_y = stages.wire(encoding.is_nan(y), "no_y")
        is_second = stages.wire(no_x | (~no_y & (_is_less(x, y) ^ (self.name == "min"))), "is_second")
        chosen = stages.wire(Mux(is_second, y, x), "chosen")
        extreme = Mux(no_x & no_y, Const(encoding.NAN, 32), flushed(chosen))
        return stages.later(extreme, self.name, self.latency)


class Sign(Operator):
    """Like any operator they flush subnormals, and every NaN becomes 0x7fc00000."""

    forms = "neg, abs: float32"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (1, 0) if name in ("neg", "abs") and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        x = encoding.decode(operands[0])
        return encoding.encode(np.negative(x) if self.name == "neg" else np.abs(x))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x = operands[0]
        sign = ~x[31] if self.name == "neg" else Const(0, 1)
        result = Mux(encoding.is_nan(x), Const(encoding.NAN, 32), flushed(Cat(x[:31], sign)))
        return Stages(m, name).later(result, self.name, self.latency)


def _is_less(x: Value, y: Value) -> Value:
    """By sign and magnitude: -0 is less than 0."""
    larger = Mux(x[31], x[:31], y[:31])
    smaller = Mux(x[31], y[:31], x[:31])
    return Mux(x[31] ^ y[31], x[31], smaller < larger)


def flushed(raw: Value) -> Value:
    return Cat(Mux(encoding.is_zero(raw), 0, encoding.fraction(raw)), encoding.exponent(raw), raw[31])
