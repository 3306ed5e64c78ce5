"""Output registers of an ECP5's block RAMs: which are taken, and that the same comes out in each cycle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.boards.ecp5.icarus_bench import beside_netlist
from tests.boards.ecp5.test_copies import cell
from tests.boards.ecp5.test_ecp5_registers import register

from axiloom.boards.ecp5.outputs import absorb_outputs

_ENABLED = {"CEMUX": "CE"}


def enabled(di: int, q: int, enable: int) -> dict[str, Any]:
    made = register(di, q, **_ENABLED)
    made["connections"]["CE"] = [enable]
    return made


def design(width: int = 18, **others: dict[str, Any]) -> dict[str, Any]:
    """A block RAM with two bits of each side read: nets 10 and 11 of A, 12 and 13 of B, by registers with the
    enable of net 5; out is net 40."""
    outputs = {f"DO{side}{bit}": [100 + bit + 50 * (side == "B")] for side in "AB" for bit in range(18)}
    outputs |= {"DOA0": [10], "DOA1": [11], "DOB0": [12], "DOB1": [13]}
    inputs: dict[str, list[Any]] = {"CLKA": [1], "CLKB": [1], "OCEA": ["1"], "OCEB": ["1"]}
    memory = cell("DP16KD", inputs, outputs)
    memory["parameters"] = {"DATA_WIDTH_B": f"{width:032b}", "REGMODE_A": "NOREG", "REGMODE_B": "NOREG"}
    cells = {"memory": memory} | {f"r_{bit}": enabled(10 + bit, 40 + bit, 5) for bit in range(4)}
    ports = {"out": {"direction": "output", "bits": [40]}, "in": {"direction": "input", "bits": [1, 5, 6]}}
    top = {"attributes": {"top": 1}, "cells": cells | others, "ports": ports, "netnames": {}}
    return {"modules": {"top": top}}


def taken(made: dict[str, Any]) -> tuple[set[str], str]:
    """Registers that are gone, and the sides with output registers."""
    gone = absorb_outputs(made)
    cells = made["modules"]["top"]["cells"]
    assert not set(gone) & set(cells)
    modes = cells["memory"]["parameters"]
    return set(gone), "".join(side for side in "AB" if modes[f"REGMODE_{side}"] == "OUTREG")


def test_registers_behind_both_sides_are_taken() -> None:
    made = design()
    assert taken(made) == ({"r_0", "r_1", "r_2", "r_3"}, "AB")
    ports = made["modules"]["top"]["cells"]["memory"]["connections"]
    now = {"DOA0": [40], "DOA1": [41], "DOB0": [42], "DOB1": [43], "OCEA": [5], "OCEB": [5]}
    assert {name: ports[name] for name in now} == now


def test_registers_without_enable_leave_the_output_enabled() -> None:
    made = design(r_2=register(12, 42), r_3=register(13, 43))
    assert taken(made)[1] == "AB"
    assert made["modules"]["top"]["cells"]["memory"]["connections"]["OCEB"] == ["1"]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("r_3", enabled(13, 43, 6)),
        ("r_3", register(13, 43)),
        ("r_3", register(13, 43) | {"type": "LUT4"}),
        ("r_3", enabled(13, 43, 5) | {"parameters": _ENABLED | {"CLKMUX": "CLK", "REGSET": "SET"}}),
        ("also", cell("LUT4", {"A": [13]}, {"Z": [50]})),
    ],
    ids=["two enables", "enabled and not", "no register", "set", "read elsewhere"],
)
def test_a_side_has_all_or_none(name: str, instead: dict[str, Any]) -> None:
    assert taken(design(**{name: instead})) == ({"r_0", "r_1"}, "A")
    assert taken(design(36, **{name: instead})) == (set(), "")


def test_a_register_of_another_clock_stays() -> None:
    other = enabled(13, 43, 5)
    other["connections"]["CLK"] = [6]
    assert taken(design(r_3=other)) == ({"r_0", "r_1"}, "A")


_TOP = """
module top (
  input wire clk, input wire [9:0] at, to, input wire write, go, pass, input wire [35:0] d,
  output reg [35:0] x, output wire [7:0] y
);
  (* no_rw_check *) reg [35:0] wide [0:511];
  (* no_rw_check *) reg [7:0] narrow [0:1023];
  reg [35:0] row;
  reg [7:0] element, held;
  always @(posedge clk) begin
    if (write) begin wide[to[8:0]] <= d; narrow[to] <= d[7:0]; end
    if (go) row <= wide[at[8:0]];
    if (pass) x <= row;
    element <= narrow[at];
    held <= element;
  end
  assign y = held;
endmodule
"""
_BENCH = """
module bench;
  reg clk = 0;
  reg [9:0] at, to;
  reg write, go, pass;
  reg [35:0] d;
  wire [35:0] x, x_of_netlist;
  wire [7:0] y, y_of_netlist;
  golden one (clk, at, to, write, go, pass, d, x, y);
  top other (clk, at, to, write, go, pass, d, x_of_netlist, y_of_netlist);
  integer cycle, differ = 0, zeros = 0;
  initial begin
    for (cycle = 0; cycle < 20000; cycle = cycle + 1) begin
      {write, go, pass} = cycle < 1024 ? 3'b111 : $random;
      d = {$random, $random};
      to = cycle < 1024 ? cycle : $random;
      at = to ^ (1 + $unsigned($random) % 1023); // never where it is written
      if (at[8:0] == to[8:0]) at = at ^ 1;
      #1 clk = 1;
      #1 clk = 0;
      if (cycle > 1030 && {x, y} !== {x_of_netlist, y_of_netlist}) differ = differ + 1;
      if (cycle > 1030 && (^x === 1'bx || ^y === 1'bx || x === 0)) zeros = zeros + 1;
    end
    $display("differ %0d, mostly zero or unknown %0d", differ, zeros > 10000);
    $finish;
  end
endmodule
"""


@pytest.mark.slow
@pytest.mark.synth
@pytest.mark.icarus
def test_the_netlist_does_what_the_verilog_does(tmp_path: Path) -> None:
    netlist, told = beside_netlist(tmp_path, _TOP, _BENCH)
    assert netlist.count('"OUTREG"') == 3  # both sides of the wide one, one of the other
    assert told == "differ 0, mostly zero or unknown 0"
