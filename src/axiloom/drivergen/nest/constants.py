"""Tiles of constant operands are taken from an array that holds them one behind the other.

Constants are packed when a network is compiled. Each tile of a weight is one row of a byte array, in the
order of the loops and filled up to beats, so that it is one descriptor: a tile is a row then, whatever it
was, with zeros where it reached over an edge, transposed, its lines filled up to beats. The words of
post-processing are put together too. Results are checked against NumPy on the original weights. A
descriptor's stride has 19 bits (18:16 were reserved): one for a tile in rows of up to 512 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, i8
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, Operation, SSAValue

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.packing import Packing, Piece
from axiloom.drivergen.dialects.views import RESHAPES, VIEWS, array_of
from axiloom.drivergen.nest.annotated import Source, source_of
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Level, Loop, Plan, Send, Span
from axiloom.plan.figures import moves
from axiloom.plan.tree import Move

WORD_BYTES = WORD_BITS // 8
LARGEST = 1 << 14
"""Tiles of an operand that are gone through."""


def is_constant(array: SSAValue) -> bool:
    function = array.owner.parent_op() if isinstance(array, BlockArgument) else None
    return (
        isinstance(array, BlockArgument)
        and isinstance(function, func.FuncOp)
        and CONSTANT in argument_attributes(function)[array.index]
    )


def packable(ops: Sequence[linalg.GenericOp], plans: Sequence[Plan]) -> list[SSAValue]:
    """Constant arguments that only inputs of these ops use, and of which something is gained by packing.

    It must be known now where each tile is.
    """
    arrays = {array_of(value): None for op in ops for value in op.operands}
    only = (
        array
        for array in arrays
        if is_constant(array)
        and all(op in ops and number < len(op.operands) - 1 for op, number in _users(array))
    )
    return [array for array in only if _gains(array, plans)]


def _users(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    """Of an array and of views of it."""
    for use in value.uses:
        if isinstance(use.operation, VIEWS):
            yield from _users(use.operation.results[0])
        else:
            yield use.operation, use.index


def _gains(array: SSAValue, plans: Sequence[Plan]) -> bool:
    sent = [(send, prod(level.trips for level in moving)) for send, moving in sends(array, plans)]
    regions = [placed(send) for send, _ in sent]
    if all(region.tile.is_one_piece for region in regions):
        return False
    known = all(region.tile.strides is not None and None not in region.tile.strides for region in regions)
    begins = all(begin_of(source_of(region).value) is not None for region in regions)
    return known and begins and all(trips <= LARGEST for _, trips in sent)


def sends(array: SSAValue, plans: Sequence[Plan]) -> Iterator[tuple[Send, list[Level]]]:
    """Where tiles of an array are sent, and the loops that move them, outermost first."""
    for plan in plans:
        for move in moves(plan.body):
            if isinstance(move, Send) and source_of(move.region).array is array:
                yield move, [level for level in plan.levels if level.name in move.loops]


# --- packed ----------------------------------------------------------------------------------------------


def in_rows(array: SSAValue, plans: Sequence[Plan]) -> list[Plan]:
    """With tiles of `array` as rows of bytes, wherever each of them begins."""
    return [
        plan.each(partial(_row, rows={send: _Row(send, moving) for send, moving in sends(array, [plan])}))
        for plan in plans
    ]


def pack(array: BlockArgument, plans: Sequence[Plan]) -> tuple[list[Plan], Packing]:
    """The same, taken from a new argument in front of `array`, and how that is packed."""
    places: dict[tuple[Piece, ...], int] = {}
    total = 0
    begins: list[dict[Send, int]] = []
    for plan in plans:
        begins.append({})
        for send, moving in sends(array, [plan]):
            pieces = tuple(_pieces(send, moving))
            if pieces not in places:  # the parts of a convolution send the same filters
                places[pieces] = total
                total += send.words * WORD_BYTES * len(pieces)
            begins[-1][send] = places[pieces]
    packed = array.block.insert_arg(MemRefType(i8, [1, total]), array.index)
    packed.name_hint = array.name_hint
    rows = [
        plan.each(
            partial(
                _row,
                rows={
                    send: _Row(send, moving, Source(packed, packed), total, own[send])
                    for send, moving in sends(array, [plan])
                },
            )
        )
        for plan, own in zip(plans, begins, strict=True)
    ]
    return rows, Packing(tuple(piece for pieces in places for piece in pieces))


@dataclass(frozen=True)
class _Row:
    """A tile as one row of an array whose rows are `pitch` bytes; None: as long as the tile."""

    send: Send
    moving: Sequence[Level]
    source: Source | None = None
    pitch: int | None = None
    begin: int = 0

    def now(self) -> Send:
        old, size = placed(self.send), self.send.words * WORD_BYTES
        loops = tuple(
            (level.name, size * prod(inner.trips for inner in self.moving[number + 1 :]))
            for number, level in enumerate(self.moving)
            if level.trips > 1
        )
        pitch = self.pitch or size
        region = Placed(
            self.source or Source(source_of(old).array, source_of(old).array),
            (Span(1, 1, (), pitch), Span(size, pitch, loops, 1, base=self.begin)),
            (0, 1),
            8,
            tile=Tile((1, size), (0, 1), None, (1, size), (pitch, 1), 8, 0),
            steps=(1, 1),
            edges=(None, None),
            whole=old.whole,
            operand=old.operand,
        )
        return Send(self.send.words, region)


def _row(move: Move, *, rows: Mapping[Send, _Row]) -> Move:
    return rows[move].now() if isinstance(move, Send) and move in rows else move


def _pieces(send: Send, moving: Sequence[Level]) -> Iterator[Piece]:
    """The tile in each iteration of the loops that move it."""
    region = placed(send)
    tile, kept = region.tile, sorted(region.order)
    assert tile.strides is not None
    rows, bits = (tile.dense.rows, tile.dense.beat_bits) if tile.dense is not None else (0, WORD_BITS)
    first = begin_of(source_of(region).value) or 0
    levels = {level.name: level for level in moving}
    for iteration in product(*(range(level.trips) for level in moving)):
        at = {level.name: number for level, number in zip(moving, iteration, strict=True)}
        starts = [start_of(span, at, levels) for span in region.spans]
        lengths = [
            length if length != DYNAMIC_INDEX else rest_of(region.edges[dim], at, levels)
            for dim, length in zip(kept, tile.lengths, strict=True)
        ]
        yield Piece(
            first + sum(n * (span.stride or 0) for n, span in zip(starts, region.spans, strict=True)),
            tuple(lengths),
            tuple(stride or 0 for stride in tile.strides),
            tile.shape,
            tile.permutation,
            rows,
            bits,
        )


def start_of(span: Span, at: Mapping[str, int], loops: Mapping[str, Level | Loop]) -> int:
    """Elements of an axis in front of a tile in an iteration."""
    total = span.base
    for name, elements in span.loops:
        loop = loops[name]
        counter = at[name] * loop.step
        if span.shift and loop.trips > 1:
            counter = min(counter, loop.end - loop.step)
        total += counter * elements // loop.step
    return int(total)


def rest_of(name: str | None, at: Mapping[str, int], loops: Mapping[str, Level | Loop]) -> int:
    """Elements of an axis whose length is the rest of a loop."""
    assert name is not None
    loop = loops[name]
    return int(min(loop.step, loop.end - at[name] * loop.step))


def begin_of(value: SSAValue) -> int | None:
    """Elements in front of a view of an array; None where that is not known now."""
    op = value.owner
    if isinstance(op, RESHAPES):
        return begin_of(op.src)
    if not isinstance(op, memref.SubviewOp):
        return 0
    before = begin_of(op.source)
    assert isinstance(op.source.type, MemRefType)
    strides = op.source.type.get_strides()
    dynamic = iter(op.offsets)
    starts = [
        _number(next(dynamic)) if offset == DYNAMIC_INDEX else offset
        for offset in op.static_offsets.get_values()
    ]
    if before is None or strides is None or None in strides or None in starts:
        return None
    steps = zip(starts, strides, strict=True)
    return before + sum((start or 0) * (stride or 0) for start, stride in steps)


def _number(value: SSAValue) -> int | None:
    """An index that is computed from constants."""
    op = value.owner
    if not isinstance(op, arith.AddiOp | arith.MuliOp):
        return accel.constant(value)
    left, right = (_number(operand) for operand in op.operands)
    if left is None or right is None:
        return None
    return left + right if isinstance(op, arith.AddiOp) else left * right
