"""`Elements`: values of graphs as arrays of integers, one an element, where equal integers are equal elements.

An element is a parameter's, a literal, or an operation on elements. Operations that move elements move the
integers; those that compute intern what they compute of what. So transposes, tiles, padding and the other order
of the same loads leave no trace, and nothing here knows what a rule is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.selection.ir.graph import Graph, Node, Type
from axiloom.selection.ir.numbers import number
from axiloom.selection.ir.ops import OPS, Builder, elementwise

Ids = NDArray[np.int64]
MOVES = frozenset(
    ("reshape", "transpose", "slice", "concatenate", "broadcast_in_dim", "pad", "reverse", "windows")
)
ELEMENTWISE = frozenset(one.name for one in elementwise.OPS)


@dataclass
class Elements:
    """Of several graphs, and of programs. `reals`: something was the same in real numbers alone."""

    reals: bool = False
    many: int = 0
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    literals: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Elements that are numbers: which, as raw host bits."""

    def fresh(self, shape: tuple[int, ...]) -> Ids:
        count = int(np.prod(shape, dtype=np.int64))
        self.many += count
        return np.arange(self.many - count, self.many, dtype=np.int64).reshape(shape)

    def one(self, key: tuple[Any, ...]) -> int:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.many
            self.many += 1
        return found

    def literal(self, array: NDArray[Any], name: str) -> Ids:
        """Numbers, as raw host values."""
        bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
        values, back = np.unique(bits, return_inverse=True)
        found = np.empty(len(values), np.int64)
        for i, value in enumerate(values.tolist()):
            found[i] = self.one(("literal", name, value))
            self.literals[int(found[i])] = name, value
        return found[back].reshape(array.shape)

    def rows(self, head: tuple[Any, ...], rows: Ids) -> Ids:
        """Of each row the element that is `head` of it. `rows` has two dimensions."""
        if rows.shape[1] == 0:
            return np.full(len(rows), self.one(head), np.int64)
        unique, back = np.unique(rows, axis=0, return_inverse=True)
        found = np.fromiter((self.one((*head, *row)) for row in map(tuple, unique.tolist())), np.int64)
        return found[back.reshape(-1)]

    # --- graphs -------------------------------------------------------------------------------------------

    def graph(self, graph: Graph, given: Mapping[str, Ids]) -> tuple[Ids, ...]:
        """The results, for parameters by name."""
        made: dict[int, Ids] = {}
        for node in graph.nodes():
            if node.op == "parameter":
                made[id(node)] = given[str(node.attributes["name"])]
            elif node.op == "constant":
                made[id(node)] = self.literal(graph.constant(node), node.type.number)
            else:
                made[id(node)] = self.value(node, [made[id(one)] for one in node.operands])
        return tuple(made[id(one)] for one in graph.results)

    def value(self, node: Node, operands: Sequence[Ids]) -> Ids:
        """One operation's result, for its operands."""
        from axiloom.selection.validate.contract import CONTRACTIONS

        types = [one.type for one in node.operands]
        if not operands or self._all_literal(operands):
            arrays = [self._raw(one, type_) for one, type_ in zip(operands, types, strict=True)]
            return self.literal(OPS[node.op].evaluate(arrays, types, node.attributes), node.type.number)
        if node.op in MOVES:
            return np.asarray(OPS[node.op].evaluate(list(operands), types, node.attributes))
        if node.op in ELEMENTWISE:
            given = tuple(sorted(node.attributes.items()))
            head = (node.op, given, *(one.number for one in types))
            stacked = np.stack([np.broadcast_to(one, node.type.shape).ravel() for one in operands], axis=1)
            return self.rows(head, stacked).reshape(node.type.shape)
        if node.op in CONTRACTIONS:
            return CONTRACTIONS[node.op](self, node, operands)
        if node.op == "reduce":
            return self._reduced(node, operands[0])
        definition = OPS[node.op].definition
        if definition is not None:
            return self._defined(node, operands)
        key = (node.op, tuple(sorted(node.attributes.items())), *(one.tobytes() for one in operands))
        first = self.known.get(key)
        if first is None:
            made = self.fresh(node.type.shape)
            self.known[key] = int(made.flat[0]) if made.size else 0
            return made
        return np.arange(first, first + node.type.elements, dtype=np.int64).reshape(node.type.shape)

    def _defined(self, node: Node, operands: Sequence[Ids]) -> Ids:
        definition = OPS[node.op].definition
        assert definition is not None
        builder = Builder()
        leaves = [builder.leaf("parameter", str(i), one.type) for i, one in enumerate(node.operands)]
        result = definition(builder.op, leaves, node.attributes)
        given = {str(i): one for i, one in enumerate(operands)}
        return self.graph(Graph(node.op, tuple(leaves), (result,)), given)[0]

    def _reduced(self, node: Node, operand: Ids) -> Ids:
        dimensions = node.attributes["dimensions"]
        assert isinstance(dimensions, tuple)
        kept = [i for i in range(operand.ndim) if i not in dimensions]
        rows = operand.transpose(*kept, *sorted(dimensions)).reshape(node.type.elements, -1)
        head = ("reduce", str(node.attributes["kind"]), node.type.number)
        return self.rows(head, rows).reshape(node.type.shape)

    # --- literals -----------------------------------------------------------------------------------------

    def _all_literal(self, operands: Sequence[Ids]) -> bool:
        return all(int(one) in self.literals for ids in operands for one in np.unique(ids))

    def _raw(self, ids: Ids, type_: Type) -> NDArray[Any]:
        host = number(type_.number).host
        unique, back = np.unique(ids, return_inverse=True)
        bits = np.array([self.literals[int(one)][1] for one in unique], f"u{host.itemsize}")
        return bits.view(host)[back].reshape(type_.shape)
