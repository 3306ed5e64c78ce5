"""Counting an ECP5's cells, and which products leave a part that has too few multipliers."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5.synthesis import (
    LFE5U_85F,
    PRODUCT_MAP,
    VERILOG,
    Ecp5Resources,
    count,
    synthesise,
    to_luts,
)
from axiloom.boards.synthesis import yosys

PRODUCTS = r"""
  attribute \src "core.v:1"
  cell $mul $mul$core.v:1$1
    parameter \A_SIGNED 0
    parameter \B_SIGNED 0
    parameter \A_WIDTH 17
    parameter \B_WIDTH 17
    parameter \Y_WIDTH 32
  end
  cell $mul \cross_a
    parameter \A_WIDTH 15
    parameter \B_WIDTH 17
    parameter \Y_WIDTH 15
  end
  cell $mul \wide
    parameter signed \A_WIDTH 32
    parameter \B_WIDTH 18
    parameter \Y_WIDTH 50
  end
"""


def test_cells_are_counted_as_the_device_has_them() -> None:
    cells = {
        "LUT4": 10,
        "CCU2C": 3,
        "PFUMX": 5,
        "TRELLIS_FF": 7,
        "TRELLIS_DPR16X4": 2,
        "MULT18X18D": 4,
        "DP16KD": 1,
    }
    assert count(cells) == Ecp5Resources(multiplier=4, lut=28, ff=7, ebr=1)
    assert count(cells).fits(LFE5U_85F)
    assert not Ecp5Resources(multiplier=157, lut=0, ff=0, ebr=0).fits(LFE5U_85F)


def test_a_cell_that_nobody_knows() -> None:
    with pytest.raises(BuildError, match="no ECP5 resources are known for the cells DP16KX"):
        count({"LUT4": 1, "DP16KX": 2})


@pytest.mark.parametrize(
    ("multipliers", "chosen"),
    [
        (4, []),
        (3, ["cross_a", "$mul$core.v:1$1"]),  # not all that there are may be taken
        (2, ["cross_a", "$mul$core.v:1$1", "wide"]),
        (0, ["cross_a", "$mul$core.v:1$1", "wide"]),
    ],
)
def test_the_narrowest_products_leave_first(multipliers: int, chosen: list[str]) -> None:
    assert to_luts(PRODUCTS, multipliers) == chosen


def test_products_that_leave_are_spread() -> None:
    dump = "".join(
        f"cell $mul $flatten\\row_{row}.$mul$core.v:{line}$1\n"
        "parameter \\A_WIDTH 15\nparameter \\B_WIDTH 15\nparameter \\Y_WIDTH 15\n"
        for row in range(4)
        for line in (7, 8)
    )
    assert to_luts(dump, 8) == []
    assert to_luts(dump, 7) == [f"$flatten\\row_{row}.$mul$core.v:7$1" for row in (0, 1)]
    assert to_luts(dump, 4)[3:] == ["$flatten\\row_3.$mul$core.v:7$1", "$flatten\\row_0.$mul$core.v:8$1"]


@pytest.mark.slow
@pytest.mark.synth
def test_a_product_in_luts_is_the_same_product(tmp_path: Path) -> None:
    """Three multipliers in a part with two: the netlist has one, and no register is lost."""
    verilog = """
module top (
  input wire aclk, input wire [16:0] a, input wire [14:0] b, input wire signed [6:0] c,
  output reg [31:0] x, output reg [14:0] y, output reg signed [11:0] z
);
  always @(posedge aclk) begin
    x <= a * a;
    y <= a * b;
    z <= c * c;
  end
endmodule
"""
    netlist = synthesise(
        (("top.v", verilog),),
        "top",
        lambda _kind, _key, build: build(tmp_path) or tmp_path,
        Ecp5Resources(2, 0, 0, 0),
    )
    assert netlist.resources.multiplier == 1
    assert netlist.resources.ff == 32 + 15 + 12
    assert "MULT18X18D" in (tmp_path / VERILOG).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.synth
@pytest.mark.parametrize("widths", [(7, 7, 7), (5, 8, 13), (8, 3, 9), (4, 2, 5), (6, 9, 4)])
def test_the_map_of_products_is_proved(widths: tuple[int, int, int], tmp_path: Path) -> None:
    """Bits of both factors and of the product: for all factors what the carry chains give is A * B."""
    a, b, y = (width - 1 for width in widths)
    ports = f"(input [{a}:0] a, input [{b}:0] b, output [{y}:0] y)"
    (tmp_path / "product.v").write_text(f"""
module right {ports}; assign y = a * b; endmodule
module mapped {ports}; assign y = a * b; endmodule
module both (input [{a}:0] a, input [{b}:0] b, output differ);
  wire [{y}:0] one, other;
  right r (a, b, one);
  mapped m (a, b, other);
  assign differ = one != other;
endmodule
""")
    (tmp_path / "map.v").write_text(PRODUCT_MAP.read_text(encoding="utf-8"))
    yosys.run(
        """
read_verilog product.v
read_verilog -lib -specify +/lattice/cells_sim_ecp5.v
techmap -map map.v mapped/t:$mul
select -assert-none mapped/t:$mul
select -assert-any mapped/t:CCU2C
read_verilog -overwrite +/lattice/cells_sim_ecp5.v
hierarchy -top both
proc
flatten
opt -full
sat -verify -prove differ 0 both
""",
        tmp_path,
        "prove a product",
    )


@pytest.mark.slow
@pytest.mark.synth
def test_the_core_is_counted_without_what_is_around_it(tmp_path: Path) -> None:
    verilog = """
module axiloom_core (input wire aclk, input wire [7:0] a, output wire [7:0] x);
  part inner (aclk, a, x);
endmodule
module part (input wire aclk, input wire [7:0] a, output reg [7:0] x);
  always @(posedge aclk) x <= x + a;
endmodule
module top (input wire aclk, input wire bit_in, output wire bit_out);
  reg [7:0] fed, seen;
  wire [7:0] outputs;
  always @(posedge aclk) begin
    fed <= {fed[6:0], bit_in};
    seen <= outputs ^ {seen[6:0], 1'b0};
  end
  assign bit_out = seen[7];
  axiloom_core core (aclk, fed, outputs);
endmodule
"""
    netlist = synthesise((("top.v", verilog),), "top", lambda _kind, _key, build: build(tmp_path) or tmp_path)
    assert netlist.resources.ff == 8
    assert (tmp_path / VERILOG).read_text(encoding="utf-8").count("\nmodule ") == 1  # one netlist to route
