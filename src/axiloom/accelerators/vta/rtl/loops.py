"""The loops over micro-ops: an outer and an inner one, and in them a run of micro-ops, a place each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from amaranth.hdl import Module, Signal, Value

from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import flag
from axiloom.hw.nest.operators.stages import Stages

FIELDS: Mapping[str, slice] = {"dst": slice(0, 11), "src": slice(11, 22), "wgt": slice(22, 32)}
"""Of a micro-op (hardware/xilinx/src/vta.h of apache/tvm-vta)."""
DEPTH = 2
"""Cycles from a turn of the loops to its place."""


@dataclass(frozen=True)
class Place:
    """Where one step works: `index` in each of the memories. `last` with the last one of a command."""

    valid: Value
    last: Value
    index: Mapping[str, Value]


@dataclass
class Loops:
    """`start` begins; `value` gives the command's values by name; each turn takes `pace` cycles.

    `bits`: of the indices, by field. `is_empty`, in the cycle after `start`: there is not one turn.
    """

    uop: Memory
    bits: Mapping[str, int]
    start: Value
    value: Callable[[str], Value]
    pace: Value

    def build(self, m: Module) -> Place:
        first, last, outer, inner = map(self.value, ("first", "last", "outer", "inner"))
        u, i, j = (
            Signal(len(end), name=f"loops_{name}")
            for name, end in zip("uij", (last, outer, inner), strict=True)
        )
        wait = Signal(len(self.pace), name="loops_wait")
        active, turns = Signal(name="loops_active"), Signal(name="loops_turns")
        self.is_empty = Signal(name="loops_empty")
        is_there = (first < last) & (outer != 0) & (inner != 0)
        last_u, last_j, last_i = (Signal(name=f"loops_last_{name}") for name in "uji")
        m.d.comb += [
            last_u.eq(u == last - 1),
            last_j.eq(j == inner - 1),
            last_i.eq(i == outer - 1),
            turns.eq(active & (wait == 0)),
        ]
        m.d.sync += self.is_empty.eq(self.start & ~is_there)
        with m.If(turns):
            m.d.sync += [u.eq(u + 1), wait.eq(self.pace - 1)]
            with m.If(last_u):
                m.d.sync += [u.eq(first), j.eq(j + 1)]
                with m.If(last_j):
                    m.d.sync += [j.eq(0), i.eq(i + 1)]
                    with m.If(last_i):
                        m.d.sync += active.eq(0)
        with m.Elif(active):
            m.d.sync += wait.eq(wait - 1)
        with m.If(self.start):
            m.d.sync += [u.eq(first), i.eq(0), j.eq(0), wait.eq(0), active.eq(is_there)]

        stages = Stages(m, "loops")
        word = self.uop.read(turns, u)
        index = {}
        for name, bits in self.bits.items():
            moves = self._offset(m, name, bits, turns & last_u, last_j)
            own = word[FIELDS[name]][:bits]
            total = stages.wire((own + stages.later(moves, f"{name}_moves"))[:bits], f"{name}_total")
            index[name] = stages.later(total, name)
        is_last = stages.later(last_u & last_j & last_i, "is_last", DEPTH)
        return Place(flag(m, turns, "loops_valid", DEPTH), is_last, index)

    def _offset(self, m: Module, name: str, bits: int, ends: Value, ends_inner: Value) -> Value:
        """``i * outer + j * inner`` of one index, without a multiplier."""
        row, now = (Signal(bits, name=f"loops_{name}_{which}") for which in ("row", "now"))
        outer, inner = self.value(f"{name}_outer"), self.value(f"{name}_inner")
        with m.If(ends):
            m.d.sync += now.eq(now + inner)
            with m.If(ends_inner):
                m.d.sync += [row.eq(row + outer), now.eq(row + outer)]
        with m.If(self.start):
            m.d.sync += [row.eq(0), now.eq(0)]
        return now
