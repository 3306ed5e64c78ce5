"""Ping-pong buffer of an image tile: dense beats in, `cols` neighbouring pixels' elements of one k out.

An image (ic, ih, iw) lies in slots, one element each, and slot s is word s // cols of bank s % cols. The
slots of a row are sorted by x % sw: so the pixels that a filter's tap meets at neighbouring outputs, x, x +
sw, ..., lie in neighbouring slots, each in another bank, whatever the stride. No slot stays empty::

    slot(c, y, x) = (c * ih + y) * iw + first(x % sw) + x // sw
    first(p) = p * (iw // sw) + min(p, iw % sw)

Reading walks over k = (ic, fh, fw) for block after block of outputs, one k a cycle. What lies outside of
the image reads as zero. Quotients and remainders come from outside
(:class:`axiloom.hw.conv_numbers.ConvNumbers`); here everything is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from axiloom.hw.delay import delayed
from axiloom.hw.operand_buffer import BlockEnd
from axiloom.hw.ping_pong import ping_pong

READ_LATENCY = 4
"""Cycles from `advance` to `elements`."""


@dataclass(frozen=True)
class ImageLayout:
    """How an image tile lies in its banks, and how wide the numbers about it are."""

    bits: int
    """Width of an element."""
    cols: int
    """Banks, and pixels that are read at once; a power of two."""
    stream_width: int
    depth: int
    """Words of a bank, for one ping-pong half."""
    size_bits: int = 11
    """Of ic, ih, iw, oh and ow."""
    taps_bits: int = 5
    """Of fh and fw."""
    step_bits: int = 4
    """Of strides and dilations."""
    pad_bits: int = 8

    @property
    def per_beat(self) -> int:
        return self.stream_width // self.bits

    @property
    def at_once(self) -> int:
        """Elements stored in a cycle where neighbours lie in neighbouring slots."""
        return min(self.per_beat, self.cols)

    @property
    def slots(self) -> int:
        return self.depth * self.cols

    @property
    def slot_bits(self) -> int:
        return bits_for(self.slots - 1)

    @property
    def column_bits(self) -> int:
        """Of a signed x // sw: as far left as the padding reaches, and right of the last output."""
        rightmost = (1 << self.size_bits) + self.cols + (1 << self.taps_bits + self.step_bits)
        return 1 + bits_for(rightmost)

    @property
    def row_bits(self) -> int:
        """Of a signed y: the last output's row, far below the image, or in the padding above."""
        return 1 + bits_for((1 << self.size_bits + self.step_bits) + (1 << self.taps_bits + self.step_bits))

    @property
    def tile(self) -> data.StructLayout:
        """What a load must know: number of elements, and iw = `whole` x `sw` + `rest`."""
        return data.StructLayout(
            {
                "elements": unsigned(bits_for(self.slots)),
                "iw": unsigned(self.size_bits),
                "sw": unsigned(self.step_bits),
                "whole": unsigned(self.size_bits),
                "rest": unsigned(self.step_bits),
            }
        )

    @property
    def walk(self) -> data.StructLayout:
        """What reading must know. Slots are counted modulo their number."""
        return data.StructLayout(
            {
                "last_c": unsigned(self.size_bits),
                "last_fh": unsigned(self.taps_bits),
                "last_fw": unsigned(self.taps_bits),
                "last_block": unsigned(self.size_bits),  # of a row of outputs
                "ih": unsigned(self.size_bits),
                "y": signed(self.pad_bits + 1),  # of the first tap at the first output
                "sh": unsigned(self.step_bits),
                "dh": unsigned(self.step_bits),
                "base": unsigned(self.slot_bits),  # y rows
                "row_step": unsigned(self.slot_bits),  # sh rows
                "tap_step": unsigned(self.slot_bits),  # dh rows
                "channel_step": unsigned(self.slot_bits),  # ih rows
                "sw": unsigned(self.step_bits),
                "whole": unsigned(self.size_bits),  # iw // sw
                "rest": unsigned(self.step_bits),  # iw % sw
                "column": signed(self.pad_bits + 1),  # x // sw of the first tap at the first output
                "phase": unsigned(self.step_bits),  # x % sw of it
                "column_step": unsigned(self.step_bits),  # dw // sw
                "phase_step": unsigned(self.step_bits),  # dw % sw
            }
        )


