"""Micro-ops of the payload, one a cycle."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import stream

from axiloom.accelerators.vta.rtl.meanings import UOP
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.rows import BeatsToRows
from axiloom.hw.command.unit import Task, Unit


class LoadUops(Unit):
    """`payload`: beats, of which the last one may be filled up."""

    def __init__(
        self, tasks: Mapping[str, Task], inputs: Mapping[str, Value], payload: stream.Interface, uop: Memory
    ) -> None:
        super().__init__("load_uops", tasks, inputs)
        self.payload, self.uop = payload, uop

    def build(self, m: Module) -> None:
        m.submodules.load_uops_rows = rows = BeatsToRows(len(self.payload.payload), UOP)
        count = self.value(m, "count")
        address = Signal(self.uop.address_bits, name="load_uops_address")
        left = Signal(len(count), name="load_uops_left")
        is_empty = Signal(name="load_uops_empty")
        active = left != 0
        m.d.sync += is_empty.eq(self.start & (count == 0))
        with m.If(self.start):
            m.d.sync += [address.eq(self.value(m, "sram")), left.eq(count)]
        moves = active & rows.rows.valid
        with m.If(moves):
            m.d.sync += [address.eq(address + 1), left.eq(left - 1)]
        m.d.comb += [
            rows.beats.valid.eq(self.payload.valid & active),
            rows.beats.payload.eq(self.payload.payload),
            rows.rows.ready.eq(active),
            rows.flush.eq(left == 1),
            self.done.eq((moves & (left == 1)) | is_empty),
        ]
        with m.If(active):
            m.d.comb += self.payload.ready.eq(rows.beats.ready)
        self.uop.write(moves, address, rows.rows.payload, Const(1, 1))
