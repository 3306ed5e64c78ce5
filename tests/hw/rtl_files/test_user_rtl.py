"""The user's Verilog: whose port is which, and what is said when it does not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.rtl_files.user_rtl import EXPECTED, UserRtl
from axiloom.hw.verilog.emit import emit
from axiloom.isa.contract.rtl import RtlPorts

ECHO = """
module echo #(parameter W = 32) (
  input wire clk, input wire rst_n,
  input wire [W-1:0] in__tdata, input wire in__tvalid, output wire in__tready,
  output reg [31:0] do_tdata, output reg do_tvalid, input wire do_tready, output reg do_tlast, output wire led
);
  assign in__tready = ~do_tvalid | do_tready;
  assign led = do_tvalid;
  always @(posedge clk)
    if (!rst_n) do_tvalid <= 0;
    else if (in__tready) begin
      do_tvalid <= in__tvalid; do_tdata <= in__tdata; do_tlast <= 1;
    end
endmodule
"""


def written(folder: Path, text: str, name: str = "echo.v") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def message(folder: Path, text: str, top: str = "echo") -> str:
    with pytest.raises(BuildError) as raised:
        UserRtl([written(folder, text)], top)
    return str(raised.value)


def test_ports_are_inferred(tmp_path: Path) -> None:
    rtl = UserRtl([written(tmp_path, ECHO)], "echo")
    assert (rtl.clock, rtl.reset, rtl.reset_active_low) == ("clk", "rst_n", True)
    assert (rtl.input, rtl.output) == ("in__", "do_")
    assert not rtl.has("in__tlast")
    assert str(rtl.ports[2]) == "input in__tdata[31:0]"


@pytest.mark.parametrize(
    ("clock", "reset", "low"),
    [
        ("aclk", "aresetn", True),
        ("clock", "reset", False),
        ("ap_clk", "ap_rst_n", True),
        ("CLK", "RST", False),
        ("clk", "", False),
    ],
)
def test_names_of_clock_and_reset(tmp_path: Path, clock: str, reset: str, low: bool) -> None:
    text = re.sub(r"\bclk\b", clock, ECHO)
    if reset:
        text = re.sub(r"\brst_n\b", reset, text)
    else:
        text = text.replace("input wire rst_n,", "").replace("!rst_n", "0")
    rtl = UserRtl([written(tmp_path, text)], "echo")
    assert (rtl.clock, rtl.reset, rtl.reset_active_low) == (clock, reset or None, low)


def test_the_soc_instantiates_it_and_lints(tmp_path: Path) -> None:
    """Its own names stay as they are, doubled underscores and all."""
    rtl = UserRtl([written(tmp_path, ECHO)], "echo")
    for top in ("soc", "accelerator"):
        text = emit(isa.builtin("v1_4"), top, rtl)
        assert "// needs module echo, which is not in this file\n" in text
        assert "  echo user (\n" in text
        assert ".in__tdata(" in text
        assert "\nmodule echo" not in text
        assert lint(text, f"axiloom_{top}", rtl) == []


def test_keep_and_strobes_are_driven_high(tmp_path: Path) -> None:
    text = ECHO.replace("input wire in__tvalid,", "input wire in__tvalid, input wire [3:0] in__tkeep,")
    printed = emit(isa.builtin("v1_4"), "accelerator", UserRtl([written(tmp_path, text)], "echo"))
    assert ".in__tkeep(4'hf)" in printed


WIDE = ECHO.replace("W = 32", "W = 64").replace("[31:0]", "[63:0]")


def test_streams_of_64_bits(tmp_path: Path) -> None:
    rtl = UserRtl([written(tmp_path, WIDE)], "echo")
    assert rtl.stream_width == 64
    wide = isa.revise(isa.builtin("v1_4"), stream_width=64)
    for top in ("soc", "accelerator"):
        text = emit(wide, top, rtl)
        assert lint(text, f"axiloom_{top}", rtl) == []
        with pytest.raises(BuildError, match=r"in__tdata and do_tdata have 64 bits, .* of v1_4 is 32: make"):
            emit(isa.builtin("v1_4"), top, rtl)


def test_both_streams_have_one_width(tmp_path: Path) -> None:
    text = message(tmp_path, ECHO.replace("W = 32", "W = 64"))
    assert "output do_tdata[63:0] is output do_tdata[31:0] instead" in text


def test_two_files_of_one_name(tmp_path: Path) -> None:
    """A board folder and a synthesis have them in one folder: one would replace the other."""
    (tmp_path / "more").mkdir()
    files = [written(tmp_path, ECHO), written(tmp_path / "more", "module other; endmodule")]
    with pytest.raises(BuildError, match=r"echo\.v and .*more/echo\.v: two files of one name"):
        UserRtl(files, "echo")


def test_files_may_include_others(tmp_path: Path) -> None:
    written(tmp_path, "`define WIDTH 32\n", "width.vh")
    text = '`include "width.vh"\n' + ECHO.replace("parameter W = 32", "parameter W = `WIDTH")
    assert UserRtl([written(tmp_path, text)], "echo").clock == "clk"


def test_everything_that_does_not_fit_is_said_at_once(tmp_path: Path) -> None:
    text = "module echo(input c, input [23:0] a_tdata, input a_tvalid, output x); assign x = c; endmodule"
    assert message(tmp_path, text) == (
        "user RTL module echo: no clock; input a_tdata[31:0] is input a_tdata[23:0] instead; "
        "output a_tready is missing; no output streams (output *_tdata); nothing to drive c with; "
        f"found input c, input a_tdata[23:0], input a_tvalid, output x; expected {EXPECTED}"
    )


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("output wire led", "input wire start", "nothing to drive start with"),
        (
            "output wire led",
            "output wire led, output wire [31:0] b_tdata",
            "2 output streams (output *_tdata): do_tdata, b_tdata",
        ),
        (
            "input wire do_tready",
            "input wire [1:0] do_tready",
            "input do_tready is input do_tready[1:0] instead",
        ),
    ],
)
def test_one_fault(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = ECHO.replace(old, new).replace("do_tlast <= 1;", "").replace("assign led = do_tvalid;", "")
    assert message(tmp_path, text).startswith(f"user RTL module echo: {fault}; found ")


def test_verilog_that_is_faulty(tmp_path: Path) -> None:
    text = message(tmp_path, ECHO.replace("endmodule", ""))
    assert re.fullmatch(r"user RTL module echo: .*echo\.v:\d+:\d+: syntax error.*", text)
    assert "nope: no such module in" in message(tmp_path, ECHO, "nope")


def test_files_and_names(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^user RTL needs at least one Verilog file$"):
        UserRtl([], "echo")
    with pytest.raises(BuildError, match=r"^user RTL .*gone\.v: no such file$"):
        UserRtl([tmp_path / "gone.v"], "gone")
    assert "module names that begin with axiloom_ are ours" in message(tmp_path, ECHO, "axiloom_soc")


VIVADO = re.sub(r"\b(in__|do_)(t\w+)", lambda m: m[0].upper(), ECHO).replace("clk", "S_AXIS_ACLK")


def test_names_in_capitals_and_a_clock_a_port(tmp_path: Path) -> None:
    text = VIVADO.replace("input wire rst_n,", "input wire M_AXIS_ACLK, input wire rst_n,")
    text = text.replace("output wire led", "input wire [3:0] IN__TKEEP, output wire led")
    rtl = UserRtl([written(tmp_path, text)], "echo")
    assert rtl.clocks == ("S_AXIS_ACLK", "M_AXIS_ACLK")
    printed = emit(isa.builtin("v1_4"), "accelerator", rtl)
    for wanted in (".M_AXIS_ACLK(aclk)", ".IN__TDATA(", ".IN__TKEEP(4'hf)"):
        assert wanted in printed
    assert lint(printed, "axiloom_accelerator", rtl) == []


def told(**given: object) -> RtlPorts:
    return RtlPorts(**given)  # type: ignore[arg-type]


def test_names_that_the_specification_says(tmp_path: Path) -> None:
    text = ECHO.replace("clk", "tick").replace("!rst_n", "stop").replace("rst_n", "stop")
    text = text.replace("output wire led", "input wire [2:0] mode, output wire led")
    ports = told(
        clock="tick", reset="stop", reset_active_low=False, constants={"mode": 5}, parameters={"W": 32}
    )
    rtl = UserRtl([written(tmp_path, text)], "echo", ports)
    assert (rtl.clock, rtl.resets) == ("tick", {"stop": False})
    printed = emit(isa.builtin("v1_4"), "accelerator", rtl)
    assert ".mode(3'h5)" in printed
    assert "W(32'd32)" in printed


@pytest.mark.parametrize(
    ("ports", "fault"),
    [
        (told(clock="no"), "`rtl.clock` names no, which is no input of one bit"),
        (told(constants={"led": 1}), "`rtl.constants` names led, which is no input"),
        (told(constants={"rst_n": 2}), "`rtl.constants` sets input rst_n to 2, which has more bits"),
        (told(inputs={"A": "a_"}), "`rtl.inputs` names a_, and there are in__"),
    ],
)
def test_names_that_are_not_there(tmp_path: Path, ports: RtlPorts, fault: str) -> None:
    with pytest.raises(BuildError, match=re.escape(fault)):
        UserRtl([written(tmp_path, ECHO)], "echo", ports)


def test_a_result_without_tlast_has_one_length(tmp_path: Path) -> None:
    text = ECHO.replace("output reg do_tlast, ", "").replace("do_tlast <= 1;", "")
    rtl = UserRtl([written(tmp_path, text)], "echo")
    rtl.check(isa.builtin("v1_4"))
    with pytest.raises(BuildError, match="do_ has no tlast, and v4_16 sends results of several lengths"):
        rtl.check(isa.builtin("v4_16"))


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    master = "output wire [31:0] m_axi_gmem_ARADDR, input wire m_axi_gmem_ARREADY, output wire led"
    said = message(tmp_path, ECHO.replace("output wire led", master))
    assert "m_axi_gmem_arvalid is missing" in said
    assert "m_axi_gmem_*data has none bits; one width of 32, 64," in said
    two = "output wire [31:0] x_araddr, output wire [31:0] y_awaddr, output wire led"
    assert "2 AXI4 masters: x_, y_; at most one" in message(tmp_path, ECHO.replace("output wire led", two))


HARDWARE = Path(__file__).parents[3] / "examples" / "hardware"


def test_a_master_stands_in_place_of_streams() -> None:
    rtl = UserRtl([HARDWARE / "vadd_m_axi" / "vadd.v"], "vadd")
    assert (rtl.master_width, rtl.input_streams) == (32, [])
    assert rtl.master is not None
    assert rtl.master.prefix == "m_axi_gmem_"
    spec = isa.load(HARDWARE / "vadd_m_axi" / "vadd.json")
    rtl.check(spec)
    assert "m_axi_user_araddr" in emit(spec, "soc", rtl)
    with pytest.raises(BuildError, match=r"vadd: no streams, and v1_4 sends on one; a master's operands are"):
        rtl.check(isa.builtin("v1_4"))


def test_pointers_need_a_master(tmp_path: Path) -> None:
    spec = isa.load(HARDWARE / "vadd_m_axi" / "vadd.json")
    with pytest.raises(BuildError, match="no AXI4-Lite port"):
        UserRtl([written(tmp_path, ECHO)], "echo").check(spec)


def test_streams_of_256_bits_take_whole_beats(tmp_path: Path) -> None:
    text = ECHO.replace("W = 32", "W = 256").replace("[31:0]", "[255:0]")
    rtl = UserRtl([written(tmp_path, text)], "echo")
    assert rtl.stream_width == 128
    spec = isa.revise(isa.builtin("v1_4"), stream_width=128)
    assert lint(emit(spec, "accelerator", rtl), "axiloom_accelerator", rtl) == []
    wide = isa.revise(isa.builtin("v3_4"), stream_width=128)
    with pytest.raises(BuildError, match="in__tdata has 256 bits: this works only with a single instruction"):
        rtl.check(wide)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "example", ["stream_matmul/matmul_stream", "start_matmul/matmul_start", "two_streams/multiply_pairs"]
)
def test_what_stands_between_lints(example: str) -> None:
    """Registers, dealt-out operands and a counted TLAST."""
    file = Path(__file__).parents[3] / "examples" / "hardware" / example
    spec = isa.load(file.with_suffix(".json"))
    rtl = UserRtl([*file.parent.glob("*.v"), *file.parent.glob("*.sv")], file.name, spec.link.rtl)
    assert lint(emit(spec, "soc", rtl), "axiloom_soc", rtl) == []


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "m.v"
    file.write_text("// module commented(\nmodule adder(input wire clk);\nendmodule\n/* module old(\n*/")
    with pytest.raises(BuildError) as caught:
        UserRtl([file], "addr")
    assert str(caught.value) == (
        f"user RTL module addr: no such module in {file}; did you mean `adder`?; there are adder"
    )
