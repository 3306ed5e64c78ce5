"""What a reader has written down, as a program: writes under conditions on data become `select`s between the
new value and the old one, and reads of what may not be written are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from axiloom.errors import CompileError
from axiloom.isa.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.poly.liveness import live_in
from axiloom.nests.program import Expression, Load, Op, Program, Role, Statement, loads
from axiloom.nests.program.names import fresh
from axiloom.nests.program.typed import apply, literal, select
from axiloom.nests.read.c_declarations import Declarations
from axiloom.nests.read.c_places import Forms, Guard
from axiloom.nests.read.clang import Node


@dataclass(frozen=True)
class Write:
    """A statement in the making: `value` is written to `target` where all `guards` hold."""

    label: str
    loops: tuple[str, ...]
    domain: Forms
    target: Load
    value: Expression
    order: tuple[int, ...]
    where: str
    guards: tuple[Guard, ...] = ()
    dropped: bool = False
    """It is left out where nothing loads its target: the last value of a counter."""


def _small(write: Write) -> Forms:
    """Its domain, without what arithmetic of 64 bits leaves in it (``2^64 - i >= 0``) and holds anyway."""
    small = tuple(form for form in write.domain if _is_small(form))
    inside = sets.domain(write.loops, small)
    return tuple(
        form
        for form in write.domain
        if _is_small(form) or not inside.is_subset(sets.domain(write.loops, (form,)))
    )


def _is_small(form: Affine) -> bool:
    return all(abs(each) < 1 << 40 for each in (form.constant, *(factor for _, factor in form.terms)))


def program_of(node: Node, writes: Sequence[Write], declarations: Declarations) -> Program:
    """Raises CompileError with the line of a read of what nothing has written."""
    writes = _merged(_needed(_ranked(writes), declarations.substituted))
    locals_ = {name for name, each in declarations.arrays.items() if each.role is Role.LOCAL}
    if any(each.guards for each in writes) or declarations.born:
        _check(writes, declarations, locals_)
    labels: set[str] = set()
    statements = []
    for number, each in enumerate(writes):
        value = each.value
        if each.guards:
            condition = reduce(lambda a, b: apply("and", a, b), [guard.condition for guard in each.guards])
            value = select(condition, value, each.target)
        name = fresh(each.label or f"S{number}", labels)
        statements.append(
            Statement(name, each.loops, _small(each), each.target, value, each.order, each.where)
        )
    used = {load.array for each in statements for load in (each.target, *loads(each.value))}
    program = Program(node.name, declarations.used(used), tuple(statements))
    return _without_old(
        program, {s.name for s, w in zip(statements, writes, strict=True) if w.guards}, locals_
    )


def _needed(writes: Sequence[Write], substituted: set[str]) -> list[Write]:
    """Without the values of counters that nothing loads, and of scalars that were only forms."""
    while True:
        read = {load.array for each in writes for load in _reads(each)}
        idle = substituted - read
        kept = [
            each
            for each in writes
            if each.target.array not in idle and not (each.dropped and each.target.array not in read)
        ]
        if len(kept) == len(writes):
            return kept
        writes = kept


def _reads(write: Write) -> Iterator[Load]:
    yield from loads(write.value)
    for each in write.guards:
        yield from loads(each.condition)


def _reads_under(write: Write) -> Iterator[tuple[Load, tuple[Guard, ...]]]:
    """Each with the conditions under which it is read: a condition under those around it."""
    yield from ((load, write.guards) for load in loads(write.value))
    for level, each in enumerate(write.guards):
        yield from ((load, write.guards[:level]) for load in loads(each.condition))


def _ranked(writes: Sequence[Write]) -> list[Write]:
    """In the order of their places."""
    return sorted(writes, key=lambda each: each.order)


def _merged(writes: list[Write]) -> list[Write]:
    """``if (c) x = a; else x = b;`` as ``x = c ? a : b``."""
    result: list[Write] = []
    for each in writes:
        last = result[-1] if result else None
        if (
            last is not None
            and last.guards
            and each.guards
            and (last.loops, last.domain, last.target) == (each.loops, each.domain, each.target)
            and last.guards[:-1] == each.guards[:-1]
            and last.guards[-1].number == each.guards[-1].number
            and last.guards[-1].holds
            and not each.guards[-1].holds
            and last.target not in loads(each.value)
        ):
            value = select(last.guards[-1].condition, last.value, each.value)
            result[-1] = replace(last, value=value, guards=last.guards[:-1])
        else:
            result.append(each)
    return result


# --- reads of what may not be written ---------------------------------------------------------------------


def _check(writes: Sequence[Write], declarations: Declarations, locals_: set[str]) -> None:
    """Each read of a local follows a write of that element in the same life of the local: by a statement
    without conditions on data, by one under the same conditions, or by both branches of an `if`."""
    depth = max(len(each.loops) for each in writes)
    for array in sorted({load.array for each in writes for load in _reads(each)} & locals_):
        born = declarations.born.get(array, ())
        sources = [each for each in writes if each.target.array == array]
        for each in writes:
            for load, guards in _reads_under(each):
                if load.array != array:
                    continue
                read = _access(each, load, born, depth)
                covered = _written(sources, guards, born, depth, read)
                missing = read.domain().subtract(covered)
                if not missing.is_empty():
                    raise CompileError(
                        f"{each.where}: `{array}` is read before it is written"
                        f"{_at(each, missing)}: what it holds then, C leaves undefined"
                    )


def _written(
    sources: Sequence[Write], guards: tuple[Guard, ...], born: tuple[str, ...], depth: int, read: isl.Map
) -> isl.Set:
    """The times, of a read under `guards`, at which what it reads is written before."""
    before = isl.Map.lex_gt(read.domain().get_space())
    covered = isl.Set.empty(read.domain().get_space())
    for level in range(len(guards) + 1):
        context = guards[:level]
        same = _same_instance(context, depth, read)
        here = [each for each in sources if _branches(each.guards[:level]) == _branches(context)]
        for source in _sure(here, level, born, depth):
            pairs = read.apply_range(source.reverse()).intersect(before).intersect(same)
            covered = covered.union(pairs.domain())
    return covered


def _sure(sources: Sequence[Write], level: int, born: tuple[str, ...], depth: int) -> Iterator[isl.Map]:
    """Times to elements, of what is written for certain once the first `level` conditions hold."""
    yield from (_access(each, each.target, born, depth) for each in sources if len(each.guards) == level)
    deeper = [each for each in sources if len(each.guards) > level]
    for number in sorted({each.guards[level].number for each in deeper}):
        mine = [each for each in deeper if each.guards[level].number == number]
        branches = [[each for each in mine if each.guards[level].holds is which] for which in (True, False)]
        if not all(branches):
            continue
        # The instance of the `if` is its loops' values; the later of the two writes is when it is done.
        around = len(mine[0].guards[level].loops)
        prefix = 2 * around + 1
        yes, no = (
            reduce(
                lambda a, b: a.union(b),
                [_cut(each, prefix, depth) for each in _sure(branch, level + 1, born, depth)],
            )
            for branch in branches
        )
        yield _latest(yes.intersect(no), prefix, depth, mine)


def _cut(access: isl.Map, prefix: int, depth: int) -> isl.Map:
    """Only the instance of what is around; the static number behind it is dropped."""
    count = access.dim(isl.dim_type.in_)
    return access.project_out(isl.dim_type.in_, prefix - 1, count - prefix + 1)


def _latest(both: isl.Map, prefix: int, depth: int, mine: Sequence[Write]) -> isl.Map:
    """At the time of the last static number of the two branches."""
    last = max(each.order[(prefix - 1) // 2] for each in mine)
    count = 2 * depth + 1 - (prefix - 1)
    times = both.insert_dims(isl.dim_type.in_, prefix - 1, count)
    large = (1 << 31) - 1
    times = times.fix_val(isl.dim_type.in_, prefix - 1, isl.Val(last))
    for n in range(prefix, 2 * depth + 1):
        times = times.fix_val(isl.dim_type.in_, n, isl.Val(large))
    return times


def _same_instance(guards: tuple[Guard, ...], depth: int, read: isl.Map) -> isl.Map:
    """Pairs of times in the same instance of the innermost `if`."""
    space = read.domain().get_space()
    same = isl.Map.universe(space.map_from_set() if hasattr(space, "map_from_set") else space)
    for n in range(2 * len(guards[-1].loops) if guards else 0):
        same = same.equate(isl.dim_type.in_, n, isl.dim_type.out, n)
    return same


def _branches(guards: Sequence[Guard]) -> list[tuple[int, bool]]:
    return [(each.number, each.holds) for each in guards]


def _access(write: Write, load: Load, born: tuple[str, ...], depth: int) -> isl.Map:
    """Times to elements; a local has others in each of its lives."""
    time: list[Affine] = [Affine.of(write.order[0])]
    for name, static in zip(write.loops, write.order[1:], strict=True):
        time += [Affine.name(name), Affine.of(static)]
    time += [Affine.of(0)] * (2 * (depth - len(write.loops)))
    element = (*map(Affine.name, born), *load.subscripts)
    points = sets.domain(write.loops, write.domain)
    times = sets.function(write.loops, tuple(time)).intersect_domain(points)
    return times.reverse().apply_range(sets.function(write.loops, element))


def _at(write: Write, missing: isl.Set) -> str:
    point = missing.lexmin().sample_point()
    values: Mapping[str, int] = {
        name: point.get_coordinate_val(isl.dim_type.set, 2 * n + 1).to_python()
        for n, name in enumerate(write.loops)
    }
    return f" at {', '.join(f'{name}={value}' for name, value in values.items())}" if values else ""


# --- old values that nobody needs -------------------------------------------------------------------------


def _without_old(program: Program, guarded: set[str], locals_: set[str]) -> Program:
    """A local that nothing has written yet has no old value: 0 is as good."""
    if not guarded:
        return program
    undefined: dict[str, isl.Set] = {}
    for access, missing in live_in(program):
        statement = access.statement
        last = len(list(loads(statement.value))) - 1
        if statement.name in guarded and access.load.array in locals_ and access.number == last:
            undefined[statement.name] = missing.domain()
    statements: list[Statement] = []
    for each in program.statements:
        where = undefined.get(each.name)
        if where is None:
            statements.append(each)
            continue
        value = each.value
        assert isinstance(value, Op)
        zero = replace(value, operands=(*value.operands[:2], literal(0, each.target.number)))
        whole = sets.domain(each.iterators, each.domain)
        first = isl.Set(str(where)) if where.get_tuple_name() is None else where.reset_tuple_id()
        if whole.is_subset(first):
            statements.append(replace(each, value=zero))
            continue
        names = {s.name for s in (*program.statements, *statements)}
        for points, with_value in ((whole.intersect(first), zero), (whole.subtract(first), value)):
            for forms in sets.conditions(points, each.iterators):
                name = (
                    each.name if not any(s.name == each.name for s in statements) else fresh(each.name, names)
                )
                statements.append(replace(each, name=name, domain=forms, value=with_value))
    return replace(program, statements=tuple(statements))
