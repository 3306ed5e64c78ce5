"""Runs an instruction set: a command a call, on registers and memories.

Nothing is compiled ahead: an instruction becomes one NumPy function when it comes first.
"""

from __future__ import annotations

from axiloom.isa.instructions.reference import Reference
from axiloom.isa.instructions.state import IllegalCommandError, State
from axiloom.isa.instructions.tree import Instruction, InstructionSet


class Simulator:
    """A device with an instruction set.

    `state` has registers and memories by name (:class:`State`). `vectorised=False` executes the text one element
    after the other: slow, and what the other way is tested against.
    """

    def __init__(self, isa: InstructionSet, *, vectorised: bool = True) -> None:
        self.isa = isa
        self.vectorised = vectorised
        self.state = State(isa)
        self.stopped = ""
        """Why the device takes nothing more; empty while it runs."""
        self._reference = Reference(isa, self.state)

    def reset(self) -> None:
        """Registers and memories as they are at the start; a stopped device runs again."""
        self.stopped = ""
        self.state = State(self.isa)
        self._reference = Reference(self.isa, self.state)

    def command(self, **inputs: int) -> str:
        """Executes what comes with these inputs (0 where one is missing), and returns its instruction's name.

        Raises IllegalCommandError, and stops: where a requirement does not hold or no instruction comes, with the
        state as it was; where an index lies outside of its memory, in the middle of the instruction.
        """
        if self.stopped:
            raise IllegalCommandError(f"stopped before: {self.stopped}")
        given = self._given(inputs)
        try:
            instruction = self._enabled(given)
            self._reference.execute(instruction, given)
        except IllegalCommandError as error:
            self.stopped = str(error)
            raise
        return instruction.name

    def _given(self, inputs: dict[str, int]) -> dict[str, int]:
        for name, value in inputs.items():
            if name not in self.isa.inputs:
                there = ", ".join(self.isa.inputs)
                raise ValueError(f"{self.isa.name} has no input `{name}`; there are {there}")
            if not 0 <= value < 1 << self.isa.inputs[name].bits:
                raise ValueError(
                    f"input {name} has {self.isa.inputs[name].bits} bits: {value:#x} does not fit"
                )
        return {name: int(inputs.get(name, 0)) for name in self.isa.inputs}

    def _enabled(self, inputs: dict[str, int]) -> Instruction:
        found = [one for one in self.isa.instructions.values() if self._reference.enabled(one, inputs)]
        said = ", ".join(f"{name} = {value:#x}" for name, value in inputs.items())
        if not found:
            raise IllegalCommandError(f"{self.isa.place}: no instruction comes with {said}")
        if len(found) > 1:
            names = " and ".join(one.name for one in found)
            raise IllegalCommandError(f"{self.isa.place}:{found[1].line}: {names} both come with {said}")
        return found[0]
