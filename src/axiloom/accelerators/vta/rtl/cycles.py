"""How many cycles a program takes, exactly, while its payload is there and its results are taken.

The front takes a command's words, and holds it until its engine is free and its tokens are there. Then it
feeds it its payload, or goes on to the next command at once. What is behind the last word is an engine's own
time; times below are counted from the first beat that is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from axiloom.accelerators.vta.rtl import loops, vector
from axiloom.accelerators.vta.rtl.meanings import ACCUMULATOR, MUL, Machine
from axiloom.accelerators.vta.rtl.tokens import ENGINE
from axiloom.hw.command.decode import command_bits
from axiloom.hw.command.meaning import Meaning
from axiloom.isa.instructions.engines import ENGINES, QUEUES, TOKENS, Queue
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State

_DECODE = 2
"""Cycles between a command's last word and its unit: whether it is legal, and its beginning."""
HELD = ("gemm", "alu", "store")
"""Units with a register for their command, behind which the front goes on; it takes `_HELD` cycles."""
_HELD = 1
FRONT = 1


class Cycles:
    """Of `machine` with such streams."""

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        self.machine, self.stream_width = machine, stream_width
        self._meanings = {meaning.instruction: meaning for meaning in machine.meanings.values()}
        self._reference = Reference(machine.isa, State(machine.isa))
        self._words = -(-command_bits(machine.isa) // stream_width)

    def program(self, commands: Iterable[tuple[str, Mapping[str, int]]]) -> int:
        """From the first beat offered to the last cycle in which something happens."""
        front, last = 0, -1
        free = dict.fromkeys(ENGINES, 0)
        left: dict[Queue, list[int]] = {queue: [] for queue in QUEUES}
        taken = dict.fromkeys(QUEUES, 0)
        overlaps = self.machine.tokens is not None
        for instruction, fields in commands:
            meaning = self._meanings[instruction]
            known = self._known(instruction, fields)
            work = _UNITS[meaning.unit](self, _Values(self._reference, meaning, known))
            engine = ENGINE[meaning.unit]
            tokens = known.get(TOKENS, 0) if overlaps else 0
            begins = front + self._words + _DECODE - 1
            begins = max(begins, free[engine] if overlaps else max(free.values()))
            for queue in QUEUES:
                if queue.target == engine and tokens >> queue.pop & 1:
                    if taken[queue] >= len(left[queue]):
                        raise ValueError(
                            f"{instruction} waits for a token of {queue.source} that none leaves"
                        )
                    begins = max(begins, left[queue][taken[queue]] + 1)
                    taken[queue] += 1
            held = meaning.unit in HELD
            done = begins + work + (_HELD if held else 0)
            free[engine] = done + 1
            for queue in QUEUES:
                if queue.source == engine and tokens >> queue.push & 1:
                    left[queue].append(done)
            front = 1 + (begins if held else done)
            last = max(last, done)
        return FRONT + last + 1

    def _known(self, instruction: str, fields: Mapping[str, int]) -> dict[str, int]:
        """All fields; the bits of those that are not given are 0."""
        isa = self.machine.isa
        known = dict.fromkeys(isa.inputs, 0)
        for let in isa.instructions[instruction].fields:
            value = fields.get(let.name)
            known[let.name] = int(self._reference.value(let.value, known)) if value is None else value
        return known

    def _beats(self, bits: int) -> int:
        """Of a vector of elements of so many bits."""
        return self.machine.block * bits // self.stream_width

    def _load_uops(self, values: _Values) -> int:
        return max(1, values["count"])

    def _load(self, values: _Values) -> int:
        """A beat a cycle, and a cycle for each vector or block of pads."""
        beats = {
            "load_wgt": self.machine.block * self._beats(8),
            "load_inp": self._beats(8),
            "load_acc": self._beats(ACCUMULATOR),
            "load_acc_8bit": self._beats(8),
        }[values.meaning.unit]
        there = values["rows"] * values["count"]
        pads = values["height"] * values["width"] - there
        return max(1, beats * there + pads)

    def _store(self, values: _Values) -> int:
        """A beat a cycle, behind the memory and the queue."""
        vectors = values["rows"] * values["count"]
        return vectors * self._beats(8) + _STORE if vectors else 1

    def _gemm(self, values: _Values) -> int:
        return self._steps(values, vector.ONE, vector.GEMM_READ)

    def _alu(self, values: _Values) -> int:
        if values["op"] == MUL:
            return self._steps(values, vector.MULTIPLIED, vector.ALU_READ + vector.MULTIPLY)
        return self._steps(values, vector.ONE if values["immediate"] else vector.TWO, vector.ALU_READ)

    def _steps(self, values: _Values, pace: int, read: int) -> int:
        micro_ops = max(0, values["last"] - values["first"])
        steps = values["outer"] * values["inner"] * micro_ops
        return (steps - 1) * pace + loops.DEPTH + read + vector.WORK + 2 if steps else 1

    def _finish(self, values: _Values) -> int:
        return 0


_STORE = 2


class _Values:
    """Of one command, by the description's names."""

    def __init__(self, reference: Reference, meaning: Meaning, known: Mapping[str, int]) -> None:
        self.reference, self.meaning, self.known = reference, meaning, known

    def __getitem__(self, name: str) -> int:
        return int(self.reference.value(self.meaning.in_fields[name], self.known))


_UNITS: Mapping[str, Callable[[Cycles, _Values], int]] = {
    "load_uops": Cycles._load_uops,
    "load_wgt": Cycles._load,
    "load_inp": Cycles._load,
    "load_acc": Cycles._load,
    "load_acc_8bit": Cycles._load,
    "store": Cycles._store,
    "gemm": Cycles._gemm,
    "alu": Cycles._alu,
    "finish": Cycles._finish,
}
