"""The body of a process, laid out: what is dropped does nothing, what stays means the same."""

from __future__ import annotations

from textwrap import dedent

import pytest

from axiloom.hw.verilog.process import layout


def lines(process: str) -> list[str]:
    return layout(dedent(process).strip()).splitlines()


def test_one_statement_is_one_line() -> None:
    assert lines("always @(posedge clk)\n  a <= b;") == ["always @(posedge clk) a <= b;"]


def test_branches_are_nested_and_chained() -> None:
    assert lines("""
        always @(posedge clk) begin
          if (a) begin
            x <= 1'h1;
          end else if (b) begin
            x <= 1'h0;
            y <= 1'h1;
          end else begin
            y <= 1'h0;
          end
        end
    """) == [
        "always @(posedge clk) begin",
        "  if (a) x <= 1'h1;",
        "  else if (b) begin",
        "    x <= 1'h0;",
        "    y <= 1'h1;",
        "  end",
        "  else y <= 1'h0;",
        "end",
    ]


@pytest.mark.parametrize(("condition", "kept"), [("1'h1", "x <= 1'h1;"), ("1'h0", "x <= 1'h0;")])
def test_a_constant_condition_chooses(condition: str, kept: str) -> None:
    process = f"""
        always @* begin
          if ({condition}) begin
            x <= 1'h1;
          end else begin
            x <= 1'h0;
          end
        end
    """
    assert lines(process) == [f"always @* {kept}"]


def test_an_empty_branch_turns_the_condition_round() -> None:
    process = "always @* begin\nif ({}) begin\nend else begin\nx = 1'h0;\nend\ny = 1'h0;\nend"
    assert lines(process.format("a"))[1] == "  if (!a) x = 1'h0;"
    assert lines(process.format("a & b"))[1] == "  if (!(a & b)) x = 1'h0;"


def test_empty_arms_go_unless_they_keep_a_later_one_from_being_taken() -> None:
    process = """
        always @* begin
          casez (a)
            {}:
              ;
            2'h2:
              x = 1'h0;
            {}
          endcase
          y = 1'h0;
        end
    """
    assert lines(process.format("2'h1", "")) == [
        "always @* begin",
        "  case (a)",
        "    2'h2: x = 1'h0;",
        "    default: ;",
        "  endcase",
        "  y = 1'h0;",
        "end",
    ]
    assert "    2'b?1: ;" in lines(process.format("2'b?1", "")), "casez with priority"
    assert "    2'h1: ;" in lines(process.format("2'h1", "default:\n              x = 1'h1;"))


def test_a_case_without_effect_goes() -> None:
    process = "always @* begin\nx = a;\ncase (b)\n1'h0:\n;\n1'h1:\n;\nendcase\nend"
    assert lines(process) == ["always @* x = a;"]
