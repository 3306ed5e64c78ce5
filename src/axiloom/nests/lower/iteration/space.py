"""`Space`: the counters of a pipe, and each statement's place among them.

Loops that are not unrolled are counters, outermost first, by their position: the second loop of every
statement of a pipe is the same counter. A static number between two loops is a counter where it tells apart
statements with loops below; what stands in one iteration is ordered inside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import islpy as isl
import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.base.wording.names import free_name
from axiloom.hw.nest.circuit import Condition, Counter, Piece
from axiloom.nests.poly import sets
from axiloom.nests.schedule import Placed

Points = dict[str, npt.NDArray[np.int64]]

MOST_STEPS = 16
"""Values of a bound that is rounded; with more, its hull is taken, and guards make bubbles."""

Waits = Mapping[tuple[int, int], int]
"""How many iterations that do nothing follow a phase, by its level and rank."""


@dataclass(frozen=True)
class Member:
    """A statement in a pipe. `counters`: its loops, not the unrolled ones, as forms over counters. `domain`:
    over counters and unrolled loops. `inside`: its order in an iteration: integers and unrolled loops.
    `ranks`: its phase at each level whose static number is a counter."""

    placed: Placed
    counters: Mapping[str, Affine]
    domain: Condition
    inside: tuple[int | str, ...]
    ranks: Mapping[int, int]

    @property
    def unrolled(self) -> tuple[str, ...]:
        return tuple(loop for loop in self.inside if isinstance(loop, str))


@dataclass(frozen=True)
class Space:
    """`reached`: all points of the counters a pipe issues, as an isl set over `names`. `phases`: how many
    there are at each level whose static number is a counter."""

    members: tuple[Member, ...]
    counters: tuple[Counter, ...]
    reached: isl.Set
    phases: Mapping[int, int]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(counter.name for counter in self.counters)

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        return {counter.name: counter.range for counter in self.counters}

    @cached_property
    def iterations(self) -> int:
        return int(self.reached.count_val().to_python()) if self.counters else 1

    @cached_property
    def points(self) -> Points:
        """Each counter's value in all iterations, in order of time."""
        return enumerate_points(self.counters)

    def end(self, last: bool) -> Condition:
        """Holds in the first (or last) iteration only."""
        extreme = self.reached.lexmax() if last else self.reached.lexmin()
        forms: list[Affine] = []
        for position, counter in enumerate(self.counters):
            value = extreme.dim_max_val(position).to_python()
            name = Affine.name(counter.name)
            forms += [name - value] if value > counter.range[0] else []
            forms += [value - name] if value < counter.range[1] else []
        return tuple(forms)


def enumerate_points(counters: Sequence[Counter]) -> Points:
    """All iterations: names to values."""
    points: Points = {}
    size = 1
    for counter in counters:
        lower = _evaluate(counter.lower, points, size)
        upper = _evaluate(counter.upper, points, size)
        counts = upper - lower + 1
        if (counts < 1).any():
            raise AssertionError(f"counter {counter.name} has no value at a point")
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        points = {name: np.repeat(values, counts) for name, values in points.items()}
        size = int(counts.sum())
        points[counter.name] = np.repeat(lower, counts) + np.arange(size) - starts
    return points


def holds(condition: Condition, points: Points, size: int) -> npt.NDArray[np.bool_]:
    """At which points a condition holds."""
    result = np.ones(size, bool)
    for form in condition:
        result &= form.values(points) >= 0
    return result


def _evaluate(pieces: Sequence[Piece], points: Points, size: int) -> npt.NDArray[np.int64]:
    result = np.zeros(size, np.int64)
    for piece in pieces:
        where = holds(piece.when, points, size)
        result[where] = np.broadcast_to(piece.value.values(points), (size,))[where]
    return result


# --- which counters ----------------------------------------------------------------------------------


def space(statements: Sequence[Placed], unrolled: frozenset[str], waits: Waits | None = None) -> Space:
    """The space of `statements`, which share a pipe."""
    members, names, statics = _members(statements, unrolled, waits or {})
    domains: list[tuple[Member, isl.Set]] = []
    for member in members:
        points = sets.domain((*names, *member.unrolled), member.domain)
        domains.append((member, points.project_out(isl.dim_type.set, len(names), len(member.unrolled))))
    union = isl.Set.empty(domains[0][1].get_space())
    for _, points in domains:
        union = union.union(points)
    if union.is_empty():
        where = ", ".join(statement.statement.name for statement in statements)
        raise CompileError(f"nothing to execute: the domain of {where} is empty")
    for (level, rank), wait in (waits or {}).items():
        for first, points in domains:
            if first.ranks.get(level) == rank:
                union = union.union(_waiting(points, names, statics[level], 2 * rank + 1, wait))
    counters, reached = _bounds(union.coalesce(), names)
    phases = {level: 1 + max(member.ranks.get(level, 0) for member in members) for level in statics}
    return _without_constants(Space(members, counters, reached, phases))


