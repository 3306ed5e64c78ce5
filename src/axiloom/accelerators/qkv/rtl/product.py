"""z = x . y, or z + x . y: each lane has a column's sum, and adds the product of a row's next element in each
cycle. With several rows at once each of them has such lanes, which take the same elements of y.

An addition takes longer than a cycle. So a lane has several sums under way, of `groups` columns and of as
many rows as it takes, and comes back to each of them after `turn` cycles: sums stay in the order of k.
"""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.accelerators.qkv.rtl.product_rows import DRAIN, Factors, Results, lead
from axiloom.accelerators.qkv.rtl.row_memory import ELEMENT, Geometry
from axiloom.accelerators.qkv.rtl.task import Unit, strobe
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.registry import function
from axiloom.hw.numbers.unit import placed

_ADD, _MULTIPLY = function("float32.add"), function("float32.mul of bfloat16")
_NARROW, _ADD_ROUNDED = function("float32.to_bfloat16"), function("bfloat16.add")
_READ = 2
"""Cycles from a place to its elements in the lanes: the memory, and a register."""
DEPTH = _READ + _MULTIPLY.latency + _ADD.latency
"""Cycles from a place to its sum."""
ADDED = _READ + _ADD_ROUNDED.latency
"""Cycles from a sum to that with what is there, where a text has such an instruction."""


def turn(least: int) -> int:
    """The smallest power of two that an addition fits into."""
    return 1 << (least - 1).bit_length()


