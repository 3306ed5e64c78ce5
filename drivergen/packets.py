"""Which packets the pass `accel-coalesce-loops` will make, from sizes alone: no IR, for thousands of tiles.

The search is the pass's own (:mod:`axiloom.drivergen.layout`), on arrays of trips and words, one value a
tile, instead of a nest of ops; a test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.drivergen import layout as packing
from axiloom.isa.types import WORD_BITS, DmaConfig

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Staged:
    """Words that one opcode stages at loop `level` (0 is the outermost), in front of inner loops or behind.

    `head` words are always the same; those of `tile` change with the loops whose numbers are in `depends`.
    """

    level: int
    behind: bool
    head: int
    tile: Array
    depends: frozenset[int]

    @property
    def words(self) -> Array:
        return self.head + self.tile


@dataclass(frozen=True)
class Packets:
    """Packets of a run: their number, words of the longest, and how often each opcode's tile is packed.

    Where `found` is false not even one iteration fits, and transfers block; the rest is infinite there.
    """

    found: npt.NDArray[np.bool_]
    count: Array
    longest: Array
    tiles: tuple[Array, ...]


@dataclass(frozen=True)
class _Layouts:
    """One layout for each tile, as :class:`axiloom.drivergen.layout.Layout`; not all are `legal`."""

    level: int
    count: Array
    chunks: Array
    longest: Array
    apart: bool
    copies: Array
    legal: npt.NDArray[np.bool_]


def packets(trips: Sequence[Array], staged: Sequence[Staged], dma: DmaConfig, *, buffers: int) -> Packets:
    """Those that the pass chooses with `buffers` places a packet, kept packed; `trips` from outside in."""
    nothing = np.full_like(trips[0], np.inf)
    best = Packets(np.zeros(len(trips[0]), bool), nothing, nothing, tuple(nothing for _ in staged))
    least = nothing
    for one in _layouts(trips, staged, dma, buffers):
        heads = {level: _visits(one, trips, level, frozenset()) for level in {s.level for s in staged}}
        tiles = tuple(_visits(one, trips, s.level, s.depends) for s in staged)
        words = sum(
            (n * s.tile + heads[s.level] * s.head for n, s in zip(tiles, staged, strict=True)),
            start=one.longest,
        )
        number = prod(trips[: one.level], start=one.chunks)
        cost = words * packing.WORD_CYCLES + number * packing.PACKET_CYCLES
        better = one.legal & (cost < least)
        least = np.where(better, cost, least)
        best = Packets(
            best.found | better,
            np.where(better, number, best.count),
            np.where(better, one.longest, best.longest),
            tuple(np.where(better, new, old) for new, old in zip(tiles, best.tiles, strict=True)),
        )
    return best


def _layouts(
    trips: Sequence[Array], staged: Sequence[Staged], dma: DmaConfig, buffers: int
) -> Iterator[_Layouts]:
    """In the order in which the pass tries them: of equals it takes the first."""
    window = dma.input_buffer_size * 8 // WORD_BITS
    longest = min(window, ((1 << dma.length_width) - 1) * 8 // WORD_BITS)
    zero = np.zeros_like(trips[0])
    bodies = [sum((s.words for s in staged if s.level == level), start=zero) for level in range(len(trips))]
    for level in reversed(range(len(trips) - 1)):
        bodies[level] = bodies[level] + bodies[level + 1] * trips[level + 1]
    for level, body in enumerate(bodies):
        prefix = sum((s.words for s in staged if s.level < level and not s.behind), start=zero)
        suffix = sum((s.words for s in staged if s.level < level and s.behind), start=zero)
        most = np.minimum(trips[level], np.maximum(1, packing.PACKET_WORDS // body))
        balanced = np.ceil(trips[level] / np.ceil(trips[level] / most))
        for count in np.sort([balanced, _divisors(trips[level], most), np.ones_like(most)], axis=0)[::-1]:
            chunks = np.ceil(trips[level] / count)
            long = prefix + count * body + suffix
            for apart in (True, False):
                copies = np.where((chunks > 1) & apart, 1, buffers)
                places = np.where((chunks > 1) & apart, chunks - 1, 0)
                words = _lines(prefix) + places * _lines(count * body) + _lines(count * body + suffix)
                legal = (words * copies <= window) & (long <= longest)
                if not apart:
                    legal &= (chunks > 1) & (trips[level] % count == 0)
                yield _Layouts(level, count, chunks, long, apart, copies, legal)


def _divisors(trips: Array, most: Array) -> Array:
    """The largest divisor of each number of trips up to `most`."""
    found = np.ones_like(trips)
    for count in range(2, int(most.max(initial=1)) + 1):
        found = np.where((trips % count == 0) & (count <= most), count, found)
    return found


def _lines(words: Array) -> Array:
    return np.ceil(words / packing.LINE_WORDS) * packing.LINE_WORDS


def _visits(one: _Layouts, trips: Sequence[Array], level: int, depends: frozenset[int]) -> Array:
    """How often words that change with the loops `depends` are put into the window."""
    unit = np.ones_like(trips[0])
    outer, inside = list(trips[: one.level]), list(trips[one.level : level + 1])
    if not one.apart and inside:  # the loop that packets of one place go round, and what one holds of it
        outer.append(one.chunks)
        inside[0] = one.count
    deepest = max((number for number in range(len(outer)) if number in depends), default=-1)
    repeats = prod(outer[deepest + 1 :], start=unit)
    kept = prod([*outer[: deepest + 1], *inside], start=np.minimum(one.copies, repeats))
    return np.minimum(prod(trips[: level + 1], start=unit), kept)
