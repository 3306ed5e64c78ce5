"""The `accel` ops become calls of the runtime in ``sw/include/axiloom.h``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrankedMemRefType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels, table
from axiloom.drivergen.dialects.elements import ADDED, named
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.nest.emit_table import TABLE
from axiloom.drivergen.passes.lowering.blocks import Block

STATUS_OK = 0


def split(offset: SSAValue) -> tuple[SSAValue | None, int]:
    """An offset as a value (None: there is none) and a number of words added to it."""
    known = accel.constant(offset)
    if known is not None:
        return None, known
    if isinstance(offset.owner, arith.AddiOp):
        for value, words in (offset.owner.operands, reversed(offset.owner.operands)):
            known = accel.constant(words)
            if known is not None:
                base, more = split(value)
                return base, known + more
    return offset, 0


def tile_arguments(
    op: accel.SendOp | accel.RecvOp, insert: Callable[[Operation], SSAValue]
) -> list[SSAValue]:
    """The arguments that the copies share: pointer, rows, cols, strides, tile_rows, tile_cols."""
    kind = op.tile.type
    assert isinstance(kind, MemRefType)
    shape, permutation = op.shape.get_values(), op.permutation.get_values()
    strides = kind.get_strides()
    if len(shape) > 2 or strides is None or None in strides:
        fail(op, f"only matrices with known strides can be copied, not {kind}")
    pointer = _pointer(op.tile, insert)
    row = [index(op, 1)] * (2 - len(shape))
    lengths = [*row, *(length(op, op.tile, dim) for dim in permutation)]
    steps = [*row, *(index(op, stride) for dim in permutation if (stride := strides[dim]) is not None)]
    return [pointer, *lengths, *steps, *row, *(index(op, size) for size in shape)]


def _pointer(tile: SSAValue, insert: Callable[[Operation], SSAValue]) -> SSAValue:
    assert isinstance(tile.type, MemRefType)
    return insert(memref.CastOp.get(tile, UnrankedMemRefType.from_type(tile.type.element_type)))


def put_block_arguments(op: accel.SendOp, insert: Callable[[Operation], SSAValue]) -> list[SSAValue]:
    """Pointer, sizes (rows, planes, height, width), their strides, and words from row to row."""
    block = Block.of(op)
    numbers = (block.rows, *block.sizes, block.row_stride, *block.strides, block.row_words)
    return [_pointer(op.tile, insert), *(index(op, number) for number in numbers)]


def get_block_arguments(op: accel.RecvOp, insert: Callable[[Operation], SSAValue]) -> list[SSAValue]:
    """Pointer, sizes (planes, height, width), their strides, and elements from line to line as received."""
    if op.dense is None:
        pointer, rows, cols, row_stride, stride, _, pitch = tile_arguments(op, insert)
        return [pointer, index(op, 1), rows, cols, index(op, 0), row_stride, stride, pitch]
    block = Block.of(op)
    numbers = (*block.sizes, *block.strides, block.sizes[-1])
    return [_pointer(op.tile, insert), *(index(op, number) for number in numbers)]


def length(op: Operation, tile: SSAValue, dim: int) -> SSAValue:
    """Number of elements of the tile in one of its memref's dims."""
    assert isinstance(tile.type, MemRefType)
    shape = list(tile.type.get_shape())
    if shape[dim] != DYNAMIC_INDEX:
        return index(op, shape[dim])
    view = tile.owner
    if not isinstance(view, memref.SubviewOp):
        fail(op, "the size of its tile is not known here")
    # Of the dims that the type leaves out none is dynamic.
    return view.sizes[shape[:dim].count(DYNAMIC_INDEX)]


