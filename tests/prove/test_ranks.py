"""Why a word is taken at last, found from registers inside; and no reason is found where it is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.prove import abc
from axiloom.prove.axi import user
from axiloom.prove.verdict import Answer

DEVICE = """
module device (
  input wire aclk, input wire aresetn,
  input wire [7:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready,
  output wire [7:0] m_axis_tdata, output wire m_axis_tvalid, input wire m_axis_tready
);
  localparam TAKE = 0, WORK = 1, SEND = 2;
  reg [1:0] state;
  reg [7:0] x, last_x;
  reg [2:0] y;
  reg back;
  assign s_axis_tready = state == TAKE, m_axis_tvalid = state == SEND, m_axis_tdata = x;
  always @(posedge aclk)
    if (!aresetn) begin state <= TAKE; x <= 0; y <= 0; end
    else case (state)
      TAKE: if (s_axis_tvalid) begin last_x <= s_axis_tdata; back <= s_axis_tdata[0]; state <= WORK; end
      WORK: begin
        y <= y == 5 ? 0 : y + 1;
        if (y == 5) begin
          x <= NEXT;
          if (x == last_x) state <= TAKE; else if (x[0]) state <= SEND;
        end
      end
      default: if (m_axis_tready) state <= WORK;
    endcase
endmodule
"""
"""For each word it works through rows of columns, up to a bound that came with it, and sends in between."""


def said(place: Path, step: str, *edit: str) -> tuple[Answer, str, str]:
    file = place / "device.v"
    text = DEVICE.replace("NEXT", step)
    for old, new in zip(edit[::2], edit[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    module = user.read([file], "device")
    bench = user.bench(module, live=True)
    bench.alone("s_axis", "t_taken_live")
    ((verdict, _),) = abc.prove("device", bench, sources=module.sources, limit_s=20)
    return verdict.answer, verdict.solver, verdict.certified


@pytest.mark.parametrize("step", ["x + 1", "back ? x - 1 : x + 1"])
def test_a_rank_is_found_and_certified(tmp_path: Path, step: str) -> None:
    """1,536 cycles of work, with up to 128 words sent: no number of rounds that is tried is
    enough. The second has a number that falls for each value of `back`, and none for both."""
    assert said(tmp_path, step) == (Answer.HOLDS, "rank", "cadical195")


NEVER_0 = "if (s_axis_tvalid) begin", "if (s_axis_tvalid && s_axis_tdata != 0) begin"


def test_a_bound_that_is_reached_by_reached_states_alone(tmp_path: Path) -> None:
    """Where `last_x` is 0, it works for ever; it is no such word that starts it."""
    step = "x == last_x", "x == last_x - 1"
    assert said(tmp_path, "x + 1", *step, *NEVER_0) == (Answer.HOLDS, "rank", "cadical195")
    assert said(tmp_path, "x + 1", *step)[0] is Answer.VIOLATED


@pytest.mark.parametrize("step", ["x + 2", "x == 9 ? 3 : x + 1", "x ^ 1", "back ? x - 2 : x + 1"])
def test_what_may_never_be_taken_is_found(tmp_path: Path, step: str) -> None:
    """Planted: the bound is passed by, for one value of `back` alone in the last, or the rows begin again.
    Some loops are of hundreds of cycles."""
    assert said(tmp_path, step)[0] is Answer.VIOLATED
