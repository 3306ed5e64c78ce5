"""Which bytes of the host's memory a command reads and writes, one after the other as the text says it.

Where the text says ``lanes``, which is at once, here is one lane after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Choice,
    Const,
    Expr,
    For,
    If,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Lookup,
    Memory,
    Name,
    Read,
    Statement,
    Wrapped,
    Write,
)  # fmt: skip
from axiloom.isa.instructions.walk import blocks, children, exprs, parts

Addresses = npt.NDArray[np.int64]
_NONE: Addresses = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Access:
    """Elements of the host's memory (bytes): read, in the order of the text, and written."""

    reads: Addresses = field(default_factory=lambda: _NONE)
    writes: Addresses = field(default_factory=lambda: _NONE)


def access(isa: InstructionSet, name: str, inputs: Mapping[str, int]) -> Access:
    """Of the instruction `name` with these inputs. Raises CompileError if the data decide it."""
    instruction = isa.instructions[name]
    addresses = _Found(name)
    known: dict[str, Any] = dict(inputs)
    for let in instruction.fields:
        known[let.name] = addresses.value(let.value, known)
    addresses.block(_relevant(instruction), known)
    return Access(
        *(np.concatenate(chunks) if chunks else _NONE for chunks in (addresses.reads, addresses.writes))
    )


def _relevant(instruction: Instruction) -> Sequence[Statement]:
    return [statement for statement in instruction.body if _touches(statement)]


T = TypeVar("T")


def _once(of: Callable[[Statement], T]) -> Callable[[Statement], T]:
    """`of` is asked once about a statement: a program has thousands of commands of one."""
    known: dict[int, tuple[T, Statement]] = {}

    def told(statement: Statement) -> T:
        if (kept := known.get(id(statement))) is None:
            # With the statement, so that no other has its number.
            kept = known[id(statement)] = of(statement), statement
        return kept[0]

    return told


@_once
def _touches(statement: Statement) -> bool:
    """Whether it reads or writes the host's memory, or names a value for what does."""
    if isinstance(statement, Let) or (isinstance(statement, Write) and statement.memory.host):
        return True
    if any(isinstance(part, Read) and part.memory.host for expr in exprs(statement) for part in parts(expr)):
        return True
    return any(_touches(inner) for block in blocks(statement) for inner in block)