def _place_layout(layout: ImageLayout) -> data.StructLayout:
    """Of an element that is loaded: x, x % sw, its slot, that of x // sw in phase 0, the first of its row."""
    slot = unsigned(layout.slot_bits)
    return data.StructLayout(
        {
            "x": unsigned(layout.size_bits),
            "phase": unsigned(layout.step_bits),
            "slot": slot,
            "in_phase_0": slot,
            "row": slot,
        }
    )


class WindowBuffer(wiring.Component):
    """Buffer of an image, laid out as `layout` says.

    Loading: a beat on `load_data` is taken with `load_valid` and `load_ready`; `load_last` tells that it is
    the last of the `tile`, after which `half` names the new half. Where sw is 1, `layout.at_once` elements
    are stored in a cycle, else two neighbours, or one where they lie in the same bank.
    Reading: `start` begins a `walk` over `start_half` in the next cycle; `advance` reads the elements of one
    k, which are on `elements` `READ_LATENCY` cycles later, the leftmost pixel in the lowest bits. `block_end`
    comes with the last `advance` of a block, or later: `NEXT` goes on to the next `cols` outputs of a row, or
    to the next row, `RESTART` to the first.
    Usage: `claim` adds a user to `half`; `finish` takes one from `finish_half`.
    """

    def __init__(self, layout: ImageLayout) -> None:
        self._layout = layout
        super().__init__(
            {
                "tile": In(layout.tile),
                "load_valid": In(1),
                "load_data": In(layout.stream_width),
                "load_ready": Out(1),
                "load_last": Out(1),
                "half": Out(1),
                "claim": In(1),
                "finish": In(1),
                "finish_half": In(1),
                "start": In(1),
                "start_half": In(1),
                "walk": In(layout.walk),
                "advance": In(1),
                "block_end": In(BlockEnd),
                "elements": Out(layout.bits * layout.cols),
            }
        )

    @property
    def layout(self) -> ImageLayout:
        return self._layout

    def elaborate(self, platform: object) -> Module:
        m = Module()
        layout = self.layout
        bank_bits = exact_log2(layout.cols)
        write_enable, write_address, write_data = self._load(m)

        first, half, visible = self._read(m)
        fetch = delayed(m, "fetch", self.advance, 2)
        words = []
        for i in range(layout.cols):
            m.submodules[f"bank_{i}"] = memory = Memory(shape=layout.bits, depth=2 * layout.depth, init=[])
            write, read = memory.write_port(), memory.read_port()
            word = Signal(range(layout.depth), name=f"word_{i}")
            m.d.comb += [
                write.en.eq(write_enable[i]),
                write.addr.eq(write_address[i]),
                write.data.eq(write_data[i]),
                # Banks to the left of the first slot's hold the slots that follow in the next word.
                word.eq((first >> bank_bits) + (i < first[:bank_bits] if i < layout.cols - 1 else 0)),
                read.en.eq(fetch),
                read.addr.eq(Mux(half, layout.depth, 0) + word),
            ]
            words.append(read.data)

        turn = Signal(bank_bits)
        mask = Signal(layout.cols)
        m.d.sync += [turn.eq(first[:bank_bits]), mask.eq(visible)]
        for lane in range(layout.cols):
            turned = Signal(layout.bits, name=f"turned_{lane}")
            with m.Switch(turn):
                for by in range(layout.cols):
                    with m.Case(by):
                        m.d.comb += turned.eq(words[(lane + by) % layout.cols])
            m.d.sync += self.elements.word_select(lane, layout.bits).eq(Mux(mask[lane], turned, 0))
        return m

    def _load(self, m: Module) -> tuple[Value, list[Value], list[Value]]:
        """For each bank: whether it stores something in this cycle, where and what."""
        layout, tile = self.layout, self.tile
        per_beat, at_once = layout.per_beat, layout.at_once
        bank_bits = exact_log2(layout.cols)
        strided, pair = Signal(), Signal()
        step = Mux(strided, Mux(pair, 2, 1), at_once)
        count = Signal.like(tile.elements)
        place = Signal(range(per_beat))  # of the next element in its beat
        tile_ends = Signal()
        beat_ends = Signal()
        m.d.comb += [
            strided.eq(tile.sw != 1),
            tile_ends.eq(count + step >= tile.elements),
            beat_ends.eq(tile_ends | (place + step == per_beat)),
            self.load_last.eq(tile_ends),
        ]
        # The halves change by steps, of which a beat may take several. Reading ends later than its commands.
        free = Signal()
        stored = ping_pong(
            m,
            SimpleNamespace(
                load_valid=self.load_valid,
                load_ready=free,
                load_last=tile_ends,
                half=self.half,
                claim=self.claim,
                finish=delayed(m, "finish", self.finish, 2),
                finish_half=delayed(m, "finish_half", self.finish_half, 2),
            ),
        )
        m.d.comb += self.load_ready.eq(free & beat_ends)

        at = Signal(_place_layout(layout), name="at")
        follows = self._step(m, "follows", at)
        banks = at.slot[:bank_bits], follows.slot[:bank_bits]
        if min(layout.cols, per_beat) > 1:
            # Two neighbours lie in different rows of slots, most often in different banks.
            more = (place != per_beat - 1) & (count + 1 < tile.elements)
            m.d.comb += pair.eq(strided & more & (banks[0] != banks[1]))
        with m.If(stored):
            m.d.sync += [count.eq(count + step), place.eq(place + step)]
            with m.If(~strided):
                m.d.sync += at.slot.eq(at.slot + at_once)
            with m.Elif(pair):
                m.d.sync += at.eq(self._step(m, "after_both", follows))
            with m.Else():
                m.d.sync += at.eq(follows)
            with m.If(beat_ends):
                m.d.sync += place.eq(0)
            with m.If(tile_ends):
                m.d.sync += [count.eq(0), at.as_value().eq(0)]

        one, other = (self.load_data.word_select(place + i, layout.bits) for i in range(2))
        several = self.load_data.word_select(place[exact_log2(at_once) :], layout.bits * at_once)
        chosen = Mux(strided, one.replicate(at_once), several)
        group = at.slot[exact_log2(at_once) : bank_bits]
        contiguous = Cat((group == i).replicate(at_once) for i in range(layout.cols // at_once))
        second = Mux(pair, 1 << banks[1], 0)[: layout.cols]
        enable = Mux(strided, (1 << banks[0])[: layout.cols] | second, contiguous)

        write_enable, write_second = Signal(layout.cols), Signal(layout.cols)
        write_data, write_other = Signal(layout.bits * at_once), Signal(layout.bits)
        write_address, write_next = Signal(range(2 * layout.depth)), Signal(range(2 * layout.depth))
        half = Mux(self.half, 0, layout.depth)
        m.d.sync += [
            write_enable.eq(Mux(stored, enable, 0)),
            write_second.eq(second),
            write_data.eq(chosen),
            write_other.eq(other),
            write_address.eq(half + (at.slot >> bank_bits)),
            write_next.eq(half + (follows.slot >> bank_bits)),
        ]
        words = [write_data.word_select(i % at_once, layout.bits) for i in range(layout.cols)]
        return (
            write_enable,
            [Mux(write_second[i], write_next, write_address) for i in range(layout.cols)],
            [Mux(write_second[i], write_other, word) for i, word in enumerate(words)],
        )

    def _step(self, m: Module, name: str, at: data.View) -> data.View:
        """The place of the element behind the one `at`."""
        tile = self.tile
        place = Signal(_place_layout(self.layout), name=name)
        next_row = at.row + tile.iw
        m.d.comb += place.eq(at)
        with m.If(at.x == tile.iw - 1):
            m.d.comb += [
                place.x.eq(0),
                place.phase.eq(0),
                *(register.eq(next_row) for register in (place.slot, place.in_phase_0, place.row)),
            ]
        with m.Elif(at.phase == tile.sw - 1):
            m.d.comb += [
                place.x.eq(at.x + 1),
                place.phase.eq(0),
                *(register.eq(at.in_phase_0 + 1) for register in (place.slot, place.in_phase_0)),
            ]
        with m.Else():
            m.d.comb += [
                place.x.eq(at.x + 1),
                place.phase.eq(at.phase + 1),
                place.slot.eq(at.slot + tile.whole + (at.phase < tile.rest)),
            ]
        return place

    def _read(self, m: Module) -> tuple[Value, Value, Value]:
        """Slot of the leftmost pixel that is read in this cycle, in which half, and which pixels are
        inside."""
        layout = self.layout
        walk = Signal(layout.walk, name="walking")
        half = Signal(name="read_half")
        base, phase, column, y = self._walk(m, walk)
        with m.If(self.start):
            m.d.sync += [walk.eq(self.walk), half.eq(self.start_half)]

        of_phase = Signal(layout.slot_bits)
        extra = Signal(layout.step_bits)
        in_row = Signal(layout.slot_bits)
        at_column = Signal(signed(layout.column_bits))
        width = Signal(layout.size_bits + 1)
        in_height = Signal()
        first = Signal(layout.slot_bits)
        left = Signal(signed(layout.column_bits))
        room = Signal(signed(layout.column_bits + 1))
        row_inside = Signal()
        m.d.sync += [
            of_phase.eq(phase * walk.whole),
            extra.eq(Mux(phase < walk.rest, phase, walk.rest)),
            in_row.eq(base + column),
            at_column.eq(column),
            width.eq(walk.whole + (phase < walk.rest)),
            in_height.eq((y >= 0) & (y < walk.ih)),
            first.eq(in_row + of_phase + extra),
            left.eq(at_column),
            room.eq(width - at_column),
            row_inside.eq(in_height),
        ]
        visible = Cat(row_inside & (left >= -lane) & (room > lane) for lane in range(layout.cols))
        return first, delayed(m, "read_half", half, 2), visible

    def _walk(self, m: Module, walk: data.View) -> tuple[Value, Value, Value, Value]:
        """Counts through k and through the blocks: first slot of the row, phase, column and row of the
        leftmost pixel."""
        layout = self.layout
        channel, tap_h, tap_w = (
            Signal(layout.size_bits, name="channel"),
            Signal(layout.taps_bits, name="tap_h"),
            Signal(layout.taps_bits, name="tap_w"),
        )
        base, phase = Signal(layout.slot_bits), Signal(layout.step_bits)
        column, y = Signal(signed(layout.column_bits)), Signal(signed(layout.row_bits))
        channel_base = Signal.like(base)
        block_base, block_column, block_y = Signal.like(base), Signal.like(column), Signal.like(y)
        block = Signal(layout.size_bits)

        phase_sum = Signal(layout.step_bits + 1)
        wraps = Signal()
        m.d.comb += [phase_sum.eq(phase + walk.phase_step), wraps.eq(phase_sum >= walk.sw)]
        with m.If(self.advance):
            m.d.sync += [
                tap_w.eq(tap_w + 1),
                phase.eq(Mux(wraps, phase_sum - walk.sw, phase_sum)),
                column.eq(column + walk.column_step + wraps),
            ]
            with m.If(tap_w == walk.last_fw):
                m.d.sync += [
                    tap_w.eq(0),
                    phase.eq(walk.phase),
                    column.eq(block_column),
                    tap_h.eq(tap_h + 1),
                    y.eq(y + walk.dh),
                    base.eq(base + walk.tap_step),
                ]
                with m.If(tap_h == walk.last_fh):
                    m.d.sync += [
                        tap_h.eq(0),
                        y.eq(block_y),
                        channel.eq(channel + 1),
                        base.eq(channel_base + walk.channel_step),
                        channel_base.eq(channel_base + walk.channel_step),
                    ]

        def begin(at_base: Value, at_column: Value, at_y: Value, at_phase: Value) -> None:
            m.d.sync += [
                *(counter.eq(0) for counter in (channel, tap_h, tap_w)),
                *(register.eq(at_base) for register in (base, channel_base, block_base)),
                *(register.eq(at_column) for register in (column, block_column)),
                *(register.eq(at_y) for register in (y, block_y)),
                phase.eq(at_phase),
            ]

        with m.If(self.start):
            begin(self.walk.base, self.walk.column, self.walk.y, self.walk.phase)
            m.d.sync += block.eq(0)
        with m.Elif(self.block_end == BlockEnd.RESTART):
            begin(walk.base, walk.column, walk.y, walk.phase)
            m.d.sync += block.eq(0)
        with m.Elif(self.block_end == BlockEnd.NEXT):
            with m.If(block == walk.last_block):
                begin(block_base + walk.row_step, walk.column, block_y + walk.sh, walk.phase)
                m.d.sync += block.eq(0)
            with m.Else():
                begin(block_base, block_column + layout.cols, block_y, walk.phase)
                m.d.sync += block.eq(block + 1)
        return base, phase, column, y
