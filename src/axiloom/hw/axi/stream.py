"""Registers between two streams that break combinational paths and cost no throughput."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream


class StreamInput(wiring.Component):
    """An AXI4-Stream to `words` without TLAST, one word a cycle, one cycle later.

    A second register (the skid) holds the word that comes while the receiver is not ready, because
    ``tready`` is a register and says so a cycle late.
    """

    def __init__(self, data_width: int = 32) -> None:
        self._data_width = data_width
        super().__init__({"s_axis": In(AXI4Stream(data_width)), "words": Out(stream.Signature(data_width))})

    @property
    def data_width(self) -> int:
        return self._data_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        skid = Signal(self.data_width, reset_less=True)
        skid_full = Signal()
        arrives = Signal()
        moves = Signal()
        m.d.comb += [
            self.s_axis.tready.eq(~skid_full),
            arrives.eq(self.s_axis.tvalid & self.s_axis.tready),
            moves.eq(~self.words.valid | self.words.ready),
        ]
        with m.If(moves):
            m.d.sync += [
                self.words.valid.eq(arrives | skid_full),
                skid_full.eq(0),
                self.words.payload.eq(Mux(skid_full, skid, self.s_axis.tdata)),
            ]
        with m.Elif(arrives):
            m.d.sync += skid_full.eq(1)
        # Whether it will count is known late, so that it holds what is there while it is empty.
        with m.If(~skid_full):
            m.d.sync += skid.eq(self.s_axis.tdata)
        return m


class StreamSkid(wiring.Component):
    """An AXI4-Stream that passes `i` on to `o` in the same cycle, whose `tready` back is a register.

    A register holds the beat that `o` did not take. `busy`: a beat goes out in this cycle.
    """

    def __init__(self, data_width: int = 32) -> None:
        self._data_width = data_width
        super().__init__({"i": In(AXI4Stream(data_width)), "o": Out(AXI4Stream(data_width)), "busy": Out(1)})

    @property
    def data_width(self) -> int:
        return self._data_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = Signal(self.data_width)
        held_last = Signal()
        full = Signal()
        m.d.comb += [
            self.i.tready.eq(~full),
            self.o.tvalid.eq(self.i.tvalid | full),
            self.o.tdata.eq(Mux(full, held, self.i.tdata)),
            self.o.tlast.eq(Mux(full, held_last, self.i.tlast)),
            self.busy.eq(self.o.tvalid & self.o.tready),
        ]
        with m.If(self.o.tready):
            m.d.sync += full.eq(0)
        with m.Elif(self.i.tvalid):
            m.d.sync += full.eq(1)
        with m.If(~full):
            m.d.sync += [held.eq(self.i.tdata), held_last.eq(self.i.tlast)]
        return m
