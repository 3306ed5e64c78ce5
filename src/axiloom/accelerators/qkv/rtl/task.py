"""`Task`: what a unit does for one instruction, and what of it is of the instruction under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.accelerators.qkv.rtl.row_memory import Geometry, RowMemory
from axiloom.hw.nest.operators.stages import Stages


@dataclass(frozen=True)
class Task:
    """`unit`: the kind of instruction. `is_active`: the command under way is this one. `values`, which stay
    while it is under way, and `memories` are by the names that the unit has for them."""

    instruction: str
    unit: str
    is_active: Value
    values: Mapping[str, Value]
    memories: Mapping[str, RowMemory]


class Unit:
    """What executes instructions of some kinds. `start` is high for a cycle; `done` in the last cycle of it.

    :meth:`build` comes once; it asks the memories for their ports.
    """

    def __init__(self, name: str, tasks: Sequence[Task], geometry: Geometry) -> None:
        self.name, self.tasks, self.geometry = name, tasks, geometry
        self.start, self.done = Signal(name=f"{name}_start"), Signal(name=f"{name}_done")
        self.running = Signal(name=f"{name}_running")

    def build(self, m: Module) -> None:
        raise NotImplementedError

    def stages(self, m: Module) -> Stages:
        return Stages(m, self.name)

    def starts(self) -> Value:
        """Whether a command that begins is of this unit."""
        return Cat(*(task.is_active for task in self.tasks)).any()

    def is_active(self, *kinds: str) -> Value:
        """Whether the task under way is of one of these kinds."""
        return Cat(*(task.is_active for task in self.tasks if task.unit in kinds)).any()

    def value(self, m: Module, name: str) -> Value:
        """A value of the task under way; 0 if it has none."""
        tasks = [task for task in self.tasks if name in task.values]
        width = max((len(task.values[name]) for task in tasks), default=1)
        chosen: Value = Const(0, width)
        for task in tasks:
            chosen = chosen | Mux(task.is_active, task.values[name], 0)
        wire = Signal(width, name=f"{self.name}_{name}")
        m.d.comb += wire.eq(chosen)
        return wire

    def read(self, m: Module, memory: str, active: Value, row: Value, group: Value, port: int = 0) -> Value:
        """A word of what the task under way calls `memory`; it stays that of the task a cycle later. 0 if the
        task has no such memory."""
        word: Value = Const(0, self.geometry.word_bits)
        for task in self.tasks:
            if memory not in task.memories:
                continue
            read = task.memories[memory].read(active & task.is_active, row, group, port)
            word = word | Mux(task.is_active, read, 0)
        wire = Signal(self.geometry.word_bits, name=f"{self.name}_{memory}_word")
        m.d.comb += wire.eq(word)
        return wire

    def write(self, memory: str, active: Value, row: Value, group: Value, word: Value, mask: Value) -> None:
        for task in self.tasks:
            task.memories[memory].write(active & task.is_active, row, group, word, mask)


def strobe(m: Module, value: Value, label: str, cycles: int) -> Value:
    """`value`, a bit, of `cycles` cycles before; 0 after a reset, however short: what it tells to begin or to
    end is of the command that was stopped."""
    for cycle in range(cycles):
        register = Signal(name=f"{label}_{cycle + 1}")
        m.d.sync += register.eq(value)
        value = register
    return value


class Walk:
    """Two counters, the inner one in steps to `inner`, the outer one to `outer` (a value): `r` and `c`.

    `start` sets them to 0. `step` is taken where `is_active`; `is_last` in the last one. With no rows it is
    never active, and `is_empty` tells so in the cycle after `start`.
    """

    def __init__(self, m: Module, name: str, start: Value, outer: Value, inner: int, step: Value) -> None:
        self.r = Signal(len(outer), name=f"{name}_r")
        self.c = Signal(range(max(2, inner)), name=f"{name}_c")
        self.is_active = Signal(name=f"{name}_active")
        self.is_last = Signal(name=f"{name}_last")
        self.is_empty = Signal(name=f"{name}_empty")
        ends = self.c == inner - 1
        m.d.sync += self.is_empty.eq(start & (outer == 0))
        m.d.comb += self.is_last.eq(ends & (self.r == outer - 1))
        with m.If(self.is_active & step):
            m.d.sync += self.c.eq(self.c + 1)
            with m.If(ends):
                m.d.sync += [self.c.eq(0), self.r.eq(self.r + 1)]
            with m.If(self.is_last):
                m.d.sync += self.is_active.eq(0)
        with m.If(start):
            m.d.sync += [self.r.eq(0), self.c.eq(0), self.is_active.eq(outer != 0)]
