"""Runs of the CPU alone, kept: the same program on the same data and board is not simulated a second time.

The key is the content of all that decides the result: what of the program is loaded, the arrays, the board's
profile and the native core itself. What is kept is deterministic, so it is what a new run would give.

The CPU's side is kept by what is loaded, not by the file. An ELF file has the paths of temporary folders
in it. Segments, addresses of arrays, data, the board's profile and the core's own hash decide the result,
and nothing else does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.base.cache import cached_build, content_hash
from axiloom.cosim import core
from axiloom.cosim.elf import load

if TYPE_CHECKING:
    from axiloom.boards import Board

KIND = "cpu-runs"
_COUNTS, _ARRAYS = "counts.json", "arrays.npz"


@dataclass(frozen=True)
class Kept:
    """A run, and whether it was there before."""

    run: core.CpuRun
    known: bool


def run_cpu(
    elf: Path,
    inputs: Mapping[str, core.Array],
    outputs: Mapping[str, tuple[tuple[int, ...], str]],
    board: Board,
    section: str | None = None,
) -> Kept:
    """As :func:`axiloom.cosim.core.run_cpu`. What fails is not kept."""
    known = True

    def simulate(folder: Path) -> None:
        nonlocal known
        known = False
        run = core.run_cpu(elf, inputs, outputs, board, section=section)
        counts = {name: getattr(run, name) for name in ("exit_code", "counters", "events", "calls")}
        (folder / _COUNTS).write_text(json.dumps(counts), encoding="utf-8")
        np.savez(folder / _ARRAYS, **run.outputs)  # type: ignore[arg-type]

    folder = cached_build(KIND, _key(elf, inputs, outputs, board, section), simulate)
    counts: dict[str, Any] = json.loads((folder / _COUNTS).read_text(encoding="utf-8"))
    with np.load(folder / _ARRAYS) as arrays:
        read = {name: arrays[name] for name in outputs}
    return Kept(core.CpuRun(read, **counts), known)


def _key(
    elf: Path,
    inputs: Mapping[str, core.Array],
    outputs: Mapping[str, tuple[tuple[int, ...], str]],
    board: Board,
    section: str | None,
) -> str:
    """Not the file's own content, in which paths of temporary folders stand."""
    program = load(elf)
    places = {name: program.symbol(name).address for name in (*inputs, *outputs)}
    return content_hash(
        core.library().parent.name,
        asdict(board),
        program.entry,
        *((section, program.symbol(section).address) if section else ()),
        places,
        {name: [list(shape), kind] for name, (shape, kind) in outputs.items()},
        *(
            part
            for segment in program.segments
            for part in (str((segment.address, segment.size)), bytes(segment.data))
        ),
        *(
            part
            for name, array in sorted(inputs.items())
            for part in (name, str(array.dtype), np.ascontiguousarray(array).tobytes())
        ),
    )
