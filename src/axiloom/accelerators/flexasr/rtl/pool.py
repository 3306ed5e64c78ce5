"""Pairs of vectors to one, all elements at once: `CYCLES` a pair."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Signal, Value

from axiloom.accelerators.flexasr.rtl.meanings import LANES
from axiloom.hw.command.functions import Functions
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit
from axiloom.isa.instructions.tree import Function

CYCLES = 4


class Pool(Unit):
    def __init__(
        self, tasks: Mapping[str, Task], inputs: Mapping[str, Value], x: Memory, larger: Function
    ) -> None:
        super().__init__("pool", tasks, inputs)
        self.x, self.larger = x, larger

    def build(self, m: Module) -> None:
        n, row, out = (self.value(m, name) for name in ("n", "row", "out"))
        left, source = Signal(len(n), name="pool_left"), Signal(len(row) + 1, name="pool_source")
        target = Signal(len(out) + 1, name="pool_target")
        first, word = Signal(self.x.width, name="pool_first"), Signal(self.x.width, name="pool_made")
        asks, goes = Signal(name="pool_asks"), Signal(name="pool_goes")
        is_empty = Signal(name="pool_empty")
        m.d.sync += is_empty.eq(self.start & (n == 0))
        data = self.x.read(asks, source)
        functions = Functions(m, "pool")
        larger = [
            functions.call(self.larger, [first.word_select(lane, 8), data.word_select(lane, 8)])
            for lane in range(LANES)
        ]
        self.x.write(goes, target, word, Const(-1, self.x.parts))
        with m.FSM(name="pool_phase"):
            with m.State("IDLE"), m.If(self.start & (n != 0)):
                m.d.sync += [source.eq(row), target.eq(out), left.eq(n)]
                m.next = "FIRST"
            with m.State("FIRST"):
                m.d.comb += asks.eq(1)
                m.d.sync += source.eq(source + 1)
                m.next = "SECOND"
            with m.State("SECOND"):
                m.d.comb += asks.eq(1)
                m.d.sync += [source.eq(source + 1), first.eq(data)]
                m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += word.eq(Cat(*larger))
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += goes.eq(1)
                m.d.sync += [target.eq(target + 1), left.eq(left - 1)]
                with m.If(left == 1):
                    m.next = "IDLE"
                with m.Else():
                    m.next = "FIRST"
        m.d.comb += self.done.eq((goes & (left == 1)) | is_empty)
