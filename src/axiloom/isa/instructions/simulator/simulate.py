"""Runs an instruction set: a command a call, on registers and memories.

An instruction becomes one Python function of NumPy calls when it comes first; nothing else is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from axiloom.isa.instructions.simulator.blocks import Blocks, names_of, setting
from axiloom.isa.instructions.simulator.code import Shared
from axiloom.isa.instructions.simulator.decode import command_source
from axiloom.isa.instructions.simulator.parts import OutsideError
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import IllegalCommandError, RefusedError, State
from axiloom.isa.instructions.tree import Expr, Instruction, InstructionSet


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
        self._setting = setting(isa) | {"_illegal": self._illegal, "_refused": self._refused}
        self._sources: dict[str, str] = {}
        self._functions = {name: self._first(instruction) for name, instruction in isa.instructions.items()}
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
        try:
            if self.vectorised:
                name: str = self._command(self.state, **inputs)
                return name
            values = self._given(inputs)
            instruction = self._enabled(values)
            self._reference.execute(instruction, values)
            return instruction.name
        except OutsideError as error:
            self.stopped = f"{self.isa.place}:{error.line}: {self._at(error.line)}: {error}"
            raise IllegalCommandError(self.stopped) from None
        except IllegalCommandError as error:
            self.stopped = str(error)
            raise
        except TypeError:
            self._given(inputs)  # says what is wrong with them, if something is
            raise

    def source(self, instruction: str) -> str:
        """The Python text that an instruction becomes, with the functions that it calls."""
        if instruction not in self.isa.instructions:
            there = ", ".join(self.isa.instructions)
            raise ValueError(f"{self.isa.name} has no instruction `{instruction}`; there are {there}")
        self._function(self.isa.instructions[instruction])
        own = self._sources[instruction]
        called = [text for name, text in self._shared.sources.items() if f"{name}(" in own]
        return "\n\n".join([*called, own]) + "\n"

    def part(self, instruction: Instruction, result: Expr) -> Callable[..., Any]:
        """An instruction, or a part of one, as a function of the state and the inputs; its name is its own.

        The function returns what `result` is behind the body, and raises RefusedError where a requirement
        of the body does not hold: registers are as they were then, memories not.
        """
        self._execute(Blocks(self.isa, instruction, self._shared).source(result), instruction.name)
        function: Callable[..., Any] = self._setting[instruction.name]
        return function

    # --- instructions as functions ------------------------------------------------------------------------

    @cached_property
    def _command(self) -> Callable[..., str]:
        text = command_source(self.isa, self._shared)
        self._setting |= {
            "_functions": self._functions,
            "_by_key": self._shared.keys,
            "_unknown": self._unknown,
            "_several": self._several,
            "_wide": self._wide,
        }
        self._execute(text, "command")
        function: Callable[..., str] = self._setting["_command"]
        return function

    def _first(self, instruction: Instruction) -> Callable[..., None]:
        """What executes an instruction for the first time."""

        def execute(*arguments: Any) -> None:
            self._function(instruction)(*arguments)

        return execute

    def _function(self, instruction: Instruction) -> Callable[..., None]:
        if instruction.name not in self._sources:
            text = Blocks(self.isa, instruction, self._shared).source()
            self._execute(text, instruction.name)
            self._sources[instruction.name] = text
            self._functions[instruction.name] = self._setting[instruction.name]
        return self._functions[instruction.name]

    def _execute(self, text: str, name: str) -> None:
        self._setting |= names_of(self._shared)
        for helper, source in self._shared.sources.items():
            if helper not in self._setting:
                exec(compile(source, f"<{self.isa.name}.{helper}>", "exec"), self._setting)
        exec(compile(text, f"<{self.isa.name}.{name}>", "exec"), self._setting)

    # --- what stops the device ----------------------------------------------------------------------------

    def _illegal(self, instruction: str, fields: Mapping[str, int]) -> None:
        """Says which requirement does not hold."""
        self._reference.refuse(self.isa.instructions[instruction], fields)

    def _refused(self, number: int, values: dict[str, int]) -> None:
        raise RefusedError(self._shared.requirements[number], values)

    def _unknown(self, values: Sequence[int]) -> None:
        raise IllegalCommandError(f"{self.isa.place}: no instruction comes with {self._said(values)}")

    def _several(self, names: Sequence[str], values: Sequence[int]) -> None:
        line = self.isa.instructions[names[1]].line
        both = " and ".join(names)
        raise IllegalCommandError(f"{self.isa.place}:{line}: {both} all come with {self._said(values)}")

    def _wide(self, name: str, value: int) -> None:
        raise ValueError(f"input {name} has {self.isa.inputs[name].bits} bits: {value:#x} does not fit")

    def _said(self, values: Sequence[int]) -> str:
        return ", ".join(f"{name} = {value:#x}" for name, value in zip(self.isa.inputs, values, strict=True))

    def _at(self, line: int) -> str:
        """The instruction at a line, or the condition of one."""
        before = [
            instruction.name for instruction in self.isa.instructions.values() if instruction.line <= line
        ]
        return before[-1] if before else "a condition"

    # --- one element after the other ----------------------------------------------------------------------

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
        names = [
            name
            for name, instruction in self.isa.instructions.items()
            if self._reference.enabled(instruction, inputs)
        ]
        if not names:
            self._unknown([*inputs.values()])
        if len(names) > 1:
            self._several(names, [*inputs.values()])
        return self.isa.instructions[names[0]]
