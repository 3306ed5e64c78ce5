"""Random programs: one to four statements in up to three loops each, over arrays as large as they need be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import numpy.typing as npt
from tests.nests.schedule.enumeration import points

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Array, Expression, Index, Literal, Load, Op, Program, Role, Statement, loads
from axiloom.nests.program.rewrite import with_loads

NAMES = "ijk"
NUMBERS = (
    *("int8", "int16", "int32", "int32", "float32", "float32"),
    *("uint8", "uint32", "int5", "uint12", "fixed<16,8>", "fixed<12,5>", "ufixed<9,3>"),
)
MOST_INSTANCES = 200
_COMPARE = ("lt", "le", "eq", "ne", "gt", "ge")


def program(rng: Random) -> Program:
    """A tree of loops, or a chain of nests each of which reads what the one before has made. At least one
    instance, at most `MOST_INSTANCES`."""
    while True:
        found = _Maker(rng).chain() if rng.random() < 0.4 else _Maker(rng).tree()
        if 0 < sum(_count(each) for each in found.statements) <= MOST_INSTANCES:
            return _with_roles(rng, found)


def values(given: Program, seed: int) -> dict[str, npt.NDArray[np.generic]]:
    """What the caller's arrays hold before the run: all of a format, and for floats small numbers, too."""
    rng = np.random.default_rng(seed)
    found: dict[str, npt.NDArray[np.generic]] = {}
    for each in given.arrays:
        if not each.role.is_given or each.copy_of:
            continue
        format = format_of(each.number)
        if format.kind is Kind.FLOAT:
            numbers = rng.standard_normal(each.shape) * rng.choice([1.0, 1e3, 1e-3], each.shape)
        else:
            numbers = rng.integers(format.lowest, format.highest, each.shape, np.int64, endpoint=True)
        found[each.name] = np.asarray(numbers, format.numpy)
    return found


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.number = rng.choice(NUMBERS)
        other = rng.choice(NUMBERS) if rng.random() < 0.3 else self.number
        self.ranks = {name: rng.choice((1, 1, 2, 2, 0)) for name in "ABCD"[: rng.randint(1, 4)]}
        self.numbers = {name: rng.choice((self.number, other)) for name in self.ranks}
        self.statements: list[Statement] = []

    # --- structure --------------------------------------------------------------------------------------

    def tree(self) -> Program:
        """Statements in a random tree of loops, some with triangular bounds."""
        most = self.rng.choice((1, 2, 3, 3, 4))

        def body(loops: tuple[str, ...], forms: tuple[Affine, ...], place: tuple[int, ...]) -> None:
            for position in range(self.rng.choice((1, 1, 2, 3))):
                if len(self.statements) == most:
                    return
                here = (*place, position)
                if len(loops) == len(NAMES) or (loops and self.rng.random() < 0.4):
                    self.add(loops, forms, here)
                else:
                    name = NAMES[len(loops)]
                    body((*loops, name), (*forms, *self.bounds(name, loops)), here)

        body((), (), ())
        return self.done()

    def chain(self) -> Program:
        """Nests X0, X1, ..., each over what the one before has written; loops in any order."""
        rng = self.rng
        sizes = {"i": rng.randint(2, 5), "j": rng.randint(1, 4), "k": rng.randint(1, 3)}
        triangle = rng.random() < 0.3
        count = rng.randint(2, 4)
        self.ranks = {"A": 2, **{f"X{n}": 2 for n in range(count)}}
        self.numbers = dict.fromkeys(self.ranks, self.number)
        for nest in range(count):
            loops = rng.choice((("i", "j"), ("i", "j"), ("j", "i"), ("i", "j", "k"), ("j", "i", "k")))
            domain = [form for each in loops for form in _between(each, 0, sizes[each] - 1)]
            if triangle:
                domain.append(Affine.name("i") - Affine.name("j"))
            target = self.load(f"X{nest}", Affine.name("i"), Affine.name("j"))
            value: Expression = self.access(loops, "A")
            if nest:
                subscripts = [Affine.name("i"), Affine.name("j")]
                if rng.random() < 0.2:
                    subscripts[rng.randint(0, 1)] = self.form(loops)
                before = self.load(f"X{nest - 1}", *subscripts)
                value = Op(rng.choice(("add", "mul", "sub")), (value, before), self.number)
            place = (nest, *(0 for _ in loops))
            if loops[-1] == "k":  # a sum, which begins with 0
                value, place = Op("add", (target, value), self.number), (nest, 0, 1, 0)
                start = tuple(each for each in domain if "k" not in each.names)
                zero = Literal(0, self.number)
                self.statements.append(Statement(f"Z{nest}", loops[:2], start, target, zero, (nest, 0, 0)))
            self.statements.append(Statement(f"S{nest}", loops, tuple(domain), target, value, place))
        return self.done()

    def bounds(self, name: str, outer: tuple[str, ...]) -> tuple[Affine, ...]:
        low, extent = Affine.of(self.rng.choice((0, 0, 1, -1))), self.rng.randint(1, 5)
        high = low + extent
        if outer and self.rng.random() < 0.35:
            other = Affine.name(self.rng.choice(outer)) + self.rng.choice((0, 0, 1, -1))
            low, high = self.rng.choice(((other, high), (low, other)))
        return Affine.name(name) - low, high - Affine.name(name)

    # --- statements -------------------------------------------------------------------------------------

    def add(self, loops: tuple[str, ...], forms: tuple[Affine, ...], place: tuple[int, ...]) -> None:
        target = self.access(loops)
        value = self.expression(target.number, loops, self.rng.randint(0, 3))
        if self.rng.random() < 0.4:
            value = Op(self.rng.choice(("add", "add", "sub", "max")), (target, value), target.number)
        self.statements.append(Statement(f"S{len(self.statements)}", loops, forms, target, value, place))

    def expression(self, number: str, loops: tuple[str, ...], depth: int) -> Expression:
        rng = self.rng
        if depth == 0:
            return self.leaf(number, loops)

        def inner(of: str = number) -> Expression:
            return self.expression(of, loops, rng.randint(0, depth - 1))

        kind = rng.choice(("two", "two", "two", "two", "one", "select"))
        if kind == "two":
            names = ("add", "add", "sub", "mul", "mul", "max", "min")
            if format_of(number).kind is Kind.INTEGER:
                names += ("and", "or", "xor")
            return Op(rng.choice(names), (inner(), inner()), number)
        if kind == "one":
            return Op(rng.choice(("neg", "abs")), (inner(),), number)
        other = rng.choice(tuple(self.numbers.values()))
        condition = Op(rng.choice(_COMPARE), (inner(other), inner(other)), "bool")
        return Op("select", (condition, inner(), inner()), number)

    def leaf(self, number: str, loops: tuple[str, ...]) -> Expression:
        format, what = format_of(number), self.rng.random()
        if what < 0.15:
            if format.kind is Kind.FLOAT:
                return Literal(self.rng.choice((0.0, -1.5, 0.25, 3.0)), number)
            return Literal(self.rng.randint(max(format.lowest, -9), min(format.highest, 9)), number)
        if what < 0.22 and format.kind is Kind.INTEGER and format.bits >= 8:
            return Index(self.form(loops), number)
        found = self.access(loops)
        return found if found.number == number else Op("convert", (found,), number)

    def access(self, loops: tuple[str, ...], array: str = "") -> Load:
        name = array or self.rng.choice(tuple(self.ranks))
        return self.load(name, *(self.form(loops) for _ in range(self.ranks[name])))

    def load(self, array: str, *subscripts: Affine) -> Load:
        return Load(array, subscripts, self.numbers[array])

    def form(self, loops: tuple[str, ...]) -> Affine:
        rng = self.rng
        form = Affine.of(0)
        if rng.random() < 0.9:
            form = Affine.name(rng.choice(loops)) * rng.choice((1, 1, 1, 1, 1, 2, -1))
        if rng.random() < 0.2:
            form = form + Affine.name(rng.choice(loops)) * rng.choice((1, -1))
        return form + rng.choice((0, 0, 0, 1, 2, -1))

    # --- arrays -----------------------------------------------------------------------------------------

    def done(self) -> Program:
        """Arrays from 0, each as large as its accesses ask; those that nothing uses are left out."""
        ends: dict[str, list[tuple[int, int]]] = {}
        for each in self.statements:
            for at in points(each.iterators, each.domain):
                values = dict(zip(each.iterators, at, strict=True))
                for load in (each.target, *loads(each.value)):
                    found = [form.value(values) for form in load.subscripts]
                    known = ends.get(load.array, [(x, x) for x in found])
                    ends[load.array] = [
                        (min(low, x), max(high, x)) for x, (low, high) in zip(found, known, strict=True)
                    ]
        for name, rank in self.ranks.items():
            ends.setdefault(name, [(0, 0)] * rank)

        def moved(load: Load) -> Load:
            pairs = zip(load.subscripts, ends[load.array], strict=True)
            return replace(load, subscripts=tuple(form - low for form, (low, _) in pairs))

        made = tuple(
            replace(each, target=moved(each.target), value=with_loads(each.value, moved))
            for each in self.statements
        )
        used = set(_used(made))
        arrays = (
            Array(name, tuple(high - low + 1 for low, high in ends[name]), self.numbers[name], Role.INOUT)
            for name in self.ranks
            if name in used
        )
        return Program("random", tuple(arrays), made)


def _with_roles(rng: Random, given: Program) -> Program:
    """Some arrays become local, in or out, where that is right."""
    for each in given.arrays:
        role = rng.choice((Role.LOCAL, Role.LOCAL, Role.IN, Role.OUT, Role.INOUT))
        if each.name.startswith("X"):
            role = rng.choice((Role.LOCAL, Role.LOCAL, Role.LOCAL, Role.INOUT))
        arrays = tuple(replace(x, role=role) if x == each else x for x in given.arrays)
        changed = replace(given, arrays=arrays)
        if any(x.role.is_result for x in arrays) and not faults(changed):
            given = changed
    return given


def _used(statements: Sequence[Statement]) -> Iterator[str]:
    for each in statements:
        for load in (each.target, *loads(each.value)):
            yield load.array


def _between(name: str, low: int, high: int) -> tuple[Affine, Affine]:
    return Affine.name(name) - low, high - Affine.name(name)


def _count(statement: Statement) -> int:
    return sum(1 for _ in points(statement.iterators, statement.domain))
