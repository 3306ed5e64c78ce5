"""The types of a plan.

Loops keep the tree small. Its numbers (`Num`) are ints, or arrays with one value a candidate: then the plan
is a *family*, plans that differ in numbers only, and all that is computed from it is an array.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial, reduce
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from axiloom.plan.numbers import Num, ceil_div, most, pick

LINE_WORDS = 8
"""Packets begin on cache lines of their own: the CPU may write to one while the DMA reads the other."""

T = TypeVar("T")


@dataclass(frozen=True)
class Span:
    """One axis of a region, in elements: `tile` of the array's `size`.

    At the end of the array a region is shorter; with `shift` it begins earlier there.
    """

    tile: Num
    size: int
    loops: tuple[tuple[str, Num], ...] = ()
    """Those that move it, each with elements an iteration; None: not known."""
    stride: int | None = None
    """Of the array's elements from one to the next; None: not known."""
    shift: Num = False
    base: int = 0
    """Where it begins in the first iteration."""


@dataclass(frozen=True)
class Region:
    """A part of an array, its axes as they lie in memory; `order`: as they travel."""

    array: Hashable
    """Two regions lie in the same array where this is equal."""
    spans: tuple[Span, ...]
    order: tuple[int, ...]
    bits: int
    """Of an element."""
    dense: bool = False
    """Its tiles have any size: see `accel.DenseAttr`."""

    @property
    def loops(self) -> frozenset[str]:
        return frozenset(name for span in self.spans for name, _ in span.loops)

    @property
    def is_matrix(self) -> bool:
        """Two axes, rows in one piece: what is known of caches is known of these."""
        return len(self.spans) == 2 and self.spans[0].stride is not None and self.spans[1].stride == 1


def rows(array: Hashable, begin: int, size: int, count: int = 1, stride: int = 0) -> Region:
    """`count` rows of `size` bytes of an array, `stride` bytes from row to row, from byte `begin` on."""
    return Region(
        array, (Span(count, count, stride=stride), Span(size, size, stride=1, base=begin)), (0, 1), 8
    )


@dataclass(frozen=True)
class Register:
    """An access to a register of the device: `how`, its byte address from the DMA's, a value or a mask."""

    how: str
    at: int
    value: int = 0


@dataclass(frozen=True)
class Field:
    """A part of a word: `value`, from bit `shift` on."""

    value: int
    shift: int


Word: TypeAlias = "int | str | tuple[Field, ...]"
"""Its value, the loop whose counter it is, or its fields."""


@dataclass(frozen=True)
class Words:
    """Words of a command besides its tiles: `words` of them, which change with `loops`.

    `values`: what they are; a plan that only costs are asked of has none.
    """

    words: int
    loops: frozenset[str] = frozenset()
    values: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Send:
    """A tile of so many words, by the stream or `by` registers.

    `in_place`: the DMA reads it where it lies, if it is whole. `clean`: the CPU's writes to it are in memory.
    `of`: what the CPU packs there before, one row behind the other.
    """

    words: Num
    region: Region
    by: Register | None = None
    in_place: bool = False
    clean: bool = False
    of: tuple[Region, ...] = ()

    @property
    def loops(self) -> frozenset[str]:
        return self.region.loops


@dataclass(frozen=True)
class Receive:
    """A tile that comes back. The CPU adds it, or copies it, to its place; or the DMA writes it there.

    `of`: where the CPU copies its rows to from there, once the queue is closed.
    """

    words: Num
    region: Region
    add: bool = True
    in_place: bool = False
    by: Register | None = None
    of: tuple[Region, ...] = ()

    @property
    def loops(self) -> frozenset[str]:
        return self.region.loops


Move: TypeAlias = Words | Send | Receive


@dataclass(frozen=True)
class Command:
    """One opcode, whole: what goes to the device and what comes back. `loads`: it only loads operands.

    Registers are accessed `before` and `after` it.
    """

    opcode: str
    moves: tuple[Move, ...]
    loads: bool = False
    before: tuple[Register, ...] = ()
    after: tuple[Register, ...] = ()

    @cached_property
    def sent_words(self) -> Num:
        """Of the stream."""
        return sum(
            move.words
            for move in self.moves
            if isinstance(move, Words) or (isinstance(move, Send) and move.by is None)
        )

    @property
    def sends_tile(self) -> bool:
        return any(isinstance(move, Send) for move in self.moves)


