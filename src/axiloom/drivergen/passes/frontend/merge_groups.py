"""Small groups of a convolution become larger ones, whose output channels fill the rows of an array."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.product import MERGED, requantises
from axiloom.drivergen.dialects.views import collapsed, expanded
from axiloom.drivergen.match.conv import match_conv, sliding
from axiloom.drivergen.match.in_place import applied
from axiloom.drivergen.match.matmul import Match, NoMatchError, operand_loops, sizes, terms
from axiloom.drivergen.match.trait import is_annotated
from axiloom.isa.kernels.forms import CHANNELS

DIAGONAL = "accel.diagonal"
"""`doc` of the op that puts the filters together: it stays on the CPU."""
PIXELS = 4
"""Pixels of the result for each group of a larger one, at least: fewer do not pay for filters full of
zeros."""
MOST_ROWS = 8
"""Output channels of a larger group, at most. A group takes as many cycles of the array in a larger one of
any size; but each is one more channel of zeros in the filters of all others."""
LAID = ("oc", "ic", "fh", "fw")
"""The dims of the filters that are put together, behind those of the groups."""


class _Merge:
    """One convolution in groups, of which `count` become one."""

    def __init__(self, op: linalg.GenericOp, match: Match, group: int, count: int) -> None:
        self.op, self.match, self.group, self.count = op, match, group, count
        self.size = dict(zip(match.dims, sizes(op), strict=True))
        self.builder = Builder(InsertPoint.before(op))

    @property
    def larger(self) -> int:
        """How many groups are left."""
        return sizes(self.op)[self.group] // self.count

    def rewrite(self) -> None:
        loops = [AffineDimExpr(number) for number in range(len(self.match.dims))]
        by_name = dict(zip(self.match.dims, loops, strict=True))
        operands: list[SSAValue] = []
        maps: list[AffineMapAttr] = []
        for number, name in enumerate(self.match.operands):
            results = list(self.op.indexing_maps.data[number].data.results)
            if name == "F":
                operands.append(self._filters(number))
                results = [loops[self.group], *(by_name[dim] for dim in LAID)]
            else:
                operands.append(self._channels(number))
            maps.append(AffineMapAttr(AffineMap(len(loops), 0, tuple(results))))
        new = type(self.op).create(
            operands=operands,
            properties={**self.op.properties, "indexing_maps": ArrayAttr(maps)},
            attributes={**self.op.attributes, MERGED: IntegerAttr(self.count, i64)},
            regions=[self.op.body.clone()],
            location=self.op.location,
        )
        self.builder.insert(new)
        Rewriter.erase_op(self.op)

    def _channels(self, number: int) -> SSAValue:
        """Image, result, or bias and scale: channels of neighbouring groups already lie side by side."""
        value = self.op.operands[number]
        shape = value.type.get_shape()  # type: ignore[attr-defined]
        at = _dim(self.op, number, self.group)
        assert at is not None
        groups = [[self.larger, self.count] if dim == at else [size] for dim, size in enumerate(shape)]
        return collapsed(
            self.builder,
            expanded(self.builder, value, groups),
            [2 if dim == at + 1 else 1 for dim in range(len(shape))],
        )

    def _filters(self, number: int) -> SSAValue:
        """Those of each group beside zeros for the channels of the others."""
        value = self.op.operands[number]
        kind = value.type
        assert isinstance(kind, MemRefType)
        assert isinstance(kind.element_type, IntegerType)
        dims = operand_loops(self.op, number)
        groups = [
            [self.larger, self.count] if dim == self.group else [self.size[self.match.dims[dim]]]
            for dim in dims
        ]
        source = expanded(self.builder, value, groups)
        oc, ic, fh, fw = (self.size[dim] for dim in LAID)
        wide = MemRefType(kind.element_type, [self.larger, self.count, oc, self.count, ic, fh, fw])
        diagonal = self.builder.insert(memref.AllocOp([], [], wide)).memref
        diagonal.name_hint = f"{value.name_hint or 'F'}_diagonal"
        zero = self.builder.insert(arith.ConstantOp(IntegerAttr(0, kind.element_type))).result
        self.builder.insert(linalg.FillOp([zero], [diagonal], []))
        larger, inner, *laid = (AffineDimExpr(n) for n in range(2 + len(LAID)))
        by_name = dict(zip(LAID, laid, strict=True))
        read: list[AffineExpr] = []
        for dim in dims:
            read += [larger, inner] if dim == self.group else [by_name[self.match.dims[dim]]]
        written = (larger, inner, by_name["oc"], inner, by_name["ic"], by_name["fh"], by_name["fw"])
        block = Block(arg_types=[kind.element_type, kind.element_type])
        block.add_op(linalg.YieldOp(block.args[0]))
        copy = linalg.GenericOp(
            [source],
            [diagonal],
            Region(block),
            [AffineMapAttr(AffineMap(2 + len(LAID), 0, tuple(m))) for m in (read, written)],
            [IteratorTypeAttr.parallel()] * (2 + len(LAID)),
            [],
            doc=StringAttr(DIAGONAL),
        )
        copy.location = self.op.location
        self.builder.insert(copy)
        return collapsed(self.builder, diagonal, [1, 2, 2, 1, 1])


def _dim(op: linalg.GenericOp, number: int, loop: int) -> int | None:
    """The dim of an operand that a loop runs over, and no other does."""
    results = op.indexing_maps.data[number].data.results
    return next((dim for dim, result in enumerate(results) if terms(result) == {loop: 1}), None)


def _neighbours(op: linalg.GenericOp, number: int, group: int, channel: int) -> bool:
    """Do the channels of a group lie behind each other, and behind those of the group before?"""
    kind = op.operands[number].type
    assert isinstance(kind, MemRefType)
    at, strides = _dim(op, number, group), kind.get_strides()
    if at is None or strides is None or _dim(op, number, channel) != at + 1:
        return False
    outer, inner = strides[at], strides[at + 1]
    return outer is not None and inner is not None and outer == inner * kind.get_shape()[at + 1]


def _plan(op: linalg.GenericOp, rows: int) -> _Merge | None:
    try:
        match, groups = match_conv(op, groups=True), sliding(op).groups
    except NoMatchError:
        return None
    if len(groups) != 1 or applied(op) or is_annotated(op):
        return None
    (group,) = groups
    size = dict(zip(match.dims, sizes(op), strict=True))
    most = min(rows // size["oc"], size["oh"] * size["ow"] // PIXELS)
    count = max((n for n in range(1, most + 1) if sizes(op)[group] % n == 0), default=1)
    channels = {"I": match.dims.index("ic"), "O": match.dims.index("oc")}
    if requantises(op) is not None:
        channels[CHANNELS] = channels["O"]
    lie = all(_neighbours(op, match.operands.index(o), group, loop) for o, loop in channels.items())
    return _Merge(op, match, group, count) if count > 1 and lie else None


@dataclass(frozen=True)
class MergeGroups(ModulePass):
    """Put filters of neighbouring groups together, with zeros for the channels of the other groups.

    ::

        linalg.generic {...} ins(%I, %F : memref<1x16x1x9x9xi8>, memref<16x1x1x3x3xi8>)
            outs(%O : memref<1x16x1x7x7xi32>) {...}

        %F_diagonal = memref.alloc() : memref<2x8x1x8x1x3x3xi8>
        linalg.fill ins(%zero : i8) outs(%F_diagonal : ...)
        linalg.generic {..., doc = "accel.diagonal"} ins(%F_1 : ...) outs(%F_diagonal : ...) {...}
        linalg.generic {...} ins(%I_1, %F_2 : memref<1x2x8x9x9xi8>, memref<2x8x8x3x3xi8>)
            outs(%O_1 : memref<1x2x8x7x7xi32>) {...}

    The rows of an array are its output channels: a group of one leaves all others idle. Eight groups in one
    take as long as one after the other, in an eighth of the instructions, and their tiles are large enough
    for a DMA. The CPU puts the filters together. For images whose channels are neighbours in memory; comes
    behind accel-unit-dims.

    Option: `rows` of the array.
    """

    name = "accel-merge-groups"

    rows: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            if merge := _plan(generic, self.rows):
                merge.rewrite()
