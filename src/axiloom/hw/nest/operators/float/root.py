"""float32 `sqrt`: one row of adders for each bit of the root. They do not restore, as in `divide.py`.

A root never lies in the middle between two numbers of 24 bits, so its 25th bit alone says how to round.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

_ROWS = 25
_A_STAGE = {10: 3, 14: 2, 26: 1}
"""Rows between two registers, by latency."""


class Root(Operator):
    """NaN of a negative number; of -0 it is -0."""

    forms = "sqrt: float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return tuple(_A_STAGE) if name == "sqrt" and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        with np.errstate(all="ignore"):
            return encoding.encode(np.sqrt(encoding.decode(operands[0])))

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        x = operands[0]
        stages = Stages(m, name)
        is_zero = encoding.is_zero(x)
        is_nan = encoding.is_nan(x) | (x[31] & ~is_zero)
        kinds = Cat(is_nan, is_zero, encoding.exponent(x).all(), x[31] & is_zero)
        is_nan, is_zero, is_infinite, sign = stages.later(
            stages.wire(kinds, "kinds"), "kind", self.latency - 1
        )
        # Half of the exponent: where it is odd (the bias is odd too), the number is from 1 to 2, else to 4.
        exponent = encoding.exponent(x)
        is_odd = exponent[0]
        halved = (exponent[1:] + Const(encoding.BIAS // 2) + is_odd)[:8]
        halved = stages.later(stages.wire(halved, "halved"), "exponent", self.latency - 1)

        significand = Cat(encoding.fraction(x), 1)
        # Two bits a row; the first row takes those before the point.
        pending: Value = Mux(is_odd, Cat(0, significand, 0), Cat(Const(0, 2), significand))
        rest: Value = Const(0, 2)
        root: Value = Const(0, 0)
        negative: Value = Const(0, 1)
        for row in range(_ROWS):
            digits = pending[-2:] if len(pending) else Const(0, 2)
            pending = pending[:-2] if len(pending) > 2 else Const(0, 0)
            width = row + 3
            # root 01 goes off a rest that is not negative, root 11 is added to one that is.
            step = Cat(1, negative, root, Const(0, width - row - 2))
            subtract = ~negative
            moved = (
                Cat(digits, rest)[:width] if len(rest) + 2 >= width else Cat(digits, rest, rest[-1])[:width]
            )
            next_rest = (moved + (step ^ subtract.replicate(width)) + subtract)[:width]
            rest = stages.wire(next_rest, f"rest_{row}")
            negative = rest[-1]
            root = Cat(~negative, root)
            if (row + 1) % _A_STAGE[self.latency] == 0 or row == _ROWS - 1:
                pending = stages.later(pending, f"pending_{row}") if len(pending) else pending
                rest = stages.later(rest, f"rest_{row}")
                root = stages.later(root, f"root_{row}")
                negative = stages.later(negative, f"sign_{row}")

        # The root's first bit is 1; no root is too small or too large.
        packed = stages.wire((Cat(root[1:24], halved) + root[0])[:31], "packed")
        clear = is_nan | is_zero | is_infinite
        full = is_nan | is_infinite
        fraction = Cat(Mux(clear, 0, packed[:22]), is_nan | (~clear & packed[22]))
        filled = Mux(is_zero, 0, packed[23:31] | full.replicate(8))
        return stages.later(Cat(fraction, filled, sign), "result")
