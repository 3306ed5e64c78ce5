"""Registers within an ECP5's multipliers: which are taken, and that the same comes out in the same cycles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.boards.ecp5.icarus_bench import beside_netlist
from tests.boards.ecp5.test_copies import cell

from axiloom.boards.ecp5.registers import IN_MULTIPLIER, absorb_registers


def register(di: int, q: int, **parameters: str) -> dict[str, Any]:
    made = cell("TRELLIS_FF", {"DI": [di], "CLK": [1], "LSR": ["0"]}, {"Q": [q]})
    made["parameters"] = {"CEMUX": "1 ", "CLKMUX": "CLK", "REGSET": "RESET"} | parameters
    return made


def design(**registers: dict[str, Any]) -> dict[str, Any]:
    """Two multipliers: a (net 10) with b (11) and with c (12), products 20 and 21; out is net 40."""
    cells = {"a": register(2, 10), "b": register(3, 11), "c": register(4, 12)}
    for number, factor in enumerate((11, 12)):
        factors = {f"{side}{bit}": ["0"] for side in "AB" for bit in range(18)}
        product = {f"P{bit}": [100 * (number + 1) + bit] for bit in range(36)}
        inputs = factors | {"A0": [10], "B0": [factor]}
        cells[f"mult_{number}"] = cell("MULT18X18D", inputs, product | {"P0": [20 + number]})
        cells[f"p_{number}"] = register(20 + number, 40 + number)
    ports = {"out": {"direction": "output", "bits": [40]}, "in": {"direction": "input", "bits": [1, 2, 3, 4]}}
    top = {"attributes": {"top": 1}, "cells": cells | registers, "ports": ports, "netnames": {}}
    return {"modules": {"top": top}}


def taken(made: dict[str, Any]) -> tuple[set[str], list[bool]]:
    gone = absorb_registers(made)
    cells = made["modules"]["top"]["cells"]
    assert not set(gone) & set(cells)
    return set(gone), [IN_MULTIPLIER in cells[f"mult_{number}"]["parameters"] for number in range(2)]


def test_registers_on_both_sides_are_taken() -> None:
    made = design()
    assert taken(made) == ({"a", "b", "c", "p_0", "p_1"}, [True, True])
    ports = made["modules"]["top"]["cells"]["mult_1"]["connections"]
    now = {"A0": [2], "B0": [4], "P0": [41], "CLK0": [1], "CE0": ["1"], "RST0": ["0"]}
    assert {name: ports[name] for name in now} == now


def test_a_register_with_other_ends_stays() -> None:
    assert taken(design(other=cell("LUT4", {"A": [10]}, {"Z": [50]}))) == (
        {"b", "c", "p_0", "p_1"},
        [True] * 2,
    )


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("c", register(4, 12, CEMUX="CE")),
        ("c", register(4, 12, REGSET="SET")),
        ("c", register(4, 12) | {"type": "LUT4"}),
        ("p_1", register(21, 41, CLKMUX="INV")),
        ("also", cell("LUT4", {"A": [21]}, {"Z": [50]})),
    ],
    ids=["enable", "set", "no register", "other edge", "product read elsewhere"],
)
def test_a_multiplier_has_all_or_none(name: str, instead: dict[str, Any]) -> None:
    gone, within = taken(design(**{name: instead}))
    assert within == [True, False]
    assert gone == {"b", "p_0"}


def test_a_register_between_two_multipliers_is_in_one() -> None:
    made = design(c=register(20, 12))  # the product of one is a factor of the other
    del made["modules"]["top"]["cells"]["p_0"]
    assert taken(made) == ({"b", "c"}, [True, False])
    made = design(a=register(21, 10))
    del made["modules"]["top"]["cells"]["p_1"]
    assert taken(made) == ({"b", "p_0"}, [True, False])


_TOP = """
module top (
  input wire clk, input wire signed [17:0] a, b, input wire [15:0] c, d,
  output reg [35:0] x, output reg [31:0] y
);
  reg signed [17:0] a_1 = 0, b_1 = 0;
  reg [15:0] c_1 = 0, d_1 = 0;
  initial x = 0;
  initial y = 0;
  always @(posedge clk) begin
    a_1 <= a; b_1 <= b ^ x[17:0]; c_1 <= c; d_1 <= d;
    x <= a_1 * b_1;
    y <= c_1 * d_1 + c_1;
  end
endmodule
"""
_BENCH = """
module bench;
  reg clk = 0;
  reg [17:0] a, b;
  reg [15:0] c, d;
  wire [35:0] x, x_of_netlist;
  wire [31:0] y, y_of_netlist;
  golden one (clk, a, b, c, d, x, y);
  top other (clk, a, b, c, d, x_of_netlist, y_of_netlist);
  integer cycle, differ = 0, zeros = 0;
  initial begin
    for (cycle = 0; cycle < 20000; cycle = cycle + 1) begin
      {a, b} = {$random, $random}; {c, d} = $random;
      #1 clk = 1;
      #1 clk = 0;
      if (cycle > 4 && {x, y} !== {x_of_netlist, y_of_netlist}) differ = differ + 1;
      if (x === 0) zeros = zeros + 1;
    end
    $display("differ %0d, mostly zero %0d", differ, zeros > 10000);
    $finish;
  end
endmodule
"""


@pytest.mark.slow
@pytest.mark.synth
@pytest.mark.icarus
def test_the_netlist_does_what_the_verilog_does(tmp_path: Path) -> None:
    netlist, told = beside_netlist(tmp_path, _TOP, _BENCH)
    assert netlist.count("REG_INPUTA_CLK") == 1  # the other's product has no register
    assert told == "differ 0, mostly zero 0"
