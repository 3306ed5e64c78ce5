"""What a reader has written down, as a program: writes under conditions on data become `select`s between the
new value and the old one, and reads of what may not be written are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests.poly import sets
from axiloom.nests.poly.liveness import live_in
from axiloom.nests.program import Expression, Load, Op, Program, Role, Statement, loads
from axiloom.nests.program.names import fresh
from axiloom.nests.program.rewrite import load_substituted, substituted
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


def program_of(node: Node, writes: Sequence[Write], declarations: Declarations) -> Program:
    """Raises CompileError with the line of a read of what nothing has written."""
    locals_ = {name for name, array in declarations.arrays.items() if array.role is Role.LOCAL}
    writes = _needed(sorted(writes, key=lambda write: write.order), declarations.substituted, locals_)
    writes = _merged(writes)
    if any(write.guards for write in writes) or declarations.born:
        _check(writes, declarations, locals_)
    labels: set[str] = set()
    statements, guarded = [], set()
    for number, write in enumerate(_apart(writes)):
        name, value = fresh(write.label or f"S{number}", labels), write.value
        if write.guards:
            guarded.add(name)
            condition = reduce(lambda a, b: apply("and", a, b), [guard.condition for guard in write.guards])
            value = select(condition, value, write.target)
        statements.append(
            Statement(name, write.loops, _small(write), write.target, value, write.order, write.where)
        )
    used = {load.array for statement in statements for load in (statement.target, *loads(statement.value))}
    return _without_old(Program(node.name, declarations.used(used), tuple(statements)), guarded, locals_)


def _needed(writes: Sequence[Write], substituted: set[str], locals_: set[str]) -> list[Write]:
    """Without the values of counters that nothing loads, and of scalars that were only forms."""
    while True:
        idle = locals_ - {load.array for write in writes for load in _reads(write)}
        needed = [
            write
            for write in writes
            if write.target.array not in idle or not (write.dropped or write.target.array in substituted)
        ]
        if len(needed) == len(writes):
            return needed
        writes = needed


def _merged(writes: Sequence[Write]) -> list[Write]:
    """``if (c) x = a; else x = b;`` as ``x = c ? a : b``."""
    result: list[Write] = []
    for write in writes:
        last = result[-1] if result else None
        if (
            last is not None
            and last.guards
            and write.guards
            and (last.loops, last.domain, last.target) == (write.loops, write.domain, write.target)
            and last.guards[:-1] == write.guards[:-1]
            and last.guards[-1].number == write.guards[-1].number
            and last.guards[-1].holds
            and not write.guards[-1].holds
            and last.target not in loads(write.value)
        ):
            value = select(last.guards[-1].condition, last.value, write.value)
            result[-1] = replace(last, value=value, guards=last.guards[:-1])
        else:
            result.append(write)
    return result


def _apart(writes: Sequence[Write]) -> Iterator[Write]:
    """Loops of one nest that are not the same loop get names of their own, and static numbers no gaps."""
    taken: dict[int, set[str]] = {}
    names: dict[tuple[tuple[int, ...], str], str] = {}
    ranks: dict[tuple[int, ...], dict[int, int]] = {}
    for write in writes:
        order = list[int]()
        for level, number in enumerate(write.order):
            siblings = ranks.setdefault(write.order[:level], {})
            order.append(siblings.setdefault(number, len(siblings)))
        values = {}
        for level, name in enumerate(write.loops, 1):
            key = write.order[:level], name
            if key not in names:
                names[key] = fresh(name, taken.setdefault(order[0], set()))
            values[name] = Affine.name(names[key])
        yield replace(
            write,
            loops=tuple(value.names[0] for value in values.values()),
            domain=tuple(form.substitute(values) for form in write.domain),
            target=load_substituted(write.target, values),
            value=substituted(write.value, values),
            order=tuple(order),
            guards=tuple(
                replace(guard, condition=substituted(guard.condition, values)) for guard in write.guards
            ),
        )


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
    return all(abs(number) < 1 << 40 for number in (form.constant, *(factor for _, factor in form.terms)))


def _reads(write: Write) -> Iterator[Load]:
    return (load for load, _ in _reads_under(write))


def _reads_under(write: Write) -> Iterator[tuple[Load, tuple[Guard, ...]]]:
    """Each with the conditions under which it is read: a condition under those around it."""
    yield from ((load, write.guards) for load in loads(write.value))
    for level, guard in enumerate(write.guards):
        yield from ((load, write.guards[:level]) for load in loads(guard.condition))


# --- reads of what may not be written ---------------------------------------------------------------------


def _check(writes: Sequence[Write], declarations: Declarations, locals_: set[str]) -> None:
    """Each read of a local follows a write of that element in the same life of the local: by a statement
    without conditions on data, by one under the same conditions, or by both branches of an `if`."""
    depth = max(len(write.loops) for write in writes)
    for array in sorted({load.array for write in writes for load in _reads(write)} & locals_):
        born = declarations.born.get(array, ())
        sources = [write for write in writes if write.target.array == array]
        for write in writes:
            for load, guards in _reads_under(write):
                if load.array != array:
                    continue
                read = _access(write, load, born, depth)
                missing = read.domain().subtract(_written(sources, guards, born, depth, read))
                if not missing.is_empty():
                    raise CompileError(
                        f"{write.where}: `{array}` is read before it is written"
                        f"{_at(write, missing)}: what it holds then, C leaves undefined"
                    )


def _written(
    sources: Sequence[Write], guards: tuple[Guard, ...], born: tuple[str, ...], depth: int, read: isl.Map
) -> isl.Set:
    """The times, of a read under `guards`, at which what it reads is written before."""
    before = isl.Map.lex_gt(read.domain().get_space())
    covered = isl.Set.empty(read.domain().get_space())
    for level in range(len(guards) + 1):
        context = guards[:level]
        same = _same_instance(context, read)
        here = [write for write in sources if _branches(write.guards[:level]) == _branches(context)]
        for source in _sure(here, level, born, depth):
            pairs = read.apply_range(source.reverse()).intersect(before).intersect(same)
            covered = covered.union(pairs.domain())
    return covered


def _sure(sources: Sequence[Write], level: int, born: tuple[str, ...], depth: int) -> Iterator[isl.Map]:
    """Times to elements, of what is written for certain once the first `level` conditions hold."""
    yield from (_access(write, write.target, born, depth) for write in sources if len(write.guards) == level)
    deeper = [write for write in sources if len(write.guards) > level]
    for number in sorted({write.guards[level].number for write in deeper}):
        mine = [write for write in deeper if write.guards[level].number == number]
        branches = [
            [write for write in mine if write.guards[level].holds is holds] for holds in (True, False)
        ]
        if not all(branches):
            continue
        # The instance of the `if` is its loops' values; the later of the two writes is when it is done.
        around = 2 * len(mine[0].guards[level].loops)
        yes, no = (
            reduce(
                lambda a, b: a.union(b),
                [_cut(part, around) for part in _sure(branch, level + 1, born, depth)],
            )
            for branch in branches
        )
        yield _latest(yes.intersect(no), around, depth, mine)


def _cut(access: isl.Map, around: int) -> isl.Map:
    """Only the instance of what is around; the static number behind it is dropped."""
    return access.project_out(isl.dim_type.in_, around, access.dim(isl.dim_type.in_) - around)


def _latest(both: isl.Map, around: int, depth: int, writes: Sequence[Write]) -> isl.Map:
    """At the time of the last static number of the two branches."""
    last = max(write.order[around // 2] for write in writes)
    times = both.insert_dims(isl.dim_type.in_, around, 2 * depth + 1 - around)
    times = times.fix_val(isl.dim_type.in_, around, isl.Val(last))
    for n in range(around + 1, 2 * depth + 1):
        times = times.fix_val(isl.dim_type.in_, n, isl.Val((1 << 31) - 1))
    return times


def _same_instance(guards: tuple[Guard, ...], read: isl.Map) -> isl.Map:
    """Pairs of times in the same instance of the innermost `if`."""
    same = isl.Map.universe(read.domain().get_space().map_from_set())
    for n in range(2 * len(guards[-1].loops) if guards else 0):
        same = same.equate(isl.dim_type.in_, n, isl.dim_type.out, n)
    return same


def _branches(guards: Sequence[Guard]) -> list[tuple[int, bool]]:
    return [(guard.number, guard.holds) for guard in guards]


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
    names = {statement.name for statement in program.statements}
    for statement in program.statements:
        where = undefined.get(statement.name)
        if where is None:
            statements.append(statement)
            continue
        value = statement.value
        assert isinstance(value, Op)
        zero = replace(value, operands=(*value.operands[:2], literal(0, statement.target.number)))
        whole, first = sets.domain(statement.iterators, statement.domain), where.reset_tuple_id()
        name = statement.name
        for points, with_value in ((whole.intersect(first), zero), (whole.subtract(first), value)):
            for forms in sets.conditions(points, statement.iterators):
                statements.append(replace(statement, name=name, domain=forms, value=with_value))
                name = fresh(statement.name, names)
    return replace(program, statements=tuple(statements))
