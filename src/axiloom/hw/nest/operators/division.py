"""Division of integers: one row of adders for each bit of the quotient, which do not restore, two between
registers."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.formats import whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

_ROWS_A_STAGE = 2


class Division(Operator):
    """`div` goes towards zero, `rem` has the sign of the first operand, as in C. By 0 the quotient has all
    bits set and the remainder is the first operand; the lowest number by -1 is itself."""

    forms = "div, rem: integers, the result in the same format"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        x = whole(number)
        is_one = name in ("div", "rem") and number == result and x is not None and not x.is_fixed
        return (-(-x.bits // _ROWS_A_STAGE) + 2,) if is_one and x is not None else ()

    def reference(self, *operands: Raw) -> Raw:
        number = whole(self.number)
        assert number is not None
        x, y = (number.decode(operand) for operand in operands)
        is_none = y == 0
        quotient = abs(x) // np.where(is_none, 1, abs(y)) * np.where((x < 0) == (y < 0), 1, -1)
        if self.name == "div":
            return number.encode(np.where(is_none, -1, quotient))
        return number.encode(np.where(is_none, x, x - quotient * y))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number = whole(self.number)
        assert number is not None
        stages, bits = Stages(m, name), number.bits
        x, y = operands
        negative_x, negative_y = (operand[-1] if number.signed else Const(0, 1) for operand in operands)
        is_negative = negative_x ^ negative_y if self.name == "div" else negative_x
        if self.name == "div":
            is_negative = is_negative & y.any()  # by 0, all ones stay
        is_negative = stages.later(stages.wire(is_negative, "negate"), "negative", self.latency - 1)
        pending: Value = stages.later(_magnitude(x, negative_x), "x")
        divisor: Value = stages.later(_magnitude(y, negative_y), "y")

        rest: Value = Const(0, bits + 1)
        quotient: Value = Const(0, 0)
        below: Value = Const(0, 1)
        for row in range(bits):
            moved = Cat(pending[-1], rest)[: bits + 1]
            pending = pending[:-1]
            step = Cat(divisor, 0) ^ (~below).replicate(bits + 1)
            rest = stages.wire((moved + step + ~below)[: bits + 1], f"rest_{row}")
            below = rest[-1]
            quotient = Cat(~below, quotient)
            if (row + 1) % _ROWS_A_STAGE == 0 or row == bits - 1:
                if len(pending):
                    pending = stages.later(pending, f"pending_{row}")
                divisor = stages.later(divisor, f"divisor_{row}")
                rest, below = stages.later(rest, f"partial_{row}"), stages.later(below, f"below_{row}")
                quotient = stages.later(quotient, f"quotient_{row}")
        if self.name == "rem":
            chosen = (rest + Mux(below, divisor, 0))[:bits]
        else:
            chosen = quotient
        return stages.later(_magnitude(chosen, is_negative), "result")


def _magnitude(value: Value, negative: Value) -> Value:
    """`value`, or its negation."""
    return ((value ^ negative.replicate(len(value))) + negative)[: len(value)]
