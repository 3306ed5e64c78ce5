"""`Shape`: what a nest does in one iteration, as far as lanes decide it; and its choices of lanes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil, gcd, prod

import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.hw.nest.operators import latencies, operator
from axiloom.hw.nest.operators.operator import Cost
from axiloom.nests.poly.dependences import Kind
from axiloom.nests.poly.sets import domain
from axiloom.nests.program import Index, Load, Op, Program, Role, loads
from axiloom.nests.program.expressions import Expression
from axiloom.nests.schedule import Nest, Placed, Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.legality import distances
from axiloom.nests.search.structures import extents, is_perfect

Group = tuple[tuple[str, ...], npt.NDArray[np.int64]]
VISITED = 1 << 22
"""The largest box that is visited; of a larger one, only its first point counts."""


def groups(placed: Placed, extents: Mapping[str, int]) -> list[Group]:
    """Groups of loops that no bound connects, each with its points, a row each, counted from the least value
    of each loop."""
    ends = domain(placed.loops, placed.domain)
    low = {name: ends.dim_min_val(k).to_python() for k, name in enumerate(placed.loops)}
    joined = {name: frozenset([name]) for name in placed.loops}
    for form in placed.domain:
        together = frozenset().union(*(joined[name] for name in form.names)) if form.names else frozenset()
        joined.update((name, together) for name in together)
    parts: list[Group] = []
    for group in dict.fromkeys(joined.values()):
        names = tuple(name for name in placed.loops if name in group)
        axes = [np.arange(extents[name], dtype=np.int64) for name in names]
        if np.prod([float(len(axis)) for axis in axes]) > VISITED:
            parts.append((names, np.zeros((1, len(names)), np.int64)))
            continue
        grid = np.meshgrid(*axes, indexing="ij")
        values = {name: axis.ravel() + low[name] for name, axis in zip(names, grid, strict=True)}
        inside = np.ones(len(next(iter(values.values()))), bool)
        for form in placed.domain:
            if form.names and set(form.names) <= group:
                inside &= np.broadcast_to(form.values(values), inside.shape) >= 0
        parts.append((names, np.stack([axis.ravel()[inside] for axis in grid], axis=1)))
    return parts


Kinds = tuple[str, str, str]
"""Name, format of the operands and of the result."""


@dataclass(frozen=True)
class Lanes:
    """A choice for one nest: `factors` by loop, in the order of the loops (1: none). `path`: cycles from its
    first load to its store, `short`: with the quickest operators, which all nests of a pipe have if one is
    `hurried` by its sums, or may be by what this closed form does not see; `count`: operations at once;
    `sums`: how many additions to one sum, 0 if there are no sums; `units`: operators, if none of them does
    two operations of an iteration."""

    factors: tuple[int, ...]
    iterations: int
    interval: int
    path: int
    short: int
    hurried: bool
    count: int
    sums: int
    units: Mapping[Kinds, int]
    banks: Mapping[str, tuple[int, ...]]

    @property
    def cycles(self) -> int:
        return self.iterations * self.interval


@dataclass(frozen=True)
class Touch:
    """A load or store: its subscripts over the nest's loops."""

    array: str
    forms: tuple[Affine, ...]
    is_store: bool

    def instances(self, lanes: Mapping[str, int]) -> int:
        names = {name for form in self.forms for name in form.names}
        return prod(factor for name, factor in lanes.items() if name in names)

    def banks(self, lanes: Mapping[str, int], shape: tuple[int, ...]) -> tuple[int, ...]:
        """The least banks of each dimension, so that no two lanes meet."""
        sizes = []
        for form, extent in zip(self.forms, shape, strict=True):
            span = 1 + sum(abs(c) * (lanes.get(n, 1) - 1) for n, c in form.terms)
            sizes.append(min(span, extent))
        return tuple(sizes)

    def reach(self, lanes: Mapping[str, int], banks: tuple[int, ...]) -> int:
        """Banks that one instance goes to, in different iterations."""
        total = 1
        for form, count in zip(self.forms, banks, strict=True):
            step = gcd(count, *(c * lanes.get(n, 1) for n, c in form.terms))
            total *= count // step
        return total


