"""The MM2S half of the DMA: reads memory in bursts and sends the words as one packet."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi import AXI4, AXI4Stream

FIFO_DEPTH = 129
"""Words between memory and stream: at one word a cycle it covers a read latency of about 100 cycles.
One of them is the FIFO's output register, so that the memory behind it is a power of two."""

PAGE_BYTES = 4096
"""No burst crosses a multiple of this (IHI 0022, A3.4.1)."""

BURST_INCR = 0b01
CACHE_BUFFERABLE = 0b0011
"""Normal, non-cacheable, bufferable memory: what Xilinx' DMA sends."""


class Mm2s(wiring.Component):
    """One transfer at a time: `start` takes `address` and `length` (bytes, not zero).

    A burst is requested only when the FIFO has room for all of it, so the read data channel never
    waits for the stream, and as many bursts as the FIFO holds hide the latency of memory.

    After a read error, nothing more is requested or delivered; `active` falls when the last beat
    of the bursts under way has come. Words that came before the error are still offered.
    While `stop` is high nothing is requested or offered, and what comes is dropped; when `drained`
    rises, the component can be reset without breaking the protocol on `bus`.

    Members
    -------
    start, address, length : command, taken in the cycle in which `start` is high
    stop : prepare for a reset
    active : from `start` until the last word was accepted, or until all is quiet after an error
    done : one cycle, with the last word of the packet
    slave_error, decode_error : one cycle for each beat with such a response
    drained : no transaction on `bus`
    quiet : nothing will happen before the next `start`
    """

    def __init__(self, data_width: int = 32, length_width: int = 26, burst: int = 16) -> None:
        self._data_width = data_width
        self._length_width = length_width
        self._burst = burst
        super().__init__(
            {
                "start": In(1),
                "address": In(32),
                "length": In(length_width),
                "stop": In(1),
                "active": Out(1),
                "done": Out(1),
                "slave_error": Out(1),
                "decode_error": Out(1),
                "drained": Out(1),
                "quiet": Out(1),
                "bus": Out(AXI4(32, data_width, "read")),
                "stream": Out(AXI4Stream(data_width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word_bytes = self._data_width // 8
        word_shift = word_bytes.bit_length() - 1
        word_mask = word_bytes - 1
        bus = self.bus

        m.submodules.fifo = fifo = SyncFIFOBuffered(width=self._data_width, depth=FIFO_DEPTH)

        words = Signal(self._length_width - word_shift + 1)
        m.d.comb += words.eq((self.length + word_mask) >> word_shift)

        address = Signal(32)
        to_request = Signal.like(words)
        to_deliver = Signal.like(words)
        failed = Signal()

        # Plan the next burst in one cycle, request it in the next: the three-way minimum and the
        # subtractions would else be one long path.
        beats = Signal(range(self._burst + 1))
        planned = Signal()
        room = Signal(range(FIFO_DEPTH + 1), init=FIFO_DEPTH)
        request = Signal()
        delivered = Signal()

        page_words = PAGE_BYTES // word_bytes
        to_page_end = Signal(range(page_words + 1))
        limit = Signal.like(to_page_end)
        m.d.comb += [
            to_page_end.eq(page_words - address[word_shift : PAGE_BYTES.bit_length() - 1]),
            limit.eq(Mux(to_page_end < self._burst, to_page_end, self._burst)),
            request.eq(planned & ~failed & ~self.stop & (room >= beats) & (~bus.arvalid | bus.arready)),
        ]

        with m.If(self.start):
            m.d.sync += [
                address.eq(self.address),
                to_request.eq(words),
                to_deliver.eq(words),
                self.active.eq(1),
            ]
        with m.If(~planned & (to_request != 0)):
            m.d.sync += [
                beats.eq(Mux(to_request < limit, to_request, limit)),
                planned.eq(1),
            ]

        with m.If(bus.arready):
            m.d.sync += bus.arvalid.eq(0)
        with m.If(request):
            m.d.sync += [
                planned.eq(0),
                bus.arvalid.eq(1),
                bus.araddr.eq(address),
                bus.arlen.eq((beats - 1)[: len(beats)]),
                address.eq(address + (beats << word_shift)),
                to_request.eq(to_request - beats),
            ]
        m.d.sync += room.eq(room - Mux(request, beats, 0) + delivered)
        m.d.comb += [
            bus.arsize.eq(word_shift),
            bus.arburst.eq(BURST_INCR),
            bus.arcache.eq(CACHE_BUFFERABLE),
        ]

        outstanding = Signal(range(FIFO_DEPTH + 1))
        last_beat = Signal()
        error = Signal()
        m.d.comb += [
            bus.rready.eq(1),
            last_beat.eq(bus.rvalid & bus.rlast),
            error.eq(bus.rvalid & bus.rresp[1]),
            self.slave_error.eq(error & ~bus.rresp[0]),
            self.decode_error.eq(error & bus.rresp[0]),
            fifo.w_data.eq(bus.rdata),
            fifo.w_en.eq(bus.rvalid & ~error & ~failed & ~self.stop),
            self.drained.eq(~bus.arvalid & (outstanding == 0)),
        ]
        m.d.sync += outstanding.eq(outstanding + request - last_beat)
        with m.If(error):
            m.d.sync += failed.eq(1)

        m.d.comb += [
            self.stream.tdata.eq(fifo.r_data),
            self.stream.tvalid.eq(fifo.r_rdy & ~self.stop),
            self.stream.tlast.eq(to_deliver == 1),
            delivered.eq(self.stream.tvalid & self.stream.tready),
            fifo.r_en.eq(delivered),
            self.done.eq(delivered & self.stream.tlast),
            self.quiet.eq(~self.active & (fifo.level == 0)),
        ]
        with m.If(delivered):
            m.d.sync += to_deliver.eq(to_deliver - 1)
        with m.If(self.done | (failed & self.drained)):
            m.d.sync += self.active.eq(0)
        return m
