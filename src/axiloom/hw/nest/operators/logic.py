"""Operators of truth values, and `select`."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module, Mux, Value

from axiloom.hw.nest.operators.formats import BOOL, FLOAT32, bits_of, whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages


class Logic(Operator):
    forms = "and, or, xor, not: bool and integers"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        number_format = whole(number)
        has_bits = number == BOOL or (number_format is not None and not number_format.is_fixed)
        return (0, 1) if name in ("and", "or", "xor", "not") and number == result and has_bits else ()

    def reference(self, *operands: Raw) -> Raw:
        x, *y = operands
        if self.name == "not":
            return np.bitwise_xor(x, x.dtype.type((1 << bits_of(self.number)) - 1))
        return {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[self.name](x, y[0])

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x, *y = operands
        if self.name == "not":
            result = ~x
        else:
            result = {"and": x & y[0], "or": x | y[0], "xor": x ^ y[0]}[self.name]
        return Stages(m, name).later(result, self.name, self.latency)


class Select(Operator):
    """Of a bool and two numbers, by `number`: the first number if the bool is 1, bit by bit as it is."""

    forms = "select: a bool and two operands of any format, the result in that format"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        has_format = number in (BOOL, FLOAT32) or whole(number) is not None
        return (0, 1) if name == "select" and number == result and has_format else ()

    def reference(self, *operands: Raw) -> Raw:
        condition, x, y = operands
        return np.where(condition.astype(bool), x, y)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        condition, x, y = operands
        return Stages(m, name).later(Mux(condition, x, y), "select", self.latency)
