"""Vectors of the outputs to the stream of results; the last beat ends the command."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, ResetInserter, Signal, Value
from amaranth.lib import fifo, stream

from axiloom.hw.command.memory import Memory
from axiloom.hw.command.rows import RowsToBeats
from axiloom.hw.command.unit import Task, Unit, flag
from axiloom.hw.nest.operators.stages import Stages

_QUEUE = 4
"""Vectors between the memory and the stream: a read is asked for only if there is room."""


class Store(Unit):
    """`result`: beats, each vector one or more of them."""

    def __init__(
        self, tasks: Mapping[str, Task], inputs: Mapping[str, Value], result: stream.Interface, out: Memory
    ) -> None:
        super().__init__("store", tasks, inputs)
        self.result, self.out = result, out

    def build(self, m: Module) -> None:
        width, stages = self.out.width, Stages(m, self.name)
        queue = fifo.SyncFIFO(width=width + 1, depth=_QUEUE)
        # A command begins with the queue's first place, wherever the one before ended.
        m.submodules.store_queue = ResetInserter(self.start)(queue)
        m.submodules.store_beats = beats = RowsToBeats(width, len(self.result.payload.data))
        rows, count = self.value(m, "rows"), self.value(m, "count")
        x, y = Signal(len(count), name="store_x"), Signal(len(rows), name="store_y")
        address = Signal(self.out.address_bits, name="store_address")
        active, is_empty = Signal(name="store_active"), Signal(name="store_empty")
        is_there = (rows != 0) & (count != 0)
        m.d.sync += is_empty.eq(self.start & ~is_there)
        with m.If(self.start):
            m.d.sync += [x.eq(0), y.eq(0), address.eq(self.value(m, "sram")), active.eq(is_there)]
        last_x, last = Signal(name="store_last_x"), Signal(name="store_last")
        reads = Signal(name="store_reads")
        m.d.comb += [
            last_x.eq(x == count - 1),
            last.eq(last_x & (y == rows - 1)),
            reads.eq(active & (queue.level < _QUEUE - 1)),
        ]
        with m.If(reads):
            m.d.sync += [x.eq(x + 1), address.eq(address + 1)]
            with m.If(last_x):
                m.d.sync += [x.eq(0), y.eq(y + 1)]
            with m.If(last):
                m.d.sync += active.eq(0)
        m.d.comb += [
            queue.w_data.eq(Cat(self.out.read(reads, address), stages.later(last, "is_last"))),
            queue.w_en.eq(flag(m, reads, "store_comes")),
            beats.rows.valid.eq(queue.r_rdy),
            beats.rows.payload.data.eq(queue.r_data[:width]),
            beats.rows.payload.last.eq(queue.r_data[width]),
            queue.r_en.eq(beats.rows.ready),
            self.result.valid.eq(beats.beats.valid),
            self.result.payload.eq(beats.beats.payload),
            beats.beats.ready.eq(self.result.ready),
            self.done.eq((beats.beats.valid & self.result.ready & beats.beats.payload.last) | is_empty),
        ]
