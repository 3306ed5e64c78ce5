"""Words that are refused stop a device: all of them, whatever comes after; one that is taken is found."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.isa.formal.beats import model_of
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes.claim import WORD
from axiloom.prove.rtl.opcodes.refused import Stopping
from axiloom.prove.rtl.terms import machine
from axiloom.prove.rtl.terms.referee import Referee

VERILOG = """
module top(input aclk, input aresetn, input [31:0] s_axis_tdata, input s_axis_tvalid, output s_axis_tready,
           output [31:0] m_axis_tdata, output m_axis_tvalid, input m_axis_tready, output [1:0] error);
  reg [31:0] size;
  reg [1:0] state;
  reg [1:0] stopped;
  reg full;
  assign s_axis_tready = state == 0;
  assign m_axis_tvalid = full;
  assign m_axis_tdata = size;
  assign error = stopped;
  always @(posedge aclk) begin
    if (state == 0 && s_axis_tvalid) begin size <= s_axis_tdata; state <= 1; end
    else if (state == 1 && stopped == 0) begin
      if (size == 0 || size > 12) begin stopped <= 2; state <= 0; end
      else begin state <= 2; full <= 1; end
    end
    else if (state == 2 && m_axis_tready) begin full <= 0; state <= 0; end
    if (!aresetn) begin state <= 0; stopped <= 0; full <= 0; end
  end
endmodule
"""
ZERO_AT_REST = {"state", "stopped", "full"}
REFUSED = z3.Or(WORD == 0, z3.UGT(WORD, 12))


def why(verilog: str, given: Any) -> str:
    """Why these words do not lead from rest to a state in which error 2 is told for ever."""
    spec = isa.builtin("v3_4")
    read = machine.read((("top.v", verilog),), "top")
    device = Device(
        "top", spec, model_of(spec).ila, read, (), lambda *_: (), lambda a, b: a * b, error="error"
    )
    stopping = Stopping(device, [*read.registers], Referee())
    registers = {
        name: z3.BitVecVal(0, one.size())
        if name.partition(" ")[0] in ZERO_AT_REST
        else z3.BitVec(f"{name}!any", one.size())
        for name, one in read.registers.items()
    }

    def holds(claim: Any) -> tuple[bool, dict[str, int]]:
        solver = z3.Solver()
        solver.add(given, z3.Not(claim))
        if solver.check() == z3.unsat:
            return True, {}
        model = solver.model()
        return False, {one.name(): model[one].as_long() for one in model}

    return stopping.stop(registers, 2, given, holds).why


def test_every_word_that_is_refused() -> None:
    assert not why(VERILOG, REFUSED)
    assert why(VERILOG, z3.UGT(WORD, 11)).startswith(("sends", "does not stop"))  # 12 is taken


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("size > 12", "size > 13", "sends"),
        ("size == 0 || ", "", "sends"),
        ("size > 12", "size[30:0] > 12", "sends"),
        ("stopped <= 2; state <= 0;", "stopped <= 2; state <= 0; full <= size[7];", "sends"),
        ("stopped <= 2; state <= 0;", "stopped <= size[8] ? 1 : 2; state <= 0;", "does not stop"),
    ],
)
def test_faults_are_found(right: str, wrong: str, reason: str) -> None:
    assert right in VERILOG
    assert why(VERILOG.replace(right, wrong, 1), REFUSED).startswith(reason)
