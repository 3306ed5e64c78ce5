"""Texts of other tools that are no input here, each named in one line with what to give instead.

- the published `accel` dialect, whose ops take values: what AXI4MLIR makes of linalg, before its calls
- functions that call its DMA library: what it makes of that (ours print `func.call`, and are read again)
- ``tosa``, whose lowering is MLIR's own
"""

from __future__ import annotations

import re

from axiloom.base.errors import CompileError

_TOSA = re.compile(r'"?tosa\.\w+"?')
_MADE = "AXI4MLIR made it of linalg: give that file, or run this one as a driver: axiloom simulate FILE.mlir"
OTHERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"\baccel\.(?:init_dma\s+%|sendLiteral\b|send(?:Dim|Idx)?\s+%\w+\s*(?:,|:)|recv\s+%\w+\s*,)"
        ),
        f"an op of the published accel dialect. {_MADE}",
    ),
    (
        re.compile(r"(?<!func\.)\bcall @(?:dma_(?:init|start_send|start_recv)|copy_to_inbuffer_\w+)\("),
        f"a call of the published DMA library. {_MADE}",
    ),
    (
        _TOSA,
        "an op of tosa. Lower it to linalg first: mlir-opt "
        "--pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))'",
    ),
)
"""How such a text is known, and what is said of it."""
_COMMENT = re.compile(r'//[^\n]*|"[^"\n]*"(?!\()')


def has_tosa(text: str) -> bool:
    """Whether an op of it is there, which a frontend may lower."""
    return _TOSA.search(_plain(text)) is not None


def _plain(text: str) -> str:
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def refuse(text: str, name: str) -> None:
    """Raises CompileError at the first op of such a kind; comments and strings do not count."""
    plain = _plain(text)
    for pattern, why in OTHERS:
        if (found := pattern.search(plain)) is not None:
            line = plain.count("\n", 0, found.start()) + 1
            column = found.start() - plain.rfind("\n", 0, found.start())
            raise CompileError(f"{name}:{line}:{column}: {why}")
