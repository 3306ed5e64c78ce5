"""Sends a tile of C from one half of the result buffer: an element a word, TLAST on the last beat."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from axiloom.hw.axi import AXI4Stream
from axiloom.hw.geometry import Geometry
from axiloom.isa.types import WORD_BITS


def request_layout(dims: data.StructLayout) -> data.StructLayout:
    """Which half to send with which sizes; `zero`: it has been cleared, send zeros."""
    return data.StructLayout({"half": unsigned(1), "zero": unsigned(1), "dims": dims})


class Sender(wiring.Component):
    """Takes a request when it has read all of the tile before; waits until the half is not `running`.

    `holds`: it still has to read `send_half`; `reading`: it does so now. `busy`: a tile is waiting or
    going out, and not only because `m_axis` is not taken.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        super().__init__(
            {
                "requests": In(stream.Signature(request_layout(geometry.command_dims))),
                "running": In(2),
                "holds": Out(1),
                "reading": Out(1),
                "send_half": Out(1),
                "send_enable": Out(1),
                "send_address": Out(range(geometry.c_depth)),
                "send_row": In(WORD_BITS * geometry.cols),
                "busy": Out(1),
                "m_axis": Out(AXI4Stream(geometry.stream_width)),
            }
        )

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        request = Signal(request_layout(self.geometry.command_dims))
        waiting = Signal()
        reading = Signal()
        flowing = Signal()
        advance = Signal()
        last = Signal()
        width = self.geometry.c_words * WORD_BITS
        parts = self.geometry.stream_width // width
        col = Signal(range(self.geometry.cols // self.geometry.c_words))

        m.d.comb += [
            flowing.eq(~self.m_axis.tvalid | self.m_axis.tready),
            advance.eq(reading & flowing),
            self.requests.ready.eq(~waiting & ~reading),
            self.holds.eq((waiting | reading) & ~request.zero),
            self.reading.eq(reading & ~request.zero),
            self.send_half.eq(request.half),
            self.send_enable.eq(advance),
        ]
        with m.If(self.requests.valid & self.requests.ready):
            m.d.sync += [request.eq(self.requests.payload), waiting.eq(1)]
        with m.If(waiting & (request.zero | ~self.running.bit_select(request.half, 1))):
            m.d.sync += [waiting.eq(0), reading.eq(1)]
        with m.If(advance & last):
            m.d.sync += reading.eq(0)
        self._walk(m, request, advance, col, last)

        # The row read, and which of its words go out.
        row_valid = Signal()
        row_last = Signal()
        row_zero = Signal()
        row_col = Signal.like(col, name="row_col")
        with m.If(flowing):
            m.d.sync += [
                row_valid.eq(reading),
                row_last.eq(last),
                row_zero.eq(request.zero),
                row_col.eq(col),
                self.m_axis.tvalid.eq(row_valid),
            ]
            with m.If(row_valid):
                words = Mux(row_zero, 0, self.send_row.word_select(row_col, width))
                sent = self.m_axis.tdata
                if parts > 1:
                    part = Signal(range(parts))
                    sent = self.m_axis.tdata.word_select(part, width)
                    m.d.sync += [part.eq(part + 1), self.m_axis.tvalid.eq(part == parts - 1)]
                m.d.sync += [sent.eq(words), self.m_axis.tlast.eq(row_last)]
        # A beat that nobody takes holds everything behind it: nothing changes before it is taken.
        stuck = ~waiting & self.m_axis.tvalid & ~self.m_axis.tready
        m.d.comb += self.busy.eq((waiting | reading | row_valid | self.m_axis.tvalid) & ~stuck)
        return m

    def _walk(self, m: Module, request: data.View, advance: Value, col: Signal, last: Value) -> None:
        """Address and column of one element (or `c_words` of a row) after the other, in the order in which C
        travels."""
        geometry = self.geometry
        rows, cols = geometry.rows, geometry.cols // geometry.c_words
        tile_m, tile_n = geometry.size(request.dims, "m"), geometry.size(request.dims, "n")
        groups_n = tile_n >> (bits_for(geometry.c_words) - 1) if geometry.c_words > 1 else tile_n
        inner_size, outer_size = (groups_n, tile_m) if geometry.c_rows_first else (tile_m, tile_n)
        inner, outer = Signal.like(inner_size, name="inner"), Signal.like(outer_size, name="outer")
        row = Signal(range(rows))
        line_start = Signal.like(self.send_address, name="line_start")
        inner_last = Signal()
        m.d.comb += [inner_last.eq(inner == inner_size - 1), last.eq(inner_last & (outer == outer_size - 1))]
        with m.If(advance):
            m.d.sync += inner.eq(inner + 1)
            with m.If(inner_last):
                m.d.sync += [inner.eq(0), outer.eq(outer + 1)]
            if geometry.c_rows_first:
                m.d.sync += col.eq(col + 1)
                with m.If(inner_last):
                    # Below the last row of a block lies the first of the next, wherever the line ended.
                    start = Mux(row == rows - 1, self.send_address, line_start) + 1
                    m.d.sync += [
                        col.eq(0),
                        row.eq(row + 1),
                        line_start.eq(start),
                        self.send_address.eq(start),
                    ]
                with m.Elif(col == cols - 1):
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
