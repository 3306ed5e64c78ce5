"""Texts of other tools that are no input here, each named in one line with what to give instead.

- drivers that other tools make of linalg, which accelerators bring
- ``tosa``, whose lowering is MLIR's own
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from axiloom.base.accelerators import parts
from axiloom.base.errors import CompileError

Sign = tuple[re.Pattern[str], str]
"""How an op is known, and what is said of it."""
_TOSA = re.compile(r'"?tosa\.\w+"?')
TOSA: Sign = (
    _TOSA,
    "an op of tosa. Lower it to linalg first: mlir-opt "
    "--pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))'",
)


@dataclass(frozen=True)
class Program:
    """`text`: C. `notes`: what a user should know of it. `prints`: functions that print, in Linux alone."""

    text: str
    notes: tuple[str, ...]
    prints: tuple[str, ...]


@dataclass(frozen=True)
class Drivers:
    """Drivers that another tool writes in MLIR. `signs`: their ops.

    `translate`: a text, its name, the one function that is meant (or None), and of the DMA its address,
    address and bytes of the window in, and of the one out.
    """

    signs: tuple[Sign, ...]
    translate: Callable[[str, str, str | None, tuple[int, int, int, int, int]], Program]


def drivers_of(text: str) -> Drivers:
    """Those that such a text may be one of."""
    kinds: list[Drivers] = list(parts("drivers").values())
    plain = _plain(text)
    return next((kind for kind in kinds if any(sign.search(plain) for sign, _ in kind.signs)), kinds[0])


_COMMENT = re.compile(r'//[^\n]*|"[^"\n]*"(?!\()')


def has_tosa(text: str) -> bool:
    """Whether an op of it is there, which a frontend may lower."""
    return _TOSA.search(_plain(text)) is not None


def _plain(text: str) -> str:
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def refuse(text: str, name: str) -> None:
    """Raises CompileError at the first op of such a kind; comments and strings do not count."""
    plain = _plain(text)
    own = (sign for kind in parts("drivers").values() for sign in kind.signs)
    for pattern, why in (*own, TOSA):
        if (found := pattern.search(plain)) is not None:
            line = plain.count("\n", 0, found.start()) + 1
            column = found.start() - plain.rfind("\n", 0, found.start())
            raise CompileError(f"{name}:{line}:{column}: {why}")
