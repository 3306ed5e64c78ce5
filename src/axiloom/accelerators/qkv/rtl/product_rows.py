"""Several rows of a product at once: their elements of x, and their results, in banks.

A memory gives a word a cycle: an element of each of several rows takes as many cycles as there are rows. But
a word has `lanes` elements of its row, and each is multiplied with a whole row of y: so a block's words are
there long before they are needed, and its results are written while the next one's sums are added up.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Module, Signal, Value
from amaranth.lib import memory as ram

from axiloom.accelerators.qkv.rtl.row_memory import Geometry
from axiloom.accelerators.qkv.rtl.task import strobe
from axiloom.hw.nest.operators.stages import Stages

DRAIN = 2
"""Cycles from a result's turn to the result."""


def lead(geometry: Geometry, lane_rows: int) -> int:
    """Cycles before a product's first place: its rows' first words are in their banks then."""
    return geometry.rows * lane_rows + 1


def _bits(*sizes: int) -> list[int]:
    return [(size - 1).bit_length() for size in sizes]


def _parts(value: Value, *sizes: int) -> list[Value]:
    parts, at = [], 0
    for bits in _bits(*sizes):
        parts.append(value[at : at + bits])
        at += bits
    return parts


class Factors:
    """A bank for each row at once, of two blocks: one is read while the next one comes.

    Words come by rows at once, then by the rows of a lane, then by groups of k.
    """

    def __init__(self, m: Module, name: str, geometry: Geometry, lane_rows: int) -> None:
        self.m, self.name, self.geometry, self.lane_rows = m, f"{name}_factors", geometry, lane_rows
        sizes = geometry.rows, lane_rows, geometry.groups
        self.count = Signal(sum(_bits(*sizes)), name=f"{self.name}_count")
        self.is_filling = Signal(name=f"{self.name}_filling")
        self.row, self.lane_row, self.group = _parts(self.count, *sizes)

    def fills(self, start: Value, begins: Value, block: Value) -> Value:
        """The row of x that is read. `start`: of the product; `begins`: the first place of a `block` that is
        not the last one."""
        m = self.m
        self.block = Signal(max(1, len(block)), name=f"{self.name}_block")
        # The first block's words still come when its places begin.
        waits = Signal(name=f"{self.name}_waits")
        with m.If(self.is_filling):
            m.d.sync += self.count.eq(self.count + 1)
            with m.If(self.count.all()):
                m.d.sync += self.is_filling.eq(0)
        with m.Elif(waits):
            m.d.sync += [self.is_filling.eq(1), self.count.eq(0), self.block.eq(block + 1), waits.eq(0)]
        with m.If(begins):
            m.d.sync += waits.eq(1)
        with m.If(start):
            m.d.sync += [self.is_filling.eq(1), self.count.eq(0), self.block.eq(0), waits.eq(0)]
        return Stages(m, self.name).wire(Cat(self.row, self.lane_row, self.block[: len(block)]), "line")

    def read(self, word: Value, block: Value, lane_row: Value, group: Value) -> list[Value]:
        """The words of all rows at once, a cycle later. `word` is the one asked for a cycle before."""
        m, stages = self.m, Stages(self.m, self.name)
        comes = strobe(m, self.is_filling, f"{self.name}_comes", 1)
        bank = stages.later(self.row, "bank")
        to = stages.later(Cat(self.lane_row, self.group, self.block[0]), "to")
        words: list[Value] = []
        for number in range(self.geometry.rows):
            depth = 2 * self.lane_rows * self.geometry.groups
            contents = ram.Memory(shape=self.geometry.word_bits, depth=depth, init=[])
            m.submodules[f"{self.name}_{number}"] = contents
            writer, reader = contents.write_port(), contents.read_port()
            m.d.comb += [
                writer.en.eq(comes & (bank == number)),
                writer.addr.eq(to),
                writer.data.eq(word),
                reader.en.eq(1),
                reader.addr.eq(Cat(lane_row, group, block[:1])),
            ]
            words.append(reader.data)
        return words


class Results:
    """A bank for each row at once: the sums of a block, which leave it one after the other."""

    def __init__(self, m: Module, name: str, geometry: Geometry, lane_rows: int) -> None:
        self.m, self.name, self.geometry, self.lane_rows = m, f"{name}_results", geometry, lane_rows

    def drained(
        self, ends: Value, sums: Value, block: Value, words: Sequence[Value]
    ) -> tuple[Value, Value, Value, Value, Value]:
        """`words`, one of each row, come where `ends`, as number `sums` of `block`, in the order of numbers.

        Whether a result leaves; its row, its group, the result, and whether it is the product's last one."""
        m, stages, geometry = self.m, Stages(self.m, self.name), self.geometry
        sizes = geometry.rows, geometry.groups, self.lane_rows
        count = Signal(sum(_bits(*sizes)), name=f"{self.name}_count")
        of_block = Signal(max(1, len(block)), name=f"{self.name}_block")
        active = Signal(name=f"{self.name}_active")
        row, group, lane_row = _parts(count, *sizes)
        with m.If(active):
            m.d.sync += count.eq(count + 1)
            with m.If(count.all()):
                m.d.sync += active.eq(0)
        with m.If(ends & (sums == 0)):
            m.d.sync += [active.eq(1), count.eq(0), of_block.eq(block)]
        read = []
        for number, word in enumerate(words):
            depth = self.lane_rows * geometry.groups
            contents = ram.Memory(shape=geometry.word_bits, depth=depth, init=[])
            m.submodules[f"{self.name}_{number}"] = contents
            writer, reader = contents.write_port(), contents.read_port()
            m.d.comb += [
                *(writer.en.eq(ends), writer.addr.eq(sums), writer.data.eq(word)),
                *(reader.en.eq(1), reader.addr.eq(Cat(group, lane_row))),
            ]
            read.append(reader.data)
        result = stages.later(Array(read)[stages.later(row, "bank")], "result")
        is_last = active & count.all() & of_block[: len(block)].all()
        return (
            strobe(m, active, f"{self.name}_leaves", DRAIN),
            stages.later(Cat(row, lane_row, of_block[: len(block)]), "line", DRAIN),
            stages.later(group, "group", DRAIN),
            result,
            strobe(m, is_last, f"{self.name}_is_last", DRAIN),
        )
