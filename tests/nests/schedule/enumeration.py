"""What a schedule does, by going through all instances. It shares no code with what it checks: no isl; times,
domains and conflicts are worked out from the data alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from axiloom.base.affine import Affine
from axiloom.nests.program import Load, Op, Program, Statement
from axiloom.nests.schedule import Schedule

Instance = tuple[str, tuple[int, ...]]
Time = tuple[int, ...]
FAR = 400


def points(names: Sequence[str], forms: Sequence[Affine]) -> Iterator[tuple[int, ...]]:
    """All integer points at which the forms are at least 0."""
    yield from _points(list(names), list(forms), {}, dict.fromkeys(names, (-FAR, FAR)))


def _points(
    names: list[str], forms: list[Affine], at: dict[str, int], ranges: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    narrow = _narrowed(forms, ranges)
    if narrow is None:
        return
    if len(at) == len(names):
        if all(_value(form, at) >= 0 for form in forms):
            yield tuple(at[name] for name in names)
        return
    name = names[len(at)]
    low, high = narrow[name]
    for value in range(low, high + 1):
        yield from _points(names, forms, {**at, name: value}, {**narrow, name: (value, value)})


def _narrowed(
    forms: list[Affine], ranges: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]] | None:
    found, changed = dict(ranges), True
    while changed:
        changed = False
        for form in forms:
            most = form.constant + sum(f * found[n][1 if f > 0 else 0] for n, f in form.terms)
            if most < 0:
                return None
            for name, factor in form.terms:
                low, high = found[name]
                rest = most - factor * (high if factor > 0 else low)
                if factor > 0:
                    bound = -(rest // factor)
                    if bound > low:
                        found[name], changed = (bound, high), True
                else:
                    bound = rest // -factor
                    if bound < high:
                        found[name], changed = (low, bound), True
                if found[name][0] > found[name][1]:
                    return None
    return found


def _value(form: Affine, at: Mapping[str, int]) -> int:
    return form.constant + sum(factor * at[name] for name, factor in form.terms)


def written_order(program: Program) -> list[Instance]:
    """The instances in the order in which the program was written."""
    timed = []
    for each in program.statements:
        for at in points(each.iterators, each.domain):
            time = [each.place[0]]
            for value, static in zip(at, each.place[1:], strict=True):
                time += [value, static]
            timed.append((tuple(time), (each.name, at)))
    return _in_time(timed)


def scheduled_order(schedule: Schedule) -> list[Instance]:
    timed = []
    for each in schedule.statements:
        loops = [part for part in each.order if isinstance(part, str)]
        for values in points(loops, each.domain):
            at = dict(zip(loops, values, strict=True))
            time = tuple(at[part] if isinstance(part, str) else part for part in each.order)
            timed.append((time, (each.statement.name, tuple(_value(form, at) for form in each.instance))))
    return _in_time(timed)


def _in_time(timed: list[tuple[Time, Instance]]) -> list[Instance]:
    times = [time for time, _ in timed]
    assert len(set(times)) == len(times), "two instances at the same time"
    return [instance for _, instance in sorted(timed)]


def accesses(statement: Statement, at: tuple[int, ...]) -> tuple[list[tuple[str, Time]], tuple[str, Time]]:
    """Elements read, and the element written."""
    values = dict(zip(statement.iterators, at, strict=True))

    def element(load: Load) -> tuple[str, Time]:
        return load.array, tuple(_value(each, values) for each in load.subscripts)

    def read(expression: object) -> Iterator[tuple[str, Time]]:
        if isinstance(expression, Load):
            yield element(expression)
        elif isinstance(expression, Op):
            for operand in expression.operands:
                yield from read(operand)

    return list(read(statement.value)), element(statement.target)


def swapped(program: Program, order: Sequence[Instance]) -> set[tuple[Instance, Instance]]:
    """Pairs of instances that touch the same element, at least one by a write, whose order has changed."""
    statements = {each.name: each for each in program.statements}
    position = {instance: k for k, instance in enumerate(order)}
    touched: dict[tuple[str, Time], list[tuple[Instance, bool]]] = defaultdict(list)
    for name, at in written_order(program):
        reads, write = accesses(statements[name], at)
        for element in {*reads, write}:
            touched[element].append(((name, at), element == write))
    return {
        (first, second)
        for users in touched.values()
        for (first, a), (second, b) in combinations(users, 2)
        if (a or b) and position[first] > position[second]
    }


def memory(program: Program, order: Sequence[Instance]) -> dict[tuple[str, Time], int]:
    """All elements written, each with a number that stands for how it was computed."""
    statements = {each.name: each for each in program.statements}
    found: dict[tuple[str, Time], int] = {}
    for name, at in order:
        reads, write = accesses(statements[name], at)
        found[write] = hash((name, at, tuple(found.get(each, hash(each)) for each in reads)))
    return found
