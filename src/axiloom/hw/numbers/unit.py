"""A function as a module of its own, whose Verilog stands once, whatever the number of lanes.

A proof takes it out of a device's Verilog and puts the function's name in.

Each float unit of a row device is a module, whose Verilog stands once, as operators of nests do. So
``prove rtl --isa`` can take it out by its name, from the text that users get, and compare names of
functions: a solver would have to add floats otherwise. Before, units were wires and registers of the
device, and no tool could tell where one begins. Two registers had to change for an invariant between
commands: softmax's writes are 0 after a reset, and a store begins with its queue's first place. Neither
changes a cycle.
"""

from __future__ import annotations

import re

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.numbers.function import Function

OPERANDS = "ab"
RESULT = "y"


def module_name(function: Function) -> str:
    """In a device's Verilog the device's name stands before it."""
    return "number_" + _label(function)


def ports(function: Function) -> dict[str, int]:
    """Names of the operands' ports, and their bits."""
    return dict(zip(OPERANDS, function.operand_bits, strict=False))


class Unit(wiring.Component):
    """`function` by itself: ports ``a``, ``b`` and ``y``."""

    def __init__(self, function: Function) -> None:
        self._function = function
        operands = {name: In(bits) for name, bits in ports(function).items()}
        super().__init__({**operands, RESULT: Out(function.result_bits)})

    @property
    def function(self) -> Function:
        return self._function

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operands = [getattr(self, name) for name in ports(self.function)]
        m.d.comb += self.y.eq(self.function.build(m, _label(self.function), *operands))
        return m


def placed(m: Module, name: str, function: Function, *operands: Value) -> Value:
    """The result of `operands`, `function.latency` cycles later, by an instance of its module. Raises
    ValueError for operands of other widths."""
    widths = tuple(len(operand) for operand in operands)
    if widths != function.operand_bits:
        raise ValueError(f"{function.external} takes operands of {function.operand_bits} bits, not {widths}")
    inputs = {}
    for port, operand in zip(ports(function), operands, strict=True):
        wire = Signal(len(operand), name=f"{name}_{port}")
        m.d.comb += wire.eq(operand)
        inputs[f"i_{port}"] = wire
    result = Signal(function.result_bits, name=name)
    m.submodules[f"{name}_unit"] = Instance(
        module_name(function),
        i_aclk=ClockSignal(),
        i_aresetn=~ResetSignal(allow_reset_less=True),
        o_y=result,
        **inputs,
    )
    return result


def _label(function: Function) -> str:
    return re.sub(r"\W+", "_", function.external)
