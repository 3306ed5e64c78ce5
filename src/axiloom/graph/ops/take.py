"""``take``: rows of a table by number, as embeddings do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.ops.checks import kind_of, need
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read

Types = Sequence[Type]


def _result(types: Types, _: Attributes) -> Type:
    table, rows = types
    kind_of(rows, "integer")
    need(bool(table.shape) and table.shape[0] > 0, f"{table} has no rows")
    return Type((*rows.shape, *table.shape[1:]), table.number)


def _evaluate(arrays: Arrays, types: Types, _: Attributes) -> Array:
    table, rows = arrays
    return np.asarray(table[np.clip(rows, 0, types[0].shape[0] - 1).astype(np.int64)])


def _element(algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, _: Attributes) -> Any:
    rank = len(types[1].shape)
    row = algebra.apply("position", reads[1](index[:rank]), types[0].shape[0])
    return reads[0]([row, *index[rank:]])


OPS = (
    Op(
        "take", 2, _result, _evaluate, _element,
        doc="table and row numbers: table[rows]; numbers outside are the nearest row's, as in StableHLO",
    ),
)  # fmt: skip
