"""The MM2S half of the DMA: reads memory in bursts and sends the words as packets."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.axi.signatures import AXI4, AXI4Stream
from axiloom.hw.dma.mover import ROWS_BITS, STRIDE_BITS, MoverCommand, MoverStatus

FIFO_DEPTH = 129
"""Words between memory and stream: at one word a cycle it covers a read latency of about 100 cycles.
One of them is the FIFO's output register, so that the memory behind it is a power of two."""

MAX_BURSTS = 16
"""Bursts requested whose last word has not come."""

MAX_COMMANDS = 8
"""Strided commands taken whose last word was not accepted."""

PAGE_BYTES = 4096
"""No burst crosses a multiple of this (IHI 0022, A3.4.1)."""

BURST_INCR = 0b01
CACHE_BUFFERABLE = 0b0011
"""Normal, non-cacheable, bufferable memory: what Xilinx' DMA sends."""
CACHE_COHERENT = 0b1111
"""Write-back, read and write allocate: with AxUSER[0] an ACP's coherent access (Xilinx UG585, 3.5.1)."""


class Mm2s(wiring.Component):
    """`start` takes `address` and `length` (bytes, not zero). Plain: one transfer, one packet, at a time.

    With `strided` a command is `rows` rows of `length` bytes, `stride` bytes apart (`rows` 0: one row),
    and the next one may be given whenever `ready` is high: its bursts follow those of the one before,
    and so do its words. TLAST comes on the last word of a command that has `last` set.

    A burst is requested only when the FIFO has room for all of it, so the read data channel never
    waits for the stream, and as many bursts as the FIFO holds hide the latency of memory.

    After a read error, nothing more is requested or delivered; `active` falls when the last beat
    of the bursts under way has come (strided: and the words before the error were accepted, so that the
    oldest command without `done` is the one that failed). Words that came before the error are still offered.
    While `stop` is high nothing is requested or offered, and what comes is dropped: a word that waited for
    TREADY is taken back, so what is on the stream must be in reset as long as `stop` is high. When `drained`
    rises, the component can be reset without breaking the protocol on `bus`.

    Members
    -------
    command : see :class:`MoverCommand`; taken in the cycle in which `start` is high
    last : goes with a command, only with `strided`
    stop : prepare for a reset
    status : see :class:`MoverStatus`, of which

    - active : from `start` until the last word was accepted, or until all is quiet after an error
    - done : one cycle, with the last word of a command
    - slave_error, decode_error : one cycle for each beat with such a response

    moved : bytes of the command delivered, whole words, valid with `done`, only with `strided`
    drained : no transaction on `bus`
    quiet : nothing will happen before the next `start`
    """

    def __init__(
        self,
        data_width: int = 32,
        length_width: int = 26,
        burst: int = 16,
        strided: bool = False,
        cache: int = CACHE_BUFFERABLE,
    ) -> None:
        self._data_width = data_width
        self._length_width = length_width
        self._burst = burst
        self._strided = strided
        self._cache = cache
        rows = {
            "last": In(1),
            "moved": Out(length_width),
        }
        super().__init__(
            {
                "command": In(MoverCommand(length_width, strided)),
                "status": Out(MoverStatus()),
                **(rows if strided else {}),
                "stop": In(1),
                "drained": Out(1),
                "quiet": Out(1),
                "bus": Out(AXI4(32, data_width, "read")),
                "stream": Out(AXI4Stream(data_width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = Signal(self._length_width - self._word_shift + 1)
        m.d.comb += words.eq((self.command.length + (self._data_width // 8 - 1)) >> self._word_shift)
        address = Signal(32)
        to_request = Signal.like(words)
        failed = Signal()
        planned = Signal()
        ends_row = Signal()
        ends_command = Signal()
        request = Signal()
        delivered = Signal()
        # Beside a word: it ends its command, and (strided) that it ends the packet too.
        marks = 2 if self._strided else 1
        bursts = SyncFIFO(width=marks, depth=MAX_BURSTS)
        shared = _Shared(
            words, address, to_request, failed, planned, ends_row, ends_command, request, delivered, bursts
        )
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=self._data_width, depth=FIFO_DEPTH)
        # What a word ends decides in the same cycle: not in block RAM, whose output comes late.
        m.submodules.ends = word_ends = SyncFIFOBuffered(width=marks, depth=FIFO_DEPTH)
        m.submodules.bursts = bursts

        self._request(m, shared)
        with m.If(self.command.start):
            m.d.sync += [address.eq(self.command.address), to_request.eq(words)]
        if self._strided:
            self._rows(m, shared)
        else:
            m.d.comb += ends_command.eq(ends_row)
        self._take(m, shared, fifo, word_ends)
        self._deliver(m, shared, fifo, word_ends)
        return m

    @property
    def _word_shift(self) -> int:
        return exact_log2(self._data_width // 8)

    def _request(self, m: Module, shared: _Shared) -> None:
        """From `address` on, `to_request` words in bursts: planned in one cycle, requested in the next. The
        three-way minimum and the subtractions would else be one long path."""
        bus, word_shift = self.bus, self._word_shift
        address, to_request, request = shared.address, shared.to_request, shared.request
        beats = Signal(range(self._burst + 1))
        planned = shared.planned
        room = Signal(range(FIFO_DEPTH + 1), init=FIFO_DEPTH)

        # To the end of the page it may be less than a burst; burst and page are powers of two.
        burst_bits = exact_log2(self._burst)
        in_burst = address[word_shift : word_shift + burst_bits]
        last_of_page = address[word_shift + burst_bits : exact_log2(PAGE_BYTES)].all()
        limit = Signal.like(beats)
        rest = to_request[: burst_bits + 1]
        much, fits = Signal(), Signal()
        m.d.comb += [
            limit.eq(Mux(last_of_page, self._burst - in_burst, self._burst)),
            # Not `rest <= limit`, which would wait for that.
            fits.eq(~much & (Mux(last_of_page, rest + in_burst, rest) <= self._burst)),
            much.eq(to_request[burst_bits + 1 :].any()),
            request.eq(
                planned
                & ~shared.failed
                & ~self.stop
                & (room >= beats)
                & shared.bursts.w_rdy
                & (~bus.arvalid | bus.arready)
            ),
        ]

        with m.If(~planned & (to_request != 0)):
            m.d.sync += [
                beats.eq(Mux(fits, rest, limit)),
                shared.ends_row.eq(fits),
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
        # Who requests is known late: both outcomes are there by then.
        m.d.sync += room.eq(Mux(request, room - beats + shared.delivered, room + shared.delivered))
        m.d.comb += [
            bus.arsize.eq(word_shift),
            bus.arburst.eq(BURST_INCR),
            bus.arcache.eq(self._cache),
            shared.bursts.w_data[0].eq(shared.ends_command),
            shared.bursts.w_en.eq(request),
        ]

    def _rows(self, m: Module, shared: _Shared) -> None:
        """From row to row of a command, which may follow the one before at once."""
        row_words = Signal.like(shared.words)
        next_row = Signal(32)
        stride = Signal(STRIDE_BITS)
        rows_left = Signal(ROWS_BITS)  # after this one
        ends_packet = Signal()
        m.d.comb += [
            self.command.ready.eq(~shared.planned & (shared.to_request == 0) & ~shared.failed & ~self.stop),
            shared.ends_command.eq(shared.ends_row & (rows_left == 0)),
            shared.bursts.w_data[1].eq(shared.ends_command & ends_packet),
        ]
        with m.If(self.command.start):
            m.d.sync += [
                row_words.eq(shared.words),
                next_row.eq(self.command.address + self.command.stride),
                stride.eq(self.command.stride),
                rows_left.eq(Mux(self.command.rows == 0, 0, self.command.rows - 1)),
                ends_packet.eq(self.last),
            ]
        with m.Elif(shared.request & shared.ends_row & (rows_left != 0)):
            m.d.sync += [
                shared.address.eq(next_row),
                shared.to_request.eq(row_words),
                next_row.eq(next_row + stride),
                rows_left.eq(rows_left - 1),
            ]

    def _take(self, m: Module, shared: _Shared, fifo: SyncFIFOBuffered, word_ends: SyncFIFOBuffered) -> None:
        """What memory answers, into the FIFOs: nothing behind an error."""
        bus, bursts = self.bus, shared.bursts
        last_beat = Signal()
        error = Signal()
        m.d.comb += [
            bus.rready.eq(1),
            last_beat.eq(bus.rvalid & bus.rlast),
            bursts.r_en.eq(last_beat),
            error.eq(bus.rvalid & bus.rresp[1]),
            self.status.slave_error.eq(error & ~bus.rresp[0]),
            self.status.decode_error.eq(error & bus.rresp[0]),
            fifo.w_data.eq(bus.rdata),
            fifo.w_en.eq(bus.rvalid & ~error & ~shared.failed & ~self.stop),
            word_ends.w_data.eq(Mux(bus.rlast, bursts.r_data, 0)),
            word_ends.w_en.eq(fifo.w_en),
            self.drained.eq(~bus.arvalid & (bursts.level == 0)),
        ]
        with m.If(error):
            m.d.sync += shared.failed.eq(1)

    def _deliver(
        self, m: Module, shared: _Shared, fifo: SyncFIFOBuffered, word_ends: SyncFIFOBuffered
    ) -> None:
        """Words out of the FIFOs to the stream, and what is said of the commands that they end."""
        delivered, failed = shared.delivered, shared.failed
        ends = word_ends.r_data[0]
        m.d.comb += [
            self.stream.tdata.eq(fifo.r_data),
            self.stream.tvalid.eq(fifo.r_rdy & ~self.stop),
            self.stream.tlast.eq(word_ends.r_data[-1] & fifo.r_rdy),
            delivered.eq(self.stream.tvalid & self.stream.tready),
            fifo.r_en.eq(delivered),
            word_ends.r_en.eq(delivered),
            self.status.done.eq(delivered & ends),
            self.quiet.eq(~self.status.active & (fifo.level == 0)),
        ]
        over = Signal()
        if self._strided:
            commands = Signal(range(MAX_COMMANDS + 1))
            words_moved = Signal(self._length_width - self._word_shift)
            m.d.comb += [
                self.status.active.eq(commands != 0),
                self.moved.eq((words_moved + 1) << self._word_shift),
                over.eq(failed & self.drained & (fifo.level == 0)),
            ]
            m.d.sync += commands.eq(commands + self.command.start - self.status.done)
            with m.If(delivered):
                m.d.sync += words_moved.eq(Mux(ends, 0, words_moved + 1))
            with m.If(over):
                m.d.sync += commands.eq(0)
        else:
            m.d.comb += over.eq(failed & self.drained)
            with m.If(self.command.start):
                m.d.sync += self.status.active.eq(1)
            with m.If(self.status.done | over):
                m.d.sync += self.status.active.eq(0)


@dataclass(frozen=True)
class _Shared:
    """What the parts of :class:`Mm2s` tell each other."""

    words: Signal
    """Of a row of the command that is given."""
    address: Signal
    to_request: Signal
    """Words of the row under way."""
    failed: Signal
    """Memory has answered with an error."""
    planned: Signal
    """There is a burst to be requested; it `ends_row`, and `ends_command`."""
    ends_row: Signal
    ends_command: Signal
    request: Signal
    delivered: Signal
    """The stream has taken a word."""
    bursts: SyncFIFO
