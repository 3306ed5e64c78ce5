"""`Elements`: arrays of integers, one an element, where equal integers are equal elements.

An element is a parameter's, a literal, or a function of elements, which is interned by what it is of what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.graph import Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.scalars import convert

Ids = NDArray[np.int64]


@dataclass
class Elements:
    """Of several graphs, and of programs. `reals`: something was the same in real numbers alone."""

    reals: bool = False
    many: int = 0
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    literals: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Elements that are numbers: which, as raw host bits."""
    widened: dict[int, str] = field(default_factory=dict)
    origin: dict[int, int] = field(default_factory=dict)
    """Of what was made of a narrower number without loss: that number, and the element."""

    def fresh(self, shape: tuple[int, ...]) -> Ids:
        count = int(np.prod(shape, dtype=np.int64))
        self.many += count
        return np.arange(self.many - count, self.many, dtype=np.int64).reshape(shape)

    def id_of(self, key: tuple[Any, ...]) -> int:
        id_ = self.known.get(key)
        if id_ is None:
            id_ = self.known[key] = self.many
            self.many += 1
        return id_

    def literal(self, array: NDArray[Any], name: str) -> Ids:
        """Numbers, as raw host values."""
        bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
        values, back = np.unique(bits, return_inverse=True)
        ids = np.empty(len(values), np.int64)
        for i, value in enumerate(values.tolist()):
            ids[i] = self.id_of(("literal", name, value))
            self.literals[int(ids[i])] = name, value
        return ids[back].reshape(array.shape)

    def rows(self, head: tuple[Any, ...], rows: Ids) -> Ids:
        """Of each row the element that is `head` of it. `rows` has two dimensions."""
        if rows.shape[1] == 0:
            return np.full(len(rows), self.id_of(head), np.int64)
        unique, back = np.unique(rows, axis=0, return_inverse=True)
        ids = np.fromiter((self.id_of((*head, *row)) for row in map(tuple, unique.tolist())), np.int64)
        return ids[back.reshape(-1)]

    def convert(self, ids: Ids, source: str, target: str) -> Ids:
        """Numbers as numbers of another kind; what was made wider and comes back is what it was."""
        if source == target:
            return ids
        unique, back = np.unique(ids, return_inverse=True)
        converted = np.empty(len(unique), np.int64)
        for i, id_ in enumerate(unique.tolist()):
            if self.widened.get(id_) == target:
                converted[i] = self.origin[id_]
                continue
            if id_ in self.literals:
                raw = np.array([self.literals[id_][1]], f"u{number(source).host.itemsize}")
                value = number(source).decode(raw.view(number(source).host))
                converted[i] = self.literal(convert(value, number(source), number(target)), target)[0]
                continue
            converted[i] = self.id_of(("convert", source, target, id_))
            if number(source).narrow and target == "float32":
                self.widened[int(converted[i])], self.origin[int(converted[i])] = source, id_
        return converted[back].reshape(ids.shape)

    # --- literals -----------------------------------------------------------------------------------------

    def all_literal(self, operands: Sequence[Ids]) -> bool:
        return all(int(id_) in self.literals for ids in operands for id_ in np.unique(ids))

    def raw(self, ids: Ids, type_: Type) -> NDArray[Any]:
        host = number(type_.number).host
        unique, back = np.unique(ids, return_inverse=True)
        bits = np.array([self.literals[int(id_)][1] for id_ in unique], f"u{host.itemsize}")
        return bits.view(host)[back].reshape(type_.shape)
