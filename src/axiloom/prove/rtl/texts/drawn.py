"""Which commands of an instruction are looked at: some of all combinations of fields, or of those drawn.

Each is to show what none before it has shown: another operation, another bit that says how, a number near one
of the ends of its field.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from axiloom.base.errors import CompileError
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

MOST_COMBINATIONS, DRAWS = 20_000, 400
"""Of fields, beyond which commands are drawn; tries for each."""
FEWEST = 12
"""That do something are tried, if there are so many."""
SMALL = 3
"""Numbers up to this one, with either sign, are drawn most; so many are the ends of a field."""
TINY = 3
"""Values, from the lowest, of what bounds loops in every other command: so that several fit together."""
FEW = 16
"""Values of a field that may say which: half of its draws are of all alike."""
MORE, MOST_STEPS = 4, 24
"""So many times as many that do something are tried as are looked at; those with more steps come last."""


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


@dataclass(frozen=True)
class Does:
    """What a text does of a command: its `steps` (None: more than anybody would wait for), how many elements
    of memories it leaves otherwise, and `kinds`: which memories get numbers by it, and which get data."""

    steps: int | None
    changes: int
    kinds: frozenset[str] = frozenset()

    @property
    def short(self) -> bool:
        return self.steps is not None and self.steps <= MOST_STEPS

    @property
    def order(self) -> int:
        """Of short ones those with the most steps come first, of others those with the fewest."""
        return (self.steps or 0) if self.short else -(self.steps or MOST_COMBINATIONS)

    @property
    def useful(self) -> bool:
        return self.short and self.changes > 0


def chosen(instruction: Instruction, isa: InstructionSet, most: int) -> tuple[Iterator[Case], int | None]:
    """Legal commands at the start of the host's memory, to be tried (:func:`tried`); and how many there are:
    of all combinations of fields evenly, or drawn (None) where there are too many. Numbers go up to what
    memories hold, but for drawn ones that bound no loop and of which nothing is required; tokens are none."""
    encoder = Encoder(isa)
    rows = max(memory.shape[0] for memory in isa.memories.values() if not memory.host)
    places = _places(instruction.body)
    whole = {
        let.name: range(let.value.range.low, min(let.value.range.high + 1, places.get(let.name, 1 << 64)))
        for let in instruction.fields
        if let.name not in ("base", TOKENS) and _is_place(let.value)
    }
    choices = {name: range(of.start, min(of.stop, rows + 1)) for name, of in whole.items()}
    if prod(map(len, choices.values())) <= MOST_COMBINATIONS:
        every = [
            case
            for values in itertools.product(*choices.values())
            if (case := _case(instruction, isa, encoder, dict(zip(choices, values, strict=True)))) is not None
        ]
        return iter(every[:: max(1, -(-len(every) // (MORE * most)))]), len(every)
    sizes = _sizes(instruction)
    limits = {name: choices[name] if name in sizes else of for name, of in whole.items()}
    short = {name: of[:TINY] if name in sizes else of for name, of in choices.items()}
    return _drawn(instruction, isa, encoder, (choices, short), limits, DRAWS * MORE * most), None


def _drawn(
    instruction: Instruction,
    isa: InstructionSet,
    encoder: Encoder,
    choices: Sequence[Mapping[str, range]],
    limits: Mapping[str, range],
    tries: int,
) -> Iterator[Case]:
    """`limits`: of each field; `choices`: what each draws most from, in turns."""
    source, seen = random.Random(0), set[str]()
    for turn in range(tries):
        of = choices[turn % len(choices)]
        fields = {
            name: _draw(source, within, within if len(within) <= TINY else limits[name])
            for name, within in of.items()
        }
        case = _case(instruction, isa, encoder, fields)
        if case is not None and str(case) not in seen:
            seen.add(str(case))
            yield case


def tried(cases: Iterator[Case], does: Callable[[Case], Does], most: int) -> list[tuple[Case, Does]]:
    """Of `cases` until :data:`MORE` times `most` are useful, or so many times as many were tried."""
    wanted = max(MORE * most, FEWEST)
    found, useful = list[tuple[Case, Does]](), 0
    for case in cases:
        found.append((case, does(case)))
        useful += found[-1][1].useful
        if useful == wanted or len(found) == MORE * wanted:
            break
    return found


def varied(tried: Sequence[tuple[Case, Does]], most: int) -> list[Case]:
    """At most so many of the commands, in their order. Each next one shows the most that none before it has
    shown; of several such the one with the most steps is taken. Those that change nothing come last but for
    those that take long."""
    left, taken, seen = list(range(len(tried))), list[int](), set[tuple[str, int]]()
    while left and len(taken) < most:
        best = max(
            left,
            key=lambda at: (
                tried[at][1].short,
                tried[at][1].changes > 0,
                len(_shown(*tried[at]) - seen),
                tried[at][1].order,
                -at,
            ),
        )
        left.remove(best)
        taken.append(best)
        seen |= _shown(*tried[best])
    return [tried[at][0] for at in sorted(taken)]


def _shown(case: Case, does: Does) -> set[tuple[str, int]]:
    """What it does, and its fields: small numbers each by itself, others by how long they are, with their
    sign."""
    fields = {
        (name, value if abs(value) < FEW else (FEW + abs(value).bit_length()) * (1 if value > 0 else -1))
        for name, value in case.command.fields.items()
    }
    return fields | {(kind, 0) for kind in does.kinds}


def _draw(source: random.Random, of: range, limits: range) -> int:
    """A number of a field: small, up to what memories hold, anything, or near an end of `limits`."""
    roll = source.randrange(8)
    if len(limits) <= FEW and roll < 4:
        return source.choice(limits)
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


def _sizes(instruction: Instruction) -> set[str]:
    """Fields that bound a loop, or of which something is required."""
    found = set().union(
        *(names(each.condition) for each in instruction.legal), *map(_bounds, instruction.body)
    )
    for let in reversed(instruction.fields):  # a field is made of those before it
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


def _case(
    instruction: Instruction, isa: InstructionSet, encoder: Encoder, fields: Mapping[str, int]
) -> Case | None:
    """None: it is not legal."""
    command = Command(instruction.name, fields)
    try:
        inputs = encoder.inputs(command)
        touched = access(isa, instruction.name, inputs)
    except CompileError:
        return None
    return Case(command, inputs, encoder.words(command), touched.reads.tolist(), touched.writes.tolist())
