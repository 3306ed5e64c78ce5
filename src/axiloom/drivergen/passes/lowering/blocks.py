"""Dense tiles as the runtime copies them: blocks of planes x height x width, in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.dialects.mlir import fail

_Dim = tuple[int, int]
"""Size and stride in elements."""


def joined(dims: Sequence[_Dim]) -> list[_Dim]:
    """The same elements in the same order with as few dims as there can be."""
    found: list[_Dim] = []
    for size, stride in dims:
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            size *= found.pop()[0]
        found.append((size, stride))
    return found


@dataclass(frozen=True)
class Block:
    """`rows` blocks of `sizes` (planes, height, width) elements; `strides` in elements of the memref."""

    rows: int
    row_stride: int
    sizes: tuple[int, int, int]
    strides: tuple[int, int, int]
    row_words: int
    element_bits: int

    @classmethod
    def of(cls, op: accel.SendOp | accel.RecvOp) -> Block:
        """The tile of a dense op; CompileError where it has more dims than a block."""
        kind, dense = op.tile.type, op.dense
        assert isinstance(kind, MemRefType)
        assert dense is not None
        strides, shape, turned = kind.get_strides(), op.shape.get_values(), op.permutation.get_values()
        if strides is None or None in strides or list(kind.get_shape()) != _in_memory(shape, turned):
            fail(op, f"only tiles of known sizes and strides can be copied without gaps, not {kind}")
        dims = [(size, strides[dim] or 0) for size, dim in zip(shape, turned, strict=True)]
        outer, inner = joined(dims[: dense.rows]), joined(dims[dense.rows :])
        if len(outer) > 1 or len(inner) > 3:
            fail(op, f"a tile of {list(shape)} elements in {kind} has too many dims to copy")
        rows, row_stride = outer[0] if outer else (1, 0)
        planes, height, width = [(1, 0)] * (3 - len(inner)) + (inner or [])
        if not inner:
            width = (1, 1)
        bits = element_bits(kind)
        words = accel.tile_words(shape, bits, dense) // rows
        return cls(
            rows,
            row_stride,
            (planes[0], height[0], width[0]),
            (planes[1], height[1], width[1]),
            words,
            bits,
        )

    @property
    def elements(self) -> int:
        """Elements of one row."""
        return prod(self.sizes)


def _in_memory(shape: Sequence[int], permutation: Sequence[int]) -> list[int]:
    sizes = [0] * len(shape)
    for size, dim in zip(shape, permutation, strict=True):
        sizes[dim] = size
    return sizes
