"""Fetching of descriptors, ahead of what the channel does.

Source of the layout: AMD PG021 (AXI DMA v7.1), "Scatter Gather Descriptor". STRIDE_VSIZE is our
extension: it lies where, and is made as, PG021's multichannel mode has it.

Descriptors have a port of their own, and the DMA fetches them ahead. The DMA fetches up to eight
descriptors ahead. It assumes that the next one lies at +0x40 and does not wait for NXTDESC. A wrong
descriptor is thrown away. The DMA assumes nothing across 4 KiB. The port has 64 bits at each width of the
stream, as a Zynq's ports to memory do: a descriptor comes in four beats, and the second one of a call
four cycles sooner. Words in the last 32 bytes of a descriptor (our driver's opcodes) are still read as
data: sixteen words a descriptor would bring them sooner, but the tile behind them four cycles later, and
the tile is what the array waits for. Descriptors of 64 words follow each other without a gap at all
widths, for about 1,640 LUT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.dma.mm2s import PAGE_BYTES
from axiloom.hw.dma.mover import ROWS_BITS, STRIDE_BITS
from axiloom.hw.dma.sg_port import READ_BEATS, WIDTH

DESCRIPTOR_BYTES = 64
INDEX_BITS = 32 - 6
"""Of a descriptor's address: it is a multiple of 64 bytes."""

LENGTH_BITS = 26

DEPTH = 8
"""Descriptors fetched or being fetched, and not yet begun."""

# Words of a descriptor, by index.
NXTDESC, BUFFER_ADDRESS, STRIDE_VSIZE, CONTROL, STATUS = 0, 2, 4, 6, 7


def _beat(word: int) -> int:
    """In which a word comes. NXTDESC is in the first one, CONTROL and STATUS are in the last one."""
    return word * 32 // WIDTH


DESCRIPTOR = data.StructLayout(
    {
        "index": INDEX_BITS,
        "address": 32,
        "stride": STRIDE_BITS,
        "rows": ROWS_BITS,
        "length": LENGTH_BITS,
        "last": 1,
        "misfit": 1,
        "stale": 1,
        "slave_error": 1,
        "decode_error": 1,
    }
)
"""What the channel is told of a descriptor. `misfit`: its sizes are not for this DMA; `stale`: it was
completed already; `slave_error`, `decode_error`: it could not be read."""


