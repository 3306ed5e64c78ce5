"""Folders that the tests look at: made once, and copied by who changes them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import board_folder, isa
from axiloom.board_folder import Contents, Plan
from axiloom.boards import hardware

V3 = isa.builtin("v3_4")
PLANS: dict[str, Callable[[], Plan]] = {
    "own": lambda: board_folder.make(hardware.load("pynq-z2"), [isa.builtin("v3_4")]),
    "coherent": lambda: board_folder.make(
        hardware.load("pynq-z2"),
        [isa.revise(V3, dma=replace(V3.link.dma, coherent=True, scatter_gather=True))],
    ),
    "xilinx": lambda: board_folder.make(
        hardware.load("zcu104"), [isa.builtin("v1_4")], dma=board_folder.XILINX, rebase=True
    ),
}


@pytest.fixture(scope="session")
def made() -> dict[str, Contents]:
    """``own``: v3_4 with our DMA on a Zynq-7000; ``coherent``: through its ACP, by descriptors; ``xilinx``:
    v1_4 with Xilinx' DMA on an UltraScale+."""
    return {name: board_folder.contents(plan()) for name, plan in PLANS.items()}


@pytest.fixture(scope="session")
def folders(made: dict[str, Contents], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same, written."""
    written = {name: tmp_path_factory.mktemp(name) / "folder" for name in made}
    for name, folder in written.items():
        board_folder.write(made[name], folder)
    return written


@pytest.fixture
def changed(folders: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """``changed(which, file, old, new)``: a copy of a folder with one text replaced by another."""

    def change(which: str, file: str, old: str, new: str) -> Path:
        copy = tmp_path / "changed"
        shutil.copytree(folders[which], copy)
        path = copy / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return copy

    return change
