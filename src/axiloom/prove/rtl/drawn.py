"""Which commands of an instruction are looked at: some of all combinations of fields, or of those drawn.

Each is to show what none before it has shown: another operation, another bit that says how, a number near one
of the ends of its field.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from axiloom.errors import CompileError
from axiloom.isa.instructions.engines import TOKENS
from axiloom.isa.instructions.tree import (
    Bits,
    Expr,
    For,
    Instruction,
    InstructionSet,
    Name,
    Read,
    Statement,
    Wrapped,
    Write,
)
from axiloom.isa.instructions.walk import blocks, exprs, names, parts
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.host import access
from axiloom.selection.program.program import Command

MOST_COMBINATIONS, DRAWS = 20_000, 100
"""Of fields, beyond which commands are drawn; tries for each."""
SMALL = 3
"""Numbers up to this one, with either sign, are drawn most; so many are the ends of a field."""
FEW = 16
"""Values of a field that says which: they are drawn alike."""
MORE, MOST_STEPS = 4, 60
"""So many times as many are drawn as are looked at; those with more steps come last."""


@dataclass(frozen=True)
class Case:
    """A command: its inputs, and what it reads of the host's memory and writes there, in order."""

    command: Command
    inputs: Mapping[str, int]
    word: int
    reads: Sequence[int]
    writes: Sequence[int]

    def __str__(self) -> str:
        fields = ", ".join(f"{name} {value}" for name, value in self.command.fields.items())
        return f"{self.command.instruction} {fields}".strip()


def chosen(one: Instruction, isa: InstructionSet, most: int) -> tuple[list[Case], int | None]:
    """Legal commands at the start of the host's memory, more than `most`: :func:`varied` takes some of them;
    and how many there are: of all combinations of fields evenly, or drawn (None) where there are too many.
    Numbers go up to what memories hold, but for drawn ones that bound no loop and of which nothing is
    required; tokens are none."""
    encoder, most = Encoder(isa), MORE * most
    rows = max(memory.shape[0] for memory in isa.memories.values() if not memory.host)
    places = _places(one.body)
    whole = {
        let.name: range(let.value.range.low, min(let.value.range.high + 1, places.get(let.name, 1 << 64)))
        for let in one.fields
        if let.name not in ("base", TOKENS) and _is_place(let.value)
    }
    choices = {name: range(of.start, min(of.stop, rows + 1)) for name, of in whole.items()}
    if prod(map(len, choices.values())) <= MOST_COMBINATIONS:
        every = [
            case
            for values in itertools.product(*choices.values())
            if (case := _case(one, isa, encoder, dict(zip(choices, values, strict=True)))) is not None
        ]
        return every[:: max(1, -(-len(every) // most))], len(every)
    sizes = _sizes(one)
    limits = {name: choices[name] if name in sizes else of for name, of in whole.items()}
    drawn: dict[str, Case] = {}
    source = random.Random(0)
    for _ in range(DRAWS * most):
        fields = {name: _draw(source, choices[name], limits[name]) for name in choices}
        case = _case(one, isa, encoder, fields)
        if case is not None:
            drawn.setdefault(str(case), case)
        if len(drawn) == most:
            break
    return list(drawn.values()), None


def varied(cases: Sequence[Case], steps: Sequence[int | None], most: int) -> list[Case]:
    """At most so many of `cases`, in their order. Each next one shows the most that none before it has shown,
    and of several such does the most. Those that do nothing come last but for those that take long.
    `steps`: of their texts; None: more than anybody would wait for."""
    taking = [MOST_STEPS + 1 if one is None else one for one in steps]
    idle = min(taking, default=0) if len({*taking}) > 1 else -1
    left, taken, seen = list(range(len(cases))), list[int](), set[tuple[str, int]]()
    while left and len(taken) < most:
        best = max(
            left,
            key=lambda at: (
                taking[at] <= MOST_STEPS,
                taking[at] != idle,
                len(_shown(cases[at]) - seen),
                taking[at],
                -at,
            ),
        )
        left.remove(best)
        taken.append(best)
        seen |= _shown(cases[best])
    return [cases[at] for at in sorted(taken)]


def _shown(case: Case) -> set[tuple[str, int]]:
    """Small numbers of fields are shown each by itself, others by how long they are, with their sign."""
    return {
        (name, value if abs(value) < FEW else (FEW + abs(value).bit_length()) * (1 if value > 0 else -1))
        for name, value in case.command.fields.items()
    }


def _draw(source: random.Random, of: range, limits: range) -> int:
    """A number of a field: small, up to what memories hold, anything, or near an end of `limits`."""
    if len(limits) <= FEW:
        return source.choice(limits)
    roll = source.randrange(8)
    if roll < 2:
        return source.choice(of)
    if roll == 2:
        return source.choice(limits)
    if roll == 3:
        ends: list[int] = [*limits[:SMALL], *limits[-SMALL:]]
        return source.choice(ends)
    return source.choice([value for value in range(-SMALL, SMALL + 1) if value in limits])


def _places(block: Sequence[Statement]) -> dict[str, int]:
    """Names that are an index as they are, to the size that they are below."""
    found: dict[str, int] = {}
    for statement in block:
        pairs = [
            (index, size)
            for expr in exprs(statement)
            for part in parts(expr)
            if isinstance(part, Read)
            for index, size in zip(part.index, part.memory.shape, strict=True)
        ]
        if isinstance(statement, Write):
            pairs += zip(statement.index, statement.memory.shape, strict=True)
        inner = [_places(each) for each in blocks(statement)]
        for name, size in [
            *((index.name, size) for index, size in pairs if isinstance(index, Name)),
            *(pair for each in inner for pair in each.items()),
        ]:
            found[name] = min(size, found.get(name, size))
    return found


def _sizes(one: Instruction) -> set[str]:
    """Fields that bound a loop, or of which something is required."""
    found = set().union(*(names(each.condition) for each in one.legal), *map(_bounds, one.body))
    for let in reversed(one.fields):  # a field is made of those before it
        if let.name in found:
            found |= names(let.value)
    return found


def _bounds(statement: Statement) -> set[str]:
    own = names(statement.low) | names(statement.high) if isinstance(statement, For) else set[str]()
    return own.union(*(_bounds(inner) for block in blocks(statement) for inner in block))


def _is_place(value: Expr) -> bool:
    """Whether a field is bits of a word: others follow from those."""
    place = value.value if isinstance(value, Wrapped) else value
    return isinstance(place, Bits) and isinstance(place.value, Name)


def _case(one: Instruction, isa: InstructionSet, encoder: Encoder, fields: Mapping[str, int]) -> Case | None:
    """None: it is not legal."""
    command = Command(one.name, fields)
    try:
        inputs = encoder.inputs(command)
        touched = access(isa, one.name, inputs)
    except CompileError:
        return None
    return Case(command, inputs, encoder.words(command), touched.reads.tolist(), touched.writes.tolist())
