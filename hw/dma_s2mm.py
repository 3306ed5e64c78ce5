"""The S2MM half of the DMA: collects a packet from the stream and writes it to memory in bursts."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi import AXI4, AXI4Stream
from axiloom.hw.dma_mm2s import BURST_INCR, CACHE_BUFFERABLE, PAGE_BYTES

FIFO_DEPTH = 65
"""Words collected but not yet written (a power of two and the FIFO's output register)."""

COMMAND_DEPTH = 5
"""Bursts whose address was not yet accepted."""

MAX_OUTSTANDING = 15
"""Bursts collected whose response has not come: 240 words hide a write latency of 200 cycles."""


class S2mm(wiring.Component):
    """One packet at a time: `start` takes `address` and `length` (bytes of the buffer, at least a word).

    A burst gets its address only when all of its words are here, so that it has its true length and
    never waits for the stream. It ends after `burst` words, at the packet's TLAST, at the end of the
    buffer, and before a 4 KiB boundary. A packet longer than the buffer is an `overflow`: the
    buffer is full, the rest of the packet is not accepted.

    After an overflow or a write error, no more words are accepted; `active` falls when the responses
    of all bursts have come. While `stop` is high nothing is accepted; when `drained` rises, the
    component can be reset without breaking the protocol on `bus`.

    Members
    -------
    start, address, length : command, taken in the cycle in which `start` is high
    stop : prepare for a reset
    active : from `start` until every response has come
    done : one cycle, the last of `active`, unless there was an error
    received : bytes accepted since `start`
    overflow, slave_error, decode_error : one cycle each, when it is found
    drained : no transaction on `bus`
    quiet : nothing will happen before the next `start` or the next word of the stream
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
                "received": Out(length_width),
                "overflow": Out(1),
                "slave_error": Out(1),
                "decode_error": Out(1),
                "drained": Out(1),
                "quiet": Out(1),
                "bus": Out(AXI4(32, data_width, "write")),
                "stream": In(AXI4Stream(data_width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word_bytes = self._data_width // 8
        word_shift = word_bytes.bit_length() - 1
        bus = self.bus
        stream = self.stream

        m.submodules.fifo = fifo = SyncFIFOBuffered(width=self._data_width + 1, depth=FIFO_DEPTH)
        m.submodules.commands = commands = SyncFIFOBuffered(width=32 + 8, depth=COMMAND_DEPTH)

        # --- collect words into bursts ---
        collecting = Signal()
        failed = Signal()
        address = Signal(32)
        burst_address = Signal(32)
        beat = Signal(range(self._burst))
        words_left = Signal(self._length_width - word_shift)
        words_received = Signal.like(words_left)
        pending = Signal(range(MAX_OUTSTANDING + 1))
        accept = Signal()
        packet_ends = Signal()
        burst_ends = Signal()
        m.d.comb += [
            stream.tready.eq(
                collecting & ~self.stop & fifo.w_rdy & commands.w_rdy & (pending != MAX_OUTSTANDING)
            ),
            accept.eq(stream.tvalid & stream.tready),
            packet_ends.eq(stream.tlast | (words_left == 1)),
            burst_ends.eq(
                packet_ends
                | (beat == self._burst - 1)
                | address[word_shift : PAGE_BYTES.bit_length() - 1].all()
            ),
            self.overflow.eq(accept & packet_ends & ~stream.tlast),
            fifo.w_data.eq(Cat(stream.tdata, burst_ends)),
            fifo.w_en.eq(accept),
            commands.w_data.eq(Cat(Mux(beat == 0, address, burst_address), beat)),
            commands.w_en.eq(accept & burst_ends),
            self.received.eq(words_received << word_shift),
        ]
        with m.If(self.start):
            m.d.sync += [
                self.active.eq(1),
                collecting.eq(1),
                address.eq(self.address),
                beat.eq(0),
                words_left.eq(self.length >> word_shift),
                words_received.eq(0),
            ]
        with m.If(accept):
            m.d.sync += [
                address.eq(address + word_bytes),
                beat.eq(Mux(burst_ends, 0, beat + 1)),
                words_left.eq(words_left - 1),
                words_received.eq(words_received + 1),
            ]
            with m.If(beat == 0):
                m.d.sync += burst_address.eq(address)
            with m.If(packet_ends):
                m.d.sync += collecting.eq(0)

        # --- addresses, then their words, then their responses ---
        unsent = Signal.like(pending)
        address_accepted = Signal()
        burst_sent = Signal()
        response = Signal()
        m.d.comb += [
            Cat(bus.awaddr, bus.awlen).eq(commands.r_data),
            bus.awvalid.eq(commands.r_rdy),
            commands.r_en.eq(bus.awready),
            bus.awsize.eq(word_shift),
            bus.awburst.eq(BURST_INCR),
            bus.awcache.eq(CACHE_BUFFERABLE),
            address_accepted.eq(bus.awvalid & bus.awready),
            Cat(bus.wdata, bus.wlast).eq(fifo.r_data),
            bus.wstrb.eq(~0),
            bus.wvalid.eq(fifo.r_rdy & (unsent != 0)),
            fifo.r_en.eq(bus.wready & (unsent != 0)),
            burst_sent.eq(bus.wvalid & bus.wready & bus.wlast),
            bus.bready.eq(1),
            response.eq(bus.bvalid),
        ]
        m.d.sync += [
            unsent.eq(unsent + address_accepted - burst_sent),
            pending.eq(pending + commands.w_en - response),
        ]

        # --- how it ends ---
        error = Signal()
        finished = Signal()
        m.d.comb += [
            error.eq(response & bus.bresp[1]),
            self.slave_error.eq(error & ~bus.bresp[0]),
            self.decode_error.eq(error & bus.bresp[0]),
            self.drained.eq(pending == 0),
            finished.eq(self.active & ~collecting & (pending == 0)),
            self.done.eq(finished & ~failed),
            self.quiet.eq((pending == 0) & (~self.active | collecting) & ~accept),
        ]
        with m.If(self.overflow | error):
            m.d.sync += failed.eq(1)
        with m.If(error):
            m.d.sync += collecting.eq(0)
        with m.If(finished):
            m.d.sync += self.active.eq(0)
        return m
