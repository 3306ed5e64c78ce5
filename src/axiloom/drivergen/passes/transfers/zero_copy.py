"""Transfers become entries of the queues of a scatter-gather DMA, which works on the matrices themselves.

Tiles come back to on-chip memory. In some flows C comes back at every step, and the CPU adds each partial
sum to C. A line from DDR costs the CPU about 92 cycles, a line from on-chip memory 30. On-chip memory
lies beside the PL310, so the driver invalidates L1 only: one operation a line and no register access. If
the slots are too large for 32 KiB, or the port is coherent, the driver uses the output window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.views import VIEWS, array_of
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan.caches import LINE_BYTES

LARGE = 64 << 10
"""Bytes from which the runtime may rather clean or empty the caches than maintain line by line."""
_OWNED = "in place, in an array that only the DMA writes to"

_STAGES = (accel.SendLiteralOp, accel.SendDimOp, accel.SendIdxOp, accel.SendOp)
_TRANSFERS = (accel.StartSendOp, accel.StartRecvOp, accel.WaitOp, accel.RecvOp)


def _sent_before(op: Operation) -> bool:
    """Is it sent once, in front of all loops, and nothing that a descriptor expresses? Then it is copied."""
    return isinstance(op, accel.SendOp) and op.dense is not None and isinstance(op.parent_op(), func.FuncOp)


@dataclass(frozen=True)
class _Units:
    """Bytes of a beat of the stream, and of a cache line.

    What the DMA writes in place must share no line with what the CPU writes.
    """

    beat: int
    line: int


def _received(op: accel.RecvOp, units: _Units) -> str:
    """How one tile could get to memory: those that share lines need an array that is the DMA's alone."""
    tile = Tile.of(op)
    rows = tile.rows()
    if rows is None or op.mode.data != "overwrite" or not tile.is_whole:
        return queue.THROUGH_WINDOW
    if rows.fits(units.line):
        return queue.IN_PLACE
    return _OWNED if rows.fits(units.beat) else queue.THROUGH_WINDOW


def _bytes(array: SSAValue) -> int:
    """0 where its shape is not known."""
    kind = array.type
    assert isinstance(kind, MemRefType)
    if not kind.has_static_shape() or not isinstance(kind.element_type, FixedBitwidthType):
        return 0
    return prod(kind.get_shape()) * kind.element_type.bitwidth // 8


def _touched(value: SSAValue) -> Iterator[Operation]:
    """The ops that work on an array or a view of it."""
    for use in value.uses:
        if isinstance(use.operation, VIEWS):
            yield from _touched(use.operation.results[0])
        else:
            yield use.operation


def _loops_around(op: Operation) -> list[scf.ForOp]:
    loops: list[scf.ForOp] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if isinstance(parent, scf.ForOp):
            loops.append(parent)
        parent = parent.parent_op()
    return loops


def _depends_on(value: SSAValue, seen: set[SSAValue]) -> None:
    """Collect what `value` is computed from."""
    if value in seen:
        return
    seen.add(value)
    if isinstance(value.owner, Operation):
        for operand in value.owner.operands:
            _depends_on(operand, seen)


def _other_loops(tile: SSAValue, at: Operation) -> list[SSAValue]:
    """Counters of the loops around `at` that do not move `tile`, outermost first."""
    moving: set[SSAValue] = set()
    _depends_on(tile, moving)
    counters = [loop.body.block.args[0] for loop in reversed(_loops_around(at))]
    return [counter for counter in counters if counter not in moving]


