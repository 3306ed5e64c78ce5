"""Sends a tile of O from one half of the result buffer: dense, row of pixels behind row of pixels, TLAST on
the last beat. An element is a word; with post-processing, it may also be a byte that comes back from
:class:`~axiloom.hw.requantise.Requantise`.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from axiloom.hw.axi import AXI4Stream
from axiloom.hw.conv_geometry import BYTE, ConvGeometry
from axiloom.hw.packer import Packer
from axiloom.hw.requantise import elements_layout, sums_layout
from axiloom.hw.sender import request_layout
from axiloom.isa.types import WORD_BITS


def tag_layout(geometry: ConvGeometry) -> data.StructLayout:
    """What goes with some neighbouring pixels: how many there are, and whether the tile ends."""
    return data.StructLayout({"count": range(geometry.lanes + 1), "last": 1})


class ConvSender(wiring.Component):
    """Takes a request when it has read all of the tile before; waits until the half is not `running`.

    `holds`: it still has to read `send_half`; `reading`: it does so now. `busy`: a tile is waiting or going
    out, and not only because `m_axis` is not taken. In a cycle, `geometry.lanes` pixels go out, or what is
    left of a row of the array; pixels to the right of the last column are left out.

    With post-processing, sums to be requantised go out on `sums`, to come back on `elements`, while some are
    `requantising`; `finish_p` says that half `finish_half_p` of P has been looked at for the last time for
    this tile.
    """

    def __init__(self, geometry: ConvGeometry) -> None:
        self._geometry = geometry
        lanes, tag = geometry.lanes, tag_layout(geometry)
        post = {
            "sums": Out(stream.Signature(sums_layout(lanes, geometry.channels, tag, shared=True))),
            "elements": In(stream.Signature(elements_layout(lanes, tag))),
            "requantising": In(1),
            "finish_p": Out(1),
            "finish_half_p": Out(1),
        }
        super().__init__(
            {
                "requests": In(stream.Signature(request_layout(geometry.command_dims, post=geometry.post))),
                "running": In(2),
                "holds": Out(1),
                "reading": Out(1),
                "send_half": Out(1),
                "send_enable": Out(1),
                "send_address": Out(range(geometry.o_depth)),
                "send_row": In(WORD_BITS * geometry.cols),
                "busy": Out(1),
                "m_axis": Out(AXI4Stream(geometry.stream_width)),
                **(post if geometry.post else {}),
            }
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

        request = Signal(self.requests.payload.shape())
        waiting = Signal()
        reading = Signal()
        flowing = Signal()
        advance = Signal()
        # The row read, and which of its words go out.
        row_valid = Signal()
        row_zero = Signal()
        row_part = Signal(range(geometry.cols // lanes))
        row_tag = Signal(tag_layout(geometry))
        may_read: Value = request.zero | ~self.running.bit_select(request.half, 1)
        if geometry.post:
            row_post = Signal()
            # The words of a tile as it is are faster than those before it that are requantised.
            may_read = may_read & (request.requantise | ~(row_valid & row_post | self.requantising))
        m.d.comb += [
            advance.eq(reading & flowing),
            self.requests.ready.eq(~waiting & ~reading),
            self.holds.eq((waiting | reading) & ~request.zero),
            self.reading.eq(reading & ~request.zero),
            self.send_half.eq(request.half),
            self.send_enable.eq(advance),
        ]
        with m.If(self.requests.valid & self.requests.ready):
            m.d.sync += [request.eq(self.requests.payload), waiting.eq(1)]
        with m.If(waiting & may_read):
            m.d.sync += [waiting.eq(0), reading.eq(1)]
        channel, part, tag = self._walk(m, request.dims, advance)
        with m.If(advance & tag.last):
            m.d.sync += reading.eq(0)
        with m.If(flowing):
            m.d.sync += [
                row_valid.eq(reading),
                row_zero.eq(request.zero),
                row_part.eq(part),
                row_tag.eq(tag),
            ]

        width = WORD_BITS * lanes
        words = Mux(row_zero, 0, self.send_row.word_select(row_part, width))
        goes = row_valid & ~row_post if geometry.post else row_valid
        m.d.comb += [
            packer.i.valid.eq(goes),
            packer.i.payload.elements.eq(words),
            packer.i.payload.count.eq(row_tag.count << exact_log2(units)),
            packer.i.payload.last.eq(row_tag.last),
            flowing.eq(~row_valid | packer.i.ready),
        ]
        there = waiting | reading | row_valid | packer.busy
        stays = row_valid | ~reading
        if geometry.post:
            with m.If(flowing):
                m.d.sync += row_post.eq(request.requantise)
            self._requantise(m, request.dims, flowing, channel, packer)
            m.d.comb += [
                self.sums.valid.eq(row_valid & row_post),
                self.sums.payload.acc.as_value().eq(words),
                self.sums.payload.tag.eq(row_tag),
            ]
            with m.If(row_valid & row_post):
                m.d.comb += flowing.eq(self.sums.ready)
            there = there | self.requantising
            stays = stays & (self.elements.valid | ~self.requantising)
        # A beat that nobody takes holds everything behind it, as soon as that has closed up.
        stuck = self.m_axis.tvalid & ~self.m_axis.tready & ~waiting & stays
        m.d.comb += self.busy.eq(there & ~stuck)
        return m

    def _requantise(self, m: Module, dims: data.View, flowing: Value, channel: Value, packer: Packer) -> None:
        """What goes with a row to the post-processor, and what comes back from there to the packer."""
        vector, back = self.sums.payload, self.elements.payload
        with m.If(flowing):
            m.d.sync += [
                vector.row.eq(channel),
                vector.half.eq(dims.half_p),
                *(vector.bounds[name].eq(dims[name]) for name in self.geometry.bounds),
            ]
        m.d.comb += [
            self.finish_p.eq(self.sums.valid & self.sums.ready & vector.tag.last),
            self.finish_half_p.eq(vector.half),
            self.elements.ready.eq(packer.i.ready),
        ]
        with m.If(self.elements.valid):
            m.d.comb += [
                packer.i.valid.eq(1),
                packer.i.payload.elements.eq(back.elements.as_value()),
                packer.i.payload.count.eq(back.tag.count),
                packer.i.payload.last.eq(back.tag.last),
            ]

    def _walk(self, m: Module, dims: data.View, advance: Value) -> tuple[Signal, Signal, data.View]:
        """Channel by channel, row by row, from one block of `cols` pixels to the next: the channel, which
        part of a row of the array, and how many pixels of it."""
        geometry = self.geometry
        lane_bits = exact_log2(geometry.lanes)
        channel = Signal.like(dims.last_oc, name="channel")
        pixels = Signal.like(dims.last_n, name="pixels")  # block of pixels in the channel
        block = Signal.like(dims.walk.last_block, name="block")  # ... in the row of outputs
        part = Signal(range(geometry.cols // geometry.lanes))
        row = Signal(range(geometry.rows))
        line_start = Signal.like(self.send_address, name="line_start")
        tag = Signal(tag_layout(geometry), name="tag")

        right = Signal()  # the rightmost block
        part_last = Signal()
        channel_last = Signal()
        m.d.comb += [
            right.eq(block == dims.walk.last_block),
            part_last.eq(
                (part == geometry.cols // geometry.lanes - 1) | right & (part == dims.last_lane >> lane_bits)
            ),
            channel_last.eq(part_last & (pixels == dims.last_n)),
            tag.last.eq(channel_last & (channel == dims.last_oc)),
            tag.count.eq(Mux(right & part_last, (dims.last_lane & (geometry.lanes - 1)) + 1, geometry.lanes)),
        ]
        with m.If(advance):
            m.d.sync += part.eq(part + 1)
            with m.If(part_last):
                m.d.sync += [
                    part.eq(0),
                    pixels.eq(pixels + 1),
                    block.eq(Mux(right, 0, block + 1)),
                    self.send_address.eq(self.send_address + geometry.rows),
                ]
            with m.If(channel_last):
                # Below the last row of a block lies the first of the next.
                start = Mux(row == geometry.rows - 1, self.send_address, line_start) + 1
                m.d.sync += [
                    pixels.eq(0),
                    channel.eq(channel + 1),
                    row.eq(row + 1),
                    line_start.eq(start),
                    self.send_address.eq(start),
                ]
            with m.If(tag.last):
                m.d.sync += [register.eq(0) for register in (channel, row, line_start, self.send_address)]
        return channel, part, tag