def turns(geometry: Geometry) -> int:
    """Rows of one lane whose sums are under way. Raises ValueError if there are not so many."""
    lane_rows = max(1, turn(_ADD.latency) // geometry.groups)
    if lane_rows * geometry.rows > geometry.columns:
        also = f" and {geometry.rows} rows at once" if geometry.rows > 1 else ""
        raise ValueError(
            f"an addition takes longer than {geometry.columns} rows in {geometry.lanes} lanes{also}"
        )
    return lane_rows


def cycles(geometry: Geometry, *, added: bool) -> int:
    """How many cycles the unit is busy with a product. `added`: the text has an instruction that adds."""
    places = geometry.columns**2 * geometry.groups // geometry.rows
    total = places + DEPTH + 1 + (ADDED if added else 0)
    if geometry.rows == 1:
        return total
    sums = turns(geometry) * geometry.groups
    return lead(geometry, turns(geometry)) + total - (sums - 1) + geometry.rows * sums + DRAIN


def back(stages: Stages, total: Value, latency: int, every: int, label: str) -> Value:
    """`total` after `every` cycles since its operands came, of which the addition took `latency`."""
    return stages.later(total, label, every - latency) if every > latency else total


@dataclass(frozen=True)
class _Places:
    """Rows in blocks, then k, then the rows of a lane in a block, then the groups of columns. `count` is all
    of them."""

    count: Signal
    active: Signal
    group: Value
    row: Value
    k: Value
    block: Value


class Product(Unit):
    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        groups, rows = geometry.groups, geometry.rows
        lane_rows = turns(geometry)
        at = self._places(m, lane_rows)
        is_same = any(task.memories["x"] is task.memories["y"] for task in self.tasks)
        y = self.read(m, "y", at.active, self.value(m, "b") + at.k, at.group, port=int(is_same))
        word = stages.later(y, "word")
        factors = self._factors(m, at, lane_rows)
        first = stages.later(at.k == 0, "first", _READ + _MULTIPLY.latency)
        every = lane_rows * groups
        words = [self._sums(m, row, factors[row], word, first, every) for row in range(rows)]

        ends = self._strobe(m, at.active & (at.k == geometry.columns - 1), "ends", DEPTH + 1)
        to = stages.later(at.group, "to", DEPTH + 1) if groups > 1 else Const(0, 1)
        finished = self._strobe(m, at.active & at.count.all(), "finished", DEPTH + 1)
        line = Cat(at.row, at.block)
        if rows == 1:
            result = stages.later(words[0], "result")
        else:
            sums = stages.later(Cat(at.group, at.row), "sums", DEPTH + 1)
            block = stages.later(at.block, "block", DEPTH + 1)
            results = Results(m, self.name, geometry, lane_rows)
            ends, line, to, result, finished = results.drained(
                ends, sums, block, [stages.later(word, f"result_{i}") for i, word in enumerate(words)]
            )
        place = stages.wire(self.value(m, "out") + line, "row_out")
        if rows == 1:
            place = stages.later(place, "place", DEPTH + 1)
        if any(task.unit == "product_added" for task in self.tasks):
            result = self._added(m, ends, place, to, result)
            place, to = stages.later(place, "place_added", ADDED), stages.later(to, "to_added", ADDED)
            ends = self._strobe(m, ends, "ends_added", ADDED)
            finished = self._strobe(m, finished, "finished_added", ADDED)
        self.write("z", ends, place, to, result, Const(-1, geometry.lanes))
        under_way = Signal(name=f"{self.name}_under_way")
        with m.If(finished):
            m.d.sync += under_way.eq(0)
        with m.If(self.start):
            m.d.sync += under_way.eq(1)
        m.d.comb += [self.done.eq(finished), self.running.eq(under_way)]

    def _strobe(self, m: Module, value: Value, label: str, cycles: int) -> Value:
        return strobe(m, value, f"{self.name}_{label}", cycles)

    def _places(self, m: Module, lane_rows: int) -> _Places:
        geometry = self.geometry
        blocks = geometry.columns // (lane_rows * geometry.rows)
        parts = [(size - 1).bit_length() for size in (geometry.groups, lane_rows, geometry.columns, blocks)]
        count = Signal(sum(parts), name=f"{self.name}_count")
        active = Signal(name=f"{self.name}_active")
        fields, at = [], 0
        for bits in parts:
            fields.append(count[at : at + bits])
            at += bits
        with m.If(active):
            m.d.sync += count.eq(count + 1)
            with m.If(count.all()):
                m.d.sync += active.eq(0)
        begins: Value = self.start
        if geometry.rows > 1:
            begins = self._strobe(m, self.start, "begins", lead(geometry, lane_rows))
        with m.If(begins):
            m.d.sync += [count.eq(0), active.eq(1)]
        return _Places(count, active, *fields)

    def _factors(self, m: Module, at: _Places, lane_rows: int) -> list[Value]:
        """The element of x of each row, as late as y's are in the lanes."""
        geometry, stages = self.geometry, self.stages(m)
        lane = stages.later(geometry.lane(at.k), "lane")
        if geometry.rows == 1:
            line = stages.wire(Cat(at.row, at.block), "line")
            words = [self.read(m, "x", at.active, self.value(m, "a") + line, geometry.group(at.k))]
        else:
            banks = Factors(m, self.name, geometry, lane_rows)
            begins = at.active & (at.count[: len(at.count) - len(at.block)] == 0) & ~at.block.all()
            line = banks.fills(self.start, begins, at.block)
            words = banks.read(
                self.read(m, "x", banks.is_filling, self.value(m, "a") + line, banks.group),
                at.block, at.row, geometry.group(at.k),
            )  # fmt: skip
        return [stages.later(geometry.element(word, lane), f"factor_{i}") for i, word in enumerate(words)]

    def _sums(self, m: Module, row: int, factor: Value, word: Value, first: Value, every: int) -> Value:
        """The sums of a row's lanes, rounded."""
        totals = []
        for number in range(self.geometry.lanes):
            own = Stages(m, f"{self.name}_row_{row}_lane_{number}")
            element = word.word_select(number, ELEMENT)
            product = placed(m, f"{own.name}_product", _MULTIPLY, factor, element)
            total = Signal(32, name=f"{own.name}_total")
            before = Mux(first, 0, back(own, total, _ADD.latency, every, "before"))
            m.d.comb += total.eq(placed(m, f"{own.name}_sum", _ADD, before, product))
            totals.append(placed(m, f"{own.name}_narrow", _NARROW, total))
        return Cat(*totals)

    def _added(self, m: Module, ends: Value, place: Value, to: Value, result: Value) -> Value:
        """`result`, and what is in its place where the instruction adds to that; ADDED cycles later."""
        geometry, stages = self.geometry, self.stages(m)
        adds = self.is_active("product_added")
        there = stages.later(self.read(m, "z", ends & adds, place, to), "there")
        alone = stages.later(result, "alone", _READ)
        lanes = [
            placed(
                m, f"{self.name}_added_{number}", _ADD_ROUNDED,
                there.word_select(number, ELEMENT), alone.word_select(number, ELEMENT),
            )
            for number in range(geometry.lanes)
        ]  # fmt: skip
        kept = stages.later(alone, "kept", _ADD_ROUNDED.latency)
        return Mux(adds, Cat(*lanes), kept)
