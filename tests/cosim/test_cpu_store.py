"""Runs of the CPU alone are kept by content: the same is not simulated twice, anything else is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards
from axiloom.base.cache import cache_root
from axiloom.base.errors import DriverError
from axiloom.cosim import cpu_store
from axiloom.cosim.build import toolchain

BOARD = boards.load(boards.DEFAULT)
FORM = {"y": ((4,), "int32")}
SOURCE = """
int x[4], y[4];
int main(void)
{
    for (int i = 0; i < 4; i++)
        y[i] = FACTOR * x[i];
    return x[0] < 0;
}
"""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One of its own, in the usual cache, which has the core and the runtime."""
    monkeypatch.setattr(cpu_store, "KIND", f"cpu-runs-of-{tmp_path.name}-{os.getpid()}")
    yield
    shutil.rmtree(cache_root() / cpu_store.KIND, ignore_errors=True)


def program(folder: Path, factor: int) -> Path:
    folder.mkdir()
    source = folder / "main.c"
    source.write_text(SOURCE.replace("FACTOR", str(factor)))
    return toolchain.compile_bare([source], folder / "main.elf", board=BOARD)


def test_the_same_is_not_simulated_twice(tmp_path: Path) -> None:
    x = {"x": np.arange(1, 5, dtype=np.int32)}
    first = cpu_store.run_cpu(program(tmp_path / "a", 3), x, FORM, BOARD)
    again = cpu_store.run_cpu(program(tmp_path / "b", 3), x, FORM, BOARD)  # from another folder
    assert (first.known, again.known) == (False, True)
    assert again.run.outputs["y"].tolist() == [3, 6, 9, 12]
    assert again.run.counters == first.run.counters
    assert again.run.events == first.run.events


def test_another_program_other_data_or_another_board_is_simulated(tmp_path: Path) -> None:
    x = {"x": np.arange(1, 5, dtype=np.int32)}
    elf = program(tmp_path / "a", 3)
    assert not cpu_store.run_cpu(elf, x, FORM, BOARD).known
    other = cpu_store.run_cpu(program(tmp_path / "b", 5), x, FORM, BOARD)
    assert (other.known, other.run.outputs["y"].tolist()) == (False, [5, 10, 15, 20])
    other = cpu_store.run_cpu(elf, {"x": x["x"] + 1}, FORM, BOARD)
    assert (other.known, other.run.outputs["y"].tolist()) == (False, [6, 9, 12, 15])
    slower = replace(BOARD, latency=replace(BOARD.latency, ddr=BOARD.latency.ddr + 50))
    assert not cpu_store.run_cpu(elf, x, FORM, slower).known


def test_what_fails_is_not_kept(tmp_path: Path) -> None:
    elf, x = program(tmp_path / "a", 3), {"x": np.full(4, -1, np.int32)}
    for _ in range(2):
        with pytest.raises(DriverError, match="main returned 1"):
            cpu_store.run_cpu(elf, x, FORM, BOARD)
