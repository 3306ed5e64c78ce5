"""Shifts of integers by another: what leaves the word is lost."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module, Mux, Value

from axiloom.hw.nest.operators.formats import whole
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.nest.operators.whole import signed_as


class Shift(Operator):
    """`shl` and `shr`, by the second operand's bits as a number without sign. `shr` of a signed number keeps
    the sign; beyond the word's width nothing is left but it."""

    forms = "shl, shr: integers, the result in the same format"
    registers_result = True

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        x = whole(number)
        is_one = name in ("shl", "shr") and number == result and x is not None and not x.is_fixed
        return (1, 0) if is_one else ()

    def reference(self, *operands: Raw) -> Raw:
        number = whole(self.number)
        assert number is not None
        x, raw = number.decode(operands[0]), operands[1].astype(object)
        distance = np.minimum(raw, number.bits)
        return number.encode(x << distance if self.name == "shl" else x >> distance)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        number = whole(self.number)
        assert number is not None
        stages = Stages(m, name)
        x, distance = operands
        low = (number.bits - 1).bit_length()
        near = distance[:low]
        moved = x << near if self.name == "shl" else signed_as(x, number) >> near
        is_signed = self.name == "shr" and number.signed
        rest = x[-1].replicate(number.bits) if is_signed else 0
        # A width that is no power of two: moves of it and more are in range of `near`, and leave the same.
        is_far = distance[low:].any() if low < number.bits else 0
        shifted = Mux(is_far, rest, moved[: number.bits])
        return stages.later(shifted, self.name, self.latency)
