"""Vectors between the streams and the memories: in a beat a cycle, out two cycles and its beats for each."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import stream

from axiloom.hw.command.memory import Memory
from axiloom.hw.command.rows import BeatsToRows, RowsToBeats
from axiloom.hw.command.unit import Task, Unit


class Load(Unit):
    """`memories`: by task, what it fills."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        inputs: Mapping[str, Value],
        payload: stream.Interface,
        memories: Mapping[str, Memory],
    ) -> None:
        super().__init__("load", tasks, inputs)
        self.payload, self.memories = payload, memories

    def build(self, m: Module) -> None:
        width = next(iter(self.memories.values())).width
        m.submodules.load_rows = rows = BeatsToRows(len(self.payload.payload), width)
        n, out = self.value(m, "n"), self.value(m, "out")
        left, address = Signal(len(n), name="load_left"), Signal(len(out) + 1, name="load_address")
        active, is_empty = left != 0, Signal(name="load_empty")
        m.d.sync += is_empty.eq(self.start & (n == 0))
        with m.If(self.start):
            m.d.sync += [address.eq(out), left.eq(n)]
        moves = active & rows.rows.valid
        with m.If(moves):
            m.d.sync += [address.eq(address + 1), left.eq(left - 1)]
        m.d.comb += [
            rows.beats.valid.eq(self.payload.valid & active),
            rows.beats.payload.eq(self.payload.payload),
            rows.rows.ready.eq(active),
            self.done.eq((moves & (left == 1)) | is_empty),
        ]
        with m.If(active):
            m.d.comb += self.payload.ready.eq(rows.beats.ready)
        for name, memory in self.memories.items():
            memory.write(moves & self.is_(name), address, rows.rows.payload, Const(-1, memory.parts))


class Store(Unit):
    """`result`: beats; the last one ends the command."""

    def __init__(
        self, tasks: Mapping[str, Task], inputs: Mapping[str, Value], result: stream.Interface, x: Memory
    ) -> None:
        super().__init__("store", tasks, inputs)
        self.result, self.x = result, x

    def build(self, m: Module) -> None:
        m.submodules.store_beats = beats = RowsToBeats(self.x.width, len(self.result.payload.data))
        n, row = self.value(m, "n"), self.value(m, "row")
        left, address = Signal(len(n), name="store_left"), Signal(len(row) + 1, name="store_address")
        word, is_empty = Signal(self.x.width, name="store_word"), Signal(name="store_empty")
        m.d.sync += is_empty.eq(self.start & (n == 0))
        asks = Signal(name="store_asks")
        data = self.x.read(asks, address)
        with m.FSM(name="store_phase"):
            with m.State("IDLE"), m.If(self.start & (n != 0)):
                m.d.sync += [address.eq(row), left.eq(n)]
                m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += asks.eq(1)
                m.next = "COMES"
            with m.State("COMES"):
                m.d.sync += word.eq(data)
                m.next = "GOES"
            with m.State("GOES"):
                m.d.comb += beats.rows.valid.eq(1)
                with m.If(beats.rows.ready):
                    m.d.sync += [address.eq(address + 1), left.eq(left - 1)]
                    with m.If(left == 1):
                        m.next = "IDLE"
                    with m.Else():
                        m.next = "ASK"
        m.d.comb += [
            beats.rows.payload.data.eq(word),
            beats.rows.payload.last.eq(left == 1),
            self.result.valid.eq(beats.beats.valid),
            self.result.payload.eq(beats.beats.payload),
            beats.beats.ready.eq(self.result.ready),
            self.done.eq((beats.beats.valid & self.result.ready & beats.beats.payload.last) | is_empty),
        ]
