"""Runs an instruction set: a command a call, on registers and memories.

An instruction becomes one Python function of NumPy calls when it comes first; nothing else is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from axiloom.isa.instructions.numpy_blocks import Blocks, names_of, setting
from axiloom.isa.instructions.numpy_code import Shared
from axiloom.isa.instructions.numpy_parts import OutsideError
from axiloom.isa.instructions.reference import Reference
from axiloom.isa.instructions.state import IllegalCommandError, State
from axiloom.isa.instructions.tree import Instruction, InstructionSet


class Simulator:
    """A device with an instruction set.

    `state` has registers and memories by name (:class:`State`). `vectorised=False` executes the text one
    element after the other: slow, and what the other way is tested against.
    """

    def __init__(self, isa: InstructionSet, *, vectorised: bool = True) -> None:
        self.isa = isa
        self.vectorised = vectorised
        self.stopped = ""
        """Why the device takes nothing more; empty while it runs."""
        self._shared = Shared()
        self._setting = setting(isa)
        self._setting["_illegal"] = self._illegal
        self._sources: dict[str, str] = {}
        self._functions: dict[str, Callable[..., None]] = {}
        self.reset()

    def reset(self) -> None:
        """Registers and memories as they are at the start; a stopped device runs again."""
        self.stopped = ""
        self.state = State(self.isa)
        self._reference = Reference(self.isa, self.state)

    def command(self, **inputs: int) -> str:
        """Executes what comes with these inputs (0 where one is missing), and returns its instruction's name.

        Raises IllegalCommandError, and stops: where a requirement does not hold or no instruction comes, with
        the state as it was; where an index lies outside of its memory, in the middle of the instruction.
        """
        if self.stopped:
            raise IllegalCommandError(f"stopped before: {self.stopped}")
        given = self._given(inputs)
        instruction: Instruction | None = None
        try:
            instruction = self._enabled(given)
            if self.vectorised:
                self._function(instruction)(self.state, **given)
            else:
                self._reference.execute(instruction, given)
        except OutsideError as error:
            assert instruction is not None
            self.stopped = f"{self.isa.place}:{error.line}: {instruction.name}: {error}"
            raise IllegalCommandError(self.stopped) from None
        except IllegalCommandError as error:
            self.stopped = str(error)
            raise
        return instruction.name

    def source(self, instruction: str) -> str:
        """The Python text that an instruction becomes, with the functions that it calls."""
        if instruction not in self.isa.instructions:
            there = ", ".join(self.isa.instructions)
            raise ValueError(f"{self.isa.name} has no instruction `{instruction}`; there are {there}")
        self._function(self.isa.instructions[instruction])
        own = self._sources[instruction]
        called = [text for name, text in self._shared.sources.items() if f"{name}(" in own]
        return "\n\n".join([*called, own]) + "\n"

    def _function(self, instruction: Instruction) -> Callable[..., None]:
        found = self._functions.get(instruction.name)
        if found is None:
            before = {*self._shared.sources}
            text = Blocks(self.isa, instruction, self._shared).source()
            self._setting |= names_of(self._shared)
            for name, helper in self._shared.sources.items():
                if name not in before:
                    exec(compile(helper, f"<{self.isa.name}.{name}>", "exec"), self._setting)
            exec(compile(text, f"<{self.isa.name}.{instruction.name}>", "exec"), self._setting)
            self._sources[instruction.name] = text
            found = self._functions[instruction.name] = self._setting[instruction.name]
        return found

    def _illegal(self, instruction: str, fields: Mapping[str, int]) -> None:
        """Says which requirement does not hold."""
        one = self.isa.instructions[instruction]
        self._reference.refuse(one, fields)

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
