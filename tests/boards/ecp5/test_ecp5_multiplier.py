"""The array's multiplier in carry chains: in every cycle what the one in mac_array.py gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.lib import wiring
from tests.boards.ecp5.icarus_bench import first_line

from axiloom import isa
from axiloom.boards.ecp5.enclosure import enclose
from axiloom.boards.ecp5.synthesis import MULTIPLIERS, in_carry_chains
from axiloom.boards.synthesis import yosys
from axiloom.hw.array.mac_array import Multiplier
from axiloom.hw.array.pair import PairMultiplier
from axiloom.hw.verilog import emit as verilog

_BENCH = """
module bench;
  reg aclk = 0;
  reg [31:0] a, b;
  wire [31:0] right, chains;
  golden one (.aclk(aclk), .aresetn(1'b1), .a(a), .b(b), .product(right));
  axiloom_multiplier_32 other (.aclk(aclk), .a(a), .b(b), .product(chains));
  integer cycle, differ = 0, zeros = 0;
  function [31:0] factor(input integer kind);
    case (kind & 7)
      0: factor = 32'hffffffff;
      1: factor = 32'h80000000;
      2: factor = $random & 32'h0001ffff;
      3: factor = $random | 32'hfffe0000;
      4: factor = 1 << ($random & 31);
      default: factor = $random;
    endcase
  endfunction
  initial begin
    for (cycle = 0; cycle < 100000; cycle = cycle + 1) begin
      a = factor($random);
      b = factor($random);
      #1 aclk = 1;
      #1 aclk = 0;
      if (cycle > 2 && chains !== right) differ = differ + 1;
      if (right === 0) zeros = zeros + 1;
    end
    $display("differ %0d, mostly zero %0d", differ, zeros > 50000);
    $finish;
  end
endmodule
"""


_PAIRS = """
module bench;
  reg aclk = 0;
  reg signed [7:0] high, low, shared;
  reg [24:0] number;
  wire [31:0] right, chains;
  wire [16:0] pair = {{high[7], high} - {8'b0, low[7]}, low};
  golden one (.aclk(aclk), .aresetn(1'b1), .pair(pair), .shared(shared), .both(right));
  axiloom_pair_8 other (.aclk(aclk), .pair(pair), .shared(shared), .both(chains));
  integer differ = 0, zeros = 0;
  initial begin
    for (number = 0; number < 25'd16777216; number = number + STEP) begin
      {high, low, shared} = number[23:0];
      #1 aclk = 1;
      #1 aclk = 0;
      if (number > 2 * STEP && chains !== right) differ = differ + 1;
      if (right === 32'h8000) zeros = zeros + 1;
    end
    $display("differ %0d, mostly zero %0d", differ, zeros > 16777216 / STEP / 2);
    $finish;
  end
endmodule
"""
"""Every STEP-th of all triples of elements."""


@pytest.mark.slow
@pytest.mark.synth
@pytest.mark.icarus
@pytest.mark.parametrize(
    ("own", "golden", "bench"),
    [
        ("axiloom_multiplier_32", Multiplier(32), _BENCH),
        ("axiloom_pair_8", PairMultiplier(), _PAIRS.replace("STEP", "13")),
    ],
    ids=["32", "pair"],
)
def test_it_gives_the_same_in_the_same_cycles(
    own: str, golden: Multiplier | PairMultiplier, bench: str, tmp_path: Path
) -> None:
    assert _run(own, golden, bench, MULTIPLIERS.read_text(encoding="utf-8"), tmp_path) == SAME


@pytest.mark.every(3)
@pytest.mark.synth
@pytest.mark.icarus
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("+ {6'b0, pair[7]}", ""),
        ("~low[6]", "low[6]"),
        ("- known", ""),
        ("high[0] & shared[6]", "1'b0"),
    ],
)
def test_a_wrong_pair_differs(right: str, wrong: str, tmp_path: Path) -> None:
    text = MULTIPLIERS.read_text(encoding="utf-8")
    assert right in text
    bench = _PAIRS.replace("STEP", "997")
    same = _run("axiloom_pair_8", PairMultiplier(), bench, text.replace(right, wrong), tmp_path) == SAME
    assert same == (right == wrong)


SAME = "differ 0, mostly zero 0"


def _run(own: str, golden: wiring.Component, bench: str, multipliers: str, tmp_path: Path) -> str:
    """What the bench says of the module `own` of `multipliers` and of the `golden` one."""
    (tmp_path / "multiplier.v").write_text(multipliers)
    yosys.run(
        f"""
read_verilog multiplier.v
read_verilog -overwrite +/lattice/cells_sim_ecp5.v
hierarchy -check -top {own}
proc
flatten
write_verilog -noattr plain.v
""",
        tmp_path,
        "print the multiplier",
    )
    (tmp_path / "golden.v").write_text(verilog.convert(golden, "golden"))
    (tmp_path / "bench.v").write_text(bench)
    return first_line(tmp_path, "bench.v", "golden.v", "plain.v")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["v3_4", *(pytest.param(conv, marks=pytest.mark.slow) for conv in ("conv_v3", "conv_v4"))]
)
def test_an_arrays_multipliers_are_found_by_their_width(name: str) -> None:
    of_32 = in_carry_chains(enclose(isa.builtin(name, data_type="int32")))
    assert {own for _, own in of_32} == {"axiloom_multiplier_32"}
    of_8 = in_carry_chains(enclose(isa.builtin(name, data_type="int8")))
    assert {own for _, own in of_8} == (set() if name == "conv_v3" else {"axiloom_pair_8"})
    assert in_carry_chains(enclose(isa.builtin(name, data_type="int16"))) == []
