"""z = x . y: each lane has a column's sum, and adds the product of a row's next element in each cycle.

An addition takes longer than a cycle. So a lane has several sums under way, of `groups` columns and of as
many rows as it takes, and comes back to each of them after `turn` cycles: sums stay in the order of k.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.qkv.numbers.registry import function
from axiloom.hw.qkv.row_memory import ELEMENT, Geometry
from axiloom.hw.qkv.task import Unit

_ADD, _MULTIPLY = function("float32.add"), function("float32.mul of bfloat16")
_NARROW = function("float32.to_bfloat16")
_READ = 2
"""Cycles from a place to its elements in the lanes: the memory, and a register."""
DEPTH = _READ + _MULTIPLY.latency + _ADD.latency
"""Cycles from a place to its sum."""


def turn(least: int) -> int:
    """The smallest power of two that an addition fits into."""
    return 1 << (least - 1).bit_length()


def rows_at_once(geometry: Geometry) -> int:
    """Rows whose sums are under way. Raises ValueError if there are not so many."""
    rows = max(1, turn(_ADD.latency) // geometry.groups)
    if rows > geometry.columns:
        raise ValueError(f"an addition takes longer than {geometry.columns} rows in {geometry.lanes} lanes")
    return rows


def back(stages: Stages, total: Value, latency: int, every: int, label: str) -> Value:
    """`total` after `every` cycles since its operands came, of which the addition took `latency`."""
    return stages.later(total, label, every - latency) if every > latency else total


class Product(Unit):
    """Places go through: rows in blocks, then k, then the rows of a block, then the groups of columns."""

    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        rows, groups, columns = rows_at_once(geometry), geometry.groups, geometry.columns
        sizes = (groups, rows, columns, columns // rows)
        parts = [(size - 1).bit_length() for size in sizes]
        count = Signal(sum(parts), name=f"{self.name}_count")
        active = Signal(name=f"{self.name}_active")
        fields, at = [], 0
        for bits in parts:
            fields.append(count[at : at + bits])
            at += bits
        group, row, k, block = fields
        with m.If(active):
            m.d.sync += count.eq(count + 1)
            with m.If(count.all()):
                m.d.sync += active.eq(0)
        with m.If(self.start):
            m.d.sync += [count.eq(0), active.eq(1)]

        line = stages.wire(Cat(row, block), "line")
        is_same = any(task.memories["x"] is task.memories["y"] for task in self.tasks)
        x = self.read(m, "x", active, self.value(m, "a") + line, geometry.group(k))
        y = self.read(m, "y", active, self.value(m, "b") + k, group, port=int(is_same))
        lane = stages.later(geometry.lane(k), "lane")
        factor = stages.later(geometry.element(x, lane), "factor")
        word = stages.later(y, "word")
        first = stages.later(k == 0, "first", _READ + _MULTIPLY.latency)
        every = rows * groups
        totals = []
        for number in range(geometry.lanes):
            own = Stages(m, f"{self.name}_lane_{number}")
            element = word.word_select(number, ELEMENT)
            product = _MULTIPLY.build(m, f"{own.name}_product", factor, element)
            total = Signal(32, name=f"{own.name}_total")
            before = Mux(first, 0, back(own, total, _ADD.latency, every, "before"))
            m.d.comb += total.eq(_ADD.build(m, f"{own.name}_sum", before, product))
            totals.append(_NARROW.build(m, f"{own.name}_narrow", total))

        ends = stages.later(active & (k == columns - 1), "ends", DEPTH + 1)
        result = stages.later(Cat(*totals), "result")
        place = stages.later(stages.wire(self.value(m, "out") + line, "row_out"), "place", DEPTH + 1)
        to = stages.later(group, "to", DEPTH + 1) if groups > 1 else Const(0, 1)
        finished = stages.later(active & count.all(), "finished", DEPTH + 1)
        self.write("z", ends, place, to, result, Const(-1, geometry.lanes))
        left = Signal(range(DEPTH + 3), name=f"{self.name}_left")
        with m.If(active):
            m.d.sync += left.eq(DEPTH + 1)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        m.d.comb += [self.done.eq(finished), self.running.eq(active | (left != 0))]