def _without_constants(space: Space) -> Space:
    """Counters that have one value are none."""
    fixed: dict[str, Affine | int] = {x.name: x.range[0] for x in space.counters if x.range[0] == x.range[1]}

    def moved(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
        substituted = (
            Piece(tuple(form.substitute(fixed) for form in piece.when), piece.value.substitute(fixed))
            for piece in pieces
        )
        # A condition on constants holds always or never.
        alive = (x for x in substituted if all(not f.is_constant or f.constant >= 0 for f in x.when))
        return tuple(Piece(tuple(f for f in x.when if not f.is_constant), x.value) for x in alive)

    counters = tuple(
        Counter(counter.name, moved(counter.lower), moved(counter.upper), counter.range)
        for counter in space.counters
        if counter.name not in fixed
    )
    reached = space.reached
    for position in reversed(range(len(space.counters))):
        if space.counters[position].name in fixed:
            reached = reached.project_out(isl.dim_type.set, position, 1)
    members = tuple(
        replace(
            member,
            counters={name: form.substitute(fixed) for name, form in member.counters.items()},
            domain=tuple(form.substitute(fixed) for form in member.domain),
        )
        for member in space.members
    )
    return Space(members, counters, reached, space.phases)


def _waiting(points: isl.Set, names: tuple[str, ...], static: str, value: int, wait: int) -> isl.Set:
    """`wait` iterations at each point of the counters outside of `static`."""
    at = names.index(static)
    outer = points.project_out(isl.dim_type.set, at, len(names) - at)
    forms = [Affine.name(static) - value, value - Affine.name(static)]
    forms += [Affine.name(names[at + 1]), wait - 1 - Affine.name(names[at + 1])]
    forms += [sign * Affine.name(name) for name in names[at + 2 :] for sign in (1, -1)]
    return outer.add_dims(isl.dim_type.set, len(names) - at).intersect(sets.domain(names, tuple(forms)))


@dataclass
class _Partial:
    """A statement on its way to a member: its loops and statics, and the value of each counter so far."""

    placed: Placed
    loops: list[str]
    statics: list[int]
    inside: tuple[int | str, ...]
    values: dict[str, Affine | int]
    ranks: dict[int, int]


def _members(
    statements: Sequence[Placed], unrolled: frozenset[str], waits: Waits
) -> tuple[tuple[Member, ...], tuple[str, ...], dict[int, str]]:
    """Members, the names of the counters, and which of them stand for static numbers, by level."""
    partial = [_partial(statement, unrolled) for statement in statements]
    depth = max(len(member.loops) for member in partial)
    names: list[str] = []
    static_names: dict[int, str] = {}
    groups = [partial]
    for level in range(depth + 1):
        # Runs of statements without loops below stand in one iteration.
        groups_of_runs = [_runs(group, level) for group in groups]
        if any(len(runs) > 1 for runs in groups_of_runs):
            name = free_name(f"s{level}", (*unrolled, *names))
            names.append(name)
            static_names[level] = name
            step = 2 if any(at == level for at, _ in waits) else 1
            for runs in groups_of_runs:
                for rank, run in enumerate(runs):
                    for member in run:
                        member.values[name] = step * rank
                        member.ranks[level] = rank
        groups = [run for runs in groups_of_runs for run in runs]
        if level == depth:
            break
        loop = next(member.loops[level] for member in partial if len(member.loops) > level)
        name = free_name(loop, (*unrolled, *names))
        names.append(name)
        for member in partial:
            if len(member.loops) > level:
                member.values[name] = Affine.name(member.loops[level])
            else:
                member.values[name] = 0
    return tuple(_member(member) for member in partial), tuple(names), static_names


def _partial(placed: Placed, unrolled: frozenset[str]) -> _Partial:
    order = placed.order
    outer = 0
    while 2 * outer + 1 < len(order) and order[2 * outer + 1] not in unrolled:
        outer += 1
    late = [loop for loop in placed.loops[outer:] if loop not in unrolled]
    if late:
        raise CompileError(
            f"{placed.statement.name}: loop {late[0]} stands inside unrolled loop {placed.loops[outer]}; "
            "unrolled loops stand innermost"
        )
    statics = [int(static) for static in order[: 2 * outer + 1 : 2]]
    return _Partial(placed, list(placed.loops[:outer]), statics, tuple(order[2 * outer :]), {}, {})


def _runs(group: list[_Partial], level: int) -> list[list[_Partial]]:
    """Statements with the same statics so far, parted by what must stand in different iterations."""
    runs: list[list[_Partial]] = []
    loopless = False
    deep = [member for member in group if len(member.statics) > level]
    for _, same in groupby(
        sorted(deep, key=lambda member: member.statics[level]), lambda x: x.statics[level]
    ):
        run = list(same)
        single = all(len(member.loops) == level for member in run)
        if single and loopless:
            runs[-1] += run
        else:
            runs.append(run)
        loopless = single
    shallow = [member for member in group if len(member.statics) <= level]
    if shallow:
        runs[:1] = [shallow + (runs[0] if runs else [])]
    return runs


def _member(partial: _Partial) -> Member:
    """A counter equals a loop, or a number."""
    loops = {str(value): Affine.name(name) for name, value in partial.values.items() if not _number(value)}
    forms = [form.substitute(loops) for form in partial.placed.domain]
    for name, value in partial.values.items():
        if isinstance(value, int):
            counter = Affine.name(name) - value
            forms += [counter, -counter]
    return Member(partial.placed, loops, tuple(forms), partial.inside, partial.ranks)


def _number(value: Affine | int) -> bool:
    return isinstance(value, int)


# --- their bounds ------------------------------------------------------------------------------------


def _bounds(union: isl.Set, names: tuple[str, ...]) -> tuple[tuple[Counter, ...], isl.Set]:
    """Bounds of each counter from those further out: exact where they are affine, else their hull."""
    counters: list[Counter] = []
    reached = isl.Set("{ [] }")
    for level, name in enumerate(names):
        outer = names[:level]
        inside = union.project_out(isl.dim_type.set, level + 1, len(names) - level - 1)
        value = isl.Map.from_range(inside).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, level)
        ends = (inside.dim_min_val(level).to_python(), inside.dim_max_val(level).to_python())
        lower = _pieces(value.dim_min(0), outer, reached, ends[0], ends[0])
        upper = _pieces(value.dim_max(0), outer, reached, ends[0], ends[1])
        parts = [
            sets.domain(
                (*outer, name),
                (*low.when, *high.when, Affine.name(name) - low.value, high.value - Affine.name(name)),
            )
            for low in lower
            for high in upper
        ]
        columns = reached.add_dims(isl.dim_type.set, 1)
        reached = isl.Set.empty(columns.get_space())
        for part in parts:
            reached = reached.union(columns.intersect(part))
        reached = reached.coalesce()
        ends = (reached.dim_min_val(level).to_python(), reached.dim_max_val(level).to_python())
        counters.append(Counter(name, lower, upper, ends))
    return tuple(counters), reached


