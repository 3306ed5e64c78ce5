"""Vectors of elements, not all of them full, to dense beats of the stream."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream


def is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


class Packer(wiring.Component):
    """Elements of `bits` bits, up to `lanes` a cycle, one behind the other; zeros fill up the last beat.

    Of a vector on `i` the lowest `count` elements (1 to `lanes`) count; with `last` the tile ends, and TLAST
    comes on its last beat. `busy`: a beat is there to be taken, or will be in the next cycle; what waits for
    further vectors is not.
    """

    def __init__(self, bits: int, lanes: int, stream_width: int) -> None:
        for what, number in (("bits", bits), ("lanes", lanes), ("stream width", stream_width)):
            if not is_power_of_two(number):
                raise ValueError(f"packer {what} must be a power of two, not {number}")
        if bits * lanes > stream_width:
            raise ValueError(f"packer must get at most a beat of {stream_width} bits, not {lanes} x {bits}")
        self._bits = bits
        self._lanes = lanes
        self._stream_width = stream_width
        vector = {"elements": bits * lanes, "count": range(lanes + 1), "last": 1}
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(vector))),
                "m_axis": Out(AXI4Stream(stream_width)),
                "busy": Out(1),
            }
        )

    @property
    def bits(self) -> int:
        return self._bits

    @property
    def lanes(self) -> int:
        return self._lanes

    @property
    def stream_width(self) -> int:
        return self._stream_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        per_beat = self.stream_width // self.bits
        vector = self.i.payload
        held = Signal(self.stream_width)  # zero from element number `fill` on
        fill = Signal(range(per_beat))
        rest = Signal()  # the tile's last elements did not fit the beat before
        flows = Signal()
        counted = [
            Mux(lane < vector.count, vector.elements.word_select(lane, self.bits), 0)
            for lane in range(self.lanes)
        ]
        joined = Signal(self.stream_width + self.bits * (self.lanes - 1))
        total = Signal(range(per_beat + self.lanes))
        m.d.comb += [
            flows.eq(~self.m_axis.tvalid | self.m_axis.tready),
            self.i.ready.eq(flows & ~rest),
            self.busy.eq(self.m_axis.tvalid | rest),
            joined.eq(held | Cat(counted) << (fill << (self.bits.bit_length() - 1))),
            total.eq(fill + vector.count),
        ]
        with m.If(flows):
            m.d.sync += self.m_axis.tvalid.eq(0)
        with m.If(flows & rest):
            m.d.sync += [
                self.m_axis.tvalid.eq(1),
                self.m_axis.tlast.eq(1),
                self.m_axis.tdata.eq(held),
                held.eq(0),
                fill.eq(0),
                rest.eq(0),
            ]
        with m.If(self.i.valid & self.i.ready):
            ends = Signal()
            # One element at once never leaves a rest.
            m.d.comb += ends.eq(vector.last & (total <= per_beat) if self.lanes > 1 else vector.last)
            m.d.sync += [
                self.m_axis.tvalid.eq(ends | (total >= per_beat)),
                self.m_axis.tlast.eq(ends),
                self.m_axis.tdata.eq(joined),
                rest.eq(vector.last & ~ends),
                held.eq(joined),
                fill.eq(total),
            ]
            with m.If(total >= per_beat):
                m.d.sync += held.eq(joined[self.stream_width :])
            with m.If(ends):
                m.d.sync += [held.eq(0), fill.eq(0)]
        return m
