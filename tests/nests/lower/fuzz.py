"""Random programs, and random schedules of them by the primitives that check themselves."""

from __future__ import annotations

from random import Random

from tests.nests.lower.programs import Maker, box, instances

import axiloom.nests.schedule.primitives  # noqa: F401  (registers them)
from axiloom.errors import AxiloomError
from axiloom.isa.affine import Affine
from axiloom.nests.program import Array, Expression, Load, Op, Program, Role, Statement
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.schedule import PRIMITIVES

NAMES = "ijk"


def program(rng: Random) -> Program:
    """One to three statements with up to three loops each, over arrays that are as large as need be."""
    number = rng.choice(["int32", "int32", "int8"])
    maker = Maker("random", number)
    arrays = {name: rng.randint(1, 2) for name in "ABC"[: rng.randint(1, 3)]}
    statements: list[Statement] = []
    place = 0
    for position in range(rng.randint(1, 3)):
        depth = rng.randint(1, 3)
        names = tuple(NAMES[:depth])
        if statements and rng.random() < 0.5 and len(statements[-1].iterators) == depth:
            # In the loops of the one before, at some depth.
            last = statements[-1]
            common = rng.randint(1, depth)
            prefix = last.place[:common]
            outer = [each for each in last.domain if set(each.names) <= set(names[:common])]
            spot = (*prefix, last.place[common] + 1, *(0 for _ in range(depth - common)))
            domain = (*outer, *_bounds(rng, names[:common], names[common:]))
        else:
            spot = (place, *(0 for _ in range(depth)))
            domain = _bounds(rng, (), names)
        place = spot[0] + 1
        target = _access(rng, maker, arrays, names)
        value = _value(rng, maker, arrays, names, target)
        statements.append(Statement(f"S{position}", names, domain, target, value, spot))
    return _fitted(maker, arrays, statements)


def _bounds(rng: Random, outer: tuple[str, ...], names: tuple[str, ...]) -> tuple[Affine, ...]:
    forms: list[Affine] = []
    known = list(outer)
    for name in names:
        low, high = "0" if rng.random() < 0.7 else "1", str(rng.randint(3, 7))
        if known and rng.random() < 0.3:
            low = rng.choice(known)
        elif known and rng.random() < 0.3:
            high = f"{rng.choice(known)} + 1"
        forms += box(**{name: (low, high)})
        known.append(name)
    return tuple(forms)


def _access(rng: Random, maker: Maker, arrays: dict[str, int], names: tuple[str, ...]) -> Load:
    array = rng.choice(list(arrays))
    forms = []
    for _ in range(arrays[array]):
        form = Affine.name(rng.choice(names)) if rng.random() < 0.9 else Affine()
        if rng.random() < 0.2:
            form = form + Affine.name(rng.choice(names)) * rng.choice([1, 1, 2, -1])
        forms.append(form + rng.randint(0, 2) * (rng.random() < 0.4))
    return Load(array, tuple(forms), maker.number)


def _value(
    rng: Random, maker: Maker, arrays: dict[str, int], names: tuple[str, ...], target: Load
) -> Expression:
    terms: list[Expression] = [_access(rng, maker, arrays, names) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.5:
        terms[0] = target
    value = terms[0]
    for each in terms[1:]:
        value = Op(rng.choice(["add", "sub", "mul", "max"]), (value, each), maker.number)
    return Op("add", (value, maker.lit(rng.randint(-5, 5))), maker.number)


def _loads(tree: Expression) -> list[Load]:
    if isinstance(tree, Load):
        return [tree]
    return [each for one in tree.operands for each in _loads(one)] if isinstance(tree, Op) else []


def _fitted(maker: Maker, arrays: dict[str, int], statements: list[Statement]) -> Program:
    """Arrays from 0, each as large as its accesses ask; statements that are never executed are left out."""
    alive = [(each, instances(each)) for each in statements]
    alive = [(each, points) for each, points in alive if points]
    least = {name: [0] * dims for name, dims in arrays.items()}
    most = {name: [0] * dims for name, dims in arrays.items()}
    for statement, points in alive:
        for load in [statement.target, *_loads(statement.value)]:
            for d, form in enumerate(load.subscripts):
                found = [form.value(point) for point in points]
                least[load.array][d] = min(least[load.array][d], *found, 0)
                most[load.array][d] = max(most[load.array][d], *found)

    def moved(tree: Expression) -> Expression:
        if isinstance(tree, Load):
            forms = (x - low for x, low in zip(tree.subscripts, least[tree.array], strict=True))
            return Load(tree.array, tuple(forms), tree.number)
        if isinstance(tree, Op):
            return Op(tree.name, tuple(moved(each) for each in tree.operands), tree.number)
        return tree

    made = []
    for each, _ in alive:
        target = moved(each.target)
        assert isinstance(target, Load)
        made.append(Statement(each.name, each.iterators, each.domain, target, moved(each.value), each.place))
    shapes = {
        name: tuple(high - low + 1 for low, high in zip(least[name], most[name], strict=True))
        for name in arrays
    }
    found = tuple(Array(name, shape, maker.number, Role.INOUT) for name, shape in shapes.items())
    return Program("random", found, tuple(made))


def schedule(rng: Random, given: Program) -> Schedule:
    """Some primitives, those that are refused left out."""
    found = Schedule.of(given)
    for _ in range(rng.randint(0, 6)):
        placed = rng.choice(found.statements)
        loops = [each for each in placed.loops if each not in found.unrolled]
        if not loops:
            continue
        name = placed.statement.name
        kind = rng.choice(
            ["split", "split", "interchange", "unroll", "unroll", "skew", "sink", "fuse", "fission"]
        )
        arguments: list[object] = [name]
        if kind == "split":
            arguments += [rng.choice(loops), rng.randint(2, 4)]
        elif kind == "unroll":
            arguments += [loops[-1]]
        elif kind == "interchange":
            arguments += [rng.choice(loops), rng.choice(loops)]
        elif kind == "skew":
            arguments += [rng.choice(loops), rng.choice(loops), 1]
        elif kind == "fission":
            arguments += [rng.choice(loops)]
        else:
            arguments += [rng.choice(found.statements).statement.name, rng.choice(loops)]
        try:
            found = PRIMITIVES[kind](found, *arguments)
        except (AxiloomError, ValueError):
            continue
    return found