def _pieces(
    value: isl.PwAff, outer: tuple[str, ...], reached: isl.Set, hole: int, end: int
) -> tuple[Piece, ...]:
    """`value` on all of `reached`. Points of the outer counters without any get the one value `hole`, where
    no guard holds. `end` is the value where the exact one is not affine."""
    try:
        holes = sets.conditions(reached.subtract(value.domain()), outer)
        if not holes:
            return tuple(Piece(when, form) for when, form in sets.pieces(value.gist(reached), outer))
        exact = sets.pieces(value, outer)
    except ValueError:
        return _steps(value, outer, reached, hole) or (Piece((), Affine.of(end)),)
    return (
        *(Piece(when, form) for when, form in exact),
        *(Piece(when, Affine.of(hole)) for when in holes),
    )


def _steps(value: isl.PwAff, outer: tuple[str, ...], reached: isl.Set, hole: int) -> tuple[Piece, ...] | None:
    """A value that is rounded, number by number: None if these are too many."""
    low, high = value.min_val().to_python(), value.max_val().to_python()
    if high - low >= MOST_STEPS:
        return None
    pieces: list[Piece] = []
    parts = [(hole, reached.subtract(value.domain()))]
    for number in range(low, high + 1):
        same = isl.PwAff(f"{{ {sets.point(outer)} -> [{number}] }}")
        parts.append((number, value.eq_set(same).intersect(reached)))
    try:
        for number, points in parts:
            whole = points.remove_divs().coalesce()
            if not whole.is_subset(points):
                return None
            pieces += [Piece(when, Affine.of(number)) for when in sets.conditions(whole.gist(reached), outer)]
    except ValueError:
        return None
    return tuple(pieces)
