"""A command run on numbers, in the RTL and in the text, both on Python integers.

Who has found numbers for which they differ sees it here again: the RTL is run as Yosys reads it, with its own
multipliers, and the text on the model's simulator. Neither takes a term of the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import z3

from axiloom.base.errors import BuildError
from axiloom.device.rtl import DeviceRtl
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.terms.machine import Machine, read
from axiloom.prove.rtl.texts.drawn import Case
from axiloom.prove.rtl.texts.of_text import Text
from axiloom.prove.rtl.texts.rows import addresses
from axiloom.selection.drive.encode import Encoder

CYCLES = 4_000
QUIET = 3
"""Cycles at rest after which nothing more comes."""

Values = Mapping[str, int]
"""Of constants of a proof, by name; those that are missing are 0."""


class Rerun:
    """Of `device` and `text`; `words`: of each memory's rows, the first elements' first."""

    def __init__(self, device: DeviceRtl, text: Text, words: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.device, self.text, self.words = device, text, words
        self.machine: Machine = read(((f"{device.top}.v", device.verilog),), device.top)
        self._step = self.machine.simulator()
        (self._host,) = (memory.name for memory in self._isa.memories.values() if memory.host)

    @property
    def _isa(self) -> InstructionSet:
        return self.text.isa

    def __call__(self, case: Case, rest: Values, values: Values) -> dict[str, tuple[int, int]]:
        """What each element is afterwards, and each byte that came: in the RTL, and by the text. `rest`: of
        registers that are always the same at rest. Raises BuildError where the RTL does not end."""
        state, came = self._in_rtl(case, rest, values)
        model = self._by_text(case, values)
        found = {}
        for memory, rows in self.words.items():
            for row, names in enumerate(rows):
                places = addresses(self._isa.memories[memory], row)
                bits = self._isa.memories[memory].type.bits
                word = self._word(state, names)
                for lane, at in enumerate(places):
                    ours = word >> bits * lane & (1 << bits) - 1
                    found[f"{memory}[{row}] lane {lane}"] = ours, model.state[memory][at]
        size = self.device.stream_width // 8
        for place, at in enumerate(case.writes):
            beat = came[place // size] if place // size < len(came) else 0
            ours = beat >> 8 * (place % size) & 0xFF
            found[f"byte {place} that it stores"] = ours, model.state[self._host][at]
        return found

    # --- the RTL ------------------------------------------------------------------------------------------

    def _in_rtl(self, case: Case, rest: Values, values: Values) -> tuple[dict[str, int], list[int]]:
        """Its registers afterwards, and the words that came."""
        state = self._start(rest, values)
        beats, sent, quiet = list(self._beats(case, values)), 0, 0
        came: list[int] = []
        given = {"aresetn": 1, "m_axis_tready": 1}
        for _ in range(CYCLES):
            there = sent < len(beats)
            now = given | {"s_axis_tvalid": int(there), "s_axis_tdata": beats[sent] if there else 0}
            state, outputs = self._step(state, {name: now.get(name, 0) for name in self.machine.inputs})
            sent += there and outputs["s_axis_tready"]
            if outputs["m_axis_tvalid"]:
                came.append(outputs["m_axis_tdata"])
            busy = there or outputs["debug_busy"] or outputs["m_axis_tvalid"]
            quiet = 0 if busy else quiet + 1
            if quiet == QUIET:
                return state, came
        raise BuildError(f"{self.device.top}: {case} does not end within {CYCLES} cycles")

    def _start(self, rest: Values, values: Values) -> dict[str, int]:
        state = {name: rest.get(name, values.get(f"{name} at rest", 0)) for name in self.machine.registers}
        for memory, rows in self.words.items():
            bits = self._isa.memories[memory].type.bits
            for row, names in enumerate(rows):
                places = addresses(self._isa.memories[memory], row)
                size = len(places) // len(names)
                for number, name in enumerate(names):
                    own = places[size * number : size * (number + 1)]
                    word = sum(self._element(memory, at, values) << bits * k for k, at in enumerate(own))
                    for low, high, part in self.machine.parts[name]:
                        state[part] = word >> low & (1 << high - low + 1) - 1
        return state

    def _word(self, state: Mapping[str, int], names: Sequence[str]) -> int:
        """A row's."""
        found = low = 0
        for name in names:
            for first, last, own in sorted(self.machine.parts[name]):
                found |= state[own] << low
                low += last - first + 1
        return found

    def _beats(self, case: Case, values: Values) -> Iterator[int]:
        """The command, and what comes with it."""
        width = self.device.stream_width
        for at in range(-(-Encoder(self._isa).bits // width)):
            yield case.word >> width * at & (1 << width) - 1
        size = width // 8
        bytes_ = [self._element(self._host, at, values) for at in case.reads]
        for at in range(0, len(bytes_), size):
            yield int.from_bytes(bytes(bytes_[at : at + size]), "little")

    # --- the text -----------------------------------------------------------------------------------------

    def _by_text(self, case: Case, values: Values) -> Simulator:
        model = Simulator(self.text.model)
        for name in self._isa.registers:
            model.state[name] = values.get(f"{name} before", 0)
        for memory, at in self._places(case):
            model.state[memory][at] = self._element(memory, at, values)
        model.command(**case.inputs)
        return model

    def _places(self, case: Case) -> Iterator[tuple[str, int]]:
        """Each element of the memories, also of those that the RTL has lost, and the host's bytes that the
        command is about."""
        for memory in self._isa.memories.values():
            if memory.host:
                yield from ((memory.name, at) for at in {*case.reads, *case.writes})
            else:
                rows = range(memory.shape[0])
                yield from ((memory.name, at) for row in rows for at in addresses(memory, row))

    def _element(self, memory: str, address: int, values: Values) -> int:
        """Before the command."""
        term = self.text.element(memory, address)
        if z3.is_bv_value(term):
            return int(term.as_long())
        return values.get(term.decl().name(), 0)
