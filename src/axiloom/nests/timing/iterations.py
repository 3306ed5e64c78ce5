"""The iterations of a pipe in their order, as arrays: many rows at once, a chunk at a time.

A *row* is one run through the innermost counter. Conditions are affine, so within a row each holds on one
interval of that counter: which iterations pop or push is known without enumerating the innermost counter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Condition, Counter, Piece, Pipe

Ints = npt.NDArray[np.int64]
Points = dict[str, Ints]

CHUNK = 1 << 20
"""Rows at once, about: what bounds the memory."""

_ONCE = Counter("", (), (), (0, 0))


@dataclass(frozen=True)
class Rows:
    """Rows that follow each other. `outer` has the values of the outer counters, `lower` and `upper` the ends
    of `inner`, and `first` the number of each row's first iteration, all of shape (rows,)."""

    outer: Points
    inner: str
    lower: Ints
    upper: Ints
    first: Ints

    @property
    def iterations(self) -> int:
        return int((self.upper - self.lower + 1).sum())

    def where(self, condition: Condition) -> Ints:
        """Numbers of the iterations at which `condition` holds, ascending."""
        low, high = self.lower, self.upper
        for form in condition:
            factor = form.coefficient(self.inner)
            rest = form.substitute({self.inner: 0}).values(self.outer)
            if factor > 0:
                low = np.maximum(low, -(rest // factor))
            elif factor < 0:
                high = np.minimum(high, rest // -factor)
            else:
                high = np.where(rest >= 0, high, self.lower - 1)
        return runs(self.first + (low - self.lower), np.maximum(high - low + 1, 0))


def runs(starts: Ints, counts: Ints) -> Ints:
    """``starts[i], starts[i] + 1, ...``, `counts[i]` of them, for each i."""
    if np.all(counts == 1):
        return starts
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - ends + counts, counts)


def bound(pieces: Sequence[Piece], points: Mapping[str, Ints], rows: int) -> Ints:
    """The value of `pieces` at each point. Raises ValueError where not exactly one piece holds."""
    if len(pieces) == 1 and not pieces[0].when:
        return np.broadcast_to(pieces[0].value.values(points), rows).astype(np.int64)
    value, held = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for piece in pieces:
        here = holds(piece.when, points, rows)
        held += here
        value = np.where(here, piece.value.values(points), value)
    if not np.all(held == 1):
        point = {name: int(column[np.argmax(held != 1)]) for name, column in points.items()}
        raise ValueError(f"{int(held[np.argmax(held != 1)])} pieces of a bound hold at {point}, not one")
    return value


def holds(condition: Condition, points: Mapping[str, Ints], rows: int) -> npt.NDArray[np.bool_]:
    here = np.ones(rows, np.bool_)
    for form in condition:
        here &= form.values(points) >= 0
    return here


def rows(pipe: Pipe, chunk: int = CHUNK) -> Iterator[Rows]:
    """All rows of `pipe` in order. Raises ValueError if a counter has no value at some point, or if the
    iterations are not as many as the pipe says."""
    *outer, inner = pipe.counters or (_ONCE,)
    count = 0
    for points, size in _expand({}, 1, outer, chunk):
        if inner is _ONCE:
            lower, upper = np.zeros(1, np.int64), np.zeros(1, np.int64)
        else:
            lower, upper = bound(inner.lower, points, size), bound(inner.upper, points, size)
        counts = _counts(inner.name, lower, upper, points)
        first = count + np.cumsum(counts) - counts
        count += int(counts.sum())
        yield Rows(points, inner.name, lower, upper, first)
    if count != pipe.iterations:
        raise ValueError(f"pipe {pipe.name} counts {count} iterations, and says {pipe.iterations}")


def points(pipe: Pipe, chunk: int = CHUNK) -> Iterator[Points]:
    """The values of all counters at each iteration in order, arrays of shape (iterations of the chunk,)."""
    for points, _ in _expand({}, 1, list(pipe.counters), chunk):
        yield points


def _expand(
    points: Points, size: int, counters: Sequence[Counter], chunk: int
) -> Iterator[tuple[Points, int]]:
    """`points` with all values of `counters` at each: parts of about `chunk` points, in order."""
    if not counters:
        yield points, size
        return
    counter, *others = counters
    lower, upper = bound(counter.lower, points, size), bound(counter.upper, points, size)
    counts = _counts(counter.name, lower, upper, points)
    ends = np.cumsum(counts)
    begin = 0
    while begin < size:
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + chunk, "right")))
        here = slice(begin, end)
        part = {name: np.repeat(point[here], counts[here]) for name, point in points.items()}
        part[counter.name] = runs(lower[here], counts[here])
        yield from _expand(part, len(part[counter.name]), others, chunk)
        begin = end


def _counts(counter: str, lower: Ints, upper: Ints, points: Points) -> Ints:
    counts = upper - lower + 1
    if np.any(counts < 1):
        at = {name: int(point[np.argmax(counts < 1)]) for name, point in points.items()}
        raise ValueError(f"counter {counter} has no value at {at}")
    return counts
