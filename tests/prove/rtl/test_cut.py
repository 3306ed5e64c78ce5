"""Modules that are taken out of a machine: who waits behind them, and whose operands they get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import z3

from axiloom.base.errors import BuildError
from axiloom.prove.rtl.terms.cut import Part, with_functions, without
from axiloom.prove.rtl.terms.machine import Machine, read

TEXT = """module late (
  input  wire aclk,
  input  wire aresetn,
  input  wire [7:0] a,
  input  wire [7:0] b,
  output reg  [7:0] y = 8'h00
);
  always @(posedge aclk) y <= a - b;
endmodule

module whole (
  input  wire aclk,
  input  wire aresetn,
  input  wire [7:0] left,
  input  wire [7:0] right,
  output wire [7:0] found
);
  late own (.aclk(aclk), .aresetn(aresetn), .a(left), .b(right), .y(found));
endmodule
"""
F = z3.Function("f", *[z3.BitVecSort(8)] * 3)


def value(operands: Sequence[Any]) -> Any:
    return F(*operands)


def part(latency: int) -> Part:
    return Part({"a": 8, "b": 8}, "y", 8, latency, value)


def cut(text: str, latency: int = 2) -> Machine:
    parts = {"late": part(latency)}
    return with_functions(read((("whole.v", without(text, "late", parts["late"])),), "whole"), parts)


def after(machine: Machine, cycles: int) -> Any:
    """What comes out, of operands that stay."""
    state: dict[str, Any] = dict(machine.registers)
    step = machine.stepper()
    for _ in range(cycles):
        state, outputs = step(state, machine.inputs)
    return outputs["found"]


def test_a_module_becomes_a_function_that_is_as_late() -> None:
    machine = cut(TEXT)
    assert sorted(machine.registers) == ["own.stage1", "own.stage2"]
    assert sorted(machine.outputs) == ["found"]
    left, right = machine.inputs["left"], machine.inputs["right"]
    assert after(machine, 3).eq(F(left, right))
    assert not after(machine, 2).eq(F(left, right))


def test_at_once() -> None:
    machine = cut(TEXT, latency=0)
    assert not machine.registers
    assert after(machine, 1).eq(F(machine.inputs["left"], machine.inputs["right"]))


def test_operands_the_other_way_round_are_another_term() -> None:
    machine = cut(TEXT.replace(".a(left), .b(right)", ".a(right), .b(left)"))
    assert after(machine, 3).eq(F(machine.inputs["right"], machine.inputs["left"]))


def test_a_module_that_is_not_there() -> None:
    with pytest.raises(BuildError, match="there is no module early"):
        without(TEXT, "early", part(1))
