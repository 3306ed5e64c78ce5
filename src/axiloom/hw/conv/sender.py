"""Sends a tile of O from one half of the result buffer: dense, row of pixels behind row of pixels, TLAST on
the last beat. An element is a word; with post-processing, it may also be a byte that comes back from
:class:`~axiloom.hw.array.requantise.Requantise`.

Bytes go out by beats, words as before. Post-processing had as many lanes as a beat has words, and a
quarter of a beat of int8 left in a cycle. A row of the array is read at once anyway, so more lanes cost
multipliers only: two DSP48 each.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import exact_log2

from axiloom.hw.array.counter import count_through
from axiloom.hw.array.requantise import elements_layout, sums_layout
from axiloom.hw.array.tile_sender import Reading, TileSender
from axiloom.hw.axi.packer import Packer
from axiloom.hw.conv.geometry import BYTE, ConvGeometry
from axiloom.isa.contract.types import WORD_BITS


def tag_layout(geometry: ConvGeometry) -> data.StructLayout:
    """What goes with some neighbouring pixels: how many there are, and whether the tile ends."""
    return data.StructLayout({"count": range(geometry.p_lanes + 1), "last": 1})


class ConvSender(TileSender):
    """See :class:`~axiloom.hw.array.tile_sender.TileSender`.

    In a cycle, `geometry.lanes` pixels go out as words, or `geometry.p_lanes` are requantised, or what is
    left of a row of the array; pixels to the right of the last column are left out.
    """

    def __init__(self, geometry: ConvGeometry) -> None:
        self._geometry = geometry
        lanes, tag = geometry.p_lanes, tag_layout(geometry)
        super().__init__(
            geometry,
            geometry.o_depth,
            sums_layout(lanes, geometry.channels, tag, shared=True),
            elements_layout(lanes, tag),
        )

    @property
    def geometry(self) -> ConvGeometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry = self.geometry
        lanes = geometry.lanes
        # Bytes and words go through the same packer, so that tiles keep their order.
        unit = BYTE if geometry.post else WORD_BITS
        units = WORD_BITS // unit
        m.submodules.packer = packer = Packer(unit, units * lanes, geometry.stream_width)
        connect(m, packer.m_axis, flipped(self.m_axis))

        flowing = Signal()
        # The row that comes out of the memory, the one behind it, and which of its words go out.
        row_layout = data.StructLayout(
            {
                "valid": 1,
                "zero": 1,
                "post": 1,
                "part": range(geometry.cols // lanes),
                "tag": tag_layout(geometry),
            }
        )
        fetched, row = Signal(row_layout, name="fetched"), Signal(row_layout, name="row")
        tile = Reading(self.requests.payload.shape())
        request = tile.request
        channel, part, tag = self._walk(m, request, tile.advance)
        self._take_requests(m, tile, flowing, tag.last)
        with m.If(flowing):
            m.d.sync += [
                fetched.valid.eq(tile.advance),
                fetched.zero.eq(request.zero),
                fetched.post.eq(request.requantise if geometry.post else 0),
                fetched.part.eq(part),
                fetched.tag.eq(tag),
                row.eq(fetched),
            ]

        width = WORD_BITS * lanes
        words = Mux(row.zero, 0, self.send_row.word_select(row.part, width))
        m.d.comb += [
            tile.posts.eq(fetched.valid & fetched.post | row.valid & row.post),
            packer.i.valid.eq(row.valid & ~row.post),
            packer.i.payload.elements.eq(words),
            packer.i.payload.count.eq(row.tag.count << exact_log2(units)),
            packer.i.payload.last.eq(row.tag.last),
            flowing.eq(~row.valid | packer.i.ready),
        ]
        there = tile.waiting | tile.reading | fetched.valid | row.valid | packer.busy
        stays = row.valid | ~(tile.reading | fetched.valid)
        if geometry.post:
            self._requantise(m, request.dims, flowing, channel, packer)
            m.d.comb += [
                self.sums.valid.eq(row.valid & row.post),
                self.sums.payload.acc.as_value().eq(Mux(row.zero, 0, self._vector(row.part))),
                self.sums.payload.tag.eq(row.tag),
            ]
            with m.If(row.valid & row.post):
                m.d.comb += flowing.eq(self.sums.ready)
            there = there | self.requantising
            stays = stays & (self.elements.valid | ~self.requantising)
        # A beat that nobody takes holds everything behind it, as soon as that has closed up.
        stuck = self.m_axis.tvalid & ~self.m_axis.tready & ~tile.waiting & stays
        m.d.comb += self.busy.eq(there & ~stuck)
        return m

    @property
    def _step_bits(self) -> int:
        """A vector of sums is 2^this times the words that go out raw in a cycle."""
        return exact_log2(self.geometry.p_lanes // self.geometry.lanes)

    def _vector(self, part: Value) -> Value:
        """Of a row of the array, the sums that are requantised together."""
        return self.send_row.word_select(part >> self._step_bits, WORD_BITS * self.geometry.p_lanes)

    def _requantise(self, m: Module, dims: data.View, flowing: Value, channel: Value, packer: Packer) -> None:
        """What goes with a row to the post-processor, and what comes back from there to the packer."""
        back = self.elements.payload
        self._give_parameters(m, dims, flowing, channel, self.sums.payload.tag.last)
        m.d.comb += self.elements.ready.eq(packer.i.ready)
        with m.If(self.elements.valid):
            m.d.comb += [
                packer.i.valid.eq(1),
                packer.i.payload.elements.eq(back.elements.as_value()),
                packer.i.payload.count.eq(back.tag.count),
                packer.i.payload.last.eq(back.tag.last),
            ]

    def _walk(self, m: Module, request: data.View, advance: Value) -> tuple[Signal, Signal, data.View]:
        """Channel by channel, row by row, from one block of `cols` pixels to the next: the channel, which
        part of a row of the array, and how many pixels of it. A part is `lanes` pixels; where the tile is
        requantised, a step takes several."""
        geometry, dims = self.geometry, request.dims
        parts = geometry.cols // geometry.lanes
        part = Signal(range(parts))
        row = Signal(range(geometry.rows))
        line_start = Signal.like(self.send_address, name="line_start")
        tag = Signal(tag_layout(geometry), name="tag")
        last_part, full, left = self._steps(dims, geometry.lanes)
        row_ends: Value = part == parts - 1
        step: Value | int = 1
        if self._step_bits:
            wide = request.requantise
            step = Mux(wide, 1 << self._step_bits, 1)
            wide_part, wide_full, wide_left = self._steps(dims, geometry.p_lanes)
            last_part = Mux(wide, wide_part << self._step_bits, last_part)
            full, left = Mux(wide, wide_full, full), Mux(wide, wide_left, left)
            row_ends = part == Mux(wide, parts - (1 << self._step_bits), parts - 1)

        begins = self.requests.valid & self.requests.ready
        asked = self.requests.payload.dims
        part_last = Signal()
        channel_last = Signal()
        _, right = count_through(m, "block", asked.walk.last_block, begins, advance & part_last)
        _, pixels_last = count_through(m, "pixels", asked.last_n, begins, advance & part_last)
        channel, of_last = count_through(m, "channel", asked.last_oc, begins, advance & channel_last)
        m.d.comb += [
            # At the right, the last part that has pixels.
            part_last.eq(row_ends | right & (part == last_part)),
            channel_last.eq(part_last & pixels_last),
            tag.last.eq(channel_last & of_last),
            tag.count.eq(Mux(right & part_last, left, full)),
        ]
        with m.If(advance):
            m.d.sync += part.eq(part + step)
            with m.If(part_last):
                m.d.sync += [part.eq(0), self.send_address.eq(self.send_address + geometry.rows)]
            with m.If(channel_last):
                # Below the last row of a block lies the first of the next.
                start = Mux(row == geometry.rows - 1, self.send_address, line_start) + 1
                m.d.sync += [
                    row.eq(row + 1),
                    line_start.eq(start),
                    self.send_address.eq(start),
                ]
            with m.If(tag.last):
                m.d.sync += [register.eq(0) for register in (row, line_start, self.send_address)]
        return channel, part, tag

    def _steps(self, dims: data.View, lanes: int) -> tuple[Value, int, Value]:
        """Where `lanes` pixels go out in a step: the last step of the last block of pixels, how many pixels a
        step has, and how many that last one has."""
        return dims.last_lane >> exact_log2(lanes), lanes, (dims.last_lane & (lanes - 1)) + 1
