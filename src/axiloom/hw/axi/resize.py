"""Streams of one width to another: a beat in parts, or parts to a beat, the lowest first."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream


class Resize(wiring.Component):
    """An AXI4-Stream of `source` bits as one of `target` bits, in the same order, without a cycle between.

    TLAST goes with the last part of its beat. Where parts are gathered, TLAST ends a beat before it is full;
    zeros fill it up. Raises :exc:`ValueError` for widths of which neither divides the other.
    """

    def __init__(self, source: int, target: int) -> None:
        if source % target and target % source:
            raise ValueError(f"a stream of {source} bits cannot become one of {target}")
        self._source = source
        self._target = target
        super().__init__({"i": In(AXI4Stream(source)), "o": Out(AXI4Stream(target))})

    @property
    def source(self) -> int:
        return self._source

    @property
    def target(self) -> int:
        return self._target

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.source == self.target:
            wiring.connect(m, wiring.flipped(self.i), wiring.flipped(self.o))
        elif self.source > self.target:
            self._split(m)
        else:
            self._gather(m)
        return m

    def _split(self, m: Module) -> None:
        parts = self.source // self.target
        part = Signal(range(parts))
        last = Signal()
        m.d.comb += [
            last.eq(part == parts - 1),
            self.o.tdata.eq(self.i.tdata.word_select(part, self.target)),
            self.o.tvalid.eq(self.i.tvalid),
            self.o.tlast.eq(self.i.tlast & last),
            self.i.tready.eq(self.o.tready & last),
        ]
        with m.If(self.o.tvalid & self.o.tready):
            m.d.sync += part.eq(part + 1)  # as many parts as a power of two: it begins again by itself

    def _gather(self, m: Module) -> None:
        parts = self.target // self.source
        part = Signal(range(parts))
        held = Signal(self.target - self.source)
        full = Signal()
        m.d.comb += [
            full.eq((part == parts - 1) | self.i.tlast),
            self.o.tdata.eq(held),
            self.o.tdata.word_select(part, self.source).eq(self.i.tdata),
            self.o.tvalid.eq(self.i.tvalid & full),
            self.o.tlast.eq(self.i.tlast),
            self.i.tready.eq(self.o.tready | ~full),
        ]
        with m.If(self.i.tvalid & self.i.tready):
            with m.If(full):
                m.d.sync += [part.eq(0), held.eq(0)]
            with m.Else():
                m.d.sync += [part.eq(part + 1), held.word_select(part, self.source).eq(self.i.tdata)]