class _Nest:
    """Operations of a function's body from the first transfer to the loop nest with the last one."""

    def __init__(self, ops: list[Operation], units: _Units) -> None:
        self.ops = ops
        self.units = units
        self.inner = [inner for op in ops for inner in op.walk()]
        self.notes: dict[str, str] = {}

    def rewrite(self) -> None:
        for op in self.inner:
            if isinstance(op, accel.SendOp | accel.RecvOp) and op.dense is not None:
                fail(op, f"there is no descriptor for a tile like {op.operands[0].type}")
        words = {op.words() for op in self.inner if isinstance(op, accel.RecvOp)}
        block = self.ops[0].parent_block()
        assert block is not None
        block.insert_op_before(queue.QueueOpenOp(max(words, default=1)), self.ops[0])
        Rewriter.insert_op(queue.QueueCloseOp(), InsertPoint.after(self.ops[-1]))
        receives = [op for op in self.inner if isinstance(op, accel.RecvOp)]
        ways = {_received(op, self.units) for op in receives}
        in_place = queue.THROUGH_WINDOW not in ways
        arrays = list({array_of(op.tile): None for op in receives})
        alone = len(arrays) == 1 and self._is_ours(arrays[0])
        if in_place and _OWNED in ways:
            in_place = alone
        if in_place and alone and (_OWNED in ways or _bytes(arrays[0]) >= LARGE):
            block.insert_op_before(queue.QueueOwnOp(arrays[0]), self.ops[0])
        if len(words) > 1 and not in_place:
            fail(self.ops[0], f"tiles of different sizes are received in it ({sorted(words)} words)")
        for op in self.inner:
            if isinstance(op, accel.RecvOp):
                self._receive(op, in_place)
        sent = {array_of(op.tile): None for op in self.inner if self._is_cleaned(op)}
        if (size := sum(map(_bytes, sent))) >= LARGE:
            block.insert_op_before(queue.QueueCleanAllOp(size), self.ops[0])
        for op in self.inner:
            if isinstance(op, _STAGES):
                self._stage(op)
        for op in reversed([o for o in self.inner if isinstance(o, (*_STAGES, *_TRANSFERS))]):
            for result in op.results:
                for use in list(result.uses):
                    if not isinstance(use.operation, (*_STAGES, *_TRANSFERS)):
                        fail(use.operation, "it uses what only transfers may use")
            Rewriter.erase_op(op, safe_erase=False)
        self._comment()

    # --- sends ------------------------------------------------------------------------------------------

    def _stage(self, op: accel.StageOp) -> None:
        if isinstance(op, accel.SendOp):
            self._tile(op)
            return
        new = queue.QueueWordOp(self._word(op))
        self._insert(op, new)

    def _insert(self, at: Operation, *ops: Operation) -> None:
        if "opcode" in at.attributes:
            ops[0].attributes["opcode"] = at.attributes["opcode"]
        Rewriter.insert_op(ops, InsertPoint.before(at))

    def _word(self, op: accel.StageOp) -> SSAValue:
        if isinstance(op, accel.SendIdxOp):
            return _before(op, arith.IndexCastOp(op.index, i32))
        if isinstance(op, accel.SendLiteralOp):
            return _constant(op, op.value.value.data)
        assert isinstance(op, accel.SendDimOp)
        known = 0
        for size, shift in zip(op.sizes, op.shifts.get_values(), strict=True):
            value = accel.constant(size)
            if value is None:
                fail(op, "its sizes are not constant")
            known |= value << shift
        return _constant(op, known)

    def _is_cleaned(self, op: Operation) -> TypeGuard[accel.SendOp]:
        return isinstance(op, accel.SendOp) and Tile.of(op).way(self.units.beat) != queue.THROUGH_WINDOW

    def _tile(self, op: accel.SendOp) -> None:
        shape, permutation = op.shape.get_values(), op.permutation.get_values()
        how = Tile.of(op).way(self.units.beat)
        send = queue.QueueTileOp(op.tile, shape, permutation, how)
        self._note(op.tile, how)
        if how == queue.THROUGH_WINDOW:
            self._insert(op, send)
        else:
            self._insert(op, queue.QueueCleanOp(op.tile, _other_loops(op.tile, op)), send)

    # --- receives ---------------------------------------------------------------------------------------

    def _is_ours(self, array: SSAValue) -> bool:
        """Does nothing in the function but this nest write to an array, or read it?"""
        return all(op in self.inner for op in _touched(array))

    def _receive(self, op: accel.RecvOp, in_place: bool) -> None:
        """Announced where the receive was armed: before the words that make the device send."""
        start = _armed(op)
        how = queue.IN_PLACE if in_place else queue.THROUGH_WINDOW
        tile = op.tile
        start_block = start.parent_block()
        assert start_block is not None
        for view in _views(tile):
            if view.parent_block() is start_block:
                view.detach()  # type: ignore[no-untyped-call]
                start_block.insert_op_before(view, start)
        self._insert(
            start,
            queue.QueueReceiveOp(tile, op.shape.get_values(), op.permutation.get_values(), how, op.mode.data),
        )
        self._note(tile, how)

    # --- what the driver says about it ------------------------------------------------------------------

    def _note(self, tile: SSAValue, how: str) -> None:
        matrix = tile.owner.source if isinstance(tile.owner, memref.SubviewOp) else tile
        self.notes[matrix.name_hint or "a matrix"] = how

    def _comment(self) -> None:
        before = self.ops[-1].attributes.get("comment")
        places: dict[str, list[str]] = {}
        for name, how in sorted(self.notes.items()):
            places.setdefault(how, []).append(name)
        notes = ", ".join(f"{' and '.join(names)} {how}" for how, names in places.items())
        head = f"{before.data} " if isinstance(before, StringAttr) else ""
        self.ops[-1].attributes["comment"] = StringAttr(f"{head}Without copies: {notes}.")


