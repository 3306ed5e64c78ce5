"""Queues of a scatter-gather DMA as calls of ``sw/include/axiloom_sg.h``.

Behind a coherent port the CPU waits in its own caches. A descriptor's status is in L1 until the DMA
writes it, so a look takes a cycle of the fabric where a register takes 20. For that the simulated DMA has
to come as far as the CPU at each look: a load from where descriptors lie, as CURDESC and TAILDESC say,
lets the RTL catch up first. A register is read once in 256 looks, as errors show there. A tile is taken
in two halves where the whole result has at most 16 KiB; four quarters were slower, as taking one costs 39
cycles. Where C comes from memory the CPU is later than the device, and halves cost: 256^3 took 3 %
longer. Slots stay at 8 KiB: with 16 or 32 KiB, and rings of 12 KiB, the place of a 64x64 result no longer
stayed in L1, and adding to it took a third longer. So a tile without a slot is only noted, and what is
sent goes on.

A tile is cleaned at its first use, so that cleaning overlaps with the transfers: in the first iterations of
the loops that do not move it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrankedMemRefType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.dialects.elements import named
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.annotated import source_of
from axiloom.drivergen.nest.emit import Emitter, comment, name_of
from axiloom.drivergen.nest.emit_table import NotATableError, Table
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.drivergen.nest.queues import Group, Units, array, array_bytes, in_order
from axiloom.isa import Link
from axiloom.plan import Command, Plan, Queue, Receive, Send, Words
from axiloom.plan.figures import moves
from axiloom.plan.tree import Word

HALVES, IN_L1 = 2, 16 << 10
"""Behind a coherent port a tile is taken in so many parts if the whole result has at most so many bytes: half
of L1. Where results come from memory, the CPU is later than the device, and each part costs."""

Taker = tuple[str, tuple[int, int, int, int] | None]
"""Its name, and of what it takes: bytes of a row of a tile, rows, bytes from row to row of its place (0: not
in one piece), parts that the CPU takes it in."""
NO_TAKER: Taker = ("", None)
Functions = dict[str, tuple[Attribute, ...]]
"""Of the runtime, with types of their arguments."""


class Queues:
    """The queues of a module: functions that take tiles, and functions of the runtime that are called."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.declared: Functions = {}
        self.takers: dict[tuple[object, ...], str] = {}

    def emit(self, groups: Sequence[Group], units: Units, table: Table | None = None) -> None:
        """Each op's plan in front of it, or all of them in a `table`, if one is wanted and can be."""
        plans = [group.queues(units) for group in groups]
        takers = [self._taker_of(group, own) for group, own in zip(groups[::-1], plans[::-1], strict=True)]
        takers.reverse()
        why = None
        if table is not None:
            try:
                table.fill(groups, plans, *takers[0])
            except NotATableError as reason:
                why = StringAttr(f"A queue, and no table of descriptors: {reason}.")
            else:
                table.notes = comment(groups[0].nests[0].trait) + _notes(plans[0])
                return
        for group, own, taker in zip(groups, plans, takers, strict=True):
            for number, (nest, plan) in enumerate(zip(group.nests, own, strict=True)):
                emitter = Queued(nest.op, nest.trait, self.declared)
                emitter.opens = (taker, group.words) if number == 0 else None
                emitter.closes = number == len(own) - 1
                emitter.why, why = why, None
                emitter.plan(plan, comment(nest.trait) + (_notes(own) if emitter.closes else ""))
        for callee, types in self.declared.items():
            self.module.body.block.add_op(func.FuncOp.external(callee, types, [i32]))

    def _taker_of(self, group: Group, plans: Sequence[Plan]) -> Taker:
        found: dict[str, Taker] = {}
        for nest, plan in zip(group.nests[::-1], plans[::-1], strict=True):
            for move in reversed(list(moves(plan.body))):
                if isinstance(move, Receive) and not move.in_place:
                    taker = self._taker(move)
                    found[taker[0]] = taker
            if len(found) > 1:
                fail(nest.op, "the tiles of one queue are taken in more than one way")
        return next(iter(found.values()), NO_TAKER)

    def _taker(self, move: Receive) -> Taker:
        region, tile = placed(move), placed(move).flat
        source = source_of(region).value
        assert isinstance(source.type, MemRefType)
        assert tile.strides is not None
        step, between = (tile.strides[dim] or 0 for dim in tile.permutation)
        mode = "add_to" if move.add else "copy_to"
        key = (mode, tile.shape, (step, between), source.type.element_type)
        if key not in self.takers:
            name = f"{mode}_{_matrix(region) or 'matrix'}"
            if name in self.takers.values():
                name += f"_{len(self.takers)}"
            self.takers[key] = name
            how = "accumulate" if move.add else "overwrite"
            taker = queue.TakerOp(name, how, tile.shape, (step, between), source.type.element_type)
            first = next(op for op in self.module.ops if isinstance(op, func.FuncOp))
            Rewriter.insert_op(taker, InsertPoint.before(first))
        size = tile.bits // 8
        halves = HALVES if 0 < array_bytes(array(move)) <= IN_L1 else 1
        place = (tile.shape[1] * size, tile.shape[0], step * size if between == 1 else 0, halves)
        return self.takers[key], place


