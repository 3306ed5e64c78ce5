# ruff: noqa: E501 -- a table, a fault a line
"""The scripts pass the model of Vivado; one that is wrong does not, and the message says where and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.board_folder.vivado_model import session
from tests.board_folder.vivado_model.commands import parse
from tests.board_folder.vivado_model.scripts import faults_of

Change = Callable[..., Path]
pytestmark = pytest.mark.skipif(session.tclsh() is None, reason="Tcl is not installed: apt-get install tcl")

DESIGN, BUILD = "vivado/block_design.tcl", "vivado/build.tcl"

FAULTS = [
    ("property", "own", DESIGN, "PCW_USE_M_AXI_GP0", "PCW_USE_MAXI_GP0", "has no property CONFIG.PCW_USE_MAXI_GP0"),
    ("value", "xilinx", DESIGN, "c_sg_length_width {26}", "c_sg_length_width {27}", "CONFIG.c_sg_length_width cannot be '27'"),
    ("core", "own", DESIGN, "xilinx.com:ip:smartconnect", "xilinx.com:ip:smart_connect", "is not in the catalogue"),
    ("our core", "own", DESIGN, "axiloom:user:axiloom_soc:1.0", "axiloom:user:soc:1.0", "core 'axiloom:user:soc:1.0' is not in"),
    ("pin", "own", DESIGN, "axiloom_soc_0/aclk", "axiloom_soc_0/clk", "get_bd_pins: nothing is called axiloom_soc_0/clk"),
    ("no clock", "own", DESIGN, "  [get_bd_pins axi_memory/aclk] \\\n", "", "validate_bd_design: axi_memory/aclk is not connected"),
    ("no reset", "xilinx", DESIGN, "  [get_bd_pins axi_dma_0/axi_resetn]", "", "axi_dma_0/axi_resetn is not connected"),
    ("reset from a clock", "own", DESIGN, "reset_fabric/peripheral_aresetn", "processing_system7_0/FCLK_CLK0", "is clk, axi_control/aresetn is rst"),
    ("two masters", "xilinx", DESIGN, "axi_dma_0/S_AXI_LITE]", "axi_memory/M00_AXI]", "axi_control/M00_AXI and axi_memory/M00_AXI are both masters"),
    ("stream on memory", "xilinx", DESIGN, "axiloom_v1_4_0/s_axis]", "axi_dma_0/M_AXI_MM2S]", "axi_dma_0/M_AXIS_MM2S is axis, axi_dma_0/M_AXI_MM2S is aximm"),
    ("port left open", "own", DESIGN, "connect_bd_intf_net [get_bd_intf_ports DDR]", "list [get_bd_intf_ports DDR]", "port DDR is not connected"),
    ("two drivers", "own", DESIGN, "[get_bd_pins interrupts/In1]", "[get_bd_pins interrupts/In0]", "interrupts/In0 is driven by"),
    ("registers elsewhere", "own", DESIGN, "-offset 0x40400000", "-offset 0x40500000", "the specification says 0x10000 bytes at 0x40400000"),
    ("not behind the port", "own", DESIGN, "-offset 0x40400000", "-offset 0x80000000", "reaches 0x40000000 to 0x7fffffff"),
    ("not aligned", "own", DESIGN, "-offset 0x40400000", "-offset 0x40401000", "is not a multiple of the range"),
    ("no address", "own", DESIGN, "assign_bd_address -offset 0x40400000", "list -offset 0x40400000", "axiloom_soc_0/s_axi_lite/Reg has no address in"),
    ("segment", "xilinx", DESIGN, "SAXIGP2/HP0_DDR_LOW", "SAXIGP3/HP1_DDR_LOW", "nothing is called zynq_ultra_ps_e_0/SAXIGP3"),
    ("not validated", "own", DESIGN, "\nvalidate_bd_design", "\n", "generate_target: the block design was not validated"),
    ("option", "own", BUILD, "make_wrapper -files $bd -top", "make_wrapper -file $bd -top", "there is no option -file;"),
    ("arguments", "own", BUILD, "wait_on_run $run", "wait_on_run", "wait_on_run: takes 1 arguments, not 0"),
    ("command", "own", BUILD, "update_compile_order", "update_compile_orders", 'invalid command name "update_compile_orders"'),
    ("top", "own", BUILD, "${design}_wrapper [current", "${design}_top [current", "top system_top is no module"),
    ("step", "own", BUILD, "impl_1 write_bitstream", "impl_1 write_bit", "-to_step must be one of"),
    ("no bitstream", "own", BUILD, "${design}_wrapper.bit", "${design}.bit", "no such file or directory"),
    ("part", "own", "vivado/settings.tcl", "xc7z020clg400-1", "xc7z020", "part 'xc7z020' is unknown"),
    ("board's files", "xilinx", "vivado/settings.tcl", "*:zcu104:", "*:zcu10:", "Vivado has no files of the board *:zcu10:"),
    ("preset without a board", "xilinx", "vivado/settings.tcl", "{*:zcu104:part0:*}", "{}", "apply_board_preset needs a project with"),
    ("Tcl itself", "own", DESIGN, "create_bd_design $design", "create_bd_design $desing", "can't read \"desing\""),
    ("pin of the board", "own", "constraints/board.xdc", "PACKAGE_PIN R14 ", "", "port led has no PACKAGE_PIN"),
    ("port of the board", "own", "constraints/board.xdc", "[get_ports led]", "[get_ports leds]", "nothing is called leds"),
    ("standard", "own", "constraints/board.xdc", "LVCMOS33", "LVCMOS34", "IOSTANDARD must be one of"),
    ("clock alone", "own", "constraints/ooc.xdc", "-period", "-periode", "there is no option -periode"),
    ("core alone", "own", "vivado/ooc.tcl", "-top $core", "-top soc", "module soc is not in its Verilog"),
    ("packaging", "own", "vivado/package_ip.tcl", "-vendor", "-vendors", "there is no option -vendors"),
]  # fmt: skip


@pytest.mark.parametrize("which", ["own", "coherent", "xilinx"])
def test_what_is_written_passes(changed: Change, which: str) -> None:
    assert faults_of(changed(which, DESIGN, "\n", "\n")) == []


def test_a_coherent_dma_is_behind_the_acp(folders: dict[str, Path]) -> None:
    design = (folders["coherent"] / DESIGN).read_text()
    assert "CONFIG.PCW_USE_S_AXI_ACP {1}" in design
    assert "CONFIG.PCW_USE_DEFAULT_ACP_USER_VAL {1}" in design
    assert "PCW_USE_S_AXI_HP0" not in design
    assert design.count("S_AXI_ACP/ACP_DDR_LOWOCM") == 3  # of MM2S, S2MM and descriptors
    assert "dma-coherent;" in (folders["coherent"] / "linux/overlay.dts").read_text()
    assert "-DAXL_DMA_COHERENT=1" in (folders["coherent"] / "Makefile").read_text()


def test_the_scripts_are_really_run(changed: Change) -> None:
    folder = changed("own", DESIGN, "\n", "\n")
    run = session.run(folder / BUILD)
    assert run.calls > 80
    assert run.model.launched == ["synth_1", "impl_1"]
    assert run.printed[-1].startswith("Timing is met by 0.123 ns.")
    assert (folder / "build/axiloom_v3_4.bit").is_file()
    assert (folder / "build/axiloom_v3_4.hwh").is_file()


def test_a_goal_that_there_is_not(changed: Change) -> None:
    run = session.run(changed("own", DESIGN, "\n", "\n") / BUILD, ["bitstream"])
    assert run.faults == ["build.tcl:16: the goal must be design or all, not bitstream"]


def test_the_design_alone(changed: Change) -> None:
    run = session.run(changed("own", DESIGN, "\n", "\n") / BUILD, ["design"])
    assert run.faults == []
    assert run.model.launched == []


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("which", "file", "old", "new", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_a_fault_is_found(changed: Change, which: str, file: str, old: str, new: str, message: str) -> None:
    found = faults_of(changed(which, file, old, new))
    assert any(message in fault for fault in found), found


def test_a_fault_has_its_place(changed: Change) -> None:
    folder = changed(
        "own",
        DESIGN,
        "create_bd_cell -type ip -vlnv xilinx.com:ip:xlconcat",
        "create_bd_cell -typ ip -vlnv x",
    )
    line = next(
        number
        for number, text in enumerate((folder / DESIGN).read_text(encoding="utf-8").splitlines(), 1)
        if "-typ ip" in text
    )
    first = session.run(folder / BUILD).faults[0]
    assert (
        first
        == f"block_design.tcl:{line}: create_bd_cell: there is no option -typ; there are -vlnv, -type, -reference"
    )


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["-force"], []),
        (["-period"], ["there is no option -period; there are -force, -include_pfm, -design"]),
        (["-design"], ["-design needs a value"]),
        (["-design", "a", "-design", "b"], ["-design is given twice"]),
        (["a", "b"], ["takes 0 to 1 arguments, not 2"]),
    ],
)
def test_arguments(words: list[str], fault: list[str]) -> None:
    assert parse("validate_bd_design", words)[1] == fault


def test_the_block_design(folders: dict[str, Path], golden: Callable[[str, str], None]) -> None:
    golden((folders["xilinx"] / DESIGN).read_text(encoding="utf-8"), "block_design.tcl")
