"""Functions of statements: what both texts say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from axiloom.graph.graph import Type
from axiloom.graph.numbers import Array


@dataclass
class Statement:
    """`op` is StableHLO's name. Operands are names of values; ``v#1`` is the second result of v."""

    line: int
    op: str
    operands: tuple[str, ...]
    attributes: dict[str, Any]
    types: tuple[Type, ...]
    """Of the results."""
    result: str
    """Its name; with several results, ``result#0`` and so on are names too."""
    given: tuple[Type, ...] | None = None
    """Types of the operands, where the text says them."""
    regions: tuple[Function, ...] = ()
    literal: Array | None = None
    """Raw host values of a constant."""
    layout: tuple[int, ...] | None = None
    """The result's dimensions as a compiler stores them, the fastest first; None: not said, or not plain."""
    stored: tuple[tuple[int, ...] | None, ...] = ()
    """The same of the operands."""


@dataclass
class Function:
    name: str
    parameters: list[tuple[str, Type]] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    results: tuple[str, ...] = ()
    line: int = 0


@dataclass
class Module:
    functions: dict[str, Function]
    entry: str