def _notes(plans: Sequence[Plan]) -> str:
    """What a queue does without copies."""
    notes: dict[str, str] = {}
    every = [move for plan in plans for move in moves(_queue(plan).body)]
    for move in sorted(every, key=lambda move: isinstance(move, Send)):
        notes[_matrix(placed(move)) or "a matrix"] = _how(move)
    places: dict[str, list[str]] = {}
    for name, how in sorted(notes.items()):
        places.setdefault(how, []).append(name)
    ways = ", ".join(f"{' and '.join(names)} {how}" for how, names in places.items())
    return f" Without copies: {ways}."


def _matrix(region: Placed) -> str | None:
    return name_of(region) if region.is_reshaped else source_of(region).value.name_hint


def _how(move: Send | Receive) -> str:
    if not move.in_place:
        return queue.THROUGH_WINDOW
    return queue.IN_PLACE if placed(move).flat.is_whole else queue.EITHER


def _queue(plan: Plan) -> Queue:
    assert isinstance(plan.transport, Queue)
    return plan.transport


class Queued(Emitter):
    """The part of a queue that one op has; it may open and close it."""

    def __init__(self, op: Operation, link: Trait | Link, declared: Functions) -> None:
        super().__init__(op, link, flat=True)
        self.declared = declared
        self.opens: tuple[Taker, int] | None = None
        self.closes = False
        self.why: StringAttr | None = None
        """Why it is no table."""
        self.name: StringAttr | None = None
        """Of the opcode, until an op has it."""

    def plan(self, plan: Plan, title: str) -> None:
        """`title` stands above the loops."""
        super().commands(plan.before)
        own = _queue(plan)
        if self.opens is not None:
            self._open(own, *self.opens)
        self.nodes(own.body, title)
        if self.closes:
            self._call("dma_queue_close")

    def commands(self, commands: Sequence[Command]) -> None:
        for command in commands:
            self.opcode, self.name = command.opcode, StringAttr(command.opcode)
            for move in in_order(command):
                if isinstance(move, Words):
                    self._words(move)
                elif isinstance(move, Send):
                    self._send(move)
                else:
                    self._receive(move)
            self.name = None

    def _open(self, own: Queue, taker: Taker, words: int) -> None:
        name, place = taker
        address = self.insert(queue.TakerNameOp(name)).result
        if place is not None:
            call = self._call("dma_queue_open_ahead", address, *map(self.index, place))
        else:
            call = self._call("dma_queue_open", self.index(words), address)
        if self.why is not None:
            call.attributes["comment"] = self.why
        if own.own is not None:
            assert isinstance(own.own, SSAValue)
            pointer = self._pointer(own.own)
            self._call("dma_queue_own", self._bytes(pointer), self.index(array_bytes(own.own)))
        if own.clean:
            self._call("dma_queue_clean_all", self.index(own.clean))

    def _call(self, callee: str, *arguments: SSAValue) -> func.CallOp:
        """Call a runtime function, and leave the driver if its status is not DMA_OK."""
        self.declared[callee] = tuple(argument.type for argument in arguments)
        call = self.insert(func.CallOp(callee, arguments, [i32]))
        if self.name is not None:
            call.attributes["opcode"], self.name = self.name, None
        self.insert(accel.CheckOp(call.res[0]))
        return call

    def _words(self, words: Words) -> None:
        for value in words.values:
            self._call("dma_queue_word", self._word(value))

    def _word(self, value: Word) -> SSAValue:
        if isinstance(value, str):
            counter = self.counter(value, f"sends the index of {value}")
            return self.insert(arith.IndexCastOp(counter, i32)).result
        if not isinstance(value, int):
            value = sum(field.value << field.shift for field in value)
        return self.insert(arith.ConstantOp(IntegerAttr(value, i32, truncate_bits=True))).result

    # --- tiles ----------------------------------------------------------------------------------------

    def _send(self, send: Send) -> None:
        region, tile = placed(send), placed(send).flat
        view = self.view(region)
        if send.in_place:
            others = [counter for name, counter in self.counters.items() if name not in region.loops]
            pointer, *sizes = self._rows(region)
            self.insert(queue.CleanRowsOp(pointer, sizes, others))
        if _how(send) == queue.IN_PLACE:
            pointer, *sizes = self._rows(region)
            self._call("dma_queue_rows", self._bytes(pointer), *sizes)
            return
        assert tile.strides is not None
        strides = [self.index(tile.strides[dim] or 0) for dim in tile.permutation]
        what, strides = ("matrix", strides[:1]) if send.in_place else ("tile", strides)
        lengths = [self._value(self._length(region, dim)) for dim in tile.permutation]
        sizes = [*lengths, *strides, *map(self.index, tile.shape)]
        self._call(f"dma_queue_{what}_{named(view.type)}", self._pointer(view), *sizes)

    def _receive(self, receive: Receive) -> None:
        region, tile = placed(receive), placed(receive).flat
        if receive.in_place:
            pointer, *sizes = self._rows(region)
            self._call("dma_queue_receive_rows", self._bytes(pointer), *sizes)
            return
        pointer = self._pointer(self.view(region))
        lengths = [self._value(self._length(region, dim)) for dim in tile.permutation]
        self._call("dma_queue_receive", self._bytes(pointer), *lengths)

    def _rows(self, region: Placed) -> list[SSAValue]:
        """Pointer, bytes of a row, rows, bytes from row to row; one piece where nothing lies between rows."""
        tile, pointer = region.flat, self._pointer(self.view(region))
        if tile.is_whole:
            return [pointer, *map(self.index, tile.sizes)]
        assert tile.strides is not None
        size = tile.bits // 8
        stride = (tile.strides[0] or 0) * size
        rows, cols = self._length(region, 0), self._length(region, 1)
        if isinstance(cols, int):
            row_bytes = self.index(cols * size)
        else:
            row_bytes = cols if size == 1 else self.insert(arith.MuliOp(cols, self.index(size))).result
        return [pointer, row_bytes, self._value(rows), self.index(stride)]

    def _length(self, region: Placed, dim: int) -> SSAValue | int:
        """Elements of the matrix in memory."""
        length = region.flat.lengths[dim]
        if length != DYNAMIC_INDEX:
            return length
        return self.rest(region.edges[sorted(region.order)[dim]] or "")

    def _value(self, size: SSAValue | int) -> SSAValue:
        return self.index(size) if isinstance(size, int) else size

    def _pointer(self, array: SSAValue) -> SSAValue:
        assert isinstance(array.type, MemRefType)
        kind = UnrankedMemRefType.from_type(array.type.element_type)
        pointer: SSAValue = self.insert(memref.CastOp.get(array, kind)).dest
        return pointer

    def _bytes(self, pointer: SSAValue) -> SSAValue:
        """A queue takes elements of several types."""
        return self.insert(queue.BytesOp(pointer)).result