@dataclass(frozen=True)
class Loop:
    """`trips` iterations of what is in it. Its counter goes by `step`, below `end`.

    With `of`, the counter of that loop, whose blocks these iterations are, is added to it.
    """

    name: str
    trips: Num
    body: tuple[Node, ...]
    step: Num = 1
    end: Num = 0
    of: str = ""


@dataclass(frozen=True)
class Packets:
    """`count` iterations of the loop at `level`, with the loops inside it, are one packet.

    In front of the first packet of a run of that loop go the opcodes in front of it (the prefix), behind the
    last one those behind (the suffix). Words are 32 bits wide. Where the window has no room for two
    iterations of the innermost loop, each goes in several packets: parts.
    """

    level: int
    count: Num
    chunks: Num
    """Packets a run."""
    body: Num
    """Words of one iteration."""
    prefix: Num
    suffix: Num
    apart: bool
    """Each packet of a run has a place of its own; else all lie in the same one."""
    copies: Num
    """Places that take turns with this one: 2 where two packets in a row would lie in the same."""
    parts: tuple[Num, ...] = ()
    """Words of each packet of an iteration, all in places of their own; empty: it is not divided."""

    @property
    def base(self) -> Num:
        """Where the first packet without its prefix begins, which lies in front of that."""
        return lines(self.prefix)

    @property
    def stride(self) -> Num:
        """From one packet of a run to the next, if they lie apart."""
        return sum(map(lines, self.parts)) if self.parts else lines(self.count * self.body)

    @property
    def room(self) -> Num:
        """Words of all the places of a run, each place once."""
        packets = self.chunks if self.apart else 1
        last = self.parts[-1] if self.parts else self.count * self.body
        return self.base + packets * self.stride - lines(last) + lines(last + self.suffix)

    @property
    def window(self) -> Num:
        return self.room * self.copies

    @property
    def longest(self) -> Num:
        """Words of the longest packet there can be."""
        longest = reduce(most, self.parts) if self.parts else self.count * self.body
        return self.prefix + longest + self.suffix

    @property
    def starts(self) -> list[Num]:
        """Where the parts of an iteration begin in it."""
        return [sum(map(lines, self.parts[:number])) for number in range(len(self.parts))]

    def number(self, trips: Sequence[Num]) -> Num:
        """How many there are."""
        return prod(trips[: self.level]) * self.chunks * max(1, len(self.parts))

    def __getitem__(self, which: Any) -> Packets:
        return mapped(self, partial(pick, which=which))


def lines(words: Num) -> Num:
    """`words`, in whole cache lines."""
    return ceil_div(words, LINE_WORDS) * LINE_WORDS


@dataclass(frozen=True)
class Window:
    """What is sent in packets, which the CPU packs in the DMA's window.

    `keep`: what the last packet in the same place has left there is not packed again. `late`: a packet is
    packed while the one before is sent, and what that brings back is taken afterwards.
    """

    body: tuple[Node, ...]
    packets: Packets
    keep: bool = False
    late: bool = False


@dataclass(frozen=True)
class Queue:
    """Descriptors, which read tiles where they lie. `table`: all are known before the first call.

    `own`: an array that only the DMA writes to until the queue is closed, and nobody reads. `clean`: bytes
    that are cleaned, which nobody writes to from here on; 0: too few to clean the caches as a whole.
    """

    body: tuple[Node, ...]
    table: bool = False
    own: Hashable | None = None
    clean: int = 0


Node: TypeAlias = Command | Loop | Window | Queue


@dataclass(frozen=True)
class Level:
    """A loop of a nest (see `Loop`): commands in front of the loop inside it, and behind."""

    name: str
    trips: Num
    pre: tuple[Command, ...] = ()
    post: tuple[Command, ...] = ()
    step: Num = 1
    end: Num = 0
    of: str = ""

    @property
    def all(self) -> tuple[Command, ...]:
        return (*self.pre, *self.post)


