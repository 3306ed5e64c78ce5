"""What a figure of a convolution depends on, by content: a run of an hour survives edits elsewhere.

:func:`benchmarks.paper.sides.fingerprint` takes all code: that is safe, and forgets all at any edit. Here
a program counts as it is compiled and the hardware with its Verilog, whatever wrote them.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import axiloom
from axiloom import boards, isa
from axiloom.base.cache import content_hash
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec
from axiloom.report import build as report

_APART = ("replay",)
"""In the simulator's folder, but for something else: choosing tiles."""


def content(program: Path, spec: AcceleratorSpec | None, board: str, least: Sequence[int] = ()) -> str:
    """Hash of a program (ELF), the hardware if there is any, the board, and the problem's multiply-adds and
    cycles of the array in `least`, of which its limit is made."""
    hardware = "" if spec is None else _hardware(isa.dumps(spec))
    return content_hash(program, hardware, _simulator(board), list(least))


@cache
def _hardware(spec: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(spec)
        file.flush()
        return content_hash(verilog.emit(isa.load(file.name)))


@cache
def _simulator(board: str) -> str:
    """Of what simulates and counts, and of what makes figures of that."""
    root = Path(axiloom.__file__).parent
    files = sorted(
        path
        for path in (root / "cosim").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not set(_APART) & set(path.relative_to(root).parts)
    )
    parts = [part for path in files for part in (str(path.relative_to(root)), path)]
    return content_hash(*parts, repr(boards.load(board)), inspect.getsource(report.limit))
