"""How many iterations lie between accesses of the same element, for pipes with too many to enumerate.

Two iterations p < q part at some counter: counters further out agree, and p's value is smaller. Between them
lie the rest of p's value of that counter, whole values, and the beginning of q's. ::

    p ... | value of p: the rest | whole values | value of q: the beginning | q

The rest of p's value is counted from the innermost counter outwards: so many values are left, and each stands
for at least so many iterations. That is exact where the inner counters have constant bounds, and else never
too much: a distance may be taken for less than it is, which costs cycles and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition, Piece
from axiloom.nests.lower.iteration.space import Space
from axiloom.nests.poly import sets


class Distances:
    """Of one pipe."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.names = space.names
        self.later = {name: Affine.name(f"{name}_later") for name in space.names}
        self.every = (*self.names, *(f"{name}_later" for name in self.names))
        self._points: dict[Condition, isl.Set] = {}
        self._known_sizes: dict[tuple[str, int], list[int]] = {}

    @cached_property
    def is_exact(self) -> bool:
        """Whether all counters have constant bounds: then `least` gives the distance itself."""
        ends = [bound for counter in self.space.counters for bound in (counter.lower, counter.upper)]
        return all(len(pieces) == 1 and pieces[0].value.is_constant for pieces in ends)

    def least(
        self, first: Affine, second: Affine, where: Condition, guard: Condition, same: bool
    ) -> int | None:
        """A lower bound of the distance from iterations with `where` to later ones with `guard`, if `first`
        in the former equals `second` in the latter; 0 if one iteration has both and `same`. None if there
        are none."""
        pairs = self._pairs(first, second, where, guard)
        if same and not pairs.intersect(self._parting[-1]).is_empty():
            return 0
        bounds = [
            self._bound(at, level)
            for level in range(len(self.names))
            if not (at := pairs.intersect(self._parting[level])).is_empty()
        ]
        return min(bounds, default=None)

    def _pairs(self, first: Affine, second: Affine, where: Condition, guard: Condition) -> isl.Set:
        """Points (p, q) with equal elements; in any order of time."""
        gap = first - second.substitute(self.later)
        both = self._reached(where).flat_product(self._reached(guard))
        return both.intersect(sets.domain(self.every, (gap, -gap)))

    def _reached(self, condition: Condition) -> isl.Set:
        """Points with `condition`: of many phases mostly one; a product of all would have all pairs."""
        if condition not in self._points:
            points = self.space.reached.intersect(sets.domain(self.names, condition))
            self._points[condition] = points.coalesce()
        return self._points[condition]

    @cached_property
    def _parting(self) -> list[isl.Set]:
        """For each level the pairs whose counters agree up to there, where p's is smaller; at the end those
        that agree in all."""
        gaps = [self.later[name] - Affine.name(name) for name in self.names]
        same = [form for gap in gaps for form in (gap, -gap)]
        levels = [(*same[: 2 * level], gaps[level] - 1) for level in range(len(gaps))]
        return [sets.domain(self.every, condition) for condition in (*levels, tuple(same))]

    def _bound(self, pairs: isl.Set, level: int) -> int:
        """Of pairs that part at `level`."""
        count, name = len(self.names), self.names[level]
        p = pairs.project_out(isl.dim_type.set, count, count)
        q = pairs.project_out(isl.dim_type.set, 0, count)
        before, after = (self._sizes(_prefix(side, level + 1), level + 1) for side in (p, q))
        whole = self._sizes(_prefix(p, level), level)
        # What is affine: whole values, and where p and q stand in theirs.
        total = (self.later[name] - Affine.name(name) - 1) * whole[level] + 1
        for k in range(level + 1, count):
            total = total - Affine.name(self.names[k]) * before[k] + self.later[self.names[k]] * after[k]
        value = isl.PwAff(f"{{ {sets.point(self.every)} -> [{total}] }}").intersect_domain(pairs)
        for k in range(level + 1, count):
            upper, lower = self._ends[k]
            value = value.add(upper.scale_val(isl.Val(before[k])).intersect_domain(pairs))
            value = value.add(lower.scale_val(isl.Val(-after[k])).intersect_domain(pairs))
        return _minimum(value)

    @cached_property
    def _ends(self) -> list[tuple[isl.PwAff, isl.PwAff]]:
        """For each counter the upper bound at p and the lower bound at q."""
        return [
            (_function(self.every, counter.upper, {}), _function(self.every, counter.lower, self.later))
            for counter in self.space.counters
        ]

    def _sizes(self, prefix: isl.Set, level: int) -> list[int]:
        """For each counter from `level` on the fewest iterations that one of its values stands for, at points
        whose first `level` counters are in `prefix`."""
        key = (str(prefix), level)
        if key not in self._known_sizes:
            self._known_sizes[key] = self._found_sizes(prefix, level)
        return self._known_sizes[key]

    def _found_sizes(self, prefix: isl.Set, level: int) -> list[int]:
        count = len(self.names)
        among = prefix.add_dims(isl.dim_type.set, count - level).intersect(self.space.reached)
        sizes = [1] * count
        for k in range(count - 1, level, -1):
            fewest = _minimum(self._spans[k].intersect_domain(among)) + 1
            sizes[k - 1] = sizes[k] * fewest
        return sizes

    @cached_property
    def _spans(self) -> list[isl.PwAff]:
        """For each counter its upper bound less its lower one."""
        return [
            _function(self.names, counter.upper, {}).sub(_function(self.names, counter.lower, {}))
            for counter in self.space.counters
        ]


def _function(names: tuple[str, ...], pieces: Sequence[Piece], moved: dict[str, Affine]) -> isl.PwAff:
    """A bound of a counter."""
    parts = [
        f"{sets.point(names)} -> [{piece.value.substitute(moved)}] : "
        f"{sets.conjunction(form.substitute(moved) for form in piece.when)}"
        for piece in pieces
    ]
    return isl.PwAff(f"{{ {'; '.join(parts)} }}")


def _minimum(value: isl.PwAff) -> int:
    try:
        return int(value.min_val().to_python())
    except isl.Error:
        # On points of a lattice isl may write it with a denominator, which min_val does not take.
        return int(isl.Map.from_pw_aff(value).range().dim_min_val(0).to_python())


def _prefix(points: isl.Set, level: int) -> isl.Set:
    return points.project_out(isl.dim_type.set, level, points.dim(isl.dim_type.set) - level)
