"""Rows between the streams and the memories, and between memories; and the same transposed.

Rows travel a word a cycle, or a beat where that is less. What is transposed travels an element a cycle: each
of a row's elements lies in another row.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, ResetInserter, Value
from amaranth.lib import fifo, stream

from axiloom.accelerators.qkv.rtl.row_memory import ELEMENT
from axiloom.accelerators.qkv.rtl.task import Unit, Walk, strobe
from axiloom.hw.command.rows import BeatsToRows, RowsToBeats

_QUEUE = 4
"""Words between a memory and the stream: a read is asked for only if there is room."""


class Load(Unit):
    """Rows of the payload."""

    transposed = False
    payload: stream.Interface

    def build(self, m: Module) -> None:
        geometry, width = self.geometry, len(self.payload.payload)
        bits = ELEMENT if self.transposed else min(width, geometry.word_bits)
        size = bits // ELEMENT
        rows = BeatsToRows(width, bits)
        m.submodules[f"{self.name}_rows"] = rows
        walk = Walk(m, self.name, self.start, self.value(m, "n"), geometry.columns // size, rows.rows.valid)
        row, column = self._place(walk, size, self.value(m, "out"))
        lane = geometry.lane(column)
        mask = (Const((1 << size) - 1, geometry.lanes) << lane)[: geometry.lanes]
        word = rows.rows.payload.replicate(geometry.lanes // size)
        moves = walk.is_active & rows.rows.valid
        m.d.comb += [
            rows.beats.valid.eq(self.payload.valid & walk.is_active),
            rows.beats.payload.eq(self.payload.payload),
            rows.rows.ready.eq(walk.is_active),
            rows.flush.eq(walk.is_last),
            self.running.eq(walk.is_active),
            self.done.eq((moves & walk.is_last) | walk.is_empty),
        ]
        with m.If(walk.is_active):
            m.d.comb += self.payload.ready.eq(rows.beats.ready)
        self.write("x", moves, row, geometry.group(column), word, mask)

    def _place(self, walk: Walk, size: int, out: Value) -> tuple[Value, Value]:
        """Row and column of what comes."""
        return out + walk.r, Cat(Const(0, (size - 1).bit_length()), walk.c)


class LoadColumns(Load):
    """Rows of the payload, which become columns."""

    transposed = True

    def _place(self, walk: Walk, size: int, out: Value) -> tuple[Value, Value]:
        return out + walk.c, walk.r


class Store(Unit):
    """Rows to the stream of results. The last beat ends the command."""

    transposed = False
    result: stream.Interface

    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        bits = ELEMENT if self.transposed else geometry.word_bits
        queue = fifo.SyncFIFO(width=bits + 1, depth=_QUEUE)
        # A command begins with the queue's first place, wherever the one before ended.
        m.submodules[f"{self.name}_queue"] = ResetInserter(self.start)(queue)
        beats = RowsToBeats(bits, len(self.result.payload.data))
        m.submodules[f"{self.name}_beats"] = beats
        steps = geometry.columns if self.transposed else geometry.groups
        asks = queue.level < _QUEUE - 1
        walk = Walk(m, self.name, self.start, self.value(m, "n"), steps, asks)
        row = self.value(m, "row")
        if self.transposed:
            place = row + walk.c, geometry.group(walk.r), geometry.lane(walk.r)
        else:
            place = row + walk.r, walk.c, Const(0, 1)
        reads = walk.is_active & asks
        word = self.read(m, "x", reads, *place[:2])
        lane, last = (
            stages.later(value, label) for value, label in ((place[2], "lane"), (walk.is_last, "is_last"))
        )
        comes = strobe(m, reads, f"{self.name}_comes", 1)
        read = geometry.element(word, lane) if self.transposed else word
        m.d.comb += [
            queue.w_data.eq(Cat(read, last)),
            queue.w_en.eq(comes),
            beats.rows.valid.eq(queue.r_rdy),
            beats.rows.payload.data.eq(queue.r_data[:bits]),
            beats.rows.payload.last.eq(queue.r_data[bits]),
            queue.r_en.eq(beats.rows.ready),
            self.running.eq(walk.is_active | comes | queue.r_rdy),
        ]
        goes = beats.beats.valid & self.result.ready
        m.d.comb += self.done.eq((goes & beats.beats.payload.last) | walk.is_empty)
        with m.If(beats.beats.valid):
            m.d.comb += [
                self.result.valid.eq(1),
                self.result.payload.eq(beats.beats.payload),
                beats.beats.ready.eq(self.result.ready),
            ]


class StoreColumns(Store):
    """Columns of a memory, which become rows of results."""

    transposed = True


class Move(Unit):
    """Rows of one memory to another one."""

    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        walk = Walk(m, self.name, self.start, self.value(m, "n"), geometry.groups, Const(1, 1))
        word = self.read(m, "x", walk.is_active, self.value(m, "row") + walk.r, walk.c)
        place = stages.later(stages.wire(self.value(m, "out") + walk.r, "row_out"), "to")
        group = stages.later(walk.c, "group")
        writes, last = stages.later(walk.is_active, "writes"), stages.later(walk.is_last, "is_last")
        every = Const(-1, geometry.lanes)
        self.write("y", writes, place, group, word, every)
        m.d.comb += [self.running.eq(walk.is_active | writes), self.done.eq((writes & last) | walk.is_empty)]


class Transpose(Unit):
    """Rows of one memory to columns of another one."""

    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        walk = Walk(m, self.name, self.start, self.value(m, "n"), geometry.columns, Const(1, 1))
        row = self.value(m, "row") + walk.r
        word = self.read(m, "x", walk.is_active, row, geometry.group(walk.c))
        place = stages.later(stages.wire(self.value(m, "out") + walk.c, "row_out"), "to")
        column, lane = stages.later(walk.r, "column"), stages.later(geometry.lane(walk.c), "lane")
        writes, last = stages.later(walk.is_active, "writes"), stages.later(walk.is_last, "is_last")
        element = geometry.element(word, lane).replicate(geometry.lanes)
        mask = geometry.mask(geometry.lane(column))
        self.write("y", writes, place, geometry.group(column), element, mask)
        m.d.comb += [self.running.eq(walk.is_active | writes), self.done.eq((writes & last) | walk.is_empty)]
