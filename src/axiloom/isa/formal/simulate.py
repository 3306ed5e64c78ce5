"""Executes a model on Python integers: the code is made of its terms, once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
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
    """Address to element; `default` where nothing was stored."""

    def __init__(self, values: Mapping[int, int] | None = None, default: int = 0) -> None:
        super().__init__(values or {})
        self.default: int = getattr(values, "default", default)

    def __missing__(self, address: int) -> int:
        return self.default


@dataclass(frozen=True)
class _Step:
    instruction: Instruction
    enabled: Callable[..., bool]
    update: Callable[..., dict[str, Any]]


class _Steps:
    """Steps by the value of a register that tells most of them apart, which they are enabled at."""

    def __init__(self, steps: list[_Step], states: Collection[str]) -> None:
        values = [dict(_needed(step.instruction.decode)) for step in steps]
        names = sorted({name for one in values for name in one if name in states})
        self._name = max(names, key=lambda name: len({one.get(name) for one in values}), default="")
        self._at: dict[int, list[_Step]] = {}
        own = [one.get(self._name) for one in values]
        self._else = [step for step, value in zip(steps, own, strict=True) if value is None]
        for value in {value for value in own if value is not None}:
            self._at[value] = [step for step, other in zip(steps, own, strict=True) if other in (value, None)]

    def at(self, state: Mapping[str, Any]) -> list[_Step]:
        """Those that may be enabled."""
        return self._at.get(state[self._name], self._else) if self._name else self._else


def _needed(decode: z3.BoolRef) -> Iterator[tuple[str, int]]:
    """Registers that must have one value."""
    if z3.is_and(decode):
        for part in decode.children():
            yield from _needed(part)
    elif z3.is_eq(decode) and z3.is_bv_value(decode.arg(1)) and z3.is_const(decode.arg(0)):
        yield decode.arg(0).decl().name(), decode.arg(1).as_long()


class Simulator:
    """A model in its reset state.

    Attributes: `state`, by name (memories are `Memory`); `steps`, the instructions executed so far;
    `steps_left`, the most of a command.
    """

    def __init__(self, model: Ila) -> None:
        self.model = model
        self.steps_left = STEPS
        own = {id(instruction) for instruction in model.instructions}
        program = [step for step in model.everything() if id(step) not in own]
        self._commands, self._program = (
            _Steps([_compiled(model, step) for step in steps], model.states)
            for steps in (model.instructions, program)
        )
        self.reset()

    def reset(self) -> None:
        """Back to the reset state, and on with what reset starts."""
        self.state: dict[str, Any] = {
            name: Memory(default=self.model.init.get(name, 0))
            if z3.is_array(term)
            else self.model.init.get(name, 0)
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

    def _fire(self, steps: _Steps, inputs: Mapping[str, int]) -> list[str]:
        """Execute what is enabled: one, if the model is sound (:mod:`axiloom.isa.formal.sound`)."""
        given = self.state, inputs, self.model.functions
        enabled = [step for step in steps.at(self.state) if step.enabled(*given)]
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
    space: dict[str, Any] = {"Stored": Stored, "Memory": Memory}
    exec(compile("\n".join(text), f"<{instruction.path}>", "exec"), space)  # our own text, of our own terms
    return _Step(instruction, space["enabled"], space["update"])