class _Lowering:
    """Replaces the ops of one module; `declared` collects the runtime functions that are used."""

    def __init__(self) -> None:
        self.declared: dict[str, tuple[tuple[Attribute, ...], tuple[Attribute, ...]]] = {}
        self.at: Operation | None = None
        self.opcode: Attribute | None = None
        self.comment: Attribute | None = None

    def lower(self, function: func.FuncOp) -> None:
        ops = [op for op in function.walk() if type(op) in _RULES]
        for op in ops:
            self.at, self.opcode = op, op.attributes.get("opcode")
            self.comment = op.attributes.get("comment")
            _RULES[type(op)](self, op)
        for op in reversed(ops):  # a token's wait goes before its start
            Rewriter.erase_op(op)

    def insert(self, op: Operation) -> SSAValue:
        assert self.at is not None
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        assert self.at is not None
        return index(self.at, value)

    def word(self, value: int) -> SSAValue:
        # A word is unsigned in C; in MLIR it is the signless i32 with the same bits.
        attr = IntegerAttr(value, i32, truncate_bits=True)
        return self.insert(arith.ConstantOp(attr))

    def call(self, callee: str, *arguments: SSAValue, gives: Sequence[Attribute] = ()) -> Sequence[SSAValue]:
        """Call a runtime function, leave the driver if its status is not DMA_OK; what it `gives` besides."""
        self.declared[callee] = tuple(a.type for a in arguments), (i32, *gives)
        call = func.CallOp(callee, arguments, [i32, *gives])
        if self.opcode is not None:
            call.attributes["opcode"], self.opcode = self.opcode, None
        if self.comment is not None:
            call.attributes["comment"], self.comment = self.comment, None
        assert self.at is not None
        Rewriter.insert_op([call, accel.CheckOp(call.res[0])], InsertPoint.before(self.at))
        return call.res[1:]

    def add(self, offset: SSAValue, words: int) -> SSAValue:
        base, known = split(offset)
        if base is None:
            return self.index(known + words)
        return self.insert(arith.AddiOp(base, self.index(known + words))) if known + words else base

    def between(self, begin: SSAValue, end: SSAValue) -> SSAValue:
        """Number of words from `begin` up to `end`."""
        (base, first), (other, last) = split(begin), split(end)
        return self.index(last - first) if base is other else self.insert(arith.SubiOp(end, begin))

    # --- one rule an op -------------------------------------------------------------------------------

    def init_dma(self, op: accel.InitDmaOp) -> None:
        dma = op.config.data
        values = (
            dma.address,
            dma.input_address,
            dma.input_buffer_size,
            dma.output_address,
            dma.output_buffer_size,
        )
        own = op.attributes.get(TABLE)
        named_table = [self.insert(table.TableNameOp(own.data))] if isinstance(own, StringAttr) else []
        numbers = (self.index(value) for value in values)
        self.call("dma_table_init" if named_table else "dma_init", *named_table, *numbers)

    def write_register(self, op: accel.WriteRegisterOp) -> None:
        self.call("dma_device_write", self.index(op.at.value.data), self.word(op.value.value.data))

    def wait_register(self, op: accel.WaitRegisterOp) -> None:
        self.call("dma_device_wait", self.index(op.at.value.data), self.word(op.value.value.data))

    def write_elements(self, op: accel.WriteElementsOp) -> None:
        count, bits = self.index(op.count.value.data), self.index(op.bits.value.data)
        self.call("dma_device_elements", self.index(op.at.value.data), count, bits, op.begin)

    def point_in(self, op: accel.PointInOp) -> None:
        words = self.between(op.begin, op.end)
        self.call("dma_device_reads", self.index(op.at.value.data), words, op.begin)

    def point_out(self, op: accel.PointOutOp) -> None:
        words = self.between(op.begin, op.end)
        self.call("dma_device_writes", self.index(op.at.value.data), words, op.begin)

    def take_out(self, op: accel.TakeOutOp) -> None:
        self.call("dma_device_wrote", self.between(op.begin, op.end), op.begin)

    def point_at(self, op: accel.PointAtOp) -> None:
        callee = "reads" if isinstance(op, accel.PointAtInputOp) else "writes"
        words = self.index(op.words.value.data)
        self.call(
            f"dma_device_{callee}_at", self.index(op.at.value.data), _pointer(op.tile, self.insert), words
        )

    def take_in_place(self, op: accel.TakeInPlaceOp) -> None:
        self.call("dma_device_wrote_at", _pointer(op.tile, self.insert), self.index(op.words.value.data))

    def _put_word(self, op: accel.StageOp, word: SSAValue) -> None:
        self.call("dma_put_word", word, op.offset)
        op.end.replace_all_uses_with(self.add(op.offset, op.words()))

    def send_literal(self, op: accel.SendLiteralOp) -> None:
        self._put_word(op, self.word(op.value.value.data))

    def send_dim(self, op: accel.SendDimOp) -> None:
        known, rest = 0, []
        for size, shift in zip(op.sizes, op.shifts.get_values(), strict=True):
            value = accel.constant(size)
            if value is not None:
                known |= value << shift
            else:
                cast = self.insert(arith.IndexCastOp(size, i32))
                rest.append(self.insert(arith.ShLIOp(cast, self.word(shift))))
        word = self.word(known)
        for term in rest:
            word = self.insert(arith.OrIOp(word, term))
        self._put_word(op, word)

    def send_idx(self, op: accel.SendIdxOp) -> None:
        self._put_word(op, self.insert(arith.IndexCastOp(op.index, i32)))

    def send(self, op: accel.SendOp) -> None:
        kind = named(op.tile.type)
        if op.dense is None:
            self.call(f"dma_put_tile_{kind}", *tile_arguments(op, self.insert), op.offset)
        else:
            self.call(f"dma_put_block_{kind}", *put_block_arguments(op, self.insert), op.offset)
        op.end.replace_all_uses_with(self.add(op.offset, op.words()))

    def recv(self, op: accel.RecvOp) -> None:
        kind = named(op.tile.type)
        if kind not in ADDED:
            self.call(f"dma_get_block_{kind}", *get_block_arguments(op, self.insert), op.offset)
            return
        dense = op.dense is not None
        tile = get_block_arguments(op, self.insert) if dense else tile_arguments(op, self.insert)
        accumulate = self.word(int(op.mode.data == "accumulate"))
        self.call(f"dma_get_{'block' if dense else 'tile'}_{kind}", *tile, op.offset, accumulate)

    def start(self, op: accel.StartOp) -> None:
        self.call(f"dma_start_{op.CHANNEL}", self.between(op.begin, op.end), op.begin)

    def wait(self, op: accel.WaitOp) -> None:
        assert isinstance(op.token.type, accel.TokenType)
        self.call(f"dma_wait_{op.token.type.channel.data}")

    # --- whole channels -------------------------------------------------------------------------------

    def clean(self, op: channels.CleanOp) -> None:
        self.call("dma_packet_clean", self.between(op.begin, op.end), op.begin)

    def queue_send(self, op: channels.QueueSendOp) -> None:
        self.call("dma_packet_send", self.between(op.begin, op.end), op.begin)

    def wait_queued(self, op: channels.WaitQueuedOp) -> None:
        self.call("dma_packet_wait")

    def wait_sent(self, op: channels.WaitSentOp) -> None:
        self.call("dma_packet_flush")

    def expect(self, op: channels.ExpectOp) -> None:
        self.call("dma_tiles_expect", self.index(op.count.value.data), self.index(op.words.value.data))

    def next(self, op: channels.NextOp) -> None:
        offset = self.call("dma_tiles_next", gives=[IndexType()])[0]
        offset.name_hint = op.offset.name_hint
        op.offset.replace_all_uses_with(offset)


