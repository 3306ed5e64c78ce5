"""Sums, extremes and comparisons of integers and of fixed-point numbers of one format. Sums wrap."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from amaranth.hdl import Module, Mux, Value

from axiloom.hw.nest.operators.formats import BOOL, Whole, whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
}


def signed_as(value: Value, number: Whole) -> Value:
    """Raw bits as a number of Amaranth."""
    return value.as_signed() if number.signed else value.as_unsigned()


class Sum(Operator):
    """``add``, ``sub``, and of one operand ``neg`` and ``abs``. ``abs`` of the lowest number is itself."""

    forms = "add, sub, neg, abs: integers and fixed<B,F>, the result in the same format"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        is_one = name in ("add", "sub", "neg", "abs") and number == result and whole(number) is not None
        return (1, 0) if is_one else ()

    def reference(self, *operands: Raw) -> Raw:
        number = whole(self.number)
        assert number is not None
        x, *y = (number.decode(operand) for operand in operands)
        if self.name == "add":
            return number.encode(x + y[0])
        if self.name == "sub":
            return number.encode(x - y[0])
        return number.encode(-x if self.name == "neg" else abs(x))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number = whole(self.number)
        assert number is not None
        x, *y = operands
        if self.name == "add":
            total = x + y[0]
        elif self.name == "sub":
            total = x - y[0]
        elif self.name == "neg":
            total = -x
        else:
            # One carry chain: the inverse and 1 for a negative number.
            negative = x[-1] & int(number.signed)
            total = (x ^ negative.replicate(number.bits)) + negative
        return Stages(m, name).later(total[: number.bits], "sum", self.latency)


class Extreme(Operator):
    forms = "max, min: integers and fixed<B,F>, the result in the same format"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (1, 0) if name in ("max", "min") and number == result and whole(number) is not None else ()

    def reference(self, *operands: Raw) -> Raw:
        number = whole(self.number)
        assert number is not None
        x, y = (number.decode(operand) for operand in operands)
        return number.encode(np.maximum(x, y) if self.name == "max" else np.minimum(x, y))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number = whole(self.number)
        assert number is not None
        x, y = operands
        first_is_less = signed_as(x, number) < signed_as(y, number)
        chosen = Mux(first_is_less ^ (self.name == "min"), y, x)
        return Stages(m, name).later(chosen, self.name, self.latency)


class Compare(Operator):
    forms = "lt, le, eq, ne, gt, ge: integers and fixed<B,F>, the result bool"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return (1, 0) if name in COMPARISONS and result == BOOL and whole(number) is not None else ()

    def reference(self, *operands: Raw) -> Raw:
        number = whole(self.number)
        assert number is not None
        x, y = (number.decode(operand) for operand in operands)
        return np.asarray(COMPARISONS[self.name](x, y)).astype(np.uint8)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number = whole(self.number)
        assert number is not None
        x, y = (signed_as(operand, number) for operand in operands)
        return Stages(m, name).later(COMPARISONS[self.name](x, y), self.name, self.latency)
