"""A function as a module of its own, so that a proof can take it out of a device's Verilog and put its name in.

Equal modules become one in the Verilog, whatever the number of lanes.
"""

from __future__ import annotations

import re

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.qkv.numbers.function import Function

OPERANDS = "ab"
RESULT = "y"


def label(function: Function) -> str:
    """What names of its modules end with."""
    return re.sub(r"\W+", "_", function.external)


class Unit(wiring.Component):
    """`function` by itself: ports ``a``, ``b`` and ``y``."""

    def __init__(self, function: Function) -> None:
        self._function = function
        operands = zip(OPERANDS, function.operand_bits, strict=False)
        super().__init__({**{name: In(bits) for name, bits in operands}, RESULT: Out(function.result_bits)})

    @property
    def function(self) -> Function:
        return self._function

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operands = [getattr(self, name) for name, _ in zip(OPERANDS, self.function.operand_bits, strict=False)]
        m.d.comb += self.y.eq(self.function.build(m, label(self.function), *operands))
        return m


def placed(m: Module, name: str, function: Function, *operands: Value) -> Value:
    """The result of `operands`, `function.latency` cycles later, by a module of its own. Raises ValueError for
    operands of other widths."""
    widths = tuple(len(one) for one in operands)
    if widths != function.operand_bits:
        raise ValueError(f"{function.external} takes operands of {function.operand_bits} bits, not {widths}")
    unit = Unit(function)
    m.submodules[f"{name}_{label(function)}"] = unit
    for port, operand in zip(OPERANDS, operands, strict=False):
        m.d.comb += getattr(unit, port).eq(operand)
    result = Signal(function.result_bits, name=name)
    m.d.comb += result.eq(unit.y)
    return result