def _views(tile: SSAValue) -> list[Operation]:
    """The ops that make a tile of a matrix, in their order."""
    owner = tile.owner
    if isinstance(owner, memref.CollapseShapeOp | memref.ExpandShapeOp):
        return [*_views(owner.src), owner]
    return [owner] if isinstance(owner, memref.SubviewOp) else []


def _before(at: Operation, op: Operation) -> SSAValue:
    Rewriter.insert_op(op, InsertPoint.before(at))
    return op.results[0]


def _constant(at: Operation, value: int) -> SSAValue:
    return _before(at, arith.ConstantOp(IntegerAttr(value, i32, truncate_bits=True)))


def _armed(op: accel.RecvOp) -> accel.StartRecvOp:
    """The op that armed the channel for the tile that `op` takes out of the window."""
    before = op.prev_op
    while not (isinstance(before, accel.WaitOp) and isinstance(before.token.owner, accel.StartRecvOp)):
        if before is None:
            fail(op, "no receive that was armed in the same block comes before it")
        before = before.prev_op
    return before.token.owner


def _nests(block: Block) -> Iterator[list[Operation]]:
    """What belongs to one tiled op: single transfers in front of it, and its loops."""
    ops: list[Operation] = []
    for op in block.ops:
        if any(isinstance(inner, (*_STAGES, *_TRANSFERS)) for inner in op.walk()):
            ops.append(op)
            if isinstance(op, scf.ForOp):
                yield _queued(ops)
                ops = []
    if ops:
        yield _queued(ops)


def _queued(ops: list[Operation]) -> list[Operation]:
    """Without the transfers up to the last one that no descriptor expresses: they stay as they are."""
    last = max((n for n, op in enumerate(ops) if _sent_before(op)), default=None)
    if last is None:
        return ops
    return ops[next(n for n in range(last, len(ops)) if isinstance(ops[n], accel.WaitOp)) + 1 :]


def _together(block: Block, units: _Units) -> list[list[Operation]]:
    """Nests that follow each other share a queue where all that comes back is written in place: the parts of
    a convolution then overlap."""
    found: list[list[Operation]] = []
    mergeable = False
    for ops in list(_nests(block)):
        ways = {_received(inner, units) for inner in _walked(ops) if isinstance(inner, accel.RecvOp)}
        in_place = queue.THROUGH_WINDOW not in ways
        if (
            (found and in_place and mergeable)
            and _follows(found[-1][-1], ops[0])
            and _may_share(found[-1], ops, units)
        ):
            found[-1] += ops
        else:
            found.append(ops)
        mergeable = in_place
    return found


