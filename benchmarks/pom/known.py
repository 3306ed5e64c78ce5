"""What was found once is kept in the cache folder, for the code it was found with.

A table of long runs can be broken off, and goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axiloom
from axiloom.base.cache import content_hash, remembered
from axiloom.cosim.build import verilator

_ROOMS = (
    *("nests", "nest", "base", "isa/numerics"),
    *("hw/nest", "hw/verilog", "cosim/build"),
)
_SUFFIXES = (".py", ".cpp", ".sched")


def code() -> str:
    """A hash of all sources between a kernel and its figures, and of the simulator."""
    package = Path(axiloom.__path__[0])
    folders = [*(package / room for room in _ROOMS), Path(__file__).parent]
    files = sorted(
        file for folder in folders for file in folder.resolve().rglob("*") if file.suffix in _SUFFIXES
    )
    return content_hash(verilator.identity(), *files)


def known(what: list[Any], find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `find` finds for `what` (plain data), or has found with the same code."""
    return remembered("pom", content_hash(code(), what), find)[0]
