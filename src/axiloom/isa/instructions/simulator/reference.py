"""An instruction as the text says it: one element after the other, with Python's integers.

Slow, and without any of :mod:`~axiloom.isa.instructions.simulator.code`: what that is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from axiloom.isa.instructions import externals
from axiloom.isa.instructions.arithmetic import VALUES
from axiloom.isa.instructions.simulator.state import IllegalCommandError, RefusedError, State
from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Choice,
    Const,
    Expr,
    Fold,
    For,
    Function,
    If,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Lookup,
    Memory,
    Name,
    Range,
    Read,
    Requirement,
    SetRegister,
    Statement,
    Wrapped,
    Write,
)  # fmt: skip

_FOLDS: Mapping[str, Callable[[list[int]], int]] = {
    "add": sum,
    "min": min,
    "max": max,
    "and": lambda values: int(all(values)),
    "or": lambda values: int(any(values)),
}


class Reference:
    """Executes instructions of `isa` on `state`."""

    def __init__(self, isa: InstructionSet, state: State) -> None:
        self.isa, self.state = isa, state
        self.line = 0
        self.instruction = ""

    def enabled(self, instruction: Instruction, inputs: Mapping[str, int]) -> bool:
        self.instruction, self.line = instruction.name, instruction.line
        return bool(self.value(instruction.when, inputs))

    def execute(self, instruction: Instruction, inputs: Mapping[str, int]) -> None:
        """Raises IllegalCommandError."""
        self.instruction = instruction.name
        known = dict(inputs)
        for let in instruction.fields:
            self.line = let.line
            known[let.name] = self.value(let.value, known)
        self.refuse(instruction, known)
        self.block(instruction.body, known)

    def refuse(self, instruction: Instruction, known: Mapping[str, int]) -> None:
        """Raises IllegalCommandError where a requirement does not hold of these fields."""
        self.instruction = instruction.name
        for requirement in instruction.legal:
            self.line = requirement.line
            if not self.value(requirement.condition, known):
                fields = {name: value for name, value in known.items() if name not in self.isa.inputs}
                raise self.fault(f"not {requirement.text} ({_said(fields)})")

    def fault(self, why: str) -> IllegalCommandError:
        return IllegalCommandError(f"{self.isa.place}:{self.line}: {self.instruction}: {why}")

    # --- statements ---------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement], known: Mapping[str, int]) -> None:
        here = dict(known)
        for statement in statements:
            self.line = statement.line
            match statement:
                case Let(name=name, value=value):
                    here[name] = self.value(value, here)
                case SetRegister(register=register, value=value):
                    dict.__setitem__(self.state, register.name, self.value(value, here))
                case Write(memory=memory, index=index, value=value):
                    at = self.index(memory, index, here)
                    self.state[memory.name][at] = self.value(value, here)
                case If(condition=condition, then=then, other=other):
                    self.block(then if self.value(condition, here) else other, here)
                case For(iterator=iterator, low=low, high=high, body=body):
                    for turn in range(self.value(low, here), self.value(high, here)):
                        self.block(body, {**here, iterator.name: turn})
                case Lanes():
                    self.lanes(statement, here)
                case Requirement(condition=condition):
                    if not self.value(condition, here):
                        raise RefusedError(
                            statement, {**{n: v for n, v in self.state.items() if isinstance(v, int)}, **here}
                        )

    def lanes(self, block: Lanes, known: Mapping[str, int]) -> None:
        places = product(*map(range, block.iterators.values()))
        lanes = [{**known, **dict(zip(block.iterators, place, strict=True))} for place in places]
        for statement in block.body:
            self.line = statement.line
            if isinstance(statement, Let):
                for lane in lanes:
                    lane[statement.name] = self.value(statement.value, lane)
            else:
                assert isinstance(statement, Write)
                memory = statement.memory
                writes = [
                    (self.index(memory, statement.index, lane), self.value(statement.value, lane))
                    for lane in lanes
                ]
                for at, value in writes:
                    self.state[memory.name][at] = value

    def index(self, memory: Memory, index: Sequence[Expr], known: Mapping[str, int]) -> tuple[int, ...]:
        at = tuple(self.value(part, known) for part in index)
        for dim, (place, size) in enumerate(zip(at, memory.shape, strict=True)):
            if not 0 <= place < size:
                raise self.fault(f"index {dim} of {memory.name} is {place}: it has 0 to {size - 1} there")
        return at

    # --- expressions --------------------------------------------------------------------------------------

    def value(self, expr: Expr, known: Mapping[str, int]) -> int:
        match expr:
            case Const(value=value):
                return value
            case Name(name=name):
                return known[name] if name in known else int(self.state[name])
            case Read(memory=memory, index=index):
                return int(self.state[memory.name][self.index(memory, index, known)])
            case Apply(operation="and", arguments=(left, right)):
                return self.value(right, known) if self.value(left, known) else 0
            case Apply(operation="or", arguments=(left, right)):
                return 1 if self.value(left, known) else self.value(right, known)
            case Apply(operation="cat", arguments=parts):
                whole, place = 0, 0
                for part in parts:
                    whole |= self.value(part, known) << place
                    place += part.range.bits
                return whole
            case Apply(operation=operation, arguments=arguments):
                return VALUES[operation](*(self.value(argument, known) for argument in arguments))
            case Bits(value=value, low=low, width=width):
                return self.value(value, known) >> self.value(low, known) & ((1 << width) - 1)
            case Wrapped(value=value, range=kind):
                return _wrapped(self.value(value, known), kind)
            case Choice(condition=condition, yes=yes, no=no):
                return self.value(yes if self.value(condition, known) else no, known)
            case Lookup(table=table, index=index):
                return table.values[self.value(index, known)]
            case Fold(operation=operation, iterator=iterator, count=count, body=body):
                return _FOLDS[operation](
                    [self.value(body, {**known, iterator: turn}) for turn in range(count)]
                )
            case Call(function=function, arguments=arguments):
                return self.call(function, [self.value(argument, known) for argument in arguments])
        raise AssertionError(expr)

    def call(self, function: Function, arguments: Sequence[int]) -> int:
        if function.external:
            python: Any = externals.function(function.external).python
            pattern = int(python(*(np.asarray([argument], np.int64) for argument in arguments))[0])
            return _wrapped(pattern, function.result)
        known = dict(zip(function.parameters, arguments, strict=True))
        for let in function.lets:
            known[let.name] = self.value(let.value, known)
        assert function.value is not None
        return self.value(function.value, known)


def _wrapped(value: int, kind: Range) -> int:
    low = value & ((1 << kind.bits) - 1)
    return low - (1 << kind.bits) if low > kind.high else low


def _said(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "no field"
