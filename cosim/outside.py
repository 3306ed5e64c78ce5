"""Accesses of a program beside the arrays that it was given: what the core saw in their guards, as lines.

:mod:`axiloom.cosim.build.guards` makes the guards, ``native/watch.hpp`` looks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from axiloom.cosim import lines, native
from axiloom.cosim.elf import Program, Symbol

_DOES = ("reads", "writes", "lets the DMA read", "lets the DMA write")
"""By axl_outside_kind."""


@dataclass(frozen=True)
class Arrays:
    """The arrays of a program that are watched, by their numbers in the core."""

    program: Program | None = None
    symbols: tuple[Symbol, ...] = ()
    source: lines.Lines = lines.NONE

    def lines(self, library: Any) -> list[str]:
        """One for each place in the program and array, oldest first: a line may be several instructions."""
        places: dict[tuple[str, int, int], list[Any]] = {}
        for number in range(library.axl_outside_count()):
            raw = library.axl_outside(number).contents
            places.setdefault((self._place(raw.pc, raw.call), raw.kind, raw.array), []).append(raw)
        return [self._line(place, kind, array, found) for (place, kind, array), found in places.items()]

    def _line(self, place: str, kind: int, number: int, found: Sequence[Any]) -> str:
        array = self.symbols[number]
        first = min(raw.first for raw in found) - array.address
        last = max(raw.end for raw in found) - array.address - 1
        count = sum(raw.count for raw in found)
        times = f"{count} time{'s' if count != 1 else ''}, first at fabric cycle {found[0].cycle}"
        return (
            f"{place} {_DOES[kind]} bytes {first} to {last} of {array.name}, "
            f"which has bytes 0 to {array.size - 1}; {times}"
        )

    def _place(self, pc: int, call: int) -> str:
        """The user's own line; of a function of the runtime the line that called it."""
        assert self.program is not None
        if own := self.source.at(pc):
            return own
        called = self.source.at(call) if call else None
        inside = self.program.function_at(pc)
        return f"{called}, in {inside}," if called and inside else self.program.describe(pc)


NONE = Arrays()


def refusal(found: Sequence[str]) -> str:
    """What is said of a run whose program left its arrays: the first place, and how many there are."""
    more = f" ({len(found) - 1} more place{'s' if len(found) > 2 else ''})" if len(found) > 1 else ""
    return f"the driver left its arrays: {found[0]}{more}"


def watch(library: Any, program: Program) -> Arrays:
    """Tell the core which arrays of `program` have guards, and which functions are the user's own."""
    symbols = program.arrays
    if not symbols:
        return NONE
    source = lines.read(program.path)
    own = [source.at(function.address) is not None for function in program.functions]
    library.axl_own_functions((ctypes.c_uint8 * len(own))(*own))
    ranges = [native.Range(one.address, one.address + one.size) for one in symbols]
    library.axl_watch((native.Range * len(ranges))(*ranges), len(ranges), *program.guarded)
    return Arrays(program, symbols, source)
