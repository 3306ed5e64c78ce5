"""How an accelerator is used: one value from the command line to the compiler.

Without copies, C decides the order of the loops. The CPU packs nothing, so the order that moves the
fewest words wins. Among equal orders, the order that brings a tile of C back while L1 still holds it
wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Schedule:
    """Flow, loops, tile and passes; what is None is left to the accelerator, or to a choice."""

    flow: str | None = None
    """One of the specification's."""
    order: tuple[str, ...] | None = None
    """Loops, outermost first."""
    tile: tuple[int, ...] | None = None
    pipeline: str | None = None
    """A preset or passes with commas between them."""

    def options(self) -> dict[str, Any]:
        """As :func:`axiloom.drivergen.compile_mlir` takes them: those that are not None."""
        named = {"flow": self.flow, "order": self.order, "tile": self.tile, "pipeline": self.pipeline}
        return {name: value for name, value in named.items() if value is not None}


DEFAULTS = Schedule()
