"""Which iterations of a nest go into one packet, and where packets lie in the input window.

A packet is `count` iterations of the loop at `level`, inner loops and all. In front of the first packet of
a run of that loop go the opcodes in front of it (the prefix), behind the last one those behind (the suffix).
Where the window has no room for two iterations of the innermost loop, each goes in several packets: parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from axiloom.drivergen.nest.moves import Move, Moves
from axiloom.isa.contract.types import WORD_BITS

LINE_WORDS = 8
"""Packets begin on cache lines of their own: the CPU may write to one while the DMA reads the other."""

WORD_CYCLES = 11
"""To read a word of a matrix, write it to the window and clean it: CPU cycles, about."""
PACKET_WORDS = 2048
"""About how long a packet should be: packing the first and unpacking the last overlap with nothing."""
PACKET_CYCLES = 900
"""To start a transfer and see its end: registers in the fabric are far away."""


def lines(words: int) -> int:
    """`words`, in whole cache lines."""
    return -(-words // LINE_WORDS) * LINE_WORDS


@dataclass(frozen=True)
class Layout:
    """Words are 32 bits wide. The first packet of a run begins `prefix` words before `base`."""

    level: int
    count: int
    chunks: int
    """Packets a run of the loop at `level`."""
    body: int
    """Words of one iteration."""
    prefix: int
    suffix: int
    apart: bool
    """Each packet of a run has a place of its own; else all lie in the same one."""
    copies: int
    """Places that take turns with this one: 2 where two packets in a row would lie in the same."""
    parts: tuple[int, ...] = ()
    """Words of each packet of an iteration, all in places of their own; empty: it is not divided."""

    @property
    def base(self) -> int:
        return lines(self.prefix)

    @property
    def stride(self) -> int:
        """From one packet of a run to the next, if they lie apart."""
        return sum(map(lines, self.parts)) if self.parts else lines(self.count * self.body)

    @property
    def words(self) -> int:
        """Words of all the places of a run, each place once."""
        packets = self.chunks if self.apart else 1
        last = self.parts[-1] if self.parts else self.count * self.body
        return self.base + packets * self.stride - lines(last) + lines(last + self.suffix)

    @property
    def longest(self) -> int:
        """Words of the longest packet there can be."""
        return self.prefix + max(self.parts, default=self.count * self.body) + self.suffix

    @property
    def starts(self) -> list[int]:
        """Where the parts of an iteration begin in it."""
        return [sum(map(lines, self.parts[:number])) for number in range(len(self.parts))]


def stage_words(items: Sequence[Move]) -> int:
    return sum(item.words for item in items if item.sent)


def parts(items: Sequence[Move]) -> list[range]:
    """An iteration by tiles: a part for each opcode that sends one, with those behind it that do not.

    Parts are numbers of the items.
    """
    begins = [number for number, item in enumerate(items) if not number or item.begins]
    found: list[range] = []
    for begin, end in pairwise([*begins, len(items)]):
        if found and not any(item.sent and item.is_tile for item in items[begin:end]):
            begin = found.pop().start
        found.append(range(begin, end))
    return found


def bodies(nest: Moves) -> list[int]:
    """Words of one iteration of each loop, with the loops inside it."""
    found: list[int] = []
    inner = 0
    for level in reversed(nest.levels):
        inner = stage_words(level.pre) + inner + stage_words(level.post)
        found.insert(0, inner)
        inner *= level.trips
    return found


def layouts(nest: Moves, buffers: int, target: int, *, divide: bool = False) -> Iterator[Layout]:
    """Those that fit window and LENGTH register, with packets of about `target` words.

    Iterations in parts are among them where two packets take turns and are large, or if told so.
    """
    window = nest.dma.input_buffer_size * 8 // WORD_BITS
    longest = min(window, ((1 << nest.dma.length_width) - 1) * 8 // WORD_BITS)
    words = bodies(nest)
    for number, level in enumerate(nest.levels):
        prefix = sum(stage_words(outer.pre) for outer in nest.levels[:number])
        suffix = sum(stage_words(outer.post) for outer in nest.levels[:number])
        for count in sorted({*_counts(level.trips, max(1, target // words[number]))}, reverse=True):
            chunks = -(-level.trips // count)
            for apart in (True, False) if chunks > 1 else (True,):
                copies = 1 if apart and chunks > 1 else buffers
                one = Layout(number, count, chunks, words[number], prefix, suffix, apart, copies)
                # What lies behind a short last packet would lie in the middle of the longer ones.
                short = not apart and level.trips % count
                if one.words * copies <= window and one.longest <= longest and not short:
                    yield one
    large = buffers > 1 and words[-1] >= target
    if (large or divide) and len(parts(nest.levels[-1].pre)) > 1:
        yield from (one for one in _divided(nest) if one.words <= window and one.longest <= longest)


def _divided(nest: Moves) -> Iterator[Layout]:
    """Iterations of the innermost loop in parts; none if many tiles come back.

    With one tile at most an iteration, its receive is armed before anything waits for the device.
    """
    if sum(not item.sent for _, item in nest.items()) > 1:
        return
    *outer, own = nest.levels
    prefix = sum(stage_words(level.pre) for level in outer)
    suffix = sum(stage_words(level.post) for level in outer)
    sizes = tuple(stage_words(own.pre[part.start : part.stop]) for part in parts(own.pre))
    for apart in (False, True) if own.trips > 1 else (False,):
        yield Layout(len(outer), 1, own.trips, sum(sizes), prefix, suffix, apart, 1, sizes)


def _counts(trips: int, most: int) -> Iterator[int]:
    """Iterations a packet, up to about `most`: balanced, and divisors of `trips`."""
    most = min(trips, most)
    yield -(-trips // -(-trips // most))
    yield max(count for count in range(1, most + 1) if trips % count == 0)
    yield 1


def packed(nest: Moves, layout: Layout, *, keep: bool) -> int:
    """Words that the CPU puts into the window for the nest; `keep`: not again what is there already."""
    trips = nest.trips
    total = 0
    for level, item in nest.items():
        if not item.sent:
            continue
        visits = prod(trips[: level + 1])
        if keep:
            visits = min(visits, _kept(layout, trips, level, item.loops))
        total += visits * item.words
    return total


def _kept(layout: Layout, trips: list[int], level: int, depends: frozenset[int]) -> int:
    """How often a word is put into the window if it is left there as long as it stays the same."""
    outer = trips[: layout.level]
    inside = trips[layout.level : level + 1]
    if not layout.apart and inside:
        outer = [*outer, layout.chunks]
        inside[0] = layout.count
    changes = [i for i in range(len(outer)) if i in depends]
    deepest = max(changes, default=-1)
    repeats = prod(outer[deepest + 1 :])
    return prod(outer[: deepest + 1]) * min(layout.copies, repeats) * prod(inside)


def cost(nest: Moves, layout: Layout, *, keep: bool) -> float:
    """CPU cycles for packing and sending, about."""
    packets = prod(nest.trips[: layout.level]) * layout.chunks
    packets *= max(1, len(layout.parts))
    words = packed(nest, layout, keep=keep) + layout.longest  # nothing overlaps with packing the first
    return words * WORD_CYCLES + packets * PACKET_CYCLES


def choose(
    nest: Moves, *, buffers: int, keep: bool, target: int = PACKET_WORDS, loops: bool = True
) -> Layout | None:
    """The layout that costs the CPU least, None if not even one iteration of the innermost loop fits.

    Without `loops` an iteration of the innermost loop is the most that goes in a packet, and its parts go in
    packets of their own where they can.
    """
    fitting = list(layouts(nest, buffers, target if loops else 1, divide=not loops))
    if not loops:
        single = [one for one in fitting if one.level == len(nest.levels) - 1 and one.count == 1]
        fitting = [one for one in single if one.parts] or single
    return min(fitting, key=lambda one: cost(nest, one, keep=keep), default=None)
