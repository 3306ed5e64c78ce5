"""Tables of descriptors, compiled for the CPU, against a scatter-gather DMA made of Python."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.sw.sg_dma import SgDma, loop_back, simulate

from axiloom import boards, isa
from axiloom.cosim.build.toolchain import compile_bare

HERE = Path(__file__).parent
_BOARD = boards.load("pynq-z2")
BOARD = replace(_BOARD, simulation=replace(_BOARD.simulation, dma_buffers="coherent"))
HALTED, SHORT, LONG = 6, 7, 9
"""Statuses of axiloom.h."""
TILE = 16 * 8
"""Words of a tile of tables.c."""


def spec_of(width: int = 64) -> isa.AcceleratorSpec:
    spec = isa.builtin("v3", 4)
    return isa.revise(
        spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=True, coherent=True)
    )


class Tiles:
    """A device that sends tiles back as they come, `more` words longer than they are."""

    def __init__(self, more: int = 0) -> None:
        self.left, self.more = TILE, more

    def __call__(self, words: list[int], last: bool) -> list[tuple[int, bool]]:
        self.left -= len(words)
        if self.left:
            return [(word, False) for word in words]
        self.left = TILE
        words = words[: self.more] if self.more < 0 else [*words, *[0] * self.more]
        return loop_back(words, True)


def run(folder: Path, dma: SgDma, *, width: int = 64, irq: bool = False, fails: int = 0) -> int:
    spec = spec_of(width)
    elf = folder / "tables.elf"
    compile_bare([HERE / "tables.c"], elf, board=BOARD, spec=spec, irq=irq, defines={"FAILS": fails})
    return simulate(elf, dma, BOARD, spec, {}).state.exit_code


@pytest.mark.parametrize(
    ("width", "irq"), [(64, False), pytest.param(64, True, id="irq"), pytest.param(32, False, id="narrow")]
)
def test_calls_one_after_the_other(tmp_path: Path, width: int, irq: bool) -> None:
    code = run(tmp_path, SgDma(Tiles()), width=width, irq=irq)
    assert code == 0, f"tests/sw/tables.c:{code}"


def test_what_a_call_sends(tmp_path: Path) -> None:
    """Words and rows in their order, one packet a call; each value of TAILDESC differs from the last."""
    dma = SgDma(Tiles())
    assert run(tmp_path, dma) == 0
    first, second = dma.descriptors[:3], dma.descriptors[3:6]
    assert [(size, shape, ends) for _, size, shape, ends in first] == [
        (32, 0, 0),
        (32, 14 << 19 | 64, 0),
        (32, 0, 1),
    ]
    assert first[1][0] - first[2][0] == 64 - 960
    assert second[0][0] == first[0][0]
    assert second[1][0] - first[1][0] == 16 * 64  # A[1] behind A[0]
    tails = dma.tails[0x00][:9]
    assert all(one != following for one, following in pairwise(tails))


@pytest.mark.parametrize("irq", [False, True])
@pytest.mark.parametrize(
    ("more", "error", "status"),
    [(-1, 0, SHORT), (1, 0, LONG), (0, 1 << 5, HALTED)],
    ids=["short", "long", "slave error"],
)
def test_what_is_wrong_is_said(tmp_path: Path, more: int, error: int, status: int, irq: bool) -> None:
    """The call says so, and the next one that it cannot go on."""
    assert run(tmp_path, SgDma(Tiles(more), error=error), irq=irq, fails=1) == status
