"""Counting cells, and a small design through the synthesiser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.errors import BuildError
from axiloom.boards.synthesis.resources import XC7Z020, Resources, count, synthesise, table
from axiloom.hw.dma.registers import ChannelRegisters
from axiloom.hw.verilog import emit as verilog


def test_count() -> None:
    cells = {"LUT6": 10, "LUT2": 5, "RAM32M": 2, "INV": 7, "FDRE": 3, "FDSE": 1, "DSP48E1": 4, "CARRY4": 9}
    assert count(cells) == Resources(dsp=4, lut=23, ff=4, bram36=0)
    assert count({"RAMB18E1": 3, "RAMB36E1": 1}).bram36 == 2.5
    with pytest.raises(BuildError, match=r"^resources: no resources are known for the cells \$mul, XORCY$"):
        count({"XORCY": 1, "LUT1": 1, "$mul": 1})


def test_fits_and_table() -> None:
    small, large = Resources(220, 1000, 10, 0.5), Resources(221, 0, 0, 0)
    assert small.fits(XC7Z020)
    assert not large.fits(XC7Z020)
    text = table({"small": small, "large": large}, XC7Z020, "XC7Z020").splitlines()
    assert text[2].split() == ["small", "220", "100%", "1,000", "2%", "10", "0%", "0.5", "0%"]
    assert text[3].endswith("DOES NOT FIT")


def into(folder: Path) -> Callable[[str, str, Callable[[Path], None]], Path]:
    """A cache that holds one build."""

    def build(kind: str, key: str, fill: Callable[[Path], None]) -> Path:
        if not folder.exists():
            folder.mkdir()
            fill(folder)
        return folder

    return build


@pytest.mark.slow
@pytest.mark.synth
def test_synthesis_finds_every_register(tmp_path: Path) -> None:
    """Registers of a channel at LENGTH width 8: each state bit is a flip-flop, none is lost or doubled."""
    text = verilog.convert(ChannelRegisters(8, alignment=4), "registers")
    used = synthesise(text, "registers", into(tmp_path / "build"))
    flags, irq, address, length = 4 + 1 + 1 + 1 + 3 + 2, 16, 32, 8
    assert used.ff == flags + irq + address + length
    assert (used.dsp, used.bram36) == (0, 0)
    assert 0 < used.lut < 120


@pytest.mark.synth
def test_faulty_verilog(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^Yosys could not synthesise top: .*syntax error"):
        synthesise("module top(", "top", into(tmp_path / "build"))


@pytest.mark.synth
@pytest.mark.slow
@pytest.mark.parametrize("name", ["v3_16", "v4_16"])
def test_the_soc_fits_the_board(name: str, tmp_path: Path) -> None:
    used = synthesise(verilog.emit(isa.builtin(name)), "axiloom_soc", into(tmp_path / "build"))
    assert used.fits(XC7Z020), used
