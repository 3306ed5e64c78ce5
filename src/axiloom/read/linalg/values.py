"""`Space`: tensors over some of the loops of an op, which grow to the loops that they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.graph.graph import Attribute, Node
from axiloom.read.context import Context


@dataclass(frozen=True)
class Value:
    """A tensor whose dimensions are loops, ascending. `counts`: it is the index of this loop."""

    node: Node
    loops: tuple[int, ...]
    counts: int | None = None


@dataclass
class Space:
    """The loops of one op: how often each runs."""

    context: Context
    sizes: tuple[int, ...]

    def over(self, value: Value, loops: Sequence[int]) -> Node:
        """The value over at least its own loops, ascending."""
        places = [loops.index(loop) for loop in value.loops]
        return self.context.broadcast(value.node, [self.sizes[loop] for loop in loops], places)

    def apply(self, op: str, *values: Value, **attributes: Attribute) -> Value:
        """An operation element by element, over all loops of its operands."""
        loops = tuple(sorted({loop for value in values for loop in value.loops}))
        return Value(
            self.context.make(op, *(self.over(value, loops) for value in values), **attributes), loops
        )

    def splat(self, value: object, of: str) -> Value:
        return Value(self.context.splat(value, (), of), ())

    def convert(self, value: Value, of: str) -> Value:
        return Value(self.context.convert(value.node, of), value.loops)

    def index(self, loop: int) -> Value:
        """The index of a loop. MLIR's ``index`` is int64 here."""
        iota = self.context.make("iota", shape=(self.sizes[loop],), number="int64", dimension=0)
        return Value(iota, (loop,), loop)

    def sorted(self, node: Node, loops: Sequence[int]) -> Value:
        """A tensor whose dimensions are these loops, in any order."""
        order = sorted(range(len(loops)), key=loops.__getitem__)
        if order != list(range(len(loops))):
            node = self.context.make("transpose", node, permutation=tuple(order))
        return Value(node, tuple(sorted(loops)))
