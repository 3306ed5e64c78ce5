"""What all readers share: a builder of nodes, contents of constants, and numbers everywhere as splats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from axiloom.base.errors import AxiloomError
from axiloom.graph.graph import Attribute, Graph, GraphError, Node, Type
from axiloom.graph.numbers import Array, number
from axiloom.graph.ops.registry import Builder


class ReadError(AxiloomError):
    """An application that cannot be read: where, what, and what would be accepted."""

    exit_code = 4


@dataclass
class Context:
    """A graph being read. `name` stands before every message."""

    name: str
    builder: Builder = field(default_factory=Builder)
    constants: dict[str, Array] = field(default_factory=dict)
    place: str = ""
    """Where the reader is: a line or a layer."""

    def make(self, op: str, *operands: Node, **attributes: Attribute) -> Node:
        try:
            return self.builder.op(op, *operands, place=self.place, **attributes)
        except GraphError as error:
            raise self.error(str(error).removeprefix(f"{self.place}: ")) from None

    def error(self, reason: str) -> ReadError:
        text = ": ".join(part for part in (self.name, self.place, reason) if part)
        return ReadError(" ".join(text.split()))

    def parameter(self, name: str, type_: Type) -> Node:
        try:
            return self.builder.leaf("parameter", name, type_, self.place)
        except GraphError as error:
            raise self.error(str(error)) from None

    def constant(self, raw: Array, of: str, name: str) -> Node:
        """A constant of raw host values; one number everywhere becomes a splat."""
        raw = np.asarray(raw)
        if raw.size and same_everywhere(raw):
            return self.splat(number(of).decode(raw.reshape(-1)[0]), raw.shape, of)
        while name in self.constants and not _equal(self.constants[name], raw):
            name += "_"
        self.constants[name] = raw
        return self.builder.leaf("constant", name, Type(raw.shape, of), self.place)

    def splat(self, value: Any, shape: Sequence[int], of: str) -> Node:
        """One value of a number everywhere."""
        return self.make("splat", shape=tuple(shape), number=of, value=number(of).text(value))

    def like(self, node: Node, value: Any) -> Node:
        return self.splat(value, node.type.shape, node.type.number)

    def broadcast(self, node: Node, shape: Sequence[int], dimensions: Sequence[int]) -> Node:
        """``broadcast_in_dim``; of a splat, a splat; nothing where nothing changes."""
        checked = self.make("broadcast_in_dim", node, shape=tuple(shape), dimensions=tuple(dimensions))
        if node.op == "splat":
            attributes = node.attributes
            return self.make(
                "splat", shape=tuple(shape), number=attributes["number"], value=attributes["value"]
            )
        return node if is_identity(node.type.shape, shape, dimensions) else checked

    def reshape(self, node: Node, shape: Sequence[int]) -> Node:
        """``reshape``; of a splat, a splat; nothing where nothing changes."""
        if tuple(shape) == node.type.shape:
            return node
        checked = self.make("reshape", node, shape=tuple(shape))
        return self.like(checked, self.value(node).reshape(-1)[0]) if node.op == "splat" else checked

    def convert(self, node: Node, of: str) -> Node:
        return node if node.type.number == of else self.make("convert", node, number=of)

    def known(self, *nodes: Node) -> bool:
        """Whether `value` gives all of them."""
        return all(node.op in ("constant", "splat") for node in nodes)

    def value(self, node: Node) -> Array:
        """Values of a constant or a splat (not raw: bfloat16 as float32)."""
        of = number(node.type.number)
        if node.op == "constant":
            return of.decode(self.constants[str(node.attributes["name"])])
        assert node.op == "splat"
        return np.broadcast_to(of.decode(of.parse(str(node.attributes["value"]))), node.type.shape)

    def graph(self, parameters: Sequence[Node], results: Sequence[Node], name: str) -> Graph:
        """The graph, with the constants that it still needs."""
        graph = Graph(name, tuple(parameters), tuple(results))
        needed = {str(node.attributes["name"]) for node in graph.nodes() if node.op == "constant"}
        kept: Mapping[str, Array] = {
            constant: self.constants[constant] for constant in self.constants if constant in needed
        }
        return Graph(name, tuple(parameters), tuple(results), kept)


def same_everywhere(raw: Array) -> bool:
    """By bits, so that -0.0 and NaN count as what they are."""
    flat = np.ascontiguousarray(raw).reshape(-1)
    if flat[0] != flat[-1] and flat[0] == flat[0]:
        return False  # most weights; the bits of all of them take longer
    bits = flat.view(np.uint8).reshape(flat.size, -1)
    return bool((bits == bits[0]).all())


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def is_identity(before: Sequence[int], after: Sequence[int], dimensions: Sequence[int]) -> bool:
    return tuple(before) == tuple(after) and tuple(dimensions) == tuple(range(len(before)))
