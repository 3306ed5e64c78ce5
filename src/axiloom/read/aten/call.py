"""`Call`: an ATen operation with its arguments, and what rules make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from axiloom.graph.graph import Attribute, Node
from axiloom.graph.numbers import number
from axiloom.read.context import Context

Made: TypeAlias = Node | tuple[Node, ...]
Rule: TypeAlias = Callable[["Call"], Made]


@dataclass
class Call:
    """`given` holds arguments by the names of ATen's schema, defaults included; tensors are nodes."""

    context: Context
    op: str
    given: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    """Of the results, as torch says."""
    numbers: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shapes[0]

    @property
    def number(self) -> str:
        return self.numbers[0]

    def make(self, op: str, *operands: Node, **attributes: Attribute) -> Node:
        return self.context.make(op, *operands, **attributes)

    def node(self, name: str) -> Node:
        argument = self.given[name]
        if not isinstance(argument, Node):
            raise self.refuse(f"{name} is {argument}, not a tensor")
        return argument

    def optional(self, name: str) -> Node | None:
        return None if self.given.get(name) is None else self.node(name)

    def refuse(self, reason: str) -> Exception:
        return self.context.error(f"{self.op}: {reason}")

    def only(self, **wanted: Any) -> None:
        """Refuses arguments with other values than these."""
        for name, value in wanted.items():
            argument = self.given.get(name, value)
            if argument != value:
                raise self.refuse(f"{name}={argument} is not supported; only {value} is")

    def dimension(self, value: int, rank: int) -> int:
        if not -rank <= value < max(rank, 1):
            raise self.refuse(f"dimension {value} of {rank}")
        return value % rank if rank else 0

    def dimensions(self, value: Any, rank: int) -> tuple[int, ...]:
        """None and [] mean all."""
        if value is None or value == []:
            return tuple(range(rank))
        values = [value] if isinstance(value, int) else value
        return tuple(self.dimension(dimension, rank) for dimension in values)

    def spread(self, node: Node, shape: Sequence[int]) -> Node:
        """Broadcast as NumPy does: dimensions from the right, sizes of 1 repeated."""
        more = len(shape) - len(node.type.shape)
        return self.context.broadcast(node, shape, range(more, len(shape)))

    def operand(self, value: Any, of: str, shape: Sequence[int]) -> Node:
        """A tensor or a Python number, in a number and broadcast to a shape."""
        if isinstance(value, Node):
            return self.spread(self.context.convert(value, of), shape)
        return self.context.splat(number(of).values.type(value), shape, of)