class Item(NamedTuple):
    """A move in loop number `level`, in front of inner loops or behind; `moved`: the loops that change it."""

    level: int
    behind: bool
    move: Move
    moved: frozenset[int]

    @property
    def is_sent(self) -> bool:
        return not isinstance(self.move, Receive)


@dataclass(frozen=True)
class Plan:
    """Nodes in their order. Most plans are one nest: loops from outside in, `levels`."""

    body: tuple[Node, ...]

    @classmethod
    def of(cls, levels: Sequence[Level], before: Sequence[Command] = ()) -> Plan:
        """A nest, behind some commands."""
        body: tuple[Node, ...] = ()
        for level in reversed(levels):
            inside = (*level.pre, *body, *level.post)
            body = (Loop(level.name, level.trips, inside, level.step, level.end, level.of),)
        return cls((*before, *body))

    @property
    def transport(self) -> Window | Queue | None:
        """Around the nest; None: not decided, or each transfer blocks."""
        return next((node for node in self.body if isinstance(node, Window | Queue)), None)

    @property
    def is_queued(self) -> bool:
        return isinstance(self.transport, Queue)

    def through(self, wrap: Callable[[tuple[Node, ...]], Window | Queue]) -> Plan:
        """With a transport around the loops."""
        before = tuple(node for node in self.body if isinstance(node, Command))
        return Plan((*before, wrap(self.body[len(before) :])))

    @property
    def before(self) -> tuple[Command, ...]:
        """The commands in front of the loops."""
        return tuple(node for node in self.body if isinstance(node, Command))

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        levels: list[Level] = []
        body = self.transport.body if self.transport else self.body
        loop = next((node for node in body if isinstance(node, Loop)), None)
        while loop is not None:
            at = next((i for i, node in enumerate(loop.body) if isinstance(node, Loop)), len(loop.body))
            pre, inner, post = loop.body[:at], loop.body[at : at + 1], loop.body[at + 1 :]
            own = (loop.step, loop.end, loop.of)
            levels.append(Level(loop.name, loop.trips, _commands(pre), _commands(post), *own))
            loop = inner[0] if inner and isinstance(inner[0], Loop) else None
        return tuple(levels)

    @property
    def trips(self) -> list[Num]:
        return [level.trips for level in self.levels]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every move in the loops, from outside in, of each loop those behind at once."""
        names = [level.name for level in self.levels]
        return tuple(
            Item(number, behind, move, frozenset(names.index(name) for name in move.loops if name in names))
            for number, level in enumerate(self.levels)
            for behind, commands in ((False, level.pre), (True, level.post))
            for command in commands
            for move in command.moves
        )

    @cached_property
    def count(self) -> int | None:
        """Candidates of the family; None: it is one plan."""
        sizes = [len(value) for value in _arrays(self)]
        return max(sizes) if sizes else None

    def each(self, change: Callable[[Move], Move]) -> Plan:
        """With every move changed."""
        return Plan(tuple(_each(node, change) for node in self.body))

    def __getitem__(self, which: Any) -> Plan:
        """One of a family, or a family of some of them."""
        return mapped(self, partial(pick, which=which))


def _commands(nodes: Sequence[Node]) -> tuple[Command, ...]:
    return tuple(node for node in nodes if isinstance(node, Command))


def _each(node: Node, change: Callable[[Move], Move]) -> Node:
    if isinstance(node, Command):
        return replace(node, moves=tuple(map(change, node.moves)))
    return replace(node, body=tuple(_each(inner, change) for inner in node.body))


def mapped(value: T, change: Callable[[Num], Num]) -> T:
    """A plan, or a part of one, with every array in it changed."""
    if isinstance(value, np.ndarray):
        return change(value)  # type: ignore[no-any-return]
    if isinstance(value, tuple):
        return tuple(mapped(item, change) for item in value)  # type: ignore[return-value]
    names = _FIELDS.get(type(value))
    return type(value)(*(mapped(getattr(value, name), change) for name in names)) if names else value


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)
    else:
        for name in _FIELDS.get(type(value), ()):
            yield from _arrays(getattr(value, name))


_FIELDS: dict[type, tuple[str, ...]] = {
    part: tuple(field.name for field in fields(part))
    for part in (Span, Region, Words, Send, Receive, Command, Loop, Packets, Window, Queue, Plan)
}