class Shape:
    """A perfect nest. `loops` that can be unrolled are `open`."""

    def __init__(self, schedule: Schedule, nest: Nest) -> None:
        self.nest = nest
        self.number = nest.number
        self.statements = tuple(statement.statement.name for statement in nest.statements)
        main = max(nest.statements, key=lambda placed: len(placed.loops))
        self.main = main
        self.loops = main.loops
        self.program = schedule.program
        self.extents = extents(main)
        self.is_box = all(_is_box(statement) for statement in nest.statements)
        self.open = (
            tuple(name for name in self.loops if self._opens(schedule, name)) if is_perfect(nest) else ()
        )
        self.touches = tuple(touch for statement in nest.statements for touch in _touches(statement))
        self._operations = [_operations(statement, self.program) for statement in nest.statements]
        # Statements on other points may exclude each other, and then have operators in common.
        self._at_once = len({(statement.loops, statement.domain) for statement in nest.statements}) == 1
        self._quickest: dict[tuple[str, str], int] = {}
        self._sums = tuple(self._recurrences(schedule))
        self._has_sums_alone = self._depends_by_sums_alone(schedule)
        self._counted: dict[tuple[int, ...], int] = {}

    def _opens(self, schedule: Schedule, name: str) -> bool:
        try:
            schedule.unroll(self.statements[0], name, min(2, self.extents[name]))
        except ScheduleError:
            return False
        return True

    def _recurrences(self, schedule: Schedule) -> list[tuple[str, str, int, int]]:
        """Sums: statement, loop, cycles from an addition to the next, and of memory."""
        sums = []
        for distance in distances(schedule):
            if (
                distance.kind is not Kind.RAW
                or distance.source != distance.sink
                or distance.source not in self.statements
            ):
                continue
            if self.program.statement(distance.source).iterators and set(distance.loops) - set(self.loops):
                continue  # of a shorter body
            carrying = [n for n, d in zip(distance.loops, distance.vector, strict=True) if d != (0, 0)]
            if len(carrying) != 1 or distance.vector[distance.loops.index(carrying[0])] != (1, 1):
                continue
            value = self.program.statement(distance.source).value
            memory = 1 if self.program.array(distance.array).role is Role.LOCAL else 2
            sums.append((distance.source, carrying[0], _through(value, distance.array), memory))
            self._quickest[distance.source, carrying[0]] = _through(value, distance.array, quickest=True)
        return sums

    def _depends_by_sums_alone(self, schedule: Schedule) -> bool:
        """One statement, whose loads of one array are all of one element, and no dependences but its sums."""
        if len(self.statements) > 1:
            return False
        own = [
            e for e in distances(schedule) if e.kind is Kind.RAW and {e.source, e.sink} == {*self.statements}
        ]
        loaded = [touch.array for touch in self.touches if not touch.is_store]
        return len(own) == len(self._sums) and len(loaded) == len(set(loaded))

    # --- of a choice of lanes ---

    def readers(self, array: str) -> list[str]:
        """Statements that load from it."""
        return [
            statement.statement.name
            for statement in self.nest.statements
            if any(load.array == array for load in loads(statement.statement.value))
        ]

    def ways(self, array: str) -> int:
        """How many loads from `array` an iteration has, those at constant distances taken together."""
        touches: list[Touch] = []
        for touch in self.touches:
            if touch.is_store or touch.array != array:
                continue
            gaps = [[a - b for a, b in zip(touch.forms, e.forms, strict=True)] for e in touches]
            if not any(all(form.is_constant for form in gap) for gap in gaps):
                touches.append(touch)
        return len(touches)

    @property
    def operated(self) -> list[str]:
        """Statements that compute."""
        return [e.statement.name for e in self.nest.statements if isinstance(e.statement.value, Op)]

    def lanes(self, factors: tuple[int, ...]) -> Lanes:
        by_loop = dict(zip(self.loops, factors, strict=True))
        banks: dict[str, tuple[int, ...]] = {}
        for touch in self.touches:
            new = touch.banks(by_loop, self.program.array(touch.array).shape)
            old = banks.get(touch.array, new)
            banks[touch.array] = tuple(map(max, old, new))
        units = self._units(by_loop)
        return Lanes(
            factors, self._iterations(factors), self._interval(by_loop), self._path(by_loop, False),
            self._path(by_loop, True), self._is_hurried(by_loop),
            prod(factors) * len(self.operated), self._chain(by_loop), units, banks,
        )  # fmt: skip

    def _units(self, by_loop: Mapping[str, int]) -> dict[Kinds, int]:
        """Operators that the nest needs at least."""
        total: dict[Kinds, int] = {}
        for operations in self._operations:
            mine: dict[Kinds, int] = {}
            for kinds, names in operations:
                mine[kinds] = mine.get(kinds, 0) + prod(f for n, f in by_loop.items() if n in names)
            for kinds, count in mine.items():
                before = total.get(kinds, 0)
                total[kinds] = before + count if self._at_once else max(before, count)
        return total

    def _chain(self, by_loop: Mapping[str, int]) -> int:
        return max((by_loop[loop] for _, loop, _, _ in self._sums), default=0)

    def _iterations(self, factors: tuple[int, ...]) -> int:
        outer = [ceil(self.extents[n] / f) for n, f in zip(self.loops, factors, strict=True)]
        if self.is_box:
            return prod(outer)
        if factors not in self._counted:
            self._counted[factors] = self._visited(factors)
        return self._counted[factors]

    def _visited(self, factors: tuple[int, ...]) -> int:
        """Of a domain that is no box: groups of lanes with a point."""
        keys = None
        for group, points in self._groups:
            key = np.zeros(len(points), np.int64)
            for position, name in enumerate(group):
                key = key * (self.extents[name] + 1) + points[:, position] // factors[self.loops.index(name)]
            keys = (1 if keys is None else keys) * len(np.unique(key))
        return int(keys or 1)

    @cached_property
    def _groups(self) -> list[Group]:
        return groups(self.main, self.extents)

    def _interval(self, by_loop: Mapping[str, int], quickest: bool = True) -> int:
        """What sums ask for at least."""
        least = self.nest.interval
        for statement, loop, latency, memory in self._sums:
            inner = self.loops[self.loops.index(loop) + 1 :]
            between = (
                prod(ceil(self.extents[n] / by_loop[n]) for n in inner) if self.is_box else self._inner(loop)
            )
            if self.extents[loop] > by_loop[loop]:
                # Where sums come too soon, lowering takes quicker operators.
                cycles = (self._quickest[statement, loop] if quickest else latency) * by_loop[loop]
                least = max(least, ceil((cycles + memory) / max(1, between)))
        return least

    def _is_hurried(self, by_loop: Mapping[str, int]) -> bool:
        """Whether lowering may take quicker operators: it does so where a recurrence does not fit the
        interval. Accesses that share a port, and operators that statements share, join recurrences of which
        each would fit. One statement that depends on itself by its sums alone has none of that."""
        if not self._has_sums_alone:
            return True
        return self._interval(by_loop, quickest=False) > self.nest.interval

    def _inner(self, loop: str) -> int:
        """Of a domain that is no box nothing is known: as if no sum were near."""
        return prod(self.extents[n] for n in self.loops[self.loops.index(loop) + 1 :])

    def _path(self, by_loop: Mapping[str, int], quickest: bool) -> int:
        """Cycles from the first load to the store at least."""
        most = 0
        for statement in self.nest.statements:
            sums = [s for s in self._sums if s[0] == statement.statement.name]
            chain = max(
                (
                    (self._quickest[name, loop] if quickest else cycles) * (by_loop[loop] - 1)
                    for name, loop, cycles, _ in sums
                ),
                default=0,
            )
            most = max(most, self._longest(statement.statement.value, quickest) + chain)
        return most

    def _longest(self, node: Expression, quickest: bool) -> int:
        """Cycles of the longest way through an expression, with its loads: those of the caller's arrays."""
        match node:
            case Load():
                return int(self.program.array(node.array).role is not Role.LOCAL)
            case Op():
                kinds = (node.name, _operand(node), node.number)
                cycles = min(latencies(*kinds)) if quickest else latency(kinds)
                return cycles + max(self._longest(operand, quickest) for operand in node.operands)
        return 0


