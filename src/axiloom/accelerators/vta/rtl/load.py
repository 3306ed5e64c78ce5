"""Rows of vectors or blocks with pads around: a beat of the payload a cycle, a padded one in a cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream

from axiloom.accelerators.vta.rtl.meanings import ACCUMULATOR
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit


@dataclass(frozen=True)
class Kind:
    """What a load of one kind fills: words of `memory`, each from `beats` beats of the payload. `widens`:
    bytes become accumulators."""

    memory: Memory
    beats: int
    widens: bool = False

    def chunk(self, payload: Value) -> Value:
        """What a beat becomes, one of `beats` equal pieces of a word."""
        if not self.widens:
            return payload
        bytes_ = (payload.word_select(n, 8).as_signed() for n in range(len(payload) // 8))
        return Cat(*(Cat(byte, byte[-1].replicate(ACCUMULATOR - 8)) for byte in bytes_))

    def mask(self, beat: Value) -> Value:
        """Parts of the word that this beat fills."""
        size = self.memory.parts // self.beats
        return Cat(*((beat == n).replicate(size) for n in range(self.beats)))


class Load(Unit):
    """`kinds`: by unit, as in :data:`axiloom.accelerators.vta.rtl.meanings.LOADS`."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        inputs: Mapping[str, Value],
        payload: stream.Interface,
        kinds: Mapping[str, Kind],
    ) -> None:
        super().__init__("load", tasks, inputs)
        self.payload, self.kinds = payload, {name: kinds[name] for name in tasks}

    def build(self, m: Module) -> None:
        names = ("width", "height", "above", "rows", "left", "count", "sram")
        width, height, above, rows, left, count, sram = (self.value(m, name) for name in names)
        x, y = Signal(len(width), name="load_x"), Signal(len(height), name="load_y")
        ends_x, ends_y = (
            Signal(len(width) + 1, name="load_ends_x"),
            Signal(len(height) + 1, name="load_ends_y"),
        )
        address = Signal(max(kind.memory.address_bits for kind in self.kinds.values()), name="load_address")
        beat = Signal(range(max(2, *(kind.beats for kind in self.kinds.values()))), name="load_beat")
        active, is_empty = Signal(name="load_active"), Signal(name="load_empty")
        is_there = (width != 0) & (height != 0)
        m.d.sync += is_empty.eq(self.start & ~is_there)
        with m.If(self.start):
            m.d.sync += [x.eq(0), y.eq(0), beat.eq(0), address.eq(sram), active.eq(is_there)]
            m.d.sync += [ends_x.eq(left + count), ends_y.eq(above + rows)]

        inside, moves = Signal(name="load_inside"), Signal(name="load_moves")
        last_beat, last_x, last_y = (Signal(name=f"load_last_{what}") for what in ("beat", "x", "y"))
        ends = reduce(or_, (self.is_(name) & (beat == kind.beats - 1) for name, kind in self.kinds.items()))
        m.d.comb += [
            inside.eq((above <= y) & (y < ends_y) & (left <= x) & (x < ends_x)),
            moves.eq(active & (self.payload.valid | ~inside)),
            last_beat.eq(ends | ~inside),
            last_x.eq(x == width - 1),
            last_y.eq(y == height - 1),
            self.done.eq((moves & last_beat & last_x & last_y) | is_empty),
        ]
        with m.If(active):
            m.d.comb += self.payload.ready.eq(inside)
        with m.If(moves):
            m.d.sync += beat.eq(beat + 1)
            with m.If(last_beat):
                m.d.sync += [beat.eq(0), address.eq(address + 1), x.eq(x + 1)]
                with m.If(last_x):
                    m.d.sync += [x.eq(0), y.eq(y + 1)]
                    with m.If(last_y):
                        m.d.sync += active.eq(0)
        pads = Signal(name="load_pads")
        m.d.comb += pads.eq(~inside)
        for name, kind in self.kinds.items():
            chunk = Signal(kind.memory.width // kind.beats, name=f"{name}_chunk")
            m.d.comb += chunk.eq(Mux(pads, 0, kind.chunk(self.payload.payload)))
            mask = kind.mask(beat) | pads.replicate(kind.memory.parts)
            kind.memory.write(moves & self.is_(name), address, chunk.replicate(kind.beats), mask)
