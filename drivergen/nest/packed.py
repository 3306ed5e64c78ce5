"""Constant operands as drivers have them: packed before anything runs, tile by tile as they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr, i64
from xdsl.ir import Attribute

Array = np.ndarray[Any, Any]

MULTIPLIER_BITS = 16
"""Of the word with a channel's multiplier and shift: the multiplier's, the lowest."""
CONSTANT = "accel.constant"
"""Attribute of an argument: it holds the same whenever the function is called, and is known now."""
SOURCES = "accel.sources"
"""Attribute of an argument: numbers of those of the original function that it is made of."""


@dataclass(frozen=True)
class Piece:
    """A tile of an array: where its first element is, sizes and strides in elements, and how it travels.

    Dim i of `shape` is dim ``permutation[i]``; zeros fill up `shape`, and what each of its `rows` leading
    dims has to beats of `beat_bits` bits.
    """

    begin: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    permutation: tuple[int, ...]
    rows: int
    beat_bits: int

    def words(self, array: Array) -> Array:
        """The words that are sent, as bytes."""
        flat = np.ascontiguousarray(array).reshape(-1)[self.begin :]
        steps = [stride * array.itemsize for stride in self.strides]
        view = np.lib.stride_tricks.as_strided(flat, self.sizes, steps, writeable=False)
        tile = np.zeros(self.shape, array.dtype)
        moved = view.transpose(self.permutation)
        tile[tuple(slice(size) for size in moved.shape)] = moved
        lines = tile.reshape(prod(self.shape[: self.rows]), -1).view(np.int8)
        unit = self.beat_bits // 8
        rest = -lines.shape[1] % unit
        return np.pad(lines, ((0, 0), (0, rest))).reshape(-1)


@dataclass(frozen=True)
class Packing:
    """All tiles of an array in the order in which they lie in the packed one."""

    pieces: tuple[Piece, ...]

    def apply(self, array: Array) -> Array:
        """(1, bytes) int8."""
        return np.concatenate([piece.words(array) for piece in self.pieces]).reshape(1, -1)


def made_of(arrays: Sequence[Array]) -> Array:
    """The argument that has these `SOURCES`: one array as it is, or P of bias, multiplier and shift."""
    if len(arrays) == 1:
        return arrays[0]
    bias, multiplier, shift = (array.astype(np.uint32) for array in arrays)
    return np.stack([bias, multiplier | shift << np.uint32(MULTIPLIER_BITS)], axis=1).view(np.int32)


def sources(function: func.FuncOp) -> list[tuple[int, ...]]:
    """For each argument the numbers of the original ones; none of one that takes a result."""
    found: list[tuple[int, ...]] = []
    for number, attrs in enumerate(argument_attributes(function)):
        made = attrs.get(SOURCES)
        own = () if attrs.get("accel.kind") == StringAttr("out") else (number,)
        found.append(tuple(made.get_values()) if isinstance(made, DenseArrayBase) else own)
    return found


def argument_attributes(function: func.FuncOp) -> list[dict[str, Attribute]]:
    """Those of each argument, none where there are none."""
    attrs = function.arg_attrs
    count = len(function.body.block.args)
    return [dict(one.data) for one in attrs] if attrs is not None else [{} for _ in range(count)]


def set_attributes(function: func.FuncOp, attributes: Sequence[dict[str, Attribute]]) -> None:
    """Write them back."""
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))


def source_numbers(numbers: Sequence[int]) -> DenseArrayBase:
    """The attribute `SOURCES`."""
    return DenseArrayBase.from_list(i64, list(numbers))
