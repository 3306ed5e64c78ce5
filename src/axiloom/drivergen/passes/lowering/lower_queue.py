"""The queues of a scatter-gather DMA become calls of ``sw/include/axiloom_sg.h``.

Behind a coherent port the CPU waits in its own caches. A descriptor's status is in L1 until the DMA
writes it, so a look takes a cycle of the fabric where a register takes 20. For that the simulated DMA has
to come as far as the CPU at each look: a load from where descriptors lie, as CURDESC and TAILDESC say,
lets the RTL catch up first. A register is read once in 256 looks, as errors show there. A tile is taken
in two halves where the whole result has at most 16 KiB; four quarters were slower, as taking one costs 39
cycles. Where C comes from memory the CPU is later than the device, and halves cost: 256^3 took 3 %
longer. Slots stay at 8 KiB: with 16 or 32 KiB, and rings of 12 KiB, the place of a 64x64 result no longer
stayed in L1, and adding to it took a third longer. So a tile without a slot is only noted, and what is
sent goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
    UnrankedMemRefType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.dialects.elements import element_bits, named
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.passes.lowering.lower_to_calls import length

HALVES, IN_L1 = 2, 16 << 10
"""Behind a coherent port a tile is taken in so many parts if the whole result has at most so many bytes: half
of L1. Where results come from memory, the CPU is later than the device, and each part costs."""


@dataclass(frozen=True)
class _Tile:
    """Arguments of a call that names a tile; sizes in elements, each dim as it travels."""

    pointer: SSAValue
    rows: SSAValue
    cols: SSAValue
    strides: tuple[int, int]
    shape: tuple[int, int]
    element_bytes: int
    kind: str
    """What functions for its elements end with."""


class _Lowering:
    """Replaces the ops of one module; `declared` collects the runtime functions that are used."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.declared: dict[str, tuple[Attribute, ...]] = {}
        self.takers: dict[tuple[Attribute | str | tuple[int, ...], ...], str] = {}
        self.opens: list[queue.QueueOpenOp] = []
        self.at: Operation | None = None
        self.taker = ""
        self.place: tuple[int, ...] = ()
        """Of what `taker` takes: bytes of a row of a tile, rows, bytes from row to row of its place (0: not
        in one piece), parts that the CPU takes it in."""

    def lower(self, function: func.FuncOp) -> None:
        """Last to first: what is opened takes what was received behind it."""
        ops = [op for op in function.walk() if type(op) in _RULES]
        for op in reversed(ops):
            self.at = op
            _RULES[type(op)](self, op)
        for op in reversed(ops):
            Rewriter.erase_op(op)

    def insert(self, op: Operation) -> SSAValue:
        assert self.at is not None
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        assert self.at is not None
        return index(self.at, value)

    def call(self, callee: str, *arguments: SSAValue) -> None:
        """Call a runtime function, and leave the driver if its status is not DMA_OK."""
        assert self.at is not None
        self.declared[callee] = tuple(a.type for a in arguments)
        call = func.CallOp(callee, arguments, [i32])
        if "opcode" in self.at.attributes:
            call.attributes["opcode"] = self.at.attributes["opcode"]
        Rewriter.insert_op([call, accel.CheckOp(call.res[0])], InsertPoint.before(self.at))

    # --- tiles ----------------------------------------------------------------------------------------

    def _tile(self, tile: SSAValue, shape: tuple[int, ...], permutation: tuple[int, ...]) -> _Tile:
        kind = tile.type
        assert self.at is not None
        assert isinstance(kind, MemRefType)
        strides = kind.get_strides()
        if strides is None or strides[0] is None or strides[1] is None:
            fail(self.at, f"only matrices with known strides can be queued, not {kind}")
        pointer = self._pointer(tile)
        rows, cols = (length(self.at, tile, dim) for dim in permutation)
        first, second = (strides[dim] for dim in permutation)
        assert first is not None
        assert second is not None
        return _Tile(
            pointer, rows, cols, (first, second), (shape[0], shape[1]), element_bits(kind) // 8, named(kind)
        )

    def _pointer(self, array: SSAValue) -> SSAValue:
        assert isinstance(array.type, MemRefType)
        return self.insert(memref.CastOp.get(array, UnrankedMemRefType.from_type(array.type.element_type)))

    def _bytes(self, pointer: SSAValue) -> SSAValue:
        """A queue takes elements of several types."""
        return self.insert(queue.BytesOp(pointer))

    def _times(self, value: SSAValue, factor: int) -> SSAValue:
        known = accel.constant(value)
        if known is not None or factor == 1:
            return value if factor == 1 or known is None else self.index(known * factor)
        return self.insert(arith.MuliOp(value, self.index(factor)))

    def _rows(self, tile: _Tile) -> list[SSAValue]:
        """Pointer, bytes of a row, rows, bytes from row to row; one piece where nothing lies between rows."""
        row_bytes, stride = self._times(tile.cols, tile.element_bytes), tile.strides[0] * tile.element_bytes
        known, rows = accel.constant(row_bytes), accel.constant(tile.rows)
        if known == stride and rows is not None:
            return [tile.pointer, self.index(stride * rows), self.index(1), self.index(stride * rows)]
        return [tile.pointer, row_bytes, tile.rows, self.index(stride)]

    # --- one rule an op -------------------------------------------------------------------------------

    def open(self, op: queue.QueueOpenOp) -> None:
        taker = self.insert(queue.TakerNameOp(self.taker))
        if self.taker:
            self.call("dma_queue_open_ahead", taker, *map(self.index, self.place))
        else:
            self.call("dma_queue_open", self.index(op.words.value.data), taker)
        self.taker = ""

    def word(self, op: queue.QueueWordOp) -> None:
        self.call("dma_queue_word", op.word)

    def clean(self, op: queue.QueueCleanOp) -> None:
        assert isinstance(op.tile.type, MemRefType)
        tile = self._tile(op.tile, (0, 0), (0, 1))
        assert self.at is not None
        Rewriter.insert_op(
            queue.CleanRowsOp(*self._rows(tile), op.first),  # type: ignore[call-arg,arg-type]
            InsertPoint.before(self.at),
        )

    def tile(self, op: queue.QueueTileOp) -> None:
        tile = self._tile(op.tile, op.shape.get_values(), op.permutation.get_values())
        if op.how.data == queue.IN_PLACE:
            pointer, *sizes = self._rows(tile)
            self.call("dma_queue_rows", self._bytes(pointer), *sizes)
            return
        whole = op.how.data == queue.EITHER
        strides = [self.index(stride) for stride in (tile.strides[:1] if whole else tile.strides)]
        self.call(
            f"dma_queue_{'matrix' if whole else 'tile'}_{tile.kind}",
            *(tile.pointer, tile.rows, tile.cols, *strides, *map(self.index, tile.shape)),
        )

    def receive(self, op: queue.QueueReceiveOp) -> None:
        tile = self._tile(op.tile, op.shape.get_values(), op.permutation.get_values())
        if op.how.data == queue.IN_PLACE:
            pointer, *sizes = self._rows(tile)
            self.call("dma_queue_receive_rows", self._bytes(pointer), *sizes)
            return
        name = self._taker(op, tile)
        if self.taker not in ("", name):
            fail(op, "the tiles of one queue are taken in more than one way")
        self.taker = name
        step, between = tile.strides
        rows, cols = tile.shape
        stride = step * tile.element_bytes if between == 1 else 0
        view = op.tile.owner
        whole = view.source if isinstance(view, memref.SubviewOp) else op.tile
        self.place = (cols * tile.element_bytes, rows, stride, HALVES if _bytes_of(whole) <= IN_L1 else 1)
        self.call("dma_queue_receive", self._bytes(tile.pointer), tile.rows, tile.cols)

    def own(self, op: queue.QueueOwnOp) -> None:
        self.call("dma_queue_own", self._bytes(self._pointer(op.array)), self.index(_bytes_of(op.array)))

    def clean_all(self, op: queue.QueueCleanAllOp) -> None:
        self.call("dma_queue_clean_all", self.index(op.bytes.value.data))

    def close(self, op: queue.QueueCloseOp) -> None:
        self.call("dma_queue_close")

    def _taker(self, op: queue.QueueReceiveOp, tile: _Tile) -> str:
        assert isinstance(op.tile.type, MemRefType)
        element = op.tile.type.element_type
        key = (op.mode.data, tile.shape, tile.strides, element)
        if key not in self.takers:
            verb = "add_to" if op.mode.data == "accumulate" else "copy_to"
            view = op.tile.owner
            matrix = view.source if isinstance(view, memref.SubviewOp) else op.tile
            name = f"{verb}_{matrix.name_hint or 'matrix'}"
            if name in self.takers.values():
                name += f"_{len(self.takers)}"
            self.takers[key] = name
            taker = queue.TakerOp(name, op.mode.data, tile.shape, tile.strides, element)
            first = next(o for o in self.module.ops if isinstance(o, func.FuncOp))
            self.module.body.block.insert_op_before(taker, first)
        return self.takers[key]


