"""What a unit of an accelerator says of itself.

Between operators, values are float32 in the host's memory: a host brings the operands into the unit's
numbers, and the result back. The `Settings` say with which exponents and versions; each is a `Knob`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from axiloom.application.units.counts import Array, Places
from axiloom.graph.graph import Node

PORT = 8
"""Bytes of a cycle of the host's port, where cycles are counted from a text and not foretold of RTL."""
Settings: TypeAlias = Mapping[str, int]
Ranges: TypeAlias = Mapping[str, float]
"""By place (input, weights, output, cell, ...): the largest magnitude in float32."""


@dataclass(frozen=True)
class Knob:
    """A number from `low` to `high`. `searched`: the checked pass may try its neighbours."""

    low: int
    high: int
    text: str
    searched: bool = False


@dataclass(frozen=True)
class Change:
    """`settings` of an operator that may serve it better, and why."""

    why: str
    settings: Settings


@dataclass(frozen=True, eq=False)
class Operator:
    """A part of the graph that a unit takes: `inside` (operands first) computes `node` from `operands`."""

    unit: Unit
    node: Node
    inside: tuple[Node, ...]
    operands: tuple[Node, ...]
    name: str

    @property
    def shape(self) -> str:
        return " x ".join("x".join(map(str, operand.type.shape)) for operand in self.operands[:2])


@dataclass(frozen=True)
class Call:
    """A part of a call, to be given again by commands: what whole arrays made of it is `wanted`."""

    what: str
    wanted: Array
    text: Callable[[], Array]
    """By the simulator of the accelerator's text."""
    rtl: Callable[[], Array] | None = None
    """In Verilator; None for units without RTL. Raises ValueError for a part that its memories are too small
    for."""


class Unit(Protocol):
    """Stateless: the same arguments give the same result."""

    @property
    def name(self) -> str:
        """``ACCELERATOR.UNIT``."""

    @property
    def target(self) -> str:
        """The accelerator's text, by its name among the targets."""

    @property
    def knobs(self) -> Mapping[str, Knob]: ...

    def cycles(self, operator: Operator) -> int:
        """Of one call on the unit, without the host's conversions. Foretold where there is RTL; else counted
        from what the text says: words of the bus over a port of `PORT` bytes, then steps of the array."""

    def take(self, node: Node, uses: Mapping[int, int]) -> Operator | str | None:
        """The operator that ends in `node`; why it is not taken; None if it is nothing for this unit."""

    def observe(self, operator: Operator, arrays: Sequence[Array], result: Array) -> dict[str, float]:
        """The largest magnitudes of a call in float32."""

    def published(self, operator: Operator, ranges: Ranges) -> Settings:
        """As the published driver sets it."""

    def chosen(self, operator: Operator, ranges: Ranges) -> Settings:
        """From ranges; the checked pass starts from these."""

    def wrong(self, settings: Settings) -> Iterator[str]:
        """What is inconsistent: a buffer that is not read as it is written."""

    def mended(self, settings: Settings) -> Settings:
        """What follows from other knobs made to follow: then nothing is `wrong`."""

    def run(self, operator: Operator, arrays: Sequence[Array], settings: Settings, places: Places) -> Array:
        """float32 of the result's shape; counts go to `places`."""

    def changes(self, settings: Settings, ranges: Ranges, places: Places) -> Iterator[Change]:
        """What may be better: complete settings."""

    def replay(
        self, operator: Operator, arrays: Sequence[Array], settings: Settings, rng: np.random.Generator
    ) -> Call:
        """A part of a call, chosen by `rng`."""


def largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0))


def exponent(most: float, limit: float) -> int:
    """The largest e with most * 2^e <= limit; 0 where there is nothing."""
    return int(np.floor(np.log2(limit / most))) if most > 0 else 0


def changed(settings: Settings, **more: int) -> dict[str, int]:
    return {**settings, **more}


def checked(knobs: Mapping[str, Knob], settings: Settings) -> dict[str, int]:
    """Settings within their knobs."""
    return {name: min(max(int(value), knobs[name].low), knobs[name].high) for name, value in settings.items()}


Arrays: TypeAlias = Sequence[Array]