def _walked(ops: Sequence[Operation]) -> Iterator[Operation]:
    for op in ops:
        yield from op.walk()


def _may_share(before: Sequence[Operation], ops: Sequence[Operation], units: _Units) -> bool:
    """Is nothing sent in `ops` that is received `before`? In one queue it would be read before it is there.

    And a queue owns at most one array.
    """
    received = [op for op in _walked((*before, *ops)) if isinstance(op, accel.RecvOp)]
    arrays = {array_of(op.tile) for op in received}
    if len(arrays) > 1 and any(_received(op, units) == _OWNED for op in received):
        return False
    return arrays.isdisjoint(array_of(op.tile) for op in _walked(ops) if isinstance(op, accel.SendOp))


def _follows(op: Operation, other: Operation) -> bool:
    """Is there nothing between two ops of a block but what has no effect?"""
    between = op.next_op
    while between is not None and between is not other:
        if not is_side_effect_free(between):
            return False
        between = between.next_op
    return between is other


@dataclass(frozen=True)
class ZeroCopy(ModulePass):
    """Queue all transfers; tiles that lie in memory as they travel are read, and written, where they are.

    ::

        %3 = accel.send_literal 1 at %c0 {opcode = "sA"}
        %A_tile = memref.subview %A[%m, %k] [16, 16] [1, 1] : ...
        %4 = accel.send %A_tile as [16, 16] permutation [0, 1] at %3 : ...
        %5 = accel.start_send %c0 to %4 : !accel.token<"send">
        accel.wait %5 : !accel.token<"send">

        %word = arith.constant 1 : i32
        accel.queue_word %word {opcode = "sA"}
        %A_tile = memref.subview %A[%m, %k] [16, 16] [1, 1] : ...
        accel.queue_clean %A_tile first(%n) : ...
        accel.queue_tile %A_tile as [16, 16] permutation [0, 1] "in place" : ...

    `stream_width` (bits): rows of an operand that is read in place begin and end on a beat. What a descriptor
    cannot express (zeros beside an edge, transposition, odd rows) goes through the window, for each operand
    as a whole or, where only edges are at fault, for those tiles. A result is written in place where all its
    tiles overwrite and fill whole cache lines (of `line_bytes`); or whole beats, where nothing else uses its
    array: then that belongs to the DMA (`accel.queue_own`) until the queue is closed, as tiles share lines.
    So does a result of `LARGE` bytes, whose lines the runtime then need not maintain one by one. Of as many
    bytes that are read in place it is told, too (`accel.queue_clean_all`).

    A tile is cleaned at its first use, so that cleaning overlaps with the transfers: in the first
    iterations of the loops that do not move it. The tiled op that has the transfers is between
    `accel.queue_open` and `accel.queue_close`; so are several that follow each other, the parts of one
    convolution, where their results are written in place and none reads another's. What no descriptor
    expresses, but is sent only once in front of all loops (`residency`), is copied and sent before the
    queue opens.

    Comes behind accel-place (and passes that leave its kind of transfers); it needs scatter-gather in
    the DMA's configuration.
    """

    name = "accel-zero-copy"

    stream_width: int = WORD_BITS
    line_bytes: int = LINE_BYTES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for init in [o for o in op.walk() if isinstance(o, accel.InitDmaOp)]:
            if not init.config.data.scatter_gather:
                fail(
                    init,
                    "zero copy needs scatter-gather: --dma sg, or scatterGather in the dma_config",
                )
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            units = _Units(self.stream_width // 8, self.line_bytes)
            for ops in _together(function.body.block, units):
                _Nest(ops, units).rewrite()
            _drop_unused(function)


def _drop_unused(function: func.FuncOp) -> None:
    """Constants that only the replaced ops used."""
    for constant in [o for o in function.walk() if isinstance(o, arith.ConstantOp)]:
        if constant.result.first_use is None:
            Rewriter.erase_op(constant)
