"""Graphs of operations on tensors: values, without memory and without order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from axiloom.base.errors import AxiloomError
from axiloom.base.wording.names import free_name

T = TypeVar("T", bound=Hashable)
Attribute: TypeAlias = int | str | tuple[int, ...]
"""What an operation is given beside its operands. A number that is no integer is its shortest text."""


class GraphError(AxiloomError):
    """A graph that means nothing: an unknown operation, operands whose shapes do not go together."""


class Unknown:
    """What stands for any integer in a proof: sizes and indices know ``+ - * // %`` and comparisons."""


@dataclass(frozen=True)
class Type:
    """A tensor's shape, and the name of its numbers (:mod:`axiloom.graph.numbers`)."""

    shape: tuple[int, ...]
    number: str

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.number])


@dataclass(frozen=True, eq=False)
class Node:
    """One operation. Two nodes are the same if they are one object; `Builder` makes equal ones one."""

    op: str
    operands: tuple[Node, ...]
    attributes: Mapping[str, Attribute]
    type: Type
    place: str = ""
    """Where it stands in what the user brought (layer, line), for messages."""

    def __repr__(self) -> str:
        attributes = [f"{name}={value}" for name, value in self.attributes.items()]
        taken = ", ".join([*(str(operand.type) for operand in self.operands), *attributes])
        return f"{self.op}({taken}) : {self.type}"


@dataclass(frozen=True)
class Graph:
    """An application. Parameters and constants are nodes ``parameter`` and ``constant`` with a ``name``."""

    name: str
    parameters: tuple[Node, ...]
    results: tuple[Node, ...]
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """By name: the contents, as raw host values of their numbers."""
    order: tuple[Node, ...] = ()
    """Nodes that are computed in this order, where it is to be another than that of the results."""

    def nodes(self) -> Iterator[Node]:
        """Each node once, operands first; the order follows from the graph alone."""
        yield from in_order((*self.order, *self.results))

    @property
    def result_names(self) -> tuple[str, ...]:
        """``y``, or ``y0``, ``y1`` ..., with a line behind where a parameter has that name."""
        taken = {str(parameter.attributes["name"]) for parameter in self.parameters}
        several = len(self.results) > 1
        return tuple(
            free_name(f"y{number}" if several else "y", taken) for number in range(len(self.results))
        )

    def constant(self, node: Node) -> NDArray[Any]:
        return np.asarray(self.constants[str(node.attributes["name"])])


def in_order(results: Sequence[Node]) -> Iterator[Node]:
    """The nodes that `results` are made of, operands first."""
    return postorder(results, lambda node: node.operands)


def postorder(roots: Iterable[T], needs: Callable[[T], Sequence[T]]) -> Iterator[T]:
    """Each of `roots` and of what they need once, behind what it needs. No recursion: graphs are deep."""
    seen: set[T] = set()
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        item, ready = stack.pop()
        if ready:
            yield item
            continue
        if item in seen:
            continue
        seen.add(item)
        stack.append((item, True))
        stack += [(need, False) for need in reversed(needs(item))]
