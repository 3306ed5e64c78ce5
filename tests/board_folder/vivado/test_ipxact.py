# ruff: noqa: E501 -- a table, a fault a line
"""component.xml: what is written is sound, and what is wrong in it is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.board_folder.vivado_model import ipxact_check

Change = Callable[..., Path]
OWN, XILINX = "ip/axiloom_soc/component.xml", "ip/axiloom_v1_4/component.xml"

FAULTS = [
    ("not XML", "</spirit:component>", "", "not XML: no element found"),
    ("another schema", "SPIRIT/1685-2009", "SPIRIT/1.4", "not spirit:component of IEEE 1685-2009"),
    ("no name", "<spirit:name>axiloom_soc</spirit:name>", "<spirit:name></spirit:name>", "name is ''"),
    ("order", "<spirit:library>user</spirit:library>", "", "library is ''"),
    ("a signal that is none", "<spirit:name>AWADDR</", "<spirit:name>AWADR</", "aximm has no signal AWADR"),
    ("a signal not mapped", "<spirit:name>RVALID</", "<spirit:name>RLAST</", "RVALID of aximm is not mapped"),
    ("no such port", "<spirit:name>s_axi_lite_wdata</", "<spirit:name>wdata</", "wdata, which is no port of the"),
    ("direction", "<spirit:name>s_axi_lite_awready</", "<spirit:name>s_axi_lite_awvalid</", "s_axi_lite_awvalid is an input, but AWREADY is driven the other way"),
    ("memory map", 'memoryMapRef="s_axi_lite"', 'memoryMapRef="registers"', "memoryMapRef 'registers' leads nowhere"),
    ("address space", 'addressSpaceRef="m_axi_mm2s"', 'addressSpaceRef="m"', "addressSpaceRef 'm' leads nowhere"),
    ("bus type", 'spirit:name="aximm" ', 'spirit:name="axi4" ', "busType xilinx.com:interface:axi4 is unknown"),
    ("abstraction", 'spirit:name="aximm_rtl"', 'spirit:name="aximm"', "abstractionType must be aximm_rtl"),
    ("clock", "s_axi_lite:m_axi_mm2s:", "s_axi_lite:", "busInterface m_axi_mm2s has no clock"),
    ("clock of nothing", "s_axi_lite:m_axi_mm2s:", "s_axi_lite:m_axi:m_axi_mm2s:", "names m_axi, which is not there"),
    ("reset", ">aresetn</spirit:value>", ">reset</spirit:value>", "ASSOCIATED_RESET 'reset' is no reset"),
    ("file", "hdl/axiloom_soc.v", "hdl/soc.v", "file hdl/soc.v is not there"),
    ("module", "<spirit:modelName>axiloom_soc", "<spirit:modelName>soc", "module soc is not in its Verilog"),
    ("file set", "behavioralsimulation_view_fileset</spirit:localName", "x</spirit:localName", "fileSetRef leads nowhere"),
    ("width", '<spirit:left spirit:format="long">9</', '<spirit:left spirit:format="long">11</', "port s_axi_lite_awaddr:"),
    ("register", "<spirit:addressOffset>0x58<", "<spirit:addressOffset>0x5A<", "register S2MM_LENGTH at 0x5a is not"),
    ("twice", "<spirit:name>m_axi_mm2s</", "<spirit:name>m_axi_s2mm</", "busInterface m_axi_s2mm is there twice"),
]  # fmt: skip


@pytest.mark.parametrize("which", ["own", "xilinx"])
def test_what_is_written_is_sound(folders: dict[str, Path], which: str) -> None:
    (path,) = folders[which].glob("ip/*/component.xml")
    assert ipxact_check.check(path) == []


@pytest.mark.parametrize(
    ("old", "new", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_a_fault_is_found(changed: Change, old: str, new: str, message: str) -> None:
    found = ipxact_check.check(changed("own", OWN, old, new) / OWN)
    assert any(message in fault for fault in found), found


def test_parts_out_of_order_are_found(changed: Change) -> None:
    both = "<spirit:library>user</spirit:library>\n  <spirit:name>axiloom_soc</spirit:name>"
    turned = "<spirit:name>axiloom_soc</spirit:name>\n  <spirit:library>user</spirit:library>"
    (fault, *_) = ipxact_check.check(changed("own", OWN, both, turned) / OWN)
    assert "component axiloom_soc: its parts must come in the order vendor, library, name, version" in fault


def test_verilog_that_nobody_lists_is_found(changed: Change) -> None:
    folder = changed("own", OWN, "axiloom_soc", "axiloom_soc")
    (folder / "ip/axiloom_soc/hdl/extra.v").write_text("module extra ();\nendmodule\n")
    assert "component.xml: file hdl/extra.v is in no fileSet" in ipxact_check.check(folder / OWN)


def test_a_port_that_the_verilog_lost_is_found(changed: Change) -> None:
    folder = changed("own", "ip/axiloom_soc/hdl/axiloom_soc.v", "  output wire debug_idle,\n", "")
    assert any(
        "port debug_idle: " in fault and "None in the Verilog" in fault
        for fault in ipxact_check.check(folder / OWN)
    )


def test_the_file_of_a_stream_core(folders: dict[str, Path], golden: Callable[[str, str], None]) -> None:
    golden((folders["xilinx"] / XILINX).read_text(encoding="utf-8"), "stream_core.xml")
