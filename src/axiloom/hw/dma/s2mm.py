"""The S2MM half of the DMA: collects packets from the stream and writes them to memory in bursts."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.axi.signatures import AXI4, AXI4Stream
from axiloom.hw.dma.mm2s import BURST_INCR, CACHE_BUFFERABLE, PAGE_BYTES
from axiloom.hw.dma.mover import ROWS_BITS, STRIDE_BITS, MoverCommand, MoverStatus

FIFO_DEPTH = 65
"""Words collected but not yet written (a power of two and the FIFO's output register)."""

COMMAND_DEPTH = 5
"""Bursts whose address was not yet accepted."""

MAX_OUTSTANDING = 15
"""Bursts collected whose response has not come: 240 words hide a write latency of 200 cycles."""

LINE_BITS = 2
"""A burst of so many (2**) beats may leave early: 32 bytes at 64 bits, the least that an ACP takes well."""

MAX_SHORT = 7
"""Bursts without a response up to which another one may leave early. The other ones, of `burst` words, hide a
write latency of 100 cycles."""


class S2mm(wiring.Component):
    """`start` takes `address` and `length` (bytes of the buffer, at least a word). Plain: one packet
    at a time.

    A burst gets its address only when all of its words are here, so that it has its true length and
    never waits for the stream. It ends after `burst` words, at the packet's TLAST, at the end of the
    buffer, before a 4 KiB boundary, and after a multiple of four words if memory has nothing else to take. So
    the last words of a packet do not wait for a whole burst, and where memory is busy, bursts are long.
    A packet longer than the buffer is an `overflow`: the buffer is full, and the rest is not accepted.

    With `strided` the buffer is `rows` rows of `length` bytes, `stride` bytes apart (`rows` 0: one row).
    The next command may be given whenever `ready` is high, at the latest in the cycle in which the last
    word of the one before is accepted, so that packets follow each other without a gap. A packet that
    fills a buffer without an end goes on in the next one.

    After an overflow or a write error, no more words are accepted; `active` falls when the responses
    of all bursts have come. While `stop` is high nothing is accepted; when `drained` rises, the
    component can be reset without breaking the protocol on `bus`.

    Members
    -------
    command : see :class:`MoverCommand`; taken in the cycle in which `start` is high
    stop : prepare for a reset
    status : see :class:`MoverStatus`, of which

    - active : from `start` until every response has come
    - done : one cycle, the last of `active`, unless there was an error; strided: once a command, when
      the responses of all its bursts have come
    - slave_error, decode_error : one cycle each, when it is found

    received : bytes accepted since `start`; strided: of a command, with `filled`
    filled, begins, ends : one cycle, with the last word of a command; whether it holds the first and the last
        word of a packet (only with `strided`)
    overflow : one cycle, when it is found
    drained : no transaction on `bus`
    quiet : nothing will happen before the next `start` or the next word of the stream
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
            "filled": Out(1),
            "begins": Out(1),
            "ends": Out(1),
        }
        super().__init__(
            {
                "command": In(MoverCommand(length_width, strided)),
                "status": Out(MoverStatus()),
                **(rows if strided else {}),
                "stop": In(1),
                "received": Out(length_width),
                "overflow": Out(1),
                "drained": Out(1),
                "quiet": Out(1),
                "bus": Out(AXI4(32, data_width, "write")),
                "stream": In(AXI4Stream(data_width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word_bytes = self._data_width // 8
        word_shift = exact_log2(word_bytes)
        stream = self.stream

        m.submodules.fifo = fifo = SyncFIFOBuffered(width=self._data_width, depth=FIFO_DEPTH)
        # What ends a burst decides in the same cycle: not in block RAM, whose output comes late.
        m.submodules.ends = ends = SyncFIFOBuffered(width=1, depth=FIFO_DEPTH)
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
        # What ends bursts is known a cycle ahead.
        row_ends = Signal()
        page_ends = Signal()
        page_bits = exact_log2(PAGE_BYTES)
        last_in_page = PAGE_BYTES // word_bytes - 1
        command_ends = Signal()
        burst_ends = Signal()
        response = Signal()
        # Memory waits for a burst: what is here goes out, a line of the CPU's caches or more.
        unsent = Signal(range(-1, MAX_OUTSTANDING + 1))
        hungry = Signal()
        line_ends = Signal()
        full = Cat(
            _full(m, "words", fifo.level, FIFO_DEPTH, accept, fifo.r_rdy & fifo.r_en),
            _full(
                m, "commands", commands.level, COMMAND_DEPTH, commands.w_en, commands.r_rdy & commands.r_en
            ),
            _full(m, "pending", pending, MAX_OUTSTANDING, commands.w_en, response),
        )
        m.d.comb += [
            stream.tready.eq(collecting & ~self.stop & ~full.any()),
            accept.eq(stream.tvalid & stream.tready),
            line_ends.eq(beat[:LINE_BITS].all() & hungry),
            burst_ends.eq(command_ends | row_ends | (beat == self._burst - 1) | page_ends | line_ends),
            fifo.w_data.eq(stream.tdata),
            fifo.w_en.eq(accept),
            ends.w_data.eq(burst_ends),
            ends.w_en.eq(accept),
            commands.w_data.eq(Cat(Mux(beat == 0, address, burst_address), beat)),
            commands.w_en.eq(accept & burst_ends),
        ]
        m.d.sync += hungry.eq((commands.level == 0) & (unsent <= 1) & (pending <= MAX_SHORT))
        with m.If(accept):
            m.d.sync += [
                address.eq(address + word_bytes),
                page_ends.eq(address[word_shift:page_bits] == last_in_page - 1),
                beat.eq(Mux(burst_ends, 0, beat + 1)),
                words_left.eq(words_left - 1),
                row_ends.eq(words_left == 2),
                words_received.eq(words_received + 1),
            ]
            with m.If(beat == 0):
                m.d.sync += burst_address.eq(address)
            with m.If(command_ends):
                m.d.sync += collecting.eq(0)
        if self._strided:
            self._rows(m, accept, row_ends, page_ends, command_ends, address, words_left)
            m.d.comb += [
                self.command.ready.eq((~collecting | (accept & command_ends)) & ~failed & ~self.stop),
                self.received.eq((words_received + 1) << word_shift),
            ]
        else:
            m.d.comb += [
                command_ends.eq(stream.tlast | row_ends),
                self.overflow.eq(accept & command_ends & ~stream.tlast),
                self.received.eq(words_received << word_shift),
            ]
        with m.If(self.command.start):
            m.d.sync += [
                collecting.eq(1),
                address.eq(self.command.address),
                page_ends.eq(self.command.address[word_shift:page_bits] == last_in_page),
                beat.eq(0),
                words_left.eq(self.command.length >> word_shift),
                row_ends.eq((self.command.length >> word_shift) == 1),
                words_received.eq(0),
            ]

        self._send(m, fifo, ends, commands, unsent, pending, response)
        error = self._errors(m, response, failed, collecting)
        m.d.comb += [
            self.drained.eq(pending == 0),
            self.quiet.eq((pending == 0) & (~self.status.active | collecting) & ~accept),
        ]
        if self._strided:
            self._end_commands(m, commands.w_en, command_ends, collecting, pending, response, error, failed)
        else:
            self._end_packet(m, collecting, pending, failed)
        return m

    def _send(
        self,
        m: Module,
        fifo: SyncFIFOBuffered,
        ends: SyncFIFOBuffered,
        commands: SyncFIFOBuffered,
        unsent: Signal,
        pending: Signal,
        response: Signal,
    ) -> None:
        """Of bursts that are collected the addresses, their words and their responses.

        Words follow their address, or come beside one that was not accepted at once: memory may wait for
        WVALID before AWREADY (IHI 0022 A3.3.1). `unsent` is how many more addresses were accepted than
        bursts sent; -1: the burst of the address that waits is sent.
        """
        bus = self.bus
        address_accepted = Signal()
        address_waits = Signal()
        may_send = Signal()
        burst_sent = Signal()
        m.d.comb += [
            Cat(bus.awaddr, bus.awlen).eq(commands.r_data),
            bus.awvalid.eq(commands.r_rdy),
            commands.r_en.eq(bus.awready),
            bus.awsize.eq(exact_log2(self._data_width // 8)),
            bus.awburst.eq(BURST_INCR),
            bus.awcache.eq(self._cache),
            address_accepted.eq(bus.awvalid & bus.awready),
            bus.wdata.eq(fifo.r_data),
            bus.wlast.eq(ends.r_data),
            bus.wstrb.eq(~0),
            may_send.eq((unsent > 0) | (address_waits & (unsent == 0))),
            bus.wvalid.eq(fifo.r_rdy & may_send),
            fifo.r_en.eq(bus.wready & may_send),
            ends.r_en.eq(fifo.r_en),
            burst_sent.eq(bus.wvalid & bus.wready & bus.wlast),
            bus.bready.eq(1),
            response.eq(bus.bvalid),
        ]
        m.d.sync += [
            address_waits.eq(bus.awvalid & ~bus.awready),
            unsent.eq(unsent + address_accepted - burst_sent),
            pending.eq(pending + commands.w_en - response),
        ]

    def _errors(self, m: Module, response: Signal, failed: Signal, collecting: Signal) -> Signal:
        """After an error nothing more is collected. Returns whether this response is one."""
        bus = self.bus
        error = Signal()
        m.d.comb += [
            error.eq(response & bus.bresp[1]),
            self.status.slave_error.eq(error & ~bus.bresp[0]),
            self.status.decode_error.eq(error & bus.bresp[0]),
        ]
        with m.If(self.overflow | error):
            m.d.sync += failed.eq(1)
        with m.If(error):
            m.d.sync += collecting.eq(0)
        return error

    def _end_commands(
        self,
        m: Module,
        queued: Value,
        command_ends: Signal,
        collecting: Signal,
        pending: Signal,
        response: Signal,
        error: Signal,
        failed: Signal,
    ) -> None:
        """Strided: a command is done with the response of its last burst."""
        # Bursts whose response has not come: whether it is the last of its command.
        m.submodules.bursts = bursts = SyncFIFO(width=1, depth=MAX_OUTSTANDING + 1)
        m.d.comb += [
            bursts.w_data.eq(command_ends),
            bursts.w_en.eq(queued),
            bursts.r_en.eq(response),
            self.status.active.eq(collecting | (pending != 0)),
            self.status.done.eq(response & bursts.r_data & ~error & ~failed),
        ]

    def _end_packet(self, m: Module, collecting: Signal, pending: Signal, failed: Signal) -> None:
        """Plain: the transfer is done with the last response."""
        finished = Signal()
        m.d.comb += [
            finished.eq(self.status.active & ~collecting & (pending == 0)),
            self.status.done.eq(finished & ~failed),
        ]
        with m.If(self.command.start):
            m.d.sync += self.status.active.eq(1)
        with m.If(finished):
            m.d.sync += self.status.active.eq(0)

    def _rows(
        self,
        m: Module,
        accept: Signal,
        row_ends: Signal,
        page_ends: Signal,
        command_ends: Signal,
        address: Signal,
        words_left: Signal,
    ) -> None:
        """From row to row of a command, and what is to be said of it at its end."""
        row_words = Signal.like(words_left)
        next_row = Signal(32)
        stride = Signal(STRIDE_BITS)
        rows_left = Signal(ROWS_BITS)  # after this one
        between = Signal(init=1)  # packets
        begins = Signal()  # this command has the first word of a packet, taken with an earlier word
        any_word = Signal()
        m.d.comb += [
            command_ends.eq(self.stream.tlast | (row_ends & (rows_left == 0))),
            self.filled.eq(accept & command_ends),
            self.begins.eq(Mux(any_word, begins, between)),
            self.ends.eq(self.stream.tlast),
        ]
        with m.If(accept):
            m.d.sync += [between.eq(self.stream.tlast), any_word.eq(~command_ends)]
            with m.If(~any_word):
                m.d.sync += begins.eq(between)
            with m.If(row_ends):
                m.d.sync += [
                    address.eq(next_row),
                    page_ends.eq(next_row[exact_log2(self._data_width) - 3 : exact_log2(PAGE_BYTES)].all()),
                    words_left.eq(row_words),
                    row_ends.eq(row_words == 1),
                    next_row.eq(next_row + stride),
                    rows_left.eq(rows_left - 1),
                ]
        with m.If(self.command.start):
            m.d.sync += [
                row_words.eq(self.command.length >> (exact_log2(self._data_width) - 3)),
                next_row.eq(self.command.address + self.command.stride),
                stride.eq(self.command.stride),
                rows_left.eq(Mux(self.command.rows == 0, 0, self.command.rows - 1)),
            ]


def _full(m: Module, name: str, level: Value, depth: int, enters: Value, leaves: Value) -> Signal:
    """Whether something that holds `level` of `depth` is full: as the level says, without its comparison."""
    full = Signal(name=f"{name}_full")
    with m.If(enters & ~leaves):
        m.d.sync += full.eq(level == depth - 1)
    with m.Elif(leaves & ~enters):
        m.d.sync += full.eq(0)
    return full
