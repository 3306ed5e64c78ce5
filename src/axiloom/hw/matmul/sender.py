"""Sends a tile of C from one half of the result buffer, TLAST on the last beat.

An element is a word; with post-processing, it may also be a byte that comes back from
:class:`~axiloom.hw.array.requantise.Requantise`.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import bits_for, exact_log2

from axiloom.hw.array.requantise import elements_layout, sums_layout
from axiloom.hw.array.tile_sender import Reading, TileSender
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa.contract.types import WORD_BITS


class Sender(TileSender):
    """See :class:`~axiloom.hw.array.tile_sender.TileSender`."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        lanes, channels = geometry.p_lanes, geometry.largest[1]
        super().__init__(
            geometry,
            geometry.c_depth,
            sums_layout(lanes, channels, 1, shared=False),
            elements_layout(lanes, 1),
        )

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry = self.geometry
        moves = Signal()
        flowing = Signal()
        last = Signal()
        width = geometry.c_words * WORD_BITS
        parts = geometry.stream_width // width
        col = Signal(range(geometry.cols // geometry.c_words))

        # The row that comes out of the memory, the one behind it, and which of its words go out.
        row_layout = data.StructLayout({"valid": 1, "last": 1, "zero": 1, "post": 1, "col": col.shape()})
        fetched, row = Signal(row_layout, name="fetched"), Signal(row_layout, name="row")
        tile = Reading(self.requests.payload.shape())
        request = tile.request
        row_raw = row.valid & ~row.post
        m.d.comb += [
            moves.eq(~self.m_axis.tvalid | self.m_axis.tready),
            flowing.eq(Mux(row.post, self.sums.ready, moves) if geometry.post else moves),
            tile.posts.eq(fetched.valid & fetched.post | row.valid & row.post),
        ]
        self._take_requests(m, tile, flowing, last)
        inner, outer = self._walk(m, request, tile.advance, col, last)

        with m.If(flowing):
            m.d.sync += [
                fetched.valid.eq(tile.advance),
                fetched.last.eq(last),
                fetched.zero.eq(request.zero),
                fetched.post.eq(request.requantise if geometry.post else 0),
                fetched.col.eq(col),
                row.eq(fetched),
            ]
        with m.If(moves):
            m.d.sync += self.m_axis.tvalid.eq(row_raw)
            with m.If(row_raw):
                words = Mux(row.zero, 0, self.send_row.word_select(row.col, width))
                sent = self.m_axis.tdata
                if parts > 1:
                    part = Signal(range(parts))
                    sent = self.m_axis.tdata.word_select(part, width)
                    m.d.sync += [part.eq(part + 1), self.m_axis.tvalid.eq(part == parts - 1)]
                m.d.sync += [sent.eq(words), self.m_axis.tlast.eq(row.last)]
        there = tile.waiting | tile.reading | fetched.valid | row.valid | self.m_axis.tvalid
        if geometry.post:
            there = there | self.requantising
            self._requantise(m, request.dims, flowing, inner if geometry.c_rows_first else outer)
            m.d.comb += [
                self.sums.valid.eq(row.valid & row.post),
                self.sums.payload.tag.eq(row.last),
                self.elements.ready.eq(moves),
            ]
            lanes = self.sums.payload.acc.as_value()
            m.d.comb += lanes.eq(
                Mux(row.zero, 0, self.send_row.word_select(row.col[self._step_bits :], len(lanes)))
            )
        # A beat that nobody takes holds everything behind it: nothing changes before it is taken.
        stuck = ~tile.waiting & self.m_axis.tvalid & ~self.m_axis.tready
        m.d.comb += self.busy.eq(there & ~stuck)
        return m

    @property
    def _step_bits(self) -> int:
        """A vector of sums is 2^this times the words that go out raw in a cycle."""
        return exact_log2(self.geometry.p_lanes // self.geometry.c_words)

    def _requantise(self, m: Module, dims: data.View, flowing: Value, place: Value) -> None:
        """What goes with a row to the post-processor, and what comes back from there to the stream."""
        row = place >> self._step_bits if self.geometry.c_rows_first else place
        self._give_parameters(m, dims, flowing, row, self.sums.payload.tag)
        elements = self.elements.payload.elements.as_value()
        parts = self.geometry.stream_width // len(elements)
        with m.If(self.elements.valid & self.elements.ready):
            sent = self.m_axis.tdata
            m.d.sync += self.m_axis.tvalid.eq(1)
            if parts > 1:
                part = Signal(range(parts), name="part_of_elements")
                sent = self.m_axis.tdata.word_select(part, len(elements))
                m.d.sync += [part.eq(part + 1), self.m_axis.tvalid.eq(part == parts - 1)]
            m.d.sync += [sent.eq(elements), self.m_axis.tlast.eq(self.elements.payload.tag)]

    def _walk(
        self, m: Module, request: data.View, advance: Value, col: Signal, last: Value
    ) -> tuple[Signal, Signal]:
        """Address and column of one element (or `c_words` of a row) after the other, in the order in which C
        travels; returns the numbers that count them."""
        geometry = self.geometry
        rows, cols = geometry.rows, geometry.cols // geometry.c_words
        inner_size, outer_size, step = self._sizes(self.requests.payload)
        inner, before_inner = (Signal.like(inner_size, name=name) for name in ("inner", "before_inner"))
        outer, before_outer = (Signal.like(outer_size, name=name) for name in ("outer", "before_outer"))
        # Whether line and tile end is known a cycle ahead.
        single, inner_last, outer_last = Signal(), Signal(), Signal()
        with m.If(self.requests.valid & self.requests.ready):
            m.d.sync += [
                single.eq(inner_size == step),
                inner_last.eq(inner_size == step),
                outer_last.eq(outer_size == 1),
                before_inner.eq(inner_size - 2 * step),
                before_outer.eq(outer_size - 2),
            ]
        _, _, step = self._sizes(request)
        tile_n = geometry.size(request.dims, "n")
        row = Signal(range(rows))
        line_start = Signal.like(self.send_address, name="line_start")
        m.d.comb += last.eq(inner_last & outer_last)
        with m.If(advance):
            m.d.sync += [inner.eq(inner + step), inner_last.eq(inner == before_inner)]
            with m.If(inner_last):
                m.d.sync += [
                    inner.eq(0),
                    inner_last.eq(single),
                    outer.eq(outer + 1),
                    outer_last.eq(outer == before_outer),
                ]
            if geometry.c_rows_first:
                m.d.sync += col.eq(col + step)
                with m.If(inner_last):
                    # Below the last row of a block lies the first of the next, wherever the line ended.
                    start = Mux(row == rows - 1, self.send_address, line_start) + 1
                    m.d.sync += [
                        col.eq(0),
                        row.eq(row + 1),
                        line_start.eq(start),
                        self.send_address.eq(start),
                    ]
                with m.Elif(col == cols - step):
                    m.d.sync += self.send_address.eq(self.send_address + rows)
            else:
                other_blocks = ((tile_n - 1) >> (bits_for(cols) - 1)) << (bits_for(rows) - 1)
                m.d.sync += [row.eq(row + 1), self.send_address.eq(self.send_address + 1)]
                with m.If(inner_last):
                    start = Mux(col == cols - 1, line_start + rows, line_start)
                    m.d.sync += [
                        row.eq(0),
                        col.eq(col + 1),
                        line_start.eq(start),
                        self.send_address.eq(start),
                    ]
                with m.Elif(row == rows - 1):
                    m.d.sync += self.send_address.eq(self.send_address + other_blocks + 1)
            with m.If(last):
                m.d.sync += [outer.eq(0), row.eq(0), col.eq(0), line_start.eq(0), self.send_address.eq(0)]
        return inner, outer

    def _sizes(self, request: data.View) -> tuple[Value, Value, Value | int]:
        """Length of a line, number of lines, and how far a step of the walk goes in a line."""
        geometry = self.geometry
        tile_m, tile_n = geometry.size(request.dims, "m"), geometry.size(request.dims, "n")
        groups_n = tile_n >> (bits_for(geometry.c_words) - 1) if geometry.c_words > 1 else tile_n
        step: Value | int = 1
        if geometry.post and self._step_bits:
            step = Mux(request.requantise, 1 << self._step_bits, 1)
        return (groups_n, tile_m, step) if geometry.c_rows_first else (tile_m, tile_n, step)
