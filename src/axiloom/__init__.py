"""Axiloom: hardware, driver and co-simulation of an AXI accelerator from one description.

::

    import axiloom as ax

    run = ax.run("matmul:64x64x64", on="v3_16")
    run.cycles, run.counters["cache-misses"], run.outputs["C"], run.limit.ratio

The names are those of ``__all__``; rooms of the package, whose map is in ``docs/architecture.md``, may move.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"
__all__ = [
    "Device",
    "Error",
    "Plan",
    "Run",
    "board",
    "compare",
    "device",
    "explore",
    "nest",
    "plan",
    "prove",
    "quantize",
    "read",
    "run",
    "soc",
]
_PLACES = {
    "accelerators": ("Device",),
    "devices": ("board", "device"),
    "works": ("read",),
    "plans": ("Plan",),
    "calls": ("plan", "run"),
    "runs": ("Run", "compare"),
    "choices": ("explore",),
    "proofs": ("prove",),
    "models": ("quantize",),
    "loops": ("nest",),
    "sessions": ("soc",),
}


class _Library(ModuleType):
    """Public names stay what they are where a room has the same one (`run`, `read`): importing
    ``axiloom.run.problem`` would put the room in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        # Only who asks for it pays for the imports; and by name, as this file may know nobody.
        if name == "Error":
            value = import_module("axiloom.base.errors").AxiloomError
        else:
            place = next((place for place, names in _PLACES.items() if name in names), None)
            if place is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            value = getattr(import_module(f"axiloom.library.{place}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Library
