"""The bring-up ladder: it passes; with each of eight faults it stops at the right step, with the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import boards, bring_up, isa
from axiloom.bring_up_faults import FAULTS, LITERALS, SPEC, climb
from axiloom.cosim.soc import Soc
from axiloom.errors import UsageError

A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")


@pytest.mark.slow  # builds a C library, and hardware with faults
@pytest.mark.parametrize("board", [A9, A53], ids=lambda board: str(board.architecture))
def test_passes(tmp_path: Path, board: boards.Board) -> None:
    ladder = bring_up.run(bring_up.build(SPEC, tmp_path, board), Soc(SPEC, board=board))
    assert ladder.passed, ladder
    assert str(ladder) == "all 6 steps are passed"
    assert ladder.console.count("step ") == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_fault(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    ladder = climb(fault, tmp_path)
    assert ladder.step == fault.step, ladder
    assert any(part in ladder.why for part in fault.why.split("|")), ladder
    assert fault.console in ladder.console


def test_other_kernels_are_refused() -> None:
    with pytest.raises(UsageError, match="conv_v3: the ladder is written for matmul accelerators"):
        bring_up.sources(isa.builtin("conv_v3"))


def test_sources_say_what_the_specification_says() -> None:
    files = bring_up.sources(LITERALS)
    config = files["ladder_config.h"]
    assert "#define LADDER_DMA 0x40400000u" in config
    assert "#define LADDER_LOAD {0x22u, 0x0u," in config
    assert config.count("0x0u") == 16
    assert set(files) == {
        *("ladder_tile.c", "ladder_tile.h", "ladder_kernel.c", "ladder_kernel.h", "ladder_config.h")
    }
    assert "LADDER_TILE_H" in files["ladder_tile.h"]
    assert "#define LADDER_BEAT 1u" in config
    wide = bring_up.sources(isa.revise(LITERALS, stream_width=128))["ladder_config.h"]
    assert "#define LADDER_BEAT 4u" in wide
    assert "#define LADDER_LOAD {0x22u, 0x0u," in wide
    assert wide.count("0x0u") == 16 + 3  # the opcode word is filled up to a beat
    v1 = bring_up.sources(isa.builtin("v1", 4))["ladder_config.h"]
    assert "#define LADDER_LOAD {0x0u}" in v1
