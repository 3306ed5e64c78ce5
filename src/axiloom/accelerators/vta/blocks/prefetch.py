"""Loads ahead: a tile is loaded while the one before it is multiplied.

A memory is used in `Halves`, and a load stands right behind the sums of the tile before: there the device
begins it as soon as they have begun. Tokens (:mod:`axiloom.selection.drive.tokens`) say what it waits for.

Loads stand behind the sums that they overlap with. The device takes commands in order, without queues: a
load that stood in front of sums would make them wait for its words. Moving it behind them costs nothing
and needs no hardware.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.selection.program.program import Command

_LOADS = ("load_inp", "load_wgt")


@dataclass
class Halves:
    """`count` parts of `size` places: :meth:`next` is where the next tile lies."""

    count: int
    size: int
    turn: int = -1

    def next(self) -> int:
        self.turn = (self.turn + 1) % self.count
        return self.now

    @property
    def now(self) -> int:
        return max(self.turn, 0) * self.size


def prefetched(commands: Sequence[Command]) -> list[Command]:
    """The same with loads moved up behind the sums, or the load, before them: past what works on sums."""
    moved: list[Command] = []
    for command in commands:
        at = len(moved)
        if command.instruction in _LOADS:
            while at and _is_passed(moved[at - 1]):
                at -= 1
        moved.insert(at, command)
    return moved


def _is_passed(command: Command) -> bool:
    if command.instruction == "gemm":
        return bool(command.fields.get("reset"))
    return command.instruction in ("alu", "store")


def waited(*loads: tuple[int, int]) -> tuple[int, int, int]:
    """How many loads there are, each of halves of a memory and of cycles; the cycles that work waits for; and
    those that it hides, as there is another half."""
    waits = sum(cycles for halves, cycles in loads if halves == 1)
    return len(loads), waits, sum(cycles for _, cycles in loads) - waits
