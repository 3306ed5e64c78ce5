"""Rows in place: exponentials by their sum.

An element a cycle, in blocks of rows: column by column, a row after the other, so that the sum of a row waits
for its last addition no longer than a turn. While a block's exponentials are added up, those of the block
before are divided; between the two they lie in a memory of two blocks.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import memory as ram

from axiloom.accelerators.qkv.rtl.product import back, turn
from axiloom.accelerators.qkv.rtl.row_memory import ELEMENT, Geometry
from axiloom.accelerators.qkv.rtl.task import Unit, strobe
from axiloom.hw.numbers.registry import function
from axiloom.hw.numbers.unit import placed

_ADD, _EXP, _DIVIDE = (function(f"{name}") for name in ("float32.add", "bfloat16.exp", "bfloat16.div"))
_NARROW, _WIDEN = function("float32.to_bfloat16"), function("bfloat16.to_float32")
_READ = 2
TAIL = _READ + _EXP.latency + _ADD.latency + 2
"""Cycles from the last element of a block to its row's sum, ready to be read."""
OUT = 1 + _DIVIDE.latency
"""Cycles from a place to its quotient."""


def block_rows(geometry: Geometry) -> int:
    """Rows of a block. Raises ValueError where an addition takes longer than so many rows."""
    rows = turn(_ADD.latency)
    if rows > geometry.columns:
        raise ValueError(f"an addition takes longer than {geometry.columns} rows")
    return rows


class Softmax(Unit):
    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        block, columns = block_rows(geometry), geometry.columns
        row_bits, column_bits = (block - 1).bit_length(), (columns - 1).bit_length()
        n, first_row = self.value(m, "n"), self.value(m, "row")
        turn_bits = row_bits + column_bits

        # --- time: turns of a block each, and a pause in which sums end ---
        blocks = stages.wire((n + (block - 1))[row_bits:], "blocks")
        number = Signal(len(blocks) + 1, name=f"{self.name}_number")
        count = Signal(turn_bits, name=f"{self.name}_count")
        pause = Signal(range(TAIL + OUT), name=f"{self.name}_pause")
        active, pausing = Signal(name=f"{self.name}_active"), Signal(name=f"{self.name}_pausing")
        last_turn = number == blocks
        with m.If(active):
            m.d.sync += count.eq(count + 1)
            with m.If(count.all()):
                m.d.sync += [active.eq(0), pausing.eq(1), pause.eq(0)]
        length = Mux(last_turn, OUT - 1, TAIL - 1)
        with m.If(pausing):
            m.d.sync += pause.eq(pause + 1)
            with m.If(pause == length):
                m.d.sync += [pausing.eq(0), number.eq(number + 1), active.eq(~last_turn)]
        with m.If(self.start):
            m.d.sync += [number.eq(0), count.eq(0), active.eq(n != 0)]
        empty = Signal(name=f"{self.name}_empty")
        m.d.sync += empty.eq(self.start & (n == 0))
        m.d.comb += [
            self.running.eq(active | pausing),
            self.done.eq((pausing & last_turn & (pause == length)) | empty),
        ]

        # --- exponentials and their sums ---
        row, column = count[:row_bits], count[row_bits:]
        line = stages.wire(Cat(row, number), "line")
        adds = active & ~last_turn
        word = self.read(m, "x", adds, first_row + line, geometry.group(column))
        lane = stages.later(geometry.lane(column), "lane") if geometry.lanes > 1 else Const(0, 1)
        element = stages.later(geometry.element(word, lane), "element")
        power = placed(m, f"{self.name}_exp", _EXP, element)
        total = Signal(32, name=f"{self.name}_total")
        begins = stages.later(column == 0, "begins", _READ + _EXP.latency)
        before = Mux(begins, 0, back(stages, total, _ADD.latency, block, "before"))
        widened = _WIDEN.build(m, f"{self.name}_wide", power)
        m.d.comb += total.eq(placed(m, f"{self.name}_sum", _ADD, before, widened))

        kept = ram.Memory(shape=ELEMENT, depth=2 * block * columns, init=[])
        sums = ram.Memory(shape=ELEMENT, depth=2 * block, init=[])
        m.submodules[f"{self.name}_kept"], m.submodules[f"{self.name}_sums"] = kept, sums
        keeps, keeps_sum = kept.write_port(), sums.write_port()
        half = number[0]
        to_keep = _READ + _EXP.latency
        m.d.comb += [
            keeps.en.eq(strobe(m, adds, f"{self.name}_keeps", to_keep)),
            keeps.addr.eq(stages.later(Cat(count, half), "kept_at", to_keep)),
            keeps.data.eq(power),
            keeps_sum.en.eq(
                strobe(m, adds & (column == columns - 1), f"{self.name}_sum_ends", to_keep + _ADD.latency)
            ),
            keeps_sum.addr.eq(stages.later(Cat(row, half), "sum_at", to_keep + _ADD.latency)),
            keeps_sum.data.eq(placed(m, f"{self.name}_narrow", _NARROW, total)),
        ]

        # --- quotients of the block before ---
        gives, gives_sum = kept.read_port(), sums.read_port()
        divides = active & (number != 0)
        m.d.comb += [
            gives.en.eq(1),
            gives.addr.eq(Cat(count, ~half)),
            gives_sum.en.eq(1),
            gives_sum.addr.eq(Cat(row, ~half)),
        ]
        quotient = placed(m, f"{self.name}_quotient", _DIVIDE, gives.data, gives_sum.data)
        to = stages.wire(Cat(row, (number - 1)[: len(blocks)]), "to")
        writes = strobe(m, divides & (to < n), f"{self.name}_writes", OUT)
        place = stages.later(stages.wire(first_row + to, "row_to"), "place", OUT)
        column_to = stages.later(column, "column_to", OUT)
        self.write(
            "x",
            writes,
            place,
            geometry.group(column_to),
            quotient.replicate(geometry.lanes),
            geometry.mask(geometry.lane(column_to)),
        )
