"""VHDL becomes Verilog by GHDL, and what cannot is refused with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.rtl_files.vhdl import as_verilog

DEVICE = Path(__file__).parents[3] / "examples/hardware/add_vhdl/add_blocks.vhd"
needs_ghdl = pytest.mark.skipif(shutil.which("ghdl") is None, reason="needs ghdl")


def test_verilog_is_left_alone(tmp_path: Path) -> None:
    assert as_verilog([tmp_path / "x.sv"], "x", {"W": 8}) == (tmp_path / "x.sv",)


@needs_ghdl
def test_the_ports_are_those_of_the_entity() -> None:
    rtl = UserRtl([DEVICE], "add_blocks")
    assert (rtl.clock, rtl.reset, rtl.input, rtl.output) == ("aclk", "aresetn", "s_axis_", "m_axis_")
    assert [file.name for file in rtl.files] == ["add_blocks.v"]


@needs_ghdl
def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "add_blocks.vhd"
    file.write_text(DEVICE.read_text())
    before = as_verilog([file], "add_blocks")[0].read_text()
    file.write_text(DEVICE.read_text().replace("BLOCK_BITS : natural := 6", "BLOCK_BITS : natural := 5"))
    assert as_verilog([file], "add_blocks")[0].read_text() != before


@needs_ghdl
def test_a_fault_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.vhd"
    file.write_text("entity wrong is\n  port (clk : in nothing);\nend;\n")
    with pytest.raises(BuildError, match=r"entity wrong: ghdl: .*wrong\.vhd:2:"):
        UserRtl([file], "wrong")


def test_without_ghdl_the_message_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BuildError, match="VHDL needs GHDL, which is not installed: apt-get install ghdl"):
        UserRtl([DEVICE], "add_blocks")


def test_what_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="VHDL and Verilog"):
        as_verilog([DEVICE, tmp_path / "x.v"], "add_blocks")
    with pytest.raises(BuildError, match=r"`rtl.parameters` \(W\) do not reach VHDL"):
        as_verilog([DEVICE], "add_blocks", {"W": 8})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "a.c",
            "it is a program; expected Verilog (.v, .sv, .vh, .svh, .vlog, .verilog, .inc) or VHDL (.vhd",
        ),
        ("a.txt", "it is no file of RTL by its name; expected Verilog"),
    ],
)
def test_what_is_no_rtl_is_refused(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(BuildError) as caught:
        as_verilog([tmp_path / "good.v", tmp_path / name], "x")
    assert str(caught.value).startswith(f"user RTL {tmp_path / name}: {why}")
    assert ("axiloom nest" in str(caught.value)) == (name == "a.c")
