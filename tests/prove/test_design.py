"""Other people's RTL as a prover takes it: what is refused, where, and what acts as it does in hardware."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.prove import design

pytestmark = pytest.mark.synth


def read(folder: Path, body: str, *clocks: str, **given: dict[str, str]) -> design.Design:
    """`body` begins at line 2 of d.v."""
    file = folder / "d.v"
    ports = "input clk, input clk2, input rst, input e, input [1:0] d, output reg q, output reg r"
    file.write_text(f"module d #(parameter W = 2) ({ports});\n{body}\nendmodule\n")
    made = design.read([file], "d", design.VerilogOptions(**given))
    design.check_clocks(made, clocks or ("clk",))
    return made


RIGHT = "always @(posedge clk) q <= d[0];"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("wire g = clk & e;\nalways @(posedge g) q <= d[0];", r"d.v:3: .* on g, a clock that is made inside"),
        ("reg h;\nalways @(posedge clk) h <= !h;\nalways @(posedge h) q <= e;", r"d.v:4: .* on h, a clock"),
        (
            "always @(posedge clk2) q <= d[0];",
            r"d.v:2: .* on clk2, a second clock .*--clock clk --clock clk2",
        ),
        ("reg m[3:0];\nalways @(posedge clk2) m[d] <= e;\nalways @* q = m[d];", r"d.v:3: .* on clk2"),
        ("always @(negedge clk) q <= d[0];", r"d.v:2: a register on the falling edge of clk"),
        ("always @* if (e) q = d[0];", r"d.v:2: q is a latch"),
        ("wire x = e ? x & d[0] : d[1];\nalways @* q = x;", r"d.v:2: a loop of gates through .*x"),
        ("cell_of_a_library u (.a(e));", r"d.v:2: u is a cell_of_a_library, which is in none of the files"),
        ("always @* q = ;", r"module d: .*d.v:2: syntax error"),
        ("assign r = e; assign r = d[0];", r"has more than one driver"),
    ],
)
def test_what_is_no_circuit_of_one_clock(body: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=why):
        read(tmp_path, body)


def test_right_designs(tmp_path: Path) -> None:
    read(tmp_path, RIGHT)
    read(tmp_path, "always @(posedge clk2) q <= e;\n" + RIGHT.replace("q", "r"), "clk", "clk2")
    read(
        tmp_path, "wire c;\nassign c = clk;\nalways @(posedge c or posedge rst) if (rst) q <= 1; else q <= e;"
    )


def test_claims_are_named_and_left_out(tmp_path: Path) -> None:
    made = read(tmp_path, RIGHT + "\nalways @(posedge clk) begin assert (q); assume (e);\ncover (r); end")
    assert [one.rpartition("/")[2] for one in made.left_out] == [
        "d.v:3: assert",
        "d.v:3: assume",
        "d.v:4: cover",
    ]
    assert "$assume" not in made.rtlil
    assert "$check" not in made.rtlil


def test_parameters_and_macros(tmp_path: Path) -> None:
    (tmp_path / "width.vh").write_text("`define FROM 1\n")
    body = '`include "width.vh"\nreg [W-1:0] m;\nalways @(posedge clk) m <= {W{e}};\n'
    body += "always @* begin q = ^m; r = d[`FROM] & `BIT; end"
    made = read(tmp_path, body, parameters={"W": "7"}, defines={"BIT": "1"})
    assert "wire width 7 \\m" in made.rtlil
    with pytest.raises(BuildError, match="no parameter V"):
        read(tmp_path, RIGHT, parameters={"V": "7"})
