"""What Verilator's linter says: of our Verilog, without what is waived, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.rtl_files.user_rtl import UserRtl


def test_lint_reports_what_is_not_waived() -> None:
    text = "module top (input wire a, input wire b, output wire c);\n  assign c = a;\nendmodule\n"
    assert [line.split(":")[0] for line in lint(text, "top")] == ["UNUSEDSIGNAL"]
    with pytest.raises(BuildError, match="Verilator refuses top: %Error: "):
        lint("module top (input wire a, output wire c); assign c = d + ; endmodule", "top")


def test_each_waiver_is_only_for_what_it_says() -> None:
    """A carry that is not used is waived; a truncation, a latch and a second driver are not."""
    carry = "module top (input wire [3:0] a, output wire [3:0] c);\n  wire [4:0] s = a + 4'h1;\n"
    assert lint(carry + "  assign c = s[3:0];\nendmodule\n", "top") == []
    truncated = "module top (input wire [3:0] a, output wire [1:0] c);\n  assign c = a;\nendmodule\n"
    assert [line.split(":")[0] for line in lint(truncated, "top")] == ["WIDTHTRUNC"]
    latch = "module top (input wire a, output reg c);\n  always @* if (a) c = 1'h0;\nendmodule\n"
    assert "LATCH" in [line.split(":")[0] for line in lint(latch, "top")]


def test_nothing_is_said_of_the_users_own_files(tmp_path: Path) -> None:
    user = tmp_path / "user.v"
    user.write_text(
        """
        module user (
            input wire clk, input wire unused,
            input wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready,
            output wire [31:0] m_axis_tdata, output wire m_axis_tvalid, input wire m_axis_tready,
            output wire m_axis_tlast
        );
          assign s_axis_tready = m_axis_tready;
          assign m_axis_tdata = s_axis_tdata[3:0];
          assign m_axis_tvalid = s_axis_tvalid;
          assign m_axis_tlast = 1'b1;
        endmodule
        """.replace("input wire unused,", "")
    )
    top = "module top (input wire a, input wire b, output wire c);\n  assign c = a;\nendmodule\n"
    said = lint(top, "top", UserRtl([user], "user"))
    assert [line.split(":")[0] for line in said] == ["UNUSEDSIGNAL"]
    assert "'b'" in said[0]
