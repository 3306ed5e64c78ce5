"""Dependences through memory: how many iterations after an access another one may meet its element.

The iterations of a pipe are enumerated; guards count. Two accesses whose addresses differ from those of
another pair by the same constant have the same answer, which is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition
from axiloom.nests.lower.banks.layouts import BankLayout
from axiloom.nests.lower.iteration.graph import Access, Vertex
from axiloom.nests.lower.iteration.space import Space, holds
from axiloom.nests.lower.slots.distances import Distances

FEW_POINTS = 1 << 15
"""Iterations that are enumerated sooner than isl finds the distance."""
MOST_POINTS = 1 << 22
"""Iterations that are enumerated where isl's distance may be too small."""

_Element = tuple[Affine, Affine, int, int]
"""A number within the array, the copy's number, how many copies, and how many numbers each has."""


@dataclass(frozen=True)
class Dependence:
    """`after` meets what `before` touched `distance` iterations earlier; no sooner. `delay`: cycles from slot
    to slot, 1 if `before` is a store (whose write counts from the next cycle on)."""

    before: int
    after: int
    distance: int
    delay: int
    array: str


@dataclass
class Carried:
    """Distances between accesses of a pipe."""

    layouts: Mapping[str, BankLayout]
    space: Space
    turns: Mapping[str, Affine]
    """For arrays in several copies: which copy."""

    def __post_init__(self) -> None:
        self._known: dict[tuple[_Element, _Element, Condition, Condition, bool], int | None] = {}
        self._distances = Distances(self.space)
        self._columns: dict[tuple[_Element, Condition], npt.NDArray[np.int64]] = {}

    def dependences(self, vertices: Sequence[Vertex], apart: Callable[[int, int], bool]) -> list[Dependence]:
        """All pairs of accesses of which one is a store, each with its least distance. `apart`: whether two
        vertices never touch the same bank."""
        places: dict[str, list[int]] = {}
        for number, vertex in enumerate(vertices):
            if isinstance(vertex.what, Access):
                places.setdefault(vertex.what.array, []).append(number)
        pairs = []
        for array, numbers in places.items():
            for a in numbers:
                for b in numbers:
                    access, other = vertices[a].what, vertices[b].what
                    assert isinstance(access, Access)
                    assert isinstance(other, Access)
                    if a == b or not (access.is_store or other.is_store) or apart(a, b):
                        continue
                    distance = self.distance(vertices[a], vertices[b])
                    if distance is not None:
                        pairs.append(Dependence(a, b, distance, int(access.is_store), array))
        return pairs

    def distance(self, a: Vertex, b: Vertex) -> int | None:
        """The least number of iterations from `a` to a later `b` of the same element; 0 if `b` comes later in
        the same one."""
        assert isinstance(a.what, Access)
        assert isinstance(b.what, Access)
        first, second = self._offset(a.what), self._offset(b.what)
        low, high = (first - second).range(self.space.ranges)
        if (low > 0 or high < 0) and first.names == () == second.names:
            return None
        base = first.constant
        turn = self._turn(a.what.array)
        key = ((first - base, *turn), (second - base, *turn), a.guard, b.guard, a.time < b.time)
        if key not in self._known:
            self._known[key] = self._least(*key)
        return self._known[key]

    def _offset(self, access: Access) -> Affine:
        """A number that tells elements of an array apart."""
        shape = self.layouts[access.array].shape
        total = Affine()
        for position, form in enumerate(access.forms):
            total = total + form * prod(shape[position + 1 :])
        return total

    def _turn(self, array: str) -> tuple[Affine, int, int]:
        """Which copy, of how many, of what size."""
        layout = self.layouts[array]
        return self.turns.get(array, Affine()), layout.copies, prod(layout.shape)

    def _least(
        self, first: _Element, second: _Element, where: Condition, guard: Condition, same: bool
    ) -> int | None:
        n = self.space.iterations
        if n > (FEW_POINTS if self._distances.is_exact else MOST_POINTS):
            # Of which of several copies an access is does not matter here: all are taken for one.
            return self._distances.least(first[0], second[0], where, guard, same)
        before = self._sorted(first, where, n)
        after = self._keys(second, guard, n)
        if not len(before) or not len(after):
            return None
        position = np.searchsorted(before, after, "right" if same else "left") - 1
        earlier = before[np.maximum(position, 0)]
        meet = (position >= 0) & (earlier // n == after // n)
        if not meet.any():
            return None
        return int((after - earlier)[meet].min())

    def _keys(self, element: _Element, guard: Condition, n: int) -> npt.NDArray[np.int64]:
        """For each iteration with the access: its element, then the iteration's number, in one integer."""
        points = self.space.points
        where = holds(guard, points, n)
        form, turn, copies, size = element
        copy = turn.values(points) % copies if copies > 1 else 0
        elements = np.broadcast_to(form.values(points) + 2 * size * copy, (n,))
        return (elements * n + np.arange(n))[where]

    def _sorted(self, element: _Element, guard: Condition, n: int) -> npt.NDArray[np.int64]:
        key = (element, guard)
        if key not in self._columns:
            self._columns[key] = np.sort(self._keys(element, guard, n))
        return self._columns[key]
