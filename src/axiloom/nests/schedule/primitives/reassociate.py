"""reassociate: a sum as several partial sums, and then a tree. The only primitive that changes results.

``T = T + x`` over k, with three partial sums, becomes
::

    for ko, ki < 3:
      P[ki] = x            (ko == 0)
      P[ki] = P[ki] + x    (ko > 0)
      P[0] = P[0] + P[2]   (ko, ki last)
      P[0] = P[0] + P[1]
      T = T + P[0]

so that a partial sum is needed again after three iterations, or so that three lanes sum at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Storage
from axiloom.nests.program import Array, Load, Op, Statement, loads
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import bounds, depth_of, fresh, is_independent, names_of, place_of, within
from axiloom.nests.schedule.primitives.check import not_unrolled, positive
from axiloom.nests.schedule.primitives.rebase import (
    in_loops,
    local,
    mapped,
    rebased,
    with_arrays,
    with_statements,
)
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Cyclic, Layout, Placed, Schedule

ASSOCIATIVE = ("add", "mul", "max", "min")
HOW = ("lanes", "turns")


@primitive
def reassociate(
    schedule: Schedule, statement: str, loop: str, parts: int, how: str = "turns", rounding: str = "same"
) -> Schedule:
    """Sums over `loop`, the innermost that is not unrolled, in `parts` partial sums.

    `how`: ``turns``, one iteration adds to one of them, the next iteration to the next; ``lanes``, each
    iteration adds to all of them. Results stay the same for integers, which wrap. Other numbers are refused
    unless `rounding` is ``changes``: then results differ from those of the program as it was written, and
    everything that follows is compared with the changed program.
    """
    what = f"reassociate {statement} {loop} {parts}"
    not_unrolled(schedule, what, loop)
    positive(parts, what, "the number of partial sums")
    if how not in HOW:
        raise ScheduleError(f"{what}: how is lanes or turns, not {how!r}")
    based = rebased(schedule)
    placed = place_of(based, statement)
    depth = depth_of(placed, loop)
    operator = _reduction(placed.statement, loop, what)
    number = placed.statement.target.number
    if not number.lstrip("u").startswith("int") and operator in ("add", "mul") and rounding != "changes":
        raise ScheduleError(
            f"{what}: {number} rounds, so another order of {operator} gives another result: say "
            f"rounding=changes if that is wanted"
        )
    if any(inner not in schedule.unrolled for inner in placed.loops[depth + 1 :]):
        raise ScheduleError(f"{what}: loop {loop} is not the innermost one: reorder before")
    if len(within(based, placed, depth)) > 1:
        raise ScheduleError(f"{what}: {statement} is not alone in loop {loop}: fission before")
    limits = bounds(placed, loop)
    if limits is None or not is_independent(placed, loop):
        raise ScheduleError(f"{what}: the bounds of loop {loop} depend on other loops: they must be numbers")
    if not 2 <= parts <= limits[1] - limits[0] + 1:
        raise ScheduleError(
            f"{what}: there are {limits[1] - limits[0] + 1} terms: give from 2 to that many partial sums"
        )
    return _Sums(based, placed, loop, operator, parts, how == "lanes", *limits).applied()


def _reduction(statement: Statement, loop: str, what: str) -> str:
    """The operator."""
    value, target = statement.value, statement.target
    if isinstance(value, Op) and value.name in ASSOCIATIVE and target in value.operands:
        rest = list(value.operands)
        rest.remove(target)
        if len(rest) == 1 and all(load.array != target.array for load in loads(rest[0])):
            if any(subscript.coefficient(loop) for subscript in target.subscripts):
                raise ScheduleError(f"{what}: each iteration of {loop} has a sum of its own")
            return value.name
    raise ScheduleError(
        f"{what}: {statement.name} is not of the form T = T + x, with one of {', '.join(ASSOCIATIVE)}"
    )


@dataclass(frozen=True)
class _Sums:
    """``P[part, lanes...]``: a partial sum for each part and each lane within the loop."""

    schedule: Schedule
    placed: Placed
    loop: str
    operator: str
    parts: int
    lanes: bool
    low: int
    high: int

    def applied(self) -> Schedule:
        outer = fresh(self.schedule, f"{self.loop}o")
        part = fresh(self.schedule, f"{self.loop}p", (outer,))
        target = self.placed.statement.target
        sums = local(self.schedule, f"{target.array}_p", self._shape(), target.number)
        accumulated = self._accumulated(outer, part, sums)
        folds = self._folds(outer, part, sums)
        names = {self._fold_loop(outer, k) for k in range(len(folds))} | ({part} if self.lanes else set())
        done = with_statements(with_arrays(self.schedule, sums), accumulated[1:], [accumulated[0], *folds])
        layouts = {**done.layouts, sums.name: Layout(Cyclic(sums.shape), Storage.REGISTERS)}
        return replace(done, layouts=layouts, unrolled=(done.unrolled | names) & names_of(done))

    @property
    def _depth(self) -> int:
        return self.placed.loops.index(self.loop)

    @property
    def _inner(self) -> tuple[str, ...]:
        return self.placed.loops[self._depth + 1 :]

    def _shape(self) -> tuple[int, ...]:
        ranges = [bounds(self.placed, loop) for loop in self._inner]
        return (self.parts, *(span[1] + 1 for span in ranges if span is not None))

    def _order(self, outer: str, part: str, static: int, own: Sequence[str]) -> tuple[int | str, ...]:
        """In the body of the loop: of `outer` if parts are lanes, of `part` if they take turns."""
        order = [*self.placed.order[: 2 * self._depth + 1], outer]
        order += [static] if self.lanes else [0, part, static]
        for loop in own:
            order += [loop, 0]
        return tuple(order)

    def _sum(self, sums: Array, place: Affine) -> Load:
        return Load(sums.name, (place, *map(Affine.name, self._inner)), sums.number)

    def _accumulated(self, outer: str, part: str, sums: Array) -> list[Placed]:
        """The first term of each part, and the others; the latter keep the statement's name."""
        old = self.placed.statement
        values = {self.loop: Affine.sum([(outer, self.parts), (part, 1)], self.low)}
        own = Affine.name(part)
        domain = (
            *(form.substitute(values) for form in old.domain),
            *(own, self.parts - 1 - own, Affine.name(outer)),
        )

        def moved(load: Load) -> Load:
            if load == old.target:
                return here
            return replace(
                load, subscripts=tuple(subscript.substitute(values) for subscript in load.subscripts)
            )

        here = self._sum(sums, own)
        total = mapped(old.value, moved, values)
        assert isinstance(total, Op)
        term = next(operand for operand in total.operands if operand != here)
        loops = (part, *self._inner) if self.lanes else self._inner
        statements = []
        for name, value, when, static in (
            (f"{sums.name}_first", term, -Affine.name(outer), 0),
            (old.name, total, Affine.name(outer) - 1, 1),
        ):
            order = self._order(outer, part, static, loops)
            iterators = tuple(part for part in order if isinstance(part, str))
            statements.append(
                in_loops(Statement(name, iterators, (*domain, when), here, value, (), old.where), order)
            )
        return statements

    def _folds(self, outer: str, part: str, sums: Array) -> list[Placed]:
        """The tree at the end of the loop, and the statement that adds its root to the target."""
        old = self.placed.statement
        span = self.high - self.low
        at = {outer: span // self.parts} | ({} if self.lanes else {part: span % self.parts})
        domain = tuple(form.substitute({self.loop: Affine.of(self.high)}) for form in old.domain)
        domain = tuple(form for form in domain if not form.is_constant)
        last = tuple(f for n, v in at.items() for f in (Affine.name(n) - v, v - Affine.name(n)))
        statements, width, static = [], self.parts, 2
        while width > 1:
            half = -(-width // 2)
            loop = self._fold_loop(outer, static - 2)
            q = Affine.name(loop)
            here, other = self._sum(sums, q), self._sum(sums, q + half)
            order = self._order(outer, part, static, (loop, *self._inner))
            statements.append(
                self._statement(
                    f"{sums.name}_{static - 2}", order, (*domain, *last, q, width - half - 1 - q), here, other
                )
            )
            width, static = half, static + 1
        order = self._order(outer, part, static, self._inner)
        root = self._sum(sums, Affine.of(0))
        statements.append(self._statement(f"{sums.name}_end", order, (*domain, *last), old.target, root))
        return statements

    def _statement(
        self, name: str, order: tuple[int | str, ...], domain: tuple[Affine, ...], target: Load, other: Load
    ) -> Placed:
        iterators = tuple(part for part in order if isinstance(part, str))
        value = Op(self.operator, (target, other), target.number)
        where = self.placed.statement.where
        return in_loops(Statement(name, iterators, domain, target, value, (), where), order)

    def _fold_loop(self, outer: str, step: int) -> str:
        return f"{outer}_{step}"
