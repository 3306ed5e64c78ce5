"""Making Yosys' Verilog readable: what is rewritten, and what must not be."""

from __future__ import annotations

import re
from textwrap import dedent

from axiloom.hw.verilog.tidy import tidy


def body(verilog: str) -> list[str]:
    """Statements of the only module, after its ports and declarations."""
    text = tidy(dedent(verilog).lstrip())
    after_ports = text[text.index(");\n") + 3 : text.rindex("endmodule")]
    return [line[2:] for line in after_ports.splitlines() if not re.match(r"  (wire|reg) ", line)]


def test_bits_are_inlined_and_a_register_is_one_process() -> None:
    assert body(r"""
        module top(clk, rst, start, stop, full, tready, active);
          wire \$1 ;
          wire \$2 ;
          wire \$3 ;
          wire \$40 ;
          input clk;
          input rst;
          input start;
          wire start;
          input stop;
          wire stop;
          input [3:0] full;
          wire [3:0] full;
          output tready;
          wire tready;
          output active;
          reg active = 1'h0;
          assign \$1  = ~ stop;
          assign \$2  = full != 4'hf;
          assign \$3  = active & \$1 ;
          assign tready = \$3  & \$2 ;
          always @(posedge clk)
            active <= \$40 ;
          always @* begin
            if (\$auto$verilog_backend.cc:2355:dump_module$36 ) begin end
            \$40  = active;
            if (start) begin
              \$40  = 1'h1;
            end
            if (stop) begin
              \$40  = 1'h0;
            end else if (rst) begin
              \$40  = 1'h0;
            end
          end
        endmodule
    """) == [
        "assign tready = active & ~stop & (full != 4'hf);",
        "always @(posedge clk) begin",
        "  if (start) active <= 1'h1;",
        "  if (stop) active <= 1'h0;",
        "  else if (rst) active <= 1'h0;",
        "end",
    ]  # fmt: skip


def test_always_runs_at_time_zero_whatever_the_language() -> None:
    """What it reads may be a register with a value, which in SystemVerilog does not change at time 0. Another
    signal of that name is left alone."""
    text = tidy(
        dedent(r"""
        module top(x, c, y);
          reg \$auto$verilog_backend.cc:2355:dump_module$3  = 0;
          reg _start = 1'h1;
          input c;
          wire c;
          input x;
          wire x;
          output y;
          reg y;
          always @(posedge c)
            _start <= x;
          always @* begin
            if (\$auto$verilog_backend.cc:2355:dump_module$3 ) begin end
            y = 1'h0;
            if (_start) begin
              y = 1'h1;
            end
          end
        endmodule
        """).lstrip()
    )
    assert text[text.index(");\n") + 3 :].splitlines() == [
        "  reg _start_2;",
        "  reg _start = 1'h1;",
        "  always @(posedge c) _start <= x;",
        "  always @* begin",
        "    if (_start_2) begin end",
        "    y = 1'h0;",
        "    if (_start) y = 1'h1;",
        "  end",
        "  initial _start_2 = 1'h0;",
        "endmodule",
    ]


HEADER = """
        module top(a, b, c, x);
          wire [7:0] \\$1 ;
          wire \\$2 ;
          wire [4:0] \\$3 ;
          input [7:0] a;
          wire [7:0] a;
          input [3:0] b;
          wire [3:0] b;
          input c;
          wire c;
          output [7:0] x;
          wire [7:0] x;
          output y;
          wire y;
          output [3:0] z;
          wire [3:0] z;
"""


def test_what_nobody_reads_goes() -> None:
    assert body(
        HEADER
        + r"""
          assign \$2  = ! a;
          assign \$1  = a & b;
          assign y = c;
        endmodule
    """
    ) == ["assign y = c;"]


def test_equal_modules_are_one_and_unread_inputs_go() -> None:
    leaf = r"""
        module \top.leaf_{i} (a, unused, y);
          input a;
          wire a;
          input unused;
          wire unused;
          output y;
          wire y;
          assign y = ~ a;
        endmodule
    """
    top = r"""
        module top(a, y, z);
          input a;
          wire a;
          output y;
          wire y;
          output z;
          wire z;
          \top.leaf_0  leaf_0 (
            .a(a),
            .unused(z),
            .y(y)
          );
          \top.leaf_1  leaf_1 (
            .a(a),
            .unused(a),
            .y(z)
          );
        endmodule
    """
    text = tidy(dedent(top) + "".join(dedent(leaf.replace("{i}", str(i))) for i in range(2)))
    assert re.findall(r"^module (\w+)", text, re.MULTILINE) == ["top", "top_leaf"]
    assert "  top_leaf leaf_0 (\n    .a(a),\n    .y(y)\n  );" in text
    assert "  top_leaf leaf_1 (\n    .a(a),\n    .y(z)\n  );" in text


def test_an_output_that_a_register_keeps_stays_an_output() -> None:
    """The register's next value is a port: its process must go on driving it."""
    text = """module m(aclk, a, y, z);
  input aclk;
  wire aclk;
  input a;
  wire a;
  output y;
  reg y;
  output z;
  reg z = 1'h0;
  always @(posedge aclk)
    z <= y;
  always @* begin
    y = 1'h0;
    if (a) begin
      y = 1'h1;
    end
  end
endmodule
"""
    found = tidy(text, ["aclk", "a", "y", "z"])
    assert "z <= y;" in found
    assert "y = 1'h1;" in found
