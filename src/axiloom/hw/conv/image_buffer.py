"""Ping-pong buffer of an image tile: dense beats in, `cols` neighbouring pixels' elements of one k out.

An image (ic, ih, iw) lies in slots, one element each, and slot s is word s // cols of bank s % cols. The
slots of a row are sorted by x % sw: so the pixels that a filter's tap meets at neighbouring outputs, x, x +
sw, ..., lie in neighbouring slots, each in another bank, whatever the stride. No slot stays empty::

    slot(c, y, x) = (c * ih + y) * iw + first(x % sw) + x // sw
    first(p) = p * (iw // sw) + min(p, iw % sw)

Filters of one column at stride 2 read each second column of an image only. Where iw is even, the others are
not kept: the image lies as one of half its width does at stride 1, and is stored as fast as beats of it come.

Filters of more columns at stride 2 need both. Where iw is even, the even columns lie as one such image of
half the width, and the odd ones as another, from the middle slot on. So neighbours of either lie in different
banks, and a step is stored in two cycles: its even elements, then its odd ones.

Reading walks over k = (ic, fh, fw) for block after block of outputs, one k a cycle. What lies outside of
the image reads as zero. Quotients and remainders come from outside
(:class:`axiloom.hw.conv.numbers.ConvNumbers`); here everything is counted.

At stride 2, odd columns have a half of the slots of their own. Rows sorted into even and odd columns put
neighbours of a beat into banks that meet as the width wills it: two elements a cycle at best. With all
even columns of an image before all odd ones, a beat's even elements lie in neighbouring slots, and so do
its odd ones: either is one write to some banks at one address, and a beat of eight takes two cycles. Both
at once would need the odd half to begin half a row of banks later, for which a full buffer has no room.
"""

from __future__ import annotations

from types import SimpleNamespace

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.array.counter import count_through
from axiloom.hw.array.delay import delayed
from axiloom.hw.array.operand_buffer import BlockEnd
from axiloom.hw.array.ping_pong import ping_pong
from axiloom.hw.conv.image_places import ImageLayout, one_step, place_layout, place_sizes, two_steps
from axiloom.hw.engine.load_port import LoadPort

READ_LATENCY = 4
"""Cycles from `advance` to `elements`."""


