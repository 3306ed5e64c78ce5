"""Beats of a stream to rows of a memory and back. A row is a whole number of beats, or a beat of rows."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.command.front import result_layout


def _fits(what: str, beat: int, row: int) -> None:
    if beat <= 0 or row <= 0 or (beat % row and row % beat):
        raise ValueError(f"{what}: rows of {row} bits and beats of {beat} bits do not divide each other")


class BeatsToRows(wiring.Component):
    """`beats` of `stream_width` bits to `rows` of `row_bits`, the first in the lowest bits.

    Rows narrower than a beat: `flush` in the cycle in which a row is taken drops what is left of its beat, so
    that the next command begins with a beat of its own. A beat a cycle.
    """

    def __init__(self, stream_width: int, row_bits: int) -> None:
        _fits("payload", stream_width, row_bits)
        self._stream_width = stream_width
        self._row_bits = row_bits
        super().__init__(
            {
                "beats": In(stream.Signature(stream_width)),
                "rows": Out(stream.Signature(row_bits)),
                "flush": In(1),
            }
        )

    @property
    def stream_width(self) -> int:
        return self._stream_width

    @property
    def row_bits(self) -> int:
        return self._row_bits

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.row_bits <= self.stream_width:
            self._narrow(m, self.stream_width // self.row_bits)
        else:
            self._wide(m, self.row_bits // self.stream_width)
        return m

    def _narrow(self, m: Module, per_beat: int) -> None:
        """A beat stays until its last row is taken."""
        at = Signal(range(per_beat))
        rows = [self.beats.payload.word_select(n, self.row_bits) for n in range(per_beat)]
        ends = (at == per_beat - 1) | self.flush
        m.d.comb += [
            self.rows.valid.eq(self.beats.valid),
            self.rows.payload.eq(Array(rows)[at]),
            self.beats.ready.eq(self.rows.ready & ends),
        ]
        with m.If(self.rows.valid & self.rows.ready):
            m.d.sync += at.eq(at + 1)
            with m.If(ends):
                m.d.sync += at.eq(0)

    def _wide(self, m: Module, beats: int) -> None:
        """The last beat of a row passes through."""
        held = [Signal(self.stream_width, name=f"held_{n}") for n in range(beats - 1)]
        count = Signal(range(beats))
        last = count == beats - 1
        m.d.comb += [
            self.rows.valid.eq(self.beats.valid & last),
            self.rows.payload.eq(Cat(*held, self.beats.payload)),
            self.beats.ready.eq(~last | self.rows.ready),
        ]
        with m.If(self.beats.valid & self.beats.ready):
            m.d.sync += count.eq(count + 1)
            for n, part in enumerate(held):
                with m.If(count == n):
                    m.d.sync += part.eq(self.beats.payload)
            with m.If(last):
                m.d.sync += count.eq(0)


class RowsToBeats(wiring.Component):
    """`rows` of `row_bits`, `last` with the last one of a command, to `beats` of results, a beat a cycle.

    Rows narrower than a beat fill it from the lowest bits on; zeros fill up the last one.
    """

    def __init__(self, row_bits: int, stream_width: int) -> None:
        _fits("result", stream_width, row_bits)
        self._stream_width = stream_width
        self._row_bits = row_bits
        super().__init__(
            {
                "rows": In(stream.Signature(result_layout(row_bits))),
                "beats": Out(stream.Signature(result_layout(stream_width))),
            }
        )

    @property
    def stream_width(self) -> int:
        return self._stream_width

    @property
    def row_bits(self) -> int:
        return self._row_bits

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.row_bits < self.stream_width:
            self._narrow(m, self.stream_width // self.row_bits)
        else:
            self._wide(m, self.row_bits // self.stream_width)
        return m

    def _narrow(self, m: Module, per_beat: int) -> None:
        rows, beats = self.rows, self.beats
        held = Signal(self.stream_width)  # zero from row number `at` on
        at = Signal(range(per_beat))
        joined = Signal(self.stream_width)
        ends = (at == per_beat - 1) | rows.payload.last
        m.d.comb += [
            joined.eq(held | (rows.payload.data << (at * self.row_bits))),
            beats.valid.eq(rows.valid & ends),
            beats.payload.data.eq(joined),
            beats.payload.last.eq(rows.payload.last),
            rows.ready.eq(~ends | beats.ready),
        ]
        with m.If(rows.valid & rows.ready):
            m.d.sync += [at.eq(at + 1), held.eq(joined)]
            with m.If(ends):
                m.d.sync += [at.eq(0), held.eq(0)]

    def _wide(self, m: Module, beats: int) -> None:
        """A row stays until its last beat is taken."""
        count = Signal(range(beats))
        last = count == beats - 1
        parts = [self.rows.payload.data.word_select(n, self.stream_width) for n in range(beats)]
        m.d.comb += [
            self.beats.valid.eq(self.rows.valid),
            self.beats.payload.data.eq(Array(parts)[count]),
            self.beats.payload.last.eq(last & self.rows.payload.last),
            self.rows.ready.eq(self.beats.ready & last),
        ]
        with m.If(self.beats.valid & self.beats.ready):
            m.d.sync += count.eq(count + 1)
            with m.If(last):
                m.d.sync += count.eq(0)
