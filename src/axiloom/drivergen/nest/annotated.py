"""Annotated ops of a function as :class:`Placement`: what their operands are, and where those lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue

from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.dialects.views import array_of, zero_fill
from axiloom.drivergen.match.matmul import sizes
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.flow import Operand, Placement
from axiloom.drivergen.nest.tile import begins_on
from axiloom.plan import Region


@dataclass(frozen=True)
class Source:
    """Where the tiles of an operand come from."""

    array: SSAValue
    value: SSAValue
    """The operand, perhaps a view of the array; the array itself where that is packed."""
    part: object = None
    """Of an operand that will be cut: which part, of which one."""


def source_of(region: Region) -> Source:
    assert isinstance(region.array, Source)
    return region.array


def operand(value: SSAValue) -> Operand:
    """An operand of an op, with all its elements."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    return Operand(
        Source(array_of(value), value),
        tuple(kind.get_shape()),
        None if strides is None else tuple(strides),
        element_bits(kind),
        begins_on(value),
    )


def part_of(whole: Operand, starts: Sequence[int], lengths: Sequence[int], name: object) -> Operand:
    """The part from element `starts` on; `name` says which one."""
    begin = whole.begin
    if whole.strides is not None:
        steps = zip(starts, whole.strides, strict=True)
        begin = gcd(begin, *(start * (stride or 1) * whole.bits // 8 for start, stride in steps))
    assert isinstance(whole.source, Source)
    return Operand(replace(whole.source, part=name), tuple(lengths), whole.strides, whole.bits, begin)


def placement(
    op: linalg.GenericOp,
    trait: Trait,
    *,
    overlap: bool = False,
    lengths: Sequence[int] | None = None,
    operands: Sequence[Operand] | None = None,
    first: bool = True,
) -> Placement:
    """Of an op, or of a part of it with `lengths` of its loops; the `first` one is where zeros may be."""
    return Placement(
        trait,
        [attribute.data for attribute in op.indexing_maps],
        sizes(op) if lengths is None else lengths,
        [operand(value) for value in op.operands] if operands is None else operands,
        overwrite=trait.overwrites or requantises(op) is not None,
        fresh=first and zero_fill(op, op.outputs[0]) is not None,
        overlap=overlap,
    )