@dataclass
class _Found:
    """`value` computes with integers, or with arrays of them: one element a lane."""

    instruction: str
    reads: list[Addresses] = field(default_factory=list)
    writes: list[Addresses] = field(default_factory=list)

    def block(self, statements: Sequence[Statement], known: Mapping[str, Any]) -> None:
        here = dict(known)
        for statement in statements:
            if not _touches(statement):
                continue
            match statement:
                case Let(name=name, value=value):
                    here[name] = _Late(value, dict(here))
                case For(iterator=iterator, low=low, high=high, body=body):
                    turns = np.arange(int(self.value(low, here)), int(self.value(high, here)))
                    if self.turns(iterator.name, turns, body, here, ()):
                        continue
                    for turn in turns.tolist():
                        self.block(body, {**here, iterator.name: turn})
                case If(condition=condition, then=then, other=other):
                    self.block(then if self.value(condition, here) else other, here)
                case Lanes(iterators=iterators, body=body):
                    places = np.meshgrid(*map(np.arange, iterators.values()), indexing="ij")
                    lanes = {name: at.ravel() for name, at in zip(iterators, places, strict=True)}
                    count = int(np.prod([*iterators.values()]))
                    self.lanes(body, {**here, **lanes}, count)
                case _:
                    self.lanes([statement], here, 1)

    def turns(
        self,
        iterator: str,
        turns: Addresses,
        body: Sequence[Statement],
        known: Mapping[str, Any],
        lets: Sequence[Let],
    ) -> bool:
        """All turns of a loop at once, where one statement of it touches the host: lanes, perhaps under a
        condition. False if it has another form, and nothing is done."""
        touching = [statement for statement in body if _touches(statement)]
        if not touching or any(not isinstance(statement, Let) for statement in touching[:-1]):
            return False
        lets = (*lets, *(statement for statement in touching[:-1] if isinstance(statement, Let)))
        match touching[-1]:
            case If(condition=condition, then=then, other=other) if not any(map(_touches, other)):
                here = _named(lets, {**known, iterator: turns})
                kept = np.broadcast_to(self.value(condition, here), turns.shape).astype(bool)
                return self.turns(iterator, turns[kept], then, known, lets)
            case Lanes(iterators=iterators, body=inner):
                places = np.meshgrid(turns, *map(np.arange, iterators.values()), indexing="ij")
                names = (iterator, *iterators)
                here = _named(
                    lets, {**known, **{name: at.ravel() for name, at in zip(names, places, strict=True)}}
                )
                if turns.size:
                    self.lanes(inner, here, places[0].size)
                return True
        return False

    def lanes(self, body: Sequence[Statement], known: Mapping[str, Any], count: int) -> None:
        here = dict(known)
        reads: list[Addresses] = []
        writes: list[Addresses] = []
        for statement in body:
            if isinstance(statement, Let):
                here[statement.name] = _Late(statement.value, dict(here))
                continue
            reads += [self._address(read.memory, read.index, here, count) for read in _reads(statement)]
            if isinstance(statement, Write) and statement.memory.host:
                writes.append(self._address(statement.memory, statement.index, here, count))
        for columns, all_of in ((reads, self.reads), (writes, self.writes)):
            if columns:
                all_of.append(np.stack(columns, axis=1).ravel())

    def _address(
        self, memory: Memory, index: Sequence[Expr], known: Mapping[str, Any], count: int
    ) -> Addresses:
        (at,) = index
        addresses = np.broadcast_to(np.asarray(self.value(at, known), np.int64), (count,))
        if addresses.size and (addresses.min() < 0 or addresses.max() >= memory.shape[0]):
            raise CompileError(f"{self.instruction}: an address lies outside of {memory.name}")
        return addresses

    def value(self, expr: Expr, known: Mapping[str, Any]) -> Any:
        match expr:
            case Const(value=value):
                return value
            case Name(name=name):
                if name not in known:
                    raise self._unknown(f"register {name}")
                binding = known[name]
                return self.value(binding.value, binding.known) if isinstance(binding, _Late) else binding
            case Bits(value=value, low=low, width=width):
                return self.value(value, known) >> self.value(low, known) & ((1 << width) - 1)
            case Wrapped(value=value, range=range_):
                low = self.value(value, known) & ((1 << range_.bits) - 1)
                if not range_.signed:
                    return low
                return low - (low >> range_.bits - 1 << range_.bits)
            case Choice(condition=condition, yes=yes, no=no):
                both = self.value(yes, known), self.value(no, known)
                return _plain(np.where(self.value(condition, known), *both))
            case Lookup(table=table, index=at):
                return _plain(np.asarray(table.values)[self.value(at, known)])
            case Apply(operation="cat", arguments=(low, high)):
                return self.value(low, known) | self.value(high, known) << low.range.bits
            case Apply(operation=operation, arguments=arguments) if operation in _ARRAYS:
                return _ARRAYS[operation](*(self.value(argument, known) for argument in arguments))
        raise self._unknown("data")

    def _unknown(self, what: str) -> CompileError:
        return CompileError(f"{self.instruction}: {what} decides which bytes of the host it touches")


@dataclass(frozen=True)
class _Late:
    """A value that is computed where it is used: it may be of data, and not of an address."""

    value: Expr
    known: Mapping[str, Any]


def _named(lets: Sequence[Let], known: Mapping[str, Any]) -> dict[str, Any]:
    here = dict(known)
    for let in lets:
        here[let.name] = _Late(let.value, dict(here))
    return here


@_once
def _reads(statement: Statement) -> list[Read]:
    """Of the host's memory, from left to right."""
    every = (part for expr in exprs(statement) for part in _in_order(expr))
    return [part for part in every if isinstance(part, Read) and part.memory.host]


def _in_order(expr: Expr) -> list[Expr]:
    """Parts of an expression from left to right."""
    return [expr, *(part for child in children(expr) for part in _in_order(child))]


def _plain(values: Any) -> Any:
    return int(values) if np.ndim(values) == 0 else values


_ARRAYS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "invert": lambda a: ~a,
    "neg": lambda a: -a,
    "abs": abs,
    "min": lambda a, b: _plain(np.minimum(a, b)),
    "max": lambda a, b: _plain(np.maximum(a, b)),
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": lambda a, b: _plain(np.logical_and(a, b)),
    "or": lambda a, b: _plain(np.logical_or(a, b)),
    "not": lambda a: _plain(np.logical_not(a)),
}
