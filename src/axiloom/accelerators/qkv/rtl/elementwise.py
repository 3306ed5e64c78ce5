"""Rows in place, element by element with rows of another memory: a word a cycle.

A lane has one adder, one multiplier and one comparison for all of its instructions, as far as these need
them. An operand that an instruction does not read is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.accelerators.qkv.rtl.row_memory import ELEMENT
from axiloom.accelerators.qkv.rtl.task import Unit, Walk, strobe
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.registry import function
from axiloom.hw.numbers.unit import placed

_ADD, _MULTIPLY, _MAXIMUM = (function(f"bfloat16.{name}") for name in ("add", "mul", "max"))
_READ = 2
"""Cycles from a place to its elements in the lanes: the memory, and a register."""
_LATENCY = max(_ADD.latency, _MULTIPLY.latency, _MAXIMUM.latency)
DEPTH = _READ + _LATENCY
"""Cycles from a place to its result."""

_SIGN = 1 << (ELEMENT - 1)
_PARTS: Mapping[str, tuple[str, ...]] = {
    "adder": ("add", "subtract"),
    "multiplier": ("multiply",),
    "comparison": ("maximum", "relu"),
}
"""What a lane has, to the kinds of instructions that it executes."""


class ElementWise(Unit):
    def build(self, m: Module) -> None:
        geometry, stages = self.geometry, self.stages(m)
        walk = Walk(m, self.name, self.start, self.value(m, "n"), geometry.groups, Const(1, 1))
        row = stages.wire(self.value(m, "row") + walk.r, "row_to")
        x = self.read(m, "x", walk.is_active, row, walk.c)
        y = self.read(m, "y", walk.is_active, self.value(m, "other") + walk.r, walk.c)
        a, b = stages.later(x, "a"), stages.later(y, "b")
        results = [
            self._lane(m, number, a.word_select(number, ELEMENT), b.word_select(number, ELEMENT))
            for number in range(geometry.lanes)
        ]
        writes = strobe(m, walk.is_active, f"{self.name}_writes", DEPTH)
        last = strobe(m, walk.is_active & walk.is_last, f"{self.name}_is_last", DEPTH)
        to, group = stages.later(row, "to", DEPTH), stages.later(walk.c, "group", DEPTH)
        self.write("x", writes, to, group, Cat(*results), Const(-1, geometry.lanes))
        m.d.comb += [self.running.eq(walk.is_active | writes), self.done.eq(last | walk.is_empty)]

    def _lane(self, m: Module, number: int, a: Value, b: Value) -> Value:
        own = Stages(m, f"{self.name}_lane_{number}")
        operators: dict[str, Callable[[], tuple[Value, int]]] = {
            "adder": lambda: (
                # a - b is a + -b, and of a NaN the sign is nothing.
                placed(m, f"{own.name}_sum", _ADD, a, b ^ Mux(self.is_active("subtract"), _SIGN, 0)),
                _ADD.latency,
            ),
            "multiplier": lambda: (placed(m, f"{own.name}_product", _MULTIPLY, a, b), _MULTIPLY.latency),
            "comparison": lambda: (placed(m, f"{own.name}_larger", _MAXIMUM, a, b), _MAXIMUM.latency),
        }
        result: Value = Const(0, ELEMENT)
        for part, kinds in _PARTS.items():
            if not any(task.unit in kinds for task in self.tasks):
                continue
            value, latency = operators[part]()
            value = own.later(value, part, _LATENCY - latency)
            result = result | Mux(self.is_active(*kinds), value, 0)
        return own.wire(result[:ELEMENT], "result")
