"""Which packets the pass `accel-coalesce-loops` will make, from sizes alone: no IR, for thousands of tiles.

The search is the pass's own (:mod:`axiloom.drivergen.nest.layout`), on arrays of trips and words, one value a
tile, instead of a nest of ops; a test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.drivergen.nest import layout as packing
from axiloom.isa.contract.types import WORD_BITS, DmaConfig

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


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
    operand: str | None
    """Whose tile it is."""
    begins: bool
    """It begins an opcode that sends a tile: a part, where iterations are divided."""
    receives: int
    """Tiles that the opcode makes the device send."""

    @property
    def words(self) -> Array:
        return self.head + self.tile


@dataclass(frozen=True)
class Packets:
    """The packets of a run, as :class:`axiloom.drivergen.nest.layout.Layout`; all are arrays, one value a
    tile.

    Where `found` is false not even one iteration fits, and transfers block.
    """

    found: Mask
    level: Array
    count: Array
    chunks: Array
    longest: Array
    window: Array
    """Words of the window that they lie in."""
    apart: Mask
    copies: Array
    parts: Array
    """Transfers that each goes in."""

    @staticmethod
    def steps(trips: Sequence[Array]) -> Packets:
        """No packets, but the iterations of the innermost loop, kept in one place."""
        one, no = np.ones_like(trips[0]), np.zeros(len(trips[0]), bool)
        return Packets(no, one * (len(trips) - 1), one, trips[-1], one, one, no, one, one)

    def number(self, trips: Sequence[Array]) -> Array:
        """Transfers."""
        outer = (np.where(self.level > loop, n, 1) for loop, n in enumerate(trips))
        return np.asarray(prod(outer, start=self.chunks * self.parts))

    def cost(self, trips: Sequence[Array], staged: Sequence[Staged]) -> Array:
        """As :func:`axiloom.drivergen.nest.layout.cost`, where what is packed stays."""
        zero = np.zeros_like(self.longest)
        moved: dict[tuple[int, frozenset[int]], Array] = {}
        for s in staged:
            for depends, words in ((s.depends, s.tile), (frozenset[int](), zero + s.head)):
                key = s.level, depends
                moved[key] = moved.get(key, zero) + words
        words = self.longest
        for (level, depends), own in moved.items():
            words = words + self.visits(trips, level, depends, single=True) * own
        return np.asarray(words * packing.WORD_CYCLES + self.number(trips) * packing.PACKET_CYCLES)

    def visits(self, trips: Sequence[Array], level: int, depends: frozenset[int], *, single: bool) -> Array:
        """How often words that change with the loops `depends` are put into the window.

        `single`: they change with a loop of one iteration too.
        """
        unit = np.ones_like(trips[0])
        around, repeats, inside = unit, unit, unit
        here = [self.level == loop for loop in range(level + 1)]
        for loop, n in enumerate(trips[: level + 1]):
            # Packets that share a place: their loop goes round outside, with the iterations of one inside.
            shared = here[loop] & ~self.apart
            exists = (self.level > loop) | shared
            outer = np.where(shared, self.chunks, np.where(exists, n, 1))
            inside = inside * np.where(exists, np.where(shared, self.count, 1), n)
            repeats = repeats * outer
            if loop in depends:
                moves = exists if single else exists & (outer > 1)
                around = np.where(moves, around * repeats, around)
                repeats = np.where(moves, 1, repeats)
        kept = around * np.minimum(self.copies, repeats) * inside
        return np.minimum(prod(trips[: level + 1], start=unit), kept)

    def sequence(
        self, trips: Sequence[Array], staged: Sequence[Staged], length: int, *, lasts: bool = False
    ) -> tuple[list[Array], list[Array]]:
        """How often each of `staged` is in the first packets, and how often packed: arrays (`length`, tiles).

        The parts of a divided iteration count as one packet. `lasts`: what was done for a tile once is never
        done again, whatever came meanwhile.
        """
        at = np.arange(length)[:, None] + np.zeros_like(trips[0])
        radix = [
            np.where(self.level > loop, n, np.where(self.level == loop, self.chunks, 1))
            for loop, n in enumerate(trips)
        ]
        digits: list[Array] = []
        for n in reversed(radix):
            digits.insert(0, at % n)
            at = at // n
        exists = at == 0  # fewer packets than `length`
        here = sum(np.where(self.level == loop, digit, 0) for loop, digit in enumerate(digits))
        most = sum(np.where(self.level == loop, n, 0) for loop, n in enumerate(trips))
        iterations = np.minimum(self.count, most - here * self.count)
        present, packed = [], []
        for one in staged:
            inner = (np.where(self.level < loop, n, 1) for loop, n in enumerate(trips[: one.level + 1]))
            inside = prod(inner, start=iterations)
            ends = exists
            number = np.zeros_like(at)
            for loop, (digit, n) in enumerate(zip(digits, radix, strict=True)):
                if loop > one.level:
                    ends = ends & (digit == (n - 1 if one.behind else 0))
                    continue
                active = (self.level > loop) | ((self.level == loop) & ~self.apart)
                moves = active & (n > 1) & (loop in one.depends)
                forgotten = moves & (not lasts)
                number = np.where(forgotten, 0, np.where(active & ~moves, number * n + digit, number))
            times = np.where(self.level <= one.level, inside * exists, ends)
            present.append(times)
            packed.append(times * (number < self.copies))
        return present, packed


def packets(trips: Sequence[Array], staged: Sequence[Staged], dma: DmaConfig, *, buffers: int) -> Packets:
    """Those that the pass chooses with `buffers` places a packet, kept packed; `trips` from outside in."""
    best: Packets | None = None
    least = np.full_like(trips[0], np.inf)
    for layout in _layouts(trips, staged, dma, buffers):
        if best is not None and not layout.found.any():
            continue
        cost = layout.cost(trips, staged)
        better = layout.found & (cost < least)
        least = np.where(better, cost, least)
        best = _where(better, layout, best or layout)
    assert best is not None
    return replace(best, found=least < np.inf)


def _where(better: Mask, new: Packets, old: Packets) -> Packets:
    both = {f.name: (getattr(new, f.name), getattr(old, f.name)) for f in fields(Packets)}
    return Packets(**{name: np.where(better, *values) for name, values in both.items()})


def _layouts(
    trips: Sequence[Array], staged: Sequence[Staged], dma: DmaConfig, buffers: int
) -> Iterator[Packets]:
    """In the order in which the pass tries them: of equals it takes the first. `found`: those that fit."""
    window = dma.input_buffer_size * 8 // WORD_BITS
    longest = min(window, ((1 << dma.length_width) - 1) * 8 // WORD_BITS)
    zero, one = np.zeros_like(trips[0]), np.ones_like(trips[0])
    bodies = [sum((s.words for s in staged if s.level == level), start=zero) for level in range(len(trips))]
    for level in reversed(range(len(trips) - 1)):
        bodies[level] = bodies[level] + bodies[level + 1] * trips[level + 1]
    prefix = suffix = zero
    for level, body in enumerate(bodies):
        prefix = sum((s.words for s in staged if s.level < level and not s.behind), start=zero)
        suffix = sum((s.words for s in staged if s.level < level and s.behind), start=zero)
        most = np.minimum(trips[level], np.maximum(1, packing.PACKET_WORDS // body))
        balanced = np.ceil(trips[level] / np.ceil(trips[level] / most))
        before = np.zeros_like(zero)
        for count in np.sort([balanced, _divisors(trips[level], most), one], axis=0)[::-1]:
            if np.array_equal(count, before):
                continue
            before = count
            chunks = np.ceil(trips[level] / count)
            long = prefix + count * body + suffix
            for apart in (True, False):
                places = np.where((chunks > 1) & apart, chunks - 1, 0)
                copies = np.where((chunks > 1) & apart, 1, buffers)
                words = _lines(prefix) + places * _lines(count * body) + _lines(count * body + suffix)
                fits = (words * copies <= window) & (long <= longest)
                if not apart:
                    fits &= (chunks > 1) & (trips[level] % count == 0)
                at, where = np.full_like(zero, level), np.full_like(fits, apart)
                yield Packets(fits, at, count, chunks, long, words * copies, where, copies, one)
    parts = _parts([s for s in staged if s.level == len(trips) - 1])
    if buffers < 2 or len(parts) < 2:
        return
    long = prefix + np.max(parts, axis=0) + suffix
    stride = sum(map(_lines, parts), start=zero)
    at = np.full_like(zero, len(trips) - 1)
    for apart in (False, True):
        places = trips[-1] if apart else one
        words = _lines(prefix) + places * stride - _lines(parts[-1]) + _lines(parts[-1] + suffix)
        fits = (bodies[-1] >= packing.PACKET_WORDS) & (words <= window) & (long <= longest)
        if apart:
            fits &= trips[-1] > 1
        where = np.full_like(fits, apart)
        yield Packets(fits, at, one, trips[-1], long, words, where, one, one * len(parts))


def _parts(staged: Sequence[Staged]) -> list[Array]:
    """Words of an iteration by opcodes that send a tile, with those behind each that do not."""
    found: list[Array] = []
    for s in staged:
        if s.begins or not found:
            found.append(s.words)
        else:
            found[-1] = found[-1] + s.words
    return found


def _divisors(trips: Array, most: Array) -> Array:
    """The largest divisor of each number of trips up to `most`."""
    found = np.ones_like(trips)
    for count in range(2, int(most.max(initial=1)) + 1):
        found = np.where((trips % count == 0) & (count <= most), count, found)
    return found


def _lines(words: Array) -> Array:
    return np.asarray(np.ceil(words / packing.LINE_WORDS) * packing.LINE_WORDS)