def carries(placed: Placed, factors: Mapping[str, int]) -> int:
    """Additions of integers that an iteration chains: all lanes of a sum add to one element, and such an
    addition can take no cycle. 1 for what is no such sum."""
    target, value = placed.statement.target, placed.statement.value
    forms = placed.subscripts(target.subscripts)
    again = any(
        load.array == target.array and placed.subscripts(load.subscripts) == forms for load in loads(value)
    )
    if not again or not isinstance(value, Op) or _through(value, target.array, quickest=True) > 0:
        return 1
    named = {name for form in forms for name in form.names}
    return prod(factor for name, factor in factors.items() if name in placed.loops and name not in named)


def _is_box(placed: Placed) -> bool:
    return all(len(form.names) <= 1 for form in placed.domain)


def _touches(placed: Placed) -> list[Touch]:
    reads = {Touch(e.array, placed.subscripts(e.subscripts), False) for e in loads(placed.statement.value)}
    target = placed.statement.target
    store = Touch(target.array, placed.subscripts(target.subscripts), True)
    return [*sorted(reads, key=str), store]


def _operations(placed: Placed, program: Program) -> list[tuple[Kinds, frozenset[str]]]:
    """Operators with the loops on which their value depends; a sum, on all."""
    target = placed.statement.target
    values = dict(zip(placed.statement.iterators, placed.instance, strict=True))
    operations: dict[Expression, tuple[Kinds, frozenset[str]]] = {}

    def names(node: Expression) -> frozenset[str]:
        match node:
            case Load() if node.array == target.array:
                return frozenset(placed.loops)
            case Load():
                forms = [subscript.substitute(values) for subscript in node.subscripts]
                return frozenset(name for form in forms for name in form.names)
            case Index():
                return frozenset(node.value.substitute(values).names)
            case Op():
                mine = frozenset().union(*(names(operand) for operand in node.operands))
                operations[node] = ((node.name, _operand(node), node.number), mine)
                return mine
        return frozenset()

    names(placed.statement.value)
    return list(operations.values())


@cache
def cost(kinds: Kinds) -> Cost:
    return operator(*kinds).cost


@cache
def latency(kinds: Kinds) -> int:
    return latencies(*kinds)[0]


def _operand(node: Op) -> str:
    """The format that names the operator: of the last operand (the first of `select` is a choice)."""
    return node.operands[-1].number


def _through(node: Expression, array: str, quickest: bool = False) -> int:
    """Cycles from a load of `array` to the value, by the shortest way; `quickest`: with quicker operators
    where there are any."""
    return max(0, _way(node, array, quickest))


def _way(node: Expression, array: str, quickest: bool) -> int:
    """As :func:`_through`; -1 if there is no way."""
    if isinstance(node, Load):
        return 0 if node.array == array else -1
    if isinstance(node, Op):
        ways = [way for operand in node.operands if (way := _way(operand, array, quickest)) >= 0]
        kinds = (node.name, _operand(node), node.number)
        cycles = min(latencies(*kinds)) if quickest else latency(kinds)
        return cycles + min(ways) if ways else -1
    return -1
