"""The programs that were measured (``sw/published``), built for the simulated board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from axiloom import isa, sw
from axiloom.base.errors import UsageError
from axiloom.boards import Board
from axiloom.calibration.measurements import Point
from axiloom.cosim.build.toolchain import compile_bare

SOURCES = sw.ROOT / "published"
FLOWS = ("Ns", "As", "Bs", "Cs")


def accelerator(point: Point) -> isa.AcceleratorSpec | None:
    """The accelerator of a run, None for the CPU alone. UsageError for one that has no published program."""
    wanted = point.configuration
    if not wanted.accel:
        return None
    if wanted.accel not in ("v1", "v2", "v3") or wanted.flow not in FLOWS:
        raise UsageError(f"{point}: programs exist for v1, v2, v3 and the flows {', '.join(FLOWS)}")
    return isa.builtin(wanted.accel, wanted.size)


def build(point: Point, board: Board, out: Path) -> Path:
    """The ELF of a run: matrices initialised, one call of the kernel, C at the symbol ``C``."""
    wanted = point.configuration
    defines: dict[str, object] = {"M": point.m, "N": point.n, "K": point.k}
    if accelerator(point):
        defines |= {"TILE": wanted.size, "VERSION": wanted.accel[1:], "FLOW": wanted.flow.upper()}
    sources = [SOURCES / "main.c", SOURCES / "linux_dma.c", SOURCES / f"{wanted.driver}.c"]
    return compile_bare(sources, out, board=board, include=[SOURCES], defines=defines)


def expected(point: Point) -> np.ndarray[Any, Any]:
    """C as it must be: the product of the matrices that ``main.c`` makes, mod 2^32."""
    i, j = np.mgrid[: point.m, : point.k]
    r, c = np.mgrid[: point.k, : point.n]
    product: np.ndarray[Any, Any] = (i - j) @ (r + 2 * c)
    return product.astype(np.int32)
