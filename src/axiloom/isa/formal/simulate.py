"""Executes a model on Python integers: the code is made of its terms, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.isa.formal import code
from axiloom.isa.formal.ila import Ila, Instruction

STEPS = 10_000_000
"""A command whose program takes more does not end, as far as we care."""


class Stored:
    """A memory with one element changed; joined to the memory itself when an instruction ends."""

    __slots__ = ("address", "before", "value")

    def __init__(self, before: Any, address: int, value: int) -> None:
        self.before, self.address, self.value = before, address, value

    def __getitem__(self, address: int) -> int:
        memory: Any = self
        while isinstance(memory, Stored):
            if memory.address == address:
                return memory.value
            memory = memory.before
        found: int = memory[address]
        return found

    def joined(self) -> Memory:
        """The memory itself, after all changes, the oldest first."""
        changes, memory = [], self
        while isinstance(memory, Stored):
            changes.append(memory)
            memory = memory.before
        for change in reversed(changes):
            memory[change.address] = change.value
        assert isinstance(memory, Memory)
        return memory


class Memory(dict[int, int]):
    """Address to element; 0 where nothing was stored."""

    def __missing__(self, address: int) -> int:
        return 0


@dataclass(frozen=True)
class _Step:
    instruction: Instruction
    enabled: Callable[..., bool]
    update: Callable[..., dict[str, Any]]


class Simulator:
    """A model in its reset state.

    Attributes: `state`, by name (memories are `Memory`); `steps`, the instructions executed so far;
    `steps_left`, the most of a command.
    """

    def __init__(self, model: Ila) -> None:
        self.model = model
        self.steps_left = STEPS
        self._commands = [_compiled(model, instruction) for instruction in model.instructions]
        own = {id(instruction) for instruction in model.instructions}
        self._program = [_compiled(model, one) for one in model.everything() if id(one) not in own]
        self.reset()

    def reset(self) -> None:
        """Back to the reset state, and on with what reset starts."""
        self.state: dict[str, Any] = {
            name: Memory() if z3.is_array(term) else self.model.init.get(name, 0)
            for name, term in self.model.states.items()
        }
        self.steps = 0
        self._settle({})

    def command(self, **inputs: int) -> list[str]:
        """Execute the instructions that a command enables, and the programs they start; returns their paths.

        Raises RuntimeError for a program that does not end.
        """
        done = self._fire(self._commands, inputs)
        return done + self._settle(inputs)

    def _settle(self, inputs: Mapping[str, int]) -> list[str]:
        """Execute the programs that run."""
        done: list[str] = []
        left = self.steps_left
        while fired := self._fire(self._program, inputs):
            done += fired
            left -= 1
            if left < 0:
                raise RuntimeError(f"{self.model.name}: {done[0]} does not end")
        return done

    def _fire(self, steps: list[_Step], inputs: Mapping[str, int]) -> list[str]:
        """Execute what is enabled: one, if the model is sound (:mod:`axiloom.isa.formal.sound`)."""
        given = self.state, inputs, self.model.functions
        enabled = [step for step in steps if step.enabled(*given)]
        updates = [step.update(*given) for step in enabled]
        for update in updates:
            for name, value in update.items():
                self.state[name] = value.joined() if isinstance(value, Stored) else value
        self.steps += len(enabled)
        return [step.instruction.path for step in enabled]


def _compiled(model: Ila, instruction: Instruction) -> _Step:
    def leaf(name: str) -> str:
        return f"{'I' if name in model.inputs else 'S'}[{name!r}]"

    decode = z3.simplify(instruction.decode)
    updates = {name: z3.simplify(term) for name, term in instruction.updates.items()}
    made, (enabled,) = code.lines([decode], leaf)
    text = ["def enabled(S, I, F):", *(f"    {line}" for line in made), f"    return {enabled}"]
    made, values = code.lines([*updates.values()], leaf)
    pairs = ", ".join(f"{name!r}: {value}" for name, value in zip(updates, values, strict=True))
    text += ["def update(S, I, F):", *(f"    {line}" for line in made), f"    return {{{pairs}}}"]
    space: dict[str, Any] = {"Stored": Stored}
    exec(compile("\n".join(text), f"<{instruction.path}>", "exec"), space)  # our own text, of our own terms
    return _Step(instruction, space["enabled"], space["update"])