class WindowBuffer(wiring.Component):
    """Buffer of an image, laid out as `layout` says.

    Loading: two cycles after the `tile` has settled, a beat on `load_data` is taken with `load.valid` and
    `load.ready`; `load.last` tells that it is the last of the `tile`, then `load.half` names the new half.
    Where sw is 1, `layout.at_once` elements are taken in a cycle; where the tile `skips`, every second one of
    them is stored, and where it `splits`, they take two cycles. Else two neighbours are taken, or one where
    they lie in the same bank; the first of a tile come three cycles later then, as their places are looked
    for.
    Reading: `start` begins a `walk` over `start_half` in the next cycle, and of several the last counts;
    `advance` reads the elements of one k, which are on `elements` `READ_LATENCY` cycles later, the leftmost
    pixel in the lowest bits. `block_end` comes with the last `advance` of a block, which has read all taps of
    all channels, or later: `NEXT` goes on to the next `cols` outputs of a row, or to the next row, `RESTART`
    to the first. From one block's end, or from `start`, to the next end are four cycles at least.
    Usage: `claim` adds a user to `load.half`; `finish` takes one from `finish_half`.
    """

    def __init__(self, layout: ImageLayout) -> None:
        self._layout = layout
        super().__init__(
            {
                "tile": In(layout.tile),
                "load": In(LoadPort()),
                "load_data": In(layout.stream_width),
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

        # Out of the memory's late output into registers first; who takes the elements has registers, too.
        turn = delayed(m, "turn", first[:bank_bits], 2)
        mask = delayed(m, "mask", visible, 1)
        held = [Signal(layout.bits, name=f"held_{i}", reset_less=True) for i in range(layout.cols)]
        m.d.sync += Cat(held).eq(Cat(words))
        for lane in range(layout.cols):
            turned = Signal(layout.bits, name=f"turned_{lane}")
            with m.Switch(turn):
                for by in range(layout.cols):
                    with m.Case(by):
                        m.d.comb += turned.eq(held[(lane + by) % layout.cols])
            m.d.comb += self.elements.word_select(lane, layout.bits).eq(Mux(mask[lane], turned, 0))
        return m

    def _load(self, m: Module) -> tuple[Value, list[Value], list[Value]]:
        """For each bank: whether it stores something in this cycle, where and what."""
        layout, tile = self.layout, self.tile
        per_beat, at_once = layout.per_beat, layout.at_once
        bank_bits = exact_log2(layout.cols)
        strided, pair, ready = Signal(), Signal(), Signal()
        # Where even columns lie apart: `again`, a step's even elements are stored; `turned`, its odd ones.
        splits, turned, again = Signal(), Signal(), Signal()
        m.d.comb += again.eq(splits & ~turned)
        step = Mux(strided, Mux(pair, 2, 1), at_once)
        place = Signal(range(per_beat))  # of the next element in its beat
        # Whether a step may end the beat is known a cycle ahead, as much follows from it.
        next_place = Signal.like(place)
        at_last = Signal(init=per_beat == 1)
        at_last_two = Signal(init=per_beat == 2)
        at_last_step = Signal(init=per_beat == at_once)
        m.d.comb += next_place.eq(place)
        m.d.sync += [
            place.eq(next_place),
            at_last.eq(next_place == per_beat - 1),
            at_last_two.eq(next_place == per_beat - 2 if per_beat > 1 else 0),
            at_last_step.eq(next_place == per_beat - at_once),
        ]
        tile_ends = Signal()
        beat_ends = Signal()
        last_steps = Mux(strided, at_last | pair & at_last_two, at_last_step & ~again)
        m.d.comb += [beat_ends.eq(tile_ends | last_steps), self.load.last.eq(tile_ends)]
        # The halves change by steps, of which a beat may take several. Reading ends later than its commands.
        free = Signal()
        stored = ping_pong(
            m,
            SimpleNamespace(
                load=SimpleNamespace(
                    valid=self.load.valid & ready, ready=free, last=tile_ends, half=self.load.half
                ),
                claim=self.claim,
                finish=delayed(m, "finish", self.finish, 2),
                finish_half=delayed(m, "finish_half", self.finish_half, 2),
            ),
        )
        m.d.comb += self.load.ready.eq(free & ready & beat_ends)
        left = self._count(m, stored & ~again, step, pair, tile_ends)
        with m.If(stored & splits):
            m.d.sync += turned.eq(again)
        with m.If(stored & ~again):
            m.d.comb += next_place.eq(Mux(beat_ends, 0, place + step))

        # Three places that follow each other are there when a step begins, as the way to the next is long.
        sizes = place_sizes(m, layout, tile)
        skips, odd = Signal(), Signal()
        m.d.sync += [
            strided.eq(tile.sw != 1),
            skips.eq(tile.skips & layout.skips),
            splits.eq(tile.splits & layout.splits),
            odd.eq(tile.odd),
        ]
        at, follows, beyond = (
            Signal(place_layout(layout), name=name) for name in ("at", "follows", "beyond")
        )
        behind, two_behind = one_step(m, beyond, sizes), two_steps(m, beyond, sizes)
        differ = Signal()  # the banks of `at` and `follows`
        to_find, found = Signal(2, init=3), Signal()  # of the first three places of a tile

        def bank(of: data.View) -> Value:
            return of.slot[:bank_bits]

        m.d.comb += ready.eq(~strided | found)
        # At each step, when they are ready, or without one as they are being found.
        with m.If(self.load.valid & (free | ~ready)):
            m.d.sync += [
                at.eq(Mux(pair, beyond, follows)),
                follows.eq(Mux(pair, behind, beyond)),
                beyond.eq(Mux(pair, two_behind, behind)),
                differ.eq(Mux(pair, bank(beyond) != bank(behind), bank(follows) != bank(beyond))),
            ]
            with m.If(~ready):
                m.d.sync += [to_find.eq(to_find - 1), found.eq(to_find == 1)]
                with m.If(to_find == 3):
                    m.d.sync += beyond.eq(sizes.first)
            with m.Else():
                with m.If(~strided):
                    group = at_once // 2
                    there, back = layout.odd_slots, group - layout.odd_slots
                    m.d.sync += at.slot.eq(
                        at.slot + Mux(splits, Mux(again, there, back), Mux(skips, group, at_once))
                    )
                with m.If(tile_ends):
                    m.d.sync += [at.slot.eq(0), to_find.eq(3), found.eq(0)]
        two_fit = Signal()
        if min(layout.cols, per_beat) > 1:
            # Two neighbours lie in different rows of slots, most often in different banks.
            m.d.comb += [two_fit.eq(differ & ~at_last), pair.eq(strided & found & two_fit & ~left.one)]
        m.d.comb += tile_ends.eq(Mux(strided, left.one | left.two & two_fit, left.step & ~again))

        single, other = (self.load_data.word_select(place + i, layout.bits) for i in range(2))
        several = self.load_data.word_select(place[exact_log2(at_once) :], layout.bits * at_once)
        contiguous = self._groups(at.slot, at_once)
        if layout.skips:
            halves, odds = skips | splits, Mux(splits, turned, odd)
            kept = Cat(
                Mux(odds, several.word_select(i + 1, layout.bits), several.word_select(i, layout.bits))
                for i in range(0, at_once, 2)
            )
            several = Mux(halves, kept.replicate(2), several)
            contiguous = Mux(halves, self._groups(at.slot, at_once // 2), contiguous)
        chosen = Mux(strided, single.replicate(at_once), several)
        second = Mux(pair, 1 << bank(follows), 0)[: layout.cols]
        enable = Mux(strided, (1 << bank(at))[: layout.cols] | second, contiguous)

        write_enable, write_second = Signal(layout.cols), Signal(layout.cols)
        write_data = Signal(layout.bits * at_once, reset_less=True)
        write_other = Signal(layout.bits, reset_less=True)
        write_address, write_next = Signal(range(2 * layout.depth)), Signal(range(2 * layout.depth))
        half = Mux(self.load.half, 0, layout.depth)
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

    def _groups(self, slot: Value, size: int) -> Value:
        """The banks of the `size` slots from `slot` on, a multiple of it."""
        group = slot[exact_log2(size) : exact_log2(self.layout.cols)]
        return Cat((group == i).replicate(size) for i in range(self.layout.cols // size))

    def _count(self, m: Module, stored: Value, step: Value, pair: Value, tile_ends: Value) -> data.View:
        """Counts down what is left of a tile: `one` element, `two`, or at stride 1 one `step` of them?"""
        elements, at_once = self.tile.elements, self.layout.at_once
        left = Signal.like(elements, name="left")
        flags = Signal(data.StructLayout({"one": 1, "two": 1, "step": 1}), name="flags")
        fresh = Signal(init=1)  # no element of the tile has been stored
        with m.If(stored & ~tile_ends):
            m.d.sync += [
                fresh.eq(0),
                left.eq(left - step),
                flags.one.eq(Mux(pair, left == 3, left == 2)),
                flags.two.eq(Mux(pair, left == 4, left == 3)),
                flags.step.eq(left <= 2 * at_once),
            ]
        with m.Elif(stored | fresh):
            m.d.sync += [
                fresh.eq(1),
                left.eq(elements),
                flags.one.eq(elements == 1),
                flags.two.eq(elements == 2),
                flags.step.eq(elements <= at_once),
            ]
        return flags

    def _read(self, m: Module) -> tuple[Value, Value, Value]:
        """Slot of the leftmost pixel that is read in this cycle, in which half, and, a cycle later, which
        pixels are inside."""
        layout = self.layout
        walk = Signal(layout.walk, name="walking")
        half = Signal(name="read_half")
        base, phase, column, y = self._walk(m, walk)
        jump = Signal(layout.slot_bits)  # from one phase to the next
        with m.If(self.start):
            m.d.sync += [walk.eq(self.walk), half.eq(self.start_half)]
            m.d.sync += jump.eq(Mux(self.walk.splits, layout.odd_slots, self.walk.whole))

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
            of_phase.eq(phase * jump),
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
        not_left, not_right = Signal(layout.cols), Signal(layout.cols)
        m.d.sync += [
            not_left.eq(Cat(left >= -lane for lane in range(layout.cols))),
            not_right.eq(Cat(room > lane for lane in range(layout.cols))),
        ]
        visible = not_left & not_right & delayed(m, "row_inside", row_inside, 1).replicate(layout.cols)
        return first, delayed(m, "read_half", half, 2), visible

    def _walk(self, m: Module, walk: data.View) -> tuple[Value, Value, Value, Value]:
        """Counts through k and through the blocks: first slot of the row, phase, column and row of the
        leftmost pixel."""
        layout = self.layout
        base, phase = Signal(layout.slot_bits), Signal(layout.step_bits)
        column, y = Signal(signed(layout.column_bits)), Signal(signed(layout.row_bits))
        channel_base = Signal.like(base)
        block_base, block_column, block_y = Signal.like(base), Signal.like(column), Signal.like(y)
        block = Signal(layout.size_bits)

        # What a tap to the right and the next block lead to is worked out ahead.
        wraps = Signal()
        before_wrap = Signal(layout.step_bits)
        m.d.comb += wraps.eq(phase >= before_wrap)
        with m.If(self.start):
            m.d.sync += before_wrap.eq(self.walk.sw - self.walk.phase_step)
        # A block takes all taps of all channels, so that the next one begins with the first.
        _, row_ends = count_through(m, "tap_w", self.walk.last_fw, self.start, self.advance)
        _, channel_ends = count_through(m, "tap_h", self.walk.last_fh, self.start, self.advance & row_ends)
        with m.If(self.advance):
            m.d.sync += [
                phase.eq(Mux(wraps, phase - before_wrap, phase + walk.phase_step)),
                column.eq(column + walk.column_step + wraps),
            ]
            with m.If(row_ends):
                m.d.sync += [phase.eq(walk.phase), column.eq(block_column)]
                with m.If(channel_ends):
                    next_channel = channel_base + walk.channel_step
                    m.d.sync += [y.eq(block_y), base.eq(next_channel), channel_base.eq(next_channel)]
                with m.Else():
                    m.d.sync += [y.eq(y + walk.dh), base.eq(base + walk.tap_step)]

        right = Signal()
        next_base, next_column, next_y = Signal.like(base), Signal.like(column), Signal.like(y)
        m.d.sync += [
            right.eq(block == walk.last_block),
            next_base.eq(Mux(right, block_base + walk.row_step, block_base)),
            next_column.eq(Mux(right, walk.column, block_column + layout.cols)),
            next_y.eq(Mux(right, block_y + walk.sh, block_y)),
        ]

        def begin(at_base: Value, at_column: Value, at_y: Value, at_phase: Value) -> None:
            m.d.sync += [
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
            begin(next_base, next_column, next_y, walk.phase)
            m.d.sync += block.eq(Mux(right, 0, block + 1))
        return base, phase, column, y