_RULES: dict[type[Operation], Callable[..., None]] = {
    queue.QueueOpenOp: _Lowering.open,
    queue.QueueWordOp: _Lowering.word,
    queue.QueueCleanOp: _Lowering.clean,
    queue.QueueTileOp: _Lowering.tile,
    queue.QueueReceiveOp: _Lowering.receive,
    queue.QueueOwnOp: _Lowering.own,
    queue.QueueCleanAllOp: _Lowering.clean_all,
    queue.QueueCloseOp: _Lowering.close,
}


def _bytes_of(array: SSAValue) -> int:
    assert isinstance(array.type, MemRefType)
    return array.type.element_count() * element_bits(array.type) // 8


@dataclass(frozen=True)
class LowerQueue(ModulePass):
    """Replace the queue ops by calls of the runtime.

    ::

        accel.queue_open 256
        accel.queue_clean %A_tile first(%n) : memref<16x16xi32, strided<[80, 1], offset: ?>>
        accel.queue_tile %A_tile as [16, 16] permutation [0, 1] "in place" : ...
        accel.queue_receive %C_tile as [16, 16] permutation [0, 1] "through the window" mode ...

        accel.taker "add_to_C" "accumulate" [16, 16] strides [72, 1]
        ...
        %0 = accel.taker_name "add_to_C"
        %1 = func.call @dma_queue_open_ahead(%0, %c64, %c16, %c288, %c2) : (index, ...) -> i32
        accel.check %1
        %2 = memref.cast %A_tile : ... to memref<*xi32>
        accel.clean_rows %2, %c64, %c16, %c320 first(%n) : memref<*xi32>
        %3 = func.call @dma_queue_rows(%2, %c64, %c16, %c320) : (memref<*xi32>, index, index, index) -> i32
        accel.check %3
        %4 = func.call @dma_queue_receive(%5, %m_len, %n_len) : (memref<*xi32>, index, index) -> i32
        accel.check %4

    Sizes are in bytes for rows, in elements for tiles that the CPU copies. A tile whose rows follow each
    other is one row. What remains of the dialect goes to C as it is.
    """

    name = "accel-lower-queue"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lowering = _Lowering(op)
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            lowering.lower(function)
        for callee, types in lowering.declared.items():
            op.body.block.add_op(func.FuncOp.external(callee, types, [i32]))
