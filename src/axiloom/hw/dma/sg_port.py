"""The memory port of scatter-gather: both channels read descriptors and write their status through it."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.axi.signatures import AXI4
from axiloom.hw.dma.mm2s import BURST_INCR, CACHE_BUFFERABLE

CHANNELS = 2

MAX_READS = 16
MAX_WRITES = 16
"""Transactions under way, of both channels together: as many as these have places for."""

WIDTH = 64
"""Bits of the port: what a Zynq's ports to memory have, and a descriptor comes in half the cycles of 32."""

READ_WORDS = 8
"""Of a descriptor, that the engine looks at. Descriptors are aligned to 64 bytes: no burst crosses 4 KiB."""

READ_BEATS = READ_WORDS * 32 // WIDTH
BEAT_SHIFT = exact_log2(WIDTH // 8)


class SgRequests(wiring.Signature):
    """What a channel asks of the port. A request is granted or not in every cycle anew, and may be
    taken back.

    Answers come in the order of the requests: `beat` for each of the :data:`READ_BEATS` beats of
    `data`, the lower word first; `written` for each word written. ``response`` (AXI) goes with both.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "read": Out(1),
                "read_address": Out(32),
                "read_granted": In(1),
                "beat": In(1),
                "data": In(WIDTH),
                "read_response": In(2),
                "write": Out(1),
                "write_address": Out(32),
                "write_data": Out(32),
                "write_granted": In(1),
                "written": In(1),
                "write_response": In(2),
            }
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SgRequests)

    def __repr__(self) -> str:
        return "SgRequests()"


class SgPort(wiring.Component):
    """Reads of :data:`READ_WORDS` words and writes of one word, the channels in turn.

    While `stop` is high nothing new begins; `drained`: no transaction on `bus`.
    """

    def __init__(self, cache: int = CACHE_BUFFERABLE) -> None:
        self._cache = cache
        super().__init__(
            {
                **{f"channel{i}": In(SgRequests()) for i in range(CHANNELS)},
                "stop": In(1),
                "drained": Out(1),
                "bus": Out(AXI4(32, WIDTH, "read-write")),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        channels = [getattr(self, f"channel{i}") for i in range(CHANNELS)]

        # --- reads ---
        m.submodules.readers = readers = SyncFIFO(width=1, depth=MAX_READS)
        read, reader = Signal(), Signal()
        read_free = Signal()
        m.d.comb += read_free.eq((~bus.arvalid | bus.arready) & readers.w_rdy & ~self.stop)
        _choose(m, "read", channels, read_free, read, reader)
        with m.If(bus.arready):
            m.d.sync += bus.arvalid.eq(0)
        with m.If(read):
            m.d.sync += bus.arvalid.eq(1)
            with m.If(reader):
                m.d.sync += bus.araddr.eq(channels[1].read_address)
            with m.Else():
                m.d.sync += bus.araddr.eq(channels[0].read_address)
        m.d.comb += [
            readers.w_en.eq(read),
            readers.w_data.eq(reader),
            readers.r_en.eq(bus.rvalid & bus.rlast),
            bus.arlen.eq(READ_BEATS - 1),
            bus.arsize.eq(BEAT_SHIFT),
            bus.arburst.eq(BURST_INCR),
            bus.arcache.eq(self._cache),
            bus.rready.eq(1),
        ]

        # --- writes: an address and its one word are offered together ---
        m.submodules.writers = writers = SyncFIFO(width=1, depth=MAX_WRITES)
        write, writer = Signal(), Signal()
        write_free = Signal()
        m.d.comb += write_free.eq(
            (~bus.awvalid | bus.awready) & (~bus.wvalid | bus.wready) & writers.w_rdy & ~self.stop
        )
        _choose(m, "write", channels, write_free, write, writer)
        with m.If(bus.awready):
            m.d.sync += bus.awvalid.eq(0)
        with m.If(bus.wready):
            m.d.sync += bus.wvalid.eq(0)
        with m.If(write):
            m.d.sync += [bus.awvalid.eq(1), bus.wvalid.eq(1)]
            for number, channel in enumerate(channels):
                lane = channel.write_address[2:BEAT_SHIFT]
                with m.If(writer == number):
                    m.d.sync += [
                        bus.awaddr.eq(Cat(Const(0, BEAT_SHIFT), channel.write_address[BEAT_SHIFT:])),
                        bus.wdata.eq(channel.write_data.replicate(WIDTH // 32)),
                        bus.wstrb.eq(Cat((lane == i).replicate(4) for i in range(WIDTH // 32))),
                    ]
        m.d.comb += [
            writers.w_en.eq(write),
            writers.w_data.eq(writer),
            writers.r_en.eq(bus.bvalid),
            bus.awlen.eq(0),
            bus.awsize.eq(BEAT_SHIFT),
            bus.awburst.eq(BURST_INCR),
            bus.awcache.eq(self._cache),
            bus.wlast.eq(1),
            bus.bready.eq(1),
        ]

        for i, channel in enumerate(channels):
            m.d.comb += [
                channel.beat.eq(bus.rvalid & (readers.r_data == i)),
                channel.data.eq(bus.rdata),
                channel.read_response.eq(bus.rresp),
                channel.written.eq(bus.bvalid & (writers.r_data == i)),
                channel.write_response.eq(bus.bresp),
            ]
        # A transaction is in its FIFO from its grant to its last answer.
        m.d.comb += self.drained.eq((readers.level == 0) & (writers.level == 0))
        return m


def _choose(m: Module, kind: str, channels: list[Any], free: Signal, chosen: Signal, which: Signal) -> None:
    """Grant one request: of two, that of the channel that did not have the last one."""
    last = Signal(name=f"last_{kind}")
    requests = [getattr(channel, kind) for channel in channels]
    m.d.comb += [
        chosen.eq(free & (requests[0] | requests[1])),
        which.eq(requests[1] & (~requests[0] | ~last)),
    ]
    for i, channel in enumerate(channels):
        m.d.comb += getattr(channel, f"{kind}_granted").eq(chosen & (which == i))
    with m.If(chosen):
        m.d.sync += last.eq(which)
