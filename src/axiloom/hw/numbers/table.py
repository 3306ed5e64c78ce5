"""Functions of one bfloat16 that are constant but for some exponents: a table of these.

An exponential is 1 below 2^-9 in size and 0 or infinite from 128 on, so that 16 exponents are left: 4096
entries, two block RAMs. The table is the model's own values; that the rest of the 65536 is constant is
checked here.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import memory as ram

from axiloom.base.errors import SpecError
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.function import Function
from axiloom.isa.instructions.externals import FUNCTIONS

_FRACTION = 7
_LARGE = 255
_EXPONENTS = 16


class Exponential(Function):
    """The model computes in float64 and rounds to float32, then to bfloat16: so do the entries."""

    external = "bfloat16.exp"
    operand_bits = (16,)
    result_bits = 16
    latency = 2
    least = 118
    """The lowest exponent in the table: below, all results are :attr:`small`."""
    small = 0x3F80
    beyond = (0x7F80, 0)
    """Results from the highest exponent of the table on, of positive and of negative numbers."""
    nan = 0x7FC0

    def entries(self) -> list[int]:
        """By sign, exponent and fraction. Raises SpecError if the table is not the whole function."""
        values = FUNCTIONS[self.external].python(np.arange(1 << 16))
        raw = np.arange(1 << 16)
        sign, exponent, fraction = raw >> 15, raw >> _FRACTION & _LARGE, raw & 127
        expected = np.where(exponent < self.least, self.small, np.asarray(self.beyond)[sign])
        expected = np.where((exponent == _LARGE) & (fraction != 0), self.nan, expected)
        inside = (exponent >= self.least) & (exponent < self.least + _EXPONENTS)
        wrong = np.flatnonzero(~inside & (values != expected))
        if wrong.size:
            value = f"{self.external} of {wrong[0]:#06x} is {values[wrong[0]]:#06x}"
            raise SpecError([f"{value}, outside of the table"])
        return [int(value) for value in values[inside]]

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        (raw,) = operands
        exponent = raw[_FRACTION:15]
        contents = ram.Memory(shape=16, depth=2 * _EXPONENTS << _FRACTION, init=self.entries())
        m.submodules[f"{name}_table"] = contents
        port = contents.read_port()
        m.d.comb += [
            port.en.eq(1),
            port.addr.eq(Cat(raw[:_FRACTION], (exponent - self.least)[:4], raw[15])),
        ]
        is_small = exponent < self.least
        is_beyond = exponent >= self.least + _EXPONENTS
        is_nan = exponent.all() & raw[:_FRACTION].any()
        small, nan, *beyond = (Const(value, 16) for value in (self.small, self.nan, *self.beyond))
        other = Mux(is_small, small, Mux(is_nan, nan, Mux(raw[15], beyond[1], beyond[0])))
        kept = stages.later(Cat(other, is_small | is_beyond), "other")
        return stages.later(stages.wire(Mux(kept[16], kept[:16], port.data), "found"), "result")