_RULES: dict[type[Operation], Callable[..., None]] = {
    accel.InitDmaOp: _Lowering.init_dma,
    accel.WriteRegisterOp: _Lowering.write_register,
    accel.WaitRegisterOp: _Lowering.wait_register,
    accel.WriteElementsOp: _Lowering.write_elements,
    accel.PointInOp: _Lowering.point_in,
    accel.PointOutOp: _Lowering.point_out,
    accel.TakeOutOp: _Lowering.take_out,
    accel.PointAtInputOp: _Lowering.point_at,
    accel.PointAtResultOp: _Lowering.point_at,
    accel.TakeInPlaceOp: _Lowering.take_in_place,
    accel.SendLiteralOp: _Lowering.send_literal,
    accel.SendDimOp: _Lowering.send_dim,
    accel.SendIdxOp: _Lowering.send_idx,
    accel.SendOp: _Lowering.send,
    accel.RecvOp: _Lowering.recv,
    accel.StartSendOp: _Lowering.start,
    accel.StartRecvOp: _Lowering.start,
    accel.WaitOp: _Lowering.wait,
    channels.CleanOp: _Lowering.clean,
    channels.QueueSendOp: _Lowering.queue_send,
    channels.WaitQueuedOp: _Lowering.wait_queued,
    channels.WaitSentOp: _Lowering.wait_sent,
    channels.ExpectOp: _Lowering.expect,
    channels.NextOp: _Lowering.next,
}


@dataclass(frozen=True)
class LowerToCalls(ModulePass):
    """Replace the `accel` ops by calls of the runtime; functions return its status.

    ::

        func.func @f(...) {
          %0 = accel.send_literal 1 at %c0
          %1 = accel.start_send %c0 to %0 : !accel.token<"send">
          accel.wait %1 : !accel.token<"send">
          func.return
        }

        func.func @f(...) -> i32 {
          %ok = arith.constant 0 : i32
          %word = arith.constant 1 : i32
          %0 = func.call @dma_put_word(%word, %c0) : (i32, index) -> i32
          accel.check %0
          %1 = func.call @dma_start_send(%c1, %c0) : (index, index) -> i32
          accel.check %1
          %2 = func.call @dma_wait_send() : () -> i32
          accel.check %2
          func.return %ok : i32
        }

    A memref goes to C as the address of its first element, ``memref<*xT>``. Of the accel dialect only
    `accel.check` remains: it leaves the function with a status that is not DMA_OK.
    """

    name = "accel-lower-to-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lowering = _Lowering()
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            lowering.lower(function)
            last = function.body.block.last_op
            assert isinstance(last, func.ReturnOp)
            ok = arith.ConstantOp(IntegerAttr(STATUS_OK, i32))
            Rewriter.insert_op(ok, InsertPoint.before(last))
            Rewriter.replace_op(last, func.ReturnOp(ok))
            function.function_type = FunctionType.from_lists(function.function_type.inputs.data, [i32])
        for callee, (types, results) in lowering.declared.items():
            op.body.block.add_op(func.FuncOp.external(callee, types, results))
