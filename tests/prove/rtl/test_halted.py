"""A device that has stopped: an invariant says that it stays so, and there is none for one that goes on."""

from __future__ import annotations

from axiloom import isa
from axiloom.isa.formal.beats import model_of
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes.halted import Halted
from axiloom.prove.rtl.terms import machine
from axiloom.prove.rtl.terms.referee import Referee

VERILOG = """
module top(input aclk, input aresetn, input [31:0] s_axis_tdata, input s_axis_tvalid, output s_axis_tready,
           output [31:0] m_axis_tdata, output m_axis_tvalid, input m_axis_tready, output [1:0] error);
  reg [1:0] stopped;
  reg [7:0] seen;
  reg full;
  assign s_axis_tready = !full;
  assign m_axis_tvalid = full;
  assign m_axis_tdata = seen;
  assign error = stopped;
  always @(posedge aclk) begin
    if (s_axis_tvalid) seen <= seen + 1;
    if (!aresetn) begin stopped <= 0; full <= 0; end
    else if (stopped == 0) begin
      if (s_axis_tvalid && s_axis_tdata[9:8] != 0) stopped <= s_axis_tdata[9:8];
      else full <= s_axis_tvalid && !full;
    end
  end
endmodule
"""


def device(verilog: str = VERILOG) -> Device:
    spec = isa.builtin("v3_4")
    read = machine.read((("top.v", verilog),), "top")
    return Device("top", spec, model_of(spec).ila, read, (), lambda *_: (), lambda a, b: a * b, error="error")


STOPPED = [("stopped", 0, 0), ("stopped", 1, 1), ("full", 0, 0)]


def test_what_stays_is_told_from_what_does_not() -> None:
    """The counter goes on, and does not matter."""
    halted = Halted(device(), Referee())
    assert halted.holds(2, [*STOPPED, *(("seen", place, 0) for place in range(8))])
    assert halted.holds(2, STOPPED)


def test_too_little_is_known() -> None:
    halted = Halted(device(), Referee())
    assert not halted.holds(2, STOPPED[:2])  # a word may be there still
    assert not halted.holds(2, [("full", 0, 0)])  # it may not have stopped
    assert not halted.holds(1, STOPPED)  # it tells another error


def test_one_that_goes_on() -> None:
    right = "    else if (stopped == 0) begin"
    assert right in VERILOG
    for wrong in (
        "    else if (stopped == 0 || s_axis_tdata == 9) begin",
        "    else if (stopped != 0 && seen == 200) full <= 1;\n" + right,
    ):
        assert not Halted(device(VERILOG.replace(right, wrong)), Referee()).holds(2, STOPPED)
