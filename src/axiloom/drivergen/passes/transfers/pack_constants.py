"""Tiles of constant operands are taken from an array that holds them one behind the other.

Constants are packed when a network is compiled. Each tile of a weight is one row of a byte array, in the
order of the loops and filled up to beats, so that it is one descriptor. The words of post-processing are
put together too. Results are checked against NumPy on the original weights. A descriptor's stride has 19
bits (18:16 were reserved): one for a tile in rows of up to 512 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    i8,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.dialects.packing import Packing, PackingAttr, Piece
from axiloom.drivergen.dialects.views import RESHAPES, VIEWS
from axiloom.drivergen.nest.nest import reached
from axiloom.drivergen.nest.packed import CONSTANT, PACKED, argument_attributes, set_attributes
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.types import WORD_BITS

WORD_BYTES = WORD_BITS // 8
LARGEST = 1 << 14
"""Tiles of an operand that are gone through."""


class _UnknownError(Exception):
    """What stands in the IR is not known now."""


def _number(value: SSAValue, counters: Mapping[SSAValue, int]) -> int:
    """An index in one iteration."""
    known = accel.constant(value)
    if known is not None:
        return known
    if value in counters:
        return counters[value]
    op = value.owner
    if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.MinUIOp | arith.DivUIOp):
        left, right = (_number(operand, counters) for operand in op.operands)
        if isinstance(op, arith.AddiOp):
            return left + right
        if isinstance(op, arith.SubiOp):
            return left - right
        if isinstance(op, arith.MuliOp):
            return left * right
        return min(left, right) if isinstance(op, arith.MinUIOp) else left // right
    raise _UnknownError


def _begin(value: SSAValue, counters: Mapping[SSAValue, int]) -> int:
    """Elements in front of a view of an array."""
    op = value.owner
    if isinstance(op, RESHAPES):
        return _begin(op.src, counters)
    if not isinstance(op, memref.SubviewOp):
        return 0
    assert isinstance(op.source.type, MemRefType)
    strides = op.source.type.get_strides()
    if strides is None or None in strides:
        raise _UnknownError
    dynamic = iter(op.offsets)
    starts = [
        _number(next(dynamic), counters) if offset == DYNAMIC_INDEX else offset
        for offset in op.static_offsets.get_values()
    ]
    own = sum(start * (stride or 0) for start, stride in zip(starts, strides, strict=True))
    return _begin(op.source, counters) + own


def begin_is_known(value: SSAValue) -> bool:
    """Is known now where a view of an array begins?"""
    try:
        _begin(value, {})
    except _UnknownError:
        return False
    return True


def _sizes(tile: SSAValue, counters: Mapping[SSAValue, int]) -> tuple[int, ...]:
    assert isinstance(tile.type, MemRefType)
    dynamic = iter(tile.owner.sizes if isinstance(tile.owner, memref.SubviewOp) else ())
    try:
        return tuple(
            _number(next(dynamic), counters) if size == DYNAMIC_INDEX else size
            for size in tile.type.get_shape()
        )
    except StopIteration:
        raise _UnknownError from None


@dataclass
class _Loop:
    """One that moves a tile."""

    counter: SSAValue
    values: range

    @staticmethod
    def around(op: Operation, tile: SSAValue) -> list[_Loop]:
        """Outermost first."""
        moving = reached([tile])
        found: list[_Loop] = []
        parent = op.parent_op()
        while parent is not None:
            if isinstance(parent, scf.ForOp) and parent.body.block.args[0] in moving:
                bounds = [accel.constant(v) for v in (parent.lb, parent.ub, parent.step)]
                if None in bounds or bounds[0] != 0:  # `_place` counts iterations from the counter
                    raise _UnknownError
                begin, end, step = (int(v or 0) for v in bounds)
                found.insert(0, _Loop(parent.body.block.args[0], range(begin, end, step)))
            parent = parent.parent_op()
        return found


def _pieces(op: accel.SendOp, loops: list[_Loop]) -> Iterator[Piece]:
    """The tile in each iteration of the loops that move it."""
    assert isinstance(op.tile.type, MemRefType)
    strides = op.tile.type.get_strides()
    if strides is None or None in strides or prod(len(loop.values) for loop in loops) > LARGEST:
        raise _UnknownError
    shape = tuple(op.shape.get_values())
    rows, bits = (op.dense.rows, op.dense.beat_bits) if op.dense is not None else (0, WORD_BITS)
    for values in product(*(loop.values for loop in loops)):
        counters = dict(zip((loop.counter for loop in loops), values, strict=True))
        yield Piece(
            _begin(op.tile, counters),
            _sizes(op.tile, counters),
            tuple(stride or 0 for stride in strides),
            shape,
            tuple(op.permutation.get_values()),
            rows,
            bits,
        )


def _users(value: SSAValue) -> Iterator[Operation]:
    for use in value.uses:
        if isinstance(use.operation, VIEWS):
            yield from _users(use.operation.results[0])
        else:
            yield use.operation


def _place(op: accel.SendOp, loops: list[_Loop], first: int, size: int) -> SSAValue:
    """The byte at which the tile of an iteration begins in the packed array; inserted in front of `op`."""
    place: SSAValue = index(op, first)
    trips = [len(loop.values) for loop in loops]
    for number, loop in enumerate(loops):
        bytes_each, step = size * prod(trips[number + 1 :]), loop.values.step
        if trips[number] == 1:
            continue
        at: SSAValue = loop.counter
        if bytes_each % step:
            at = _insert(op, arith.DivUIOp(at, index(op, step)))
        else:
            bytes_each //= step
        moved = _insert(op, arith.MuliOp(at, index(op, bytes_each)))
        place = moved if accel.constant(place) == 0 else _insert(op, arith.AddiOp(place, moved))
    return place


def _insert(before: Operation, op: Operation) -> SSAValue:
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]


def _pack(array: BlockArgument) -> Packing | None:
    """Take the tiles from a packed array in place of `array`; None where nothing is gained by it."""
    ops = list(_users(array))
    sends = [op for op in ops if isinstance(op, accel.SendOp)]
    if not sends or len(sends) != len(ops) or all(Tile.of(op).is_one_piece for op in sends):
        return None
    try:
        loops = [_Loop.around(op, op.tile) for op in sends]
        pieces = [tuple(_pieces(op, some)) for op, some in zip(sends, loops, strict=True)]
    except _UnknownError:
        return None
    # The parts of a convolution send the same filters: these are there once.
    places: dict[tuple[Piece, ...], int] = {}
    total = 0
    for op, some in zip(sends, pieces, strict=True):
        if some not in places:
            places[some] = total
            total += op.words() * WORD_BYTES * len(some)
    packed = array.block.insert_arg(MemRefType(i8, [1, total]), array.index)
    packed.name_hint = array.name_hint
    for op, around, some in zip(sends, loops, pieces, strict=True):
        size = op.words() * WORD_BYTES
        kind = MemRefType(i8, [1, size], StridedLayoutAttr([total, 1], None))
        starts = [index(op, 0), _place(op, around, places[some], size)]
        view = memref.SubviewOp.get(packed, starts, [1, size], [1, 1], kind)
        view.result.name_hint = op.tile.name_hint
        new = accel.SendOp(_insert(op, view), [1, size], [0, 1], op.offset)
        new.attributes |= op.attributes
        Rewriter.replace_op(op, new)
    _drop_views(array)
    array.block.erase_arg(array)
    return Packing(tuple(piece for some in places for piece in some))


def _drop_views(value: SSAValue) -> None:
    for use in list(value.uses):
        _drop_views(use.operation.results[0])
        Rewriter.erase_op(use.operation)


@dataclass(frozen=True)
class PackConstants(ModulePass):
    """Take tiles of a constant argument, that only transfers use, from an array that has them packed.

    ::

        func.func @f(%B : memref<8x6xi8> {accel.constant, ...}, ...)
          scf.for %n = %c0 to %c6 step %c4 {
            %n_start = arith.minui %n, %c2 : index
            scf.for %k = %c0 to %c8 step %c4 {
              %B_tile = memref.subview %B[%k, %n_start] [4, 4] [1, 1] : ...
              %0 = accel.send %B_tile as [4, 4] permutation [0, 1] at %c1 : ...

        func.func @f(%B : memref<1x64xi8> {accel.constant, accel.packed = #accel.packing<...>, ...}, ...)
              %1 = arith.muli %n, %c8 : index
              %2 = arith.muli %k, %c4 : index
              %3 = arith.addi %1, %2 : index
              %B_tile = memref.subview %B[%c0, %3] [1, 16] [1, 1] : ...
              %0 = accel.send %B_tile as [1, 16] permutation [0, 1] at %c1 : ...

    A tile is a row then, whatever it was: with zeros where it reached over an edge, transposed, its lines
    filled up to beats. The attribute says what the argument is made of; the caller packs the array, once.
    Tiles that lie in one piece as it is are left alone. Comes behind accel-place-flow (accel-overlap-edges),
    in front of the other passes on transfers.
    """

    name = "accel-pack-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            block = function.body.block
            attributes = argument_attributes(function)
            for number, own in enumerate(attributes):
                packing = _pack(block.args[number]) if CONSTANT in own else None
                if packing is not None:
                    own[PACKED] = PackingAttr(packing)
            if any(PACKED in own for own in attributes):
                set_attributes(function, attributes)
            function.function_type = FunctionType.from_lists(
                block.arg_types, function.function_type.outputs.data
            )
            _drop_unused(function)


def _drop_unused(function: func.FuncOp) -> None:
    """Starts that only the replaced views used."""
    kinds = (arith.ConstantOp, arith.MinUIOp, arith.SubiOp, arith.AddiOp, arith.MuliOp)
    for op in reversed([o for o in function.walk() if isinstance(o, kinds)]):
        if op.results[0].first_use is None:
            Rewriter.erase_op(op)