class DescriptorFetch(wiring.Component):
    """From `first` (taken with `load`), along NXTDESC, up to the descriptor at `tail`, after `go`.

    The next descriptor is requested before the one in front of it has arrived, by the assumption that
    it lies behind it in memory; if NXTDESC then says otherwise, what was fetched so is thrown
    away. The assumption is not made across a 4 KiB boundary, behind which another slave may be.

    A `go` lets it go on to `tail` even if it has just stopped there, as when a ring is run again.

    After `ask` it goes on beyond `tail`, up to `until`, once it has nothing else to do: what it fetches so is
    withheld until a `go` whose tail is `until`, and then it is there at once. Any other `go`, and another
    `ask`, forget it.

    Parameters
    ----------
    data_width : of the memory port of the data
    min_length : bytes; a shorter descriptor is a misfit, as is one that is not aligned to the port

    Members
    -------
    load, first : the next descriptor, by index
    go, tail : the last one; `tail` is valid from the cycle behind `go` on
    ask, until : fetch ahead up to this one; with `ask` it is in `first`, from the cycle behind it in `until`;
        0 asks for none
    meets : with `go`, its tail is `until`
    cyclic : `tail` is not looked at
    flush : stop and forget all that was fetched
    read, ..., read_response : requests to memory, as of :class:`axiloom.hw.dma.sg_port.SgRequests`
    valid, descriptor, take : the oldest descriptor fetched, in order
    empty : nothing is fetched, nothing will be
    quiet : nothing will happen before the next `go`, `take` or `flush`
    """

    def __init__(self, data_width: int, min_length: int = 1) -> None:
        self._data_width = data_width
        self._min_length = min_length
        super().__init__(
            {
                "load": In(1),
                "first": In(INDEX_BITS),
                "go": In(1),
                "tail": In(INDEX_BITS),
                "ask": In(1),
                "until": In(INDEX_BITS),
                "meets": In(1),
                "cyclic": In(1),
                "flush": In(1),
                "read": Out(1),
                "read_address": Out(32),
                "read_granted": In(1),
                "beat": In(1),
                "data": In(WIDTH),
                "read_response": In(2),
                "valid": Out(1),
                "descriptor": Out(DESCRIPTOR),
                "take": In(1),
                "empty": Out(1),
                "quiet": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetches = fetches = SyncFIFO(width=INDEX_BITS, depth=DEPTH)
        # Not buffered: what has come is a command a cycle earlier.
        queue = SyncFIFO(width=DESCRIPTOR.size, depth=DEPTH)
        forget = Signal()
        m.submodules.queue = ResetInserter(forget)(queue)

        # --- what to fetch next ---
        following = Signal(INDEX_BITS)
        certain = Signal()  # `following` is no assumption
        stopped = Signal(init=1)
        ahead = Signal()  # all that is fetched or being fetched lies behind the tail
        beat = Signal(range(READ_BEATS))  # of the oldest fetch, that comes next
        places = Signal(range(DEPTH + 1), init=DEPTH)
        begins_page = Signal()
        m.d.comb += [
            begins_page.eq(following[: exact_log2(PAGE_BYTES // DESCRIPTOR_BYTES)] == 0),
            # Not in the cycle in which a NXTDESC is looked at: it may change `following`.
            self.read.eq(
                ~stopped
                & ~forget
                & (places != 0)
                & fetches.w_rdy
                & (certain | ~begins_page)
                & ~(self.beat & (beat == _beat(NXTDESC)))
            ),
            self.read_address.eq(following << 6),
            fetches.w_data.eq(following),
            fetches.w_en.eq(self.read_granted),
        ]
        with m.If(self.read_granted):
            m.d.sync += [following.eq(following + 1), certain.eq(0)]
            with m.If(Mux(ahead, following == self.until, (following == self.tail) & ~self.cyclic)):
                m.d.sync += stopped.eq(1)

        # --- what comes: whether it is wanted, and what NXTDESC says ---
        to_drop = Signal(range(DEPTH + 1))  # the oldest fetches
        to_drop_next = Signal.like(to_drop)  # those behind the oldest one
        wanted = Signal()
        last_beat = Signal()
        successors = Signal()
        next_index = Signal(INDEX_BITS)
        is_next = Signal()
        m.d.comb += [
            wanted.eq(to_drop == 0),
            last_beat.eq(self.beat & (beat == _beat(STATUS))),
            fetches.r_en.eq(last_beat),
            successors.eq(fetches.level != 1),
            next_index.eq(self._word(NXTDESC) >> 6),
            is_next.eq(next_index == (fetches.r_data + 1)[:INDEX_BITS]),
        ]
        with m.If(self.beat):
            m.d.sync += beat.eq(beat + 1)
        with m.If(self.beat & (beat == _beat(NXTDESC)) & wanted):
            with m.If(~is_next & ~self.read_response[1]):
                m.d.sync += [following.eq(next_index), certain.eq(1), to_drop_next.eq(fetches.level - 1)]
                with m.If(successors):
                    m.d.sync += stopped.eq(0)  # it was one of them that was taken for the tail
            with m.Elif(~successors):
                m.d.sync += certain.eq(1)
        with m.If(last_beat):
            m.d.sync += [to_drop.eq(Mux(wanted, to_drop_next, to_drop - 1)), to_drop_next.eq(0)]

        m.d.comb += [
            queue.w_data.eq(self._fields(m, beat, fetches.r_data)),
            queue.w_en.eq(last_beat & wanted),
            self.descriptor.eq(queue.r_data),
            self.valid.eq(queue.r_rdy & ~ahead),
            queue.r_en.eq(self.take),
        ]
        dropped = Signal()
        m.d.comb += dropped.eq(last_beat & ~wanted)
        m.d.sync += places.eq(places - self.read_granted + self.take + dropped)

        # --- begin and end ---
        idle = Signal()
        ended = stopped & (fetches.level == 0)
        m.d.comb += idle.eq(ended & (queue.level == 0))
        beyond = self._beyond(m, ahead, idle, forget)
        resume = Signal(INDEX_BITS)
        with m.If(beyond.begins):
            m.d.sync += [stopped.eq(0), resume.eq(following)]
        with m.If(self.load):
            m.d.sync += [following.eq(self.first), certain.eq(1)]
        with m.If(self.go & ~(ahead & self.meets)):
            m.d.sync += stopped.eq(0)
        with m.If(forget):
            m.d.sync += [
                stopped.eq(self.flush | ~(beyond.went | self.go)),
                to_drop.eq(fetches.level - last_beat),
                to_drop_next.eq(0),
                places.eq(DEPTH - fetches.level + last_beat),
            ]
        with m.If(beyond.back):
            m.d.sync += [following.eq(resume), certain.eq(1)]
        m.d.comb += [
            self.empty.eq((idle | ahead) & ~beyond.went),
            self.quiet.eq(
                (ended | ((places == 0) & (fetches.level == 0))) & ~(beyond.asked & idle) & ~beyond.back
            ),
        ]
        return m

    def _beyond(self, m: Module, ahead: Signal, idle: Signal, forget: Signal) -> _Beyond:
        """Whether descriptors behind the tail are fetched, and when they are forgotten."""
        beyond = _Beyond(
            Signal(name="asked"), Signal(name="begins"), Signal(name="back"), Signal(name="went")
        )
        m.d.comb += [
            beyond.begins.eq(beyond.asked & idle & ~ahead & ~self.ask & ~self.go),
            forget.eq(self.flush | beyond.back),
        ]
        with m.If(beyond.begins):
            m.d.sync += [beyond.asked.eq(0), ahead.eq(1)]
        with m.If(self.ask):
            m.d.sync += [beyond.asked.eq(self.first.any()), beyond.back.eq(ahead)]
        with m.If(self.go):
            m.d.sync += beyond.asked.eq(0)
            with m.If(ahead & self.meets):
                m.d.sync += ahead.eq(0)
            with m.Elif(ahead):
                m.d.sync += [beyond.back.eq(1), beyond.went.eq(1)]
        with m.If(beyond.back | self.flush):
            m.d.sync += [ahead.eq(0), beyond.back.eq(0), beyond.went.eq(0)]
        with m.If(self.flush):
            m.d.sync += beyond.asked.eq(0)
        return beyond

    def _word(self, word: int) -> Value:
        """Of the descriptor, in the beat that has it."""
        return self.data.word_select(word % (WIDTH // 32), 32)

    def _fields(self, m: Module, beat: Signal, index: Value) -> Any:
        """The descriptor at `index` as its last beat comes, from it and the beats before."""
        gathered = Signal(DESCRIPTOR)
        entry = Signal(DESCRIPTOR)
        failing = self.beat & self.read_response[1]
        with m.If(self.beat), m.Switch(beat):
            with m.Case(_beat(NXTDESC)):
                m.d.sync += [gathered.slave_error.eq(0), gathered.decode_error.eq(0)]
            with m.Case(_beat(BUFFER_ADDRESS)):
                m.d.sync += gathered.address.eq(self._word(BUFFER_ADDRESS))
            with m.Case(_beat(STRIDE_VSIZE)):
                m.d.sync += Cat(gathered.stride, gathered.rows).eq(self._word(STRIDE_VSIZE))
        with m.If(failing):
            m.d.sync += [
                gathered.slave_error.eq(~self.read_response[0]),
                gathered.decode_error.eq(self.read_response[0]),
            ]
        m.d.comb += [
            entry.eq(gathered),
            entry.index.eq(index),
            Cat(entry.length, entry.last).eq(self._word(CONTROL)),
            entry.misfit.eq(self._misfit(entry)),
            entry.stale.eq(self._word(STATUS)[31]),
            entry.slave_error.eq(gathered.slave_error | (failing & ~self.read_response[0])),
            entry.decode_error.eq(gathered.decode_error | (failing & self.read_response[0])),
        ]
        return entry

    def _misfit(self, descriptor: Any) -> Value:
        """No bytes, an address that is not aligned, or rows that are not."""
        shift = exact_log2(self._data_width // 8)
        return (
            (descriptor.length < self._min_length)
            | descriptor.address[:shift].any()
            | ((descriptor.rows != 0) & (descriptor.length[:shift].any() | descriptor.stride[:shift].any()))
        )


@dataclass(frozen=True)
class _Beyond:
    """Of descriptors behind the tail."""

    asked: Signal
    """They will be fetched as soon as there is nothing else to fetch."""
    begins: Signal
    back: Signal
    """They are forgotten, and the next one to fetch is again the one behind the tail."""
    went: Signal
    """With `back`: for a `go` to another one."""
