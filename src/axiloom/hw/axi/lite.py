"""AXI4-Lite in front of a module that takes an address and its data one after the other."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Lite


class LiteHandOver(wiring.Component):
    """Takes the address and the data of a write together, as `LiteDecoder` gives them, and holds each until
    it is taken. Vivado's template takes them in one cycle, Vitis HLS one after the other. One write at a
    time."""

    def __init__(self, addr_width: int) -> None:
        super().__init__({"i": In(AXI4Lite(addr_width)), "o": Out(AXI4Lite(addr_width))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, o = self.i, self.o
        writing = Signal()
        taken = Signal()
        m.d.comb += [
            taken.eq(i.awvalid & i.wvalid & ~writing),
            i.awready.eq(taken),
            i.wready.eq(taken),
            i.bvalid.eq(o.bvalid & writing),
            i.bresp.eq(o.bresp),
            o.bready.eq(i.bready & writing),
        ]
        for name in ("araddr", "arprot", "arvalid", "rready"):
            m.d.comb += getattr(o, name).eq(getattr(i, name))
        for name in ("arready", "rdata", "rresp", "rvalid"):
            m.d.comb += getattr(i, name).eq(getattr(o, name))
        with m.If(taken):
            m.d.sync += [writing.eq(1), o.awvalid.eq(1), o.wvalid.eq(1)]
            for name in ("awaddr", "awprot", "wdata", "wstrb"):
                m.d.sync += getattr(o, name).eq(getattr(i, name))
        with m.Else():
            with m.If(o.awready):
                m.d.sync += o.awvalid.eq(0)
            with m.If(o.wready):
                m.d.sync += o.wvalid.eq(0)
            with m.If(i.bvalid & i.bready):
                m.d.sync += writing.eq(0)
        return m
