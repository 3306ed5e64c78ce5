"""Sums of products as elements: each a row of the left factor and a column of the right one.

Products with a literal zero are left out of integers' sums; of floats' too, which is right in real numbers
and is said (`Elements.reals`). A sum of one product with a literal one is its other factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.graph import Node, Type
from axiloom.graph.numbers import number
from axiloom.selection.validate.elements import Elements, Ids

T = TypeVar("T", bound=np.generic)
Contraction: TypeAlias = Callable[[Elements, Node, Sequence[Ids]], Ids]


def _dense(elements: Elements, node: Node, operands: Sequence[Ids]) -> Ids:
    x, w = operands
    rows = x.reshape(-1, x.shape[-1])
    types = [operand.type for operand in node.operands]
    return product(elements, rows, w, types, node.type.number).reshape(node.type.shape)


def _dot_general(elements: Elements, node: Node, operands: Sequence[Ids]) -> Ids:
    left, right = sides(node, operands)
    types = [operand.type for operand in node.operands]
    products = [product(elements, a, b, types, node.type.number) for a, b in zip(left, right, strict=True)]
    return np.stack(products).reshape(node.type.shape)


CONTRACTIONS: Mapping[str, Contraction] = {"dense": _dense, "dot_general": _dot_general}


def sides(node: Node, operands: Sequence[NDArray[T]]) -> list[NDArray[T]]:
    """Both factors of a dot_general as batches, rows, terms of the sums."""
    dims = {name: list(value) for name, value in node.attributes.items() if isinstance(value, tuple)}
    return [
        _arranged(operand, dims[f"{side}_batch"], dims[f"{side}_contracting"])
        for side, operand in zip(("lhs", "rhs"), operands, strict=True)
    ]


def _arranged(ids: NDArray[T], batch: list[int], contracting: list[int]) -> NDArray[T]:
    rest = [i for i in range(ids.ndim) if i not in batch and i not in contracting]
    sizes = [
        int(np.prod([ids.shape[i] for i in some], dtype=np.int64)) for some in (batch, rest, contracting)
    ]
    return ids.transpose(*batch, *rest, *contracting).reshape(sizes)


def product(elements: Elements, rows: Ids, columns: Ids, types: Sequence[Type], of: str) -> Ids:
    """``rows . columns'``: both have the terms of the sums as their last dimension. The IR makes narrow
    floats' sums in float32, and rounds once."""
    inner = "float32" if number(of).narrow else of
    if number(of).narrow:
        rows = elements.convert(rows, types[0].number, inner)
        columns = elements.convert(columns, types[1].number, inner)
        types = [Type(type_.shape, inner) for type_ in types]
    result = np.empty((len(rows), len(columns)), np.int64)
    head = ("sum of products", types[0].number, types[1].number, inner)
    zeros_left, zeros_right = _zeros(elements, rows), _zeros(elements, columns)
    masks_left, of_left = np.unique(zeros_left, axis=0, return_inverse=True)
    masks_right, of_right = np.unique(zeros_right, axis=0, return_inverse=True)
    for i, left in enumerate(masks_left):
        here = np.flatnonzero(of_left.reshape(-1) == i)
        for j, right in enumerate(masks_right):
            there = np.flatnonzero(of_right.reshape(-1) == j)
            kept = ~(left | right)
            if not kept.all() and number(inner).kind == "float":
                elements.reals = True
            block = _pairs(elements, rows[here][:, kept], columns[there][:, kept], head, types, inner)
            result[np.ix_(here, there)] = block
    return elements.convert(result, inner, of)


def _zeros(elements: Elements, ids: Ids) -> np.ndarray:
    nothing = [literal for literal, (name, bits) in elements.literals.items() if _value(name, bits) == 0]
    return np.isin(ids, np.array(nothing, np.int64))


def _value(name: str, bits: int) -> float:
    of = number(name)
    raw = np.array([bits], f"u{of.host.itemsize}").view(of.host)
    return float(of.decode(raw)[0])


def _pairs(
    elements: Elements, rows: Ids, columns: Ids, head: tuple[str, ...], types: Sequence[Type], of: str
) -> Ids:
    if rows.shape[1] == 0:
        zero = elements.literal(number(of).encode(np.zeros(1)), of)
        return np.broadcast_to(zero, (len(rows), len(columns)))
    if rows.shape[1] == 1:
        for factors, other, turned in ((columns, rows, False), (rows, columns, True)):
            type_ = types[0] if other is rows else types[1]
            if type_.number == of and _ones(elements, factors):
                block = np.broadcast_to(other, (len(other), len(factors)))
                return block.T if turned else block
    left = elements.rows(("row",), rows)
    right = elements.rows(("row",), columns)
    grid = np.stack(np.meshgrid(left, right, indexing="ij"), axis=-1).reshape(-1, 2)
    if types[0].number == types[1].number:
        grid.sort(axis=1)  # factors commute, in floats too: there is one NaN
    return elements.rows(head, grid).reshape(len(rows), len(columns))


def _ones(elements: Elements, ids: Ids) -> bool:
    return all(
        id_ in elements.literals and _value(*elements.literals[id_]) == 1 for id_ in np.unique(ids).tolist()
    )
