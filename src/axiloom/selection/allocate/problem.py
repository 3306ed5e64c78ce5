"""What is to be ordered and placed, and what comes out. Nothing here knows tensors or instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Memory:
    """A memory of `units` rows (banks, words: what an address counts)."""

    name: str
    units: int


@dataclass(frozen=True)
class Value:
    """What one step writes and others read: `units` rows of `memory` that follow each other.

    Its address is a multiple of `align`, or `at` if that is given. `kept`: it is still wanted after the last
    step. A value that no step writes is there from the beginning.
    """

    name: str
    memory: str
    units: int
    align: int = 1
    at: int | None = None
    kept: bool = False


@dataclass(frozen=True)
class Step:
    """An instruction: what it reads and writes, and the unit that it keeps busy for `cycles`.

    `in_place`: a written value to the read one whose address it has, which nobody reads after. `apart`: a
    written value may not lie where a read one lies, not even where that one dies here. An instruction that
    reads everything before it writes sets ``apart=False``: what it writes may take the place of what dies, if
    all steps are of one unit. A step that writes nothing (a store) is executed once.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    cycles: int = 1
    unit: str = ""
    in_place: Mapping[str, str] = field(default_factory=dict)
    apart: bool = True
    again: bool = False
    """It may be executed more than once: a load, or what is cheap to compute again."""


@dataclass(frozen=True)
class Problem:
    memories: tuple[Memory, ...]
    values: tuple[Value, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Placed:
    """A step of the plan. `copy` counts the executions of the same step from 0."""

    step: Step
    copy: int
    start: int
    """Cycle, by the costs of the problem."""
    addresses: Mapping[str, int]
    """Of what it reads and writes."""


@dataclass(frozen=True)
class Plan:
    steps: tuple[Placed, ...]
    cycles: int
    peaks: Mapping[str, int]
    """By memory: the rows in use at most."""
    bound: int
    """No plan takes fewer cycles."""
    seconds: float


@dataclass(frozen=True)
class Refusal:
    """There is no plan: `proved`, or a limit was reached. `why` finds the reason."""

    why: Callable[[], str]
    proved: bool
    seconds: float

    @cached_property
    def reason(self) -> str:
        return self.why()
