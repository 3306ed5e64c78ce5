"""An instruction of an activation program: an element a cycle through its function, then the vector back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from axiloom.accelerators.flexasr.rtl import meanings
from axiloom.accelerators.flexasr.rtl.meanings import LANES, STATE
from axiloom.hw.command.functions import Functions
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit
from axiloom.isa.instructions.tree import Function

CYCLES = 3 + LANES + 2
"""Of each one: its registers are read, an element a cycle, one more on its way, the vector is written."""
_FRACTION = 14


class Activate(Unit):
    """`memories`: x, mac and unit; `functions`: fixed, packed, sigmoid and tanh."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        inputs: Mapping[str, Value],
        memories: Mapping[str, Memory],
        functions: Mapping[str, Function],
    ) -> None:
        super().__init__("activate", tasks, inputs)
        self.memories, self.functions = memories, functions

    def build(self, m: Module) -> None:
        registers, a, b = self.memories["unit"], self.value(m, "a"), self.value(m, "b")
        first, second = Signal(name="activate_first"), Signal(name="activate_second")
        word = registers.read(first | second, Mux(second, b, a))
        row = self.memories["x"].read(first, self.value(m, "row"))
        sums = self.memories["mac"].read(first, self.value(m, "sums"))
        wide, narrow = STATE * LANES, 8 * LANES
        left, right, taken, kept = (
            Signal(size, name=f"activate_{name}")
            for name, size in (("left", wide), ("right", wide), ("taken", wide), ("kept", narrow))
        )
        word_out, bytes_ = Signal(wide, name="activate_made"), Signal(narrow, name="activate_bytes")
        lane, goes = Signal(range(LANES + 2), name="activate_lane"), Signal(name="activate_goes")
        value, byte = self._element(
            m, left[:STATE].as_signed(), right[:STATE].as_signed(), taken[:STATE].as_signed(), kept[:8]
        )
        operation = self.value(m, "operation")
        keeps = Signal(name="activate_keeps")
        m.d.comb += keeps.eq((operation == meanings.KEEP) | (operation == meanings.OUT))
        registers.write(goes, b, word_out, Const(-1, registers.parts))
        self.memories["x"].write(
            goes & keeps, self.value(m, "row"), bytes_, Const(-1, self.memories["x"].parts)
        )
        with m.FSM(name="activate_phase"):
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += lane.eq(0)
                m.next = "FIRST"
            with m.State("FIRST"):
                m.d.comb += first.eq(1)
                m.next = "SECOND"
            with m.State("SECOND"):
                m.d.comb += second.eq(1)
                m.d.sync += [left.eq(word), taken.eq(sums), kept.eq(row)]
                m.next = "COMES"
            with m.State("COMES"):
                m.d.sync += right.eq(word)
                m.next = "LANES"
            with m.State("LANES"):  # an element, and the one before on its way back
                m.d.sync += [
                    lane.eq(lane + 1),
                    left.eq(left >> STATE),
                    right.eq(right >> STATE),
                    taken.eq(taken >> STATE),
                    kept.eq(kept >> 8),
                    word_out.eq(Cat(word_out[STATE:], value)),
                    bytes_.eq(Cat(bytes_[8:], byte)),
                ]
                with m.If(lane == LANES):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [goes.eq(1), self.done.eq(1)]
                m.next = "IDLE"

    def _element(
        self, m: Module, left: Value, right: Value, taken: Value, kept: Value
    ) -> tuple[Value, Value]:
        """An element's new value and its byte, a cycle later."""
        functions, operation, bias = (
            Functions(m, self.name),
            self.value(m, "operation"),
            self.value(m, "bias"),
        )
        half = Signal(signed(STATE), name="activate_rest")
        m.d.comb += half.eq((1 << _FRACTION) - right)
        choices: Mapping[int, Value] = {
            meanings.LOAD: functions.call(self.functions["fixed"], [kept, bias]),
            meanings.TAKE: taken,
            meanings.COPY: left,
            meanings.ADD: left + right,
            meanings.MULTIPLY: (left * right) >> _FRACTION,
            meanings.SIGMOID: functions.call(self.functions["sigmoid"], [right]),
            meanings.TANH: functions.call(self.functions["tanh"], [right]),
            meanings.RELU: Mux(right < 0, 0, right),
            meanings.REST: half,
        }
        others = ~Cat(*(operation == code for code in choices)).any()
        chosen = [Mux(operation == code, choice[:STATE], 0) for code, choice in choices.items()]
        value, byte = Signal(STATE, name="activate_value"), Signal(8, name="activate_byte")
        m.d.sync += value.eq(reduce(or_, [*chosen, Mux(others, right[:STATE], 0)]))
        log = Signal(4, name="activate_log")
        m.d.comb += log.eq(bias + 4)
        m.d.sync += byte.eq(functions.call(self.functions["packed"], [right, log]))
        return value, byte
