"""What is to be ordered and placed, and what comes out. Nothing here knows tensors or instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Memory:
    """A memory of `rows` (banks, words: what an address counts)."""

    name: str
    rows: int


@dataclass(frozen=True)
class Step:
    """An instruction and its result, which has the step's name: `rows` of `memory` that follow each other.

    `at`: the result's address, where that is fixed. `in_place`: the operand whose address the result has, and
    which nobody reads after. `apart`: the result may not lie where an operand lies, not even where that one
    dies here. `again`: it may be executed more than once: a load, which reads nothing.
    """

    name: str
    reads: tuple[str, ...]
    memory: str
    rows: int
    cycles: int = 1
    at: int | None = None
    in_place: str = ""
    apart: bool = True
    again: bool = False


@dataclass(frozen=True)
class Problem:
    memories: tuple[Memory, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Executed:
    """A step of an order, with the addresses of what it reads and of its result."""

    step: Step
    addresses: Mapping[str, int]


@dataclass(frozen=True)
class Plan:
    """Steps one after the other. No plan takes fewer cycles than `bound`."""

    steps: tuple[Executed, ...]
    bound: int

    @property
    def cycles(self) -> int:
        return sum(executed.step.cycles for executed in self.steps)


@dataclass(frozen=True)
class Refusal:
    """There is no plan, or (not `proved`) none was found. `why` finds the reason."""

    why: Callable[[], str]
    proved: bool

    @cached_property
    def reason(self) -> str:
        return self.why()
