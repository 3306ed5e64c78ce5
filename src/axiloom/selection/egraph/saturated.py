"""`Saturated`: classes of values that are equal by rules, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from axiloom.base.errors import AxiloomError
from axiloom.graph.graph import Attribute, Type


class SaturationError(AxiloomError):
    """Rules that contradict each other, or an engine that was stopped."""

    exit_code = 4


@dataclass(frozen=True)
class Limits:
    """Where saturation ends if it does not end by itself."""

    nodes: int = 50_000
    iterations: int = 40
    seconds: float = 10.0


@dataclass(frozen=True)
class ENode:
    """One way to make a class: an operation on classes."""

    op: str
    operands: tuple[int, ...]
    """Numbers of classes."""
    attributes: tuple[tuple[str, Attribute], ...]
    """By name, sorted."""
    rule: str = ""
    """What brought it; empty: the application itself."""
    place: str = ""
    """Of the application's own: where it stands there."""

    @cached_property
    def given(self) -> Mapping[str, Attribute]:
        return dict(self.attributes)


@dataclass(frozen=True)
class Saturated:
    """`classes[i]` are the ways to make class i, in an order that follows from graph and rules alone."""

    types: tuple[Type, ...]
    classes: tuple[tuple[ENode, ...], ...]
    roots: tuple[int, ...]
    """The graph's results."""
    stopped: str
    """What ended it: ``saturated``, or the limit by name with its value."""
    iterations: int
    applied: Mapping[str, int]
    """Rule to how often it brought something new."""
    seconds: float

    @property
    def nodes(self) -> int:
        return sum(map(len, self.classes))
