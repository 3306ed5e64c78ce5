"""What accelerators with a stream compute, by the kernel of their specification: patterns of the IR."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.selection.accelerators.kernels import Patterns, load

_ROOM = Path(__file__).parent
_FILES: Mapping[str, str] = {
    MATMUL.kernel: "matmul.kernels",
    IMAGE.kernel: "image.kernels",
    WINDOW.kernel: "image.kernels",
}


@cache
def kernels_of(kernel: str) -> Patterns | None:
    """Of accelerators with this kernel; None for one of which there are no patterns."""
    file = _FILES.get(kernel)
    return None if file is None else load(_ROOM / file)
