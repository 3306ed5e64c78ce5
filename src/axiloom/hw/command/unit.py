"""What executes one kind of command, or several that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Protocol

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from axiloom.hw.command.decode import logic
from axiloom.isa.instructions.tree import Expr


class Meaning(Protocol):
    """`values`: by the names of a unit's description, expressions of the command's words."""

    @property
    def values(self) -> Mapping[str, Expr]: ...


@dataclass(frozen=True)
class Task:
    """A meaning, and whether the command under way is of it."""

    meaning: Meaning
    is_active: Value


class Unit:
    """`start` is high for a cycle; `done` in the last cycle of the command. `inputs`: the command's words,
    which stay while it is under way."""

    def __init__(self, name: str, tasks: Mapping[str, Task], inputs: Mapping[str, Value]) -> None:
        self.name, self.tasks, self.inputs = name, tasks, inputs
        self.start, self.done = Signal(name=f"{name}_start"), Signal(name=f"{name}_done")

    def build(self, m: Module) -> None:
        """Comes once; it asks the memories for their ports."""
        raise NotImplementedError

    def starts(self) -> Value:
        """Whether a command that begins is of this unit."""
        return Cat(*(task.is_active for task in self.tasks.values())).any()

    def is_(self, unit: str) -> Value:
        """Whether the command under way is what `unit` does."""
        return self.tasks[unit].is_active

    def value(self, m: Module, name: str) -> Value:
        """A value of the command under way. Commands that have it in the same bits share them."""
        holders: dict[Expr, list[Value]] = {}
        for task in self.tasks.values():
            if name in task.meaning.values:
                holders.setdefault(task.meaning.values[name], []).append(task.is_active)
        values = {expr: logic(expr, self.inputs) for expr in holders}
        if len(values) == 1:
            (chosen,) = values.values()
        else:
            chosen = reduce(or_, (Mux(Cat(*holders[expr]).any(), value, 0) for expr, value in values.items()))
        wire = Signal(chosen.shape(), name=f"{self.name}_{name}")
        m.d.comb += wire.eq(chosen)
        return wire


def flag(m: Module, value: Value, name: str, cycles: int = 1) -> Signal:
    """`value` of `cycles` cycles before; a reset clears it on its way."""
    for cycle in range(cycles):
        register = Signal(name=f"{name}_{cycle + 1}" if cycles > 1 else name)
        m.d.sync += register.eq(value)
        value = register
    assert isinstance(value, Signal)
    return value
