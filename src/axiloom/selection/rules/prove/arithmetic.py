"""What numbers know: sums and products as polynomials, in integers that wrap and in real numbers alike; and
integers bit by bit, by z3."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import z3

from axiloom.graph.numbers import Number, number
from axiloom.isa.formal import limited
from axiloom.selection.rules.prove.terms import App, Element, Fold, Read

Poly: TypeAlias = dict[tuple[int, ...], Fraction]
"""Numbers of atoms, sorted, to factors."""
BITS_S = 4
MOST_PARTS = 400


class Equality(Protocol):
    """What is known without numbers: `prove.equal.Equality`."""

    sense: str
    shown: set[int]

    def same(self, a: Element, b: Element) -> bool: ...
    def alike(self, a: Element, b: Element) -> bool: ...
    def folds(self, a: Fold, b: Fold) -> bool: ...
    def congruent(self, a: App, b: App) -> bool: ...
    def tidy(self, term: Element) -> Element: ...
    def parts(self, term: Element, function: str) -> Iterator[Element]: ...


class _Atoms:
    """Terms that are not taken apart: equal ones are one."""

    def __init__(self, equality: Equality) -> None:
        self.equality = equality
        self.listed: list[Element] = []

    def number(self, term: Element) -> int:
        for i, known in enumerate(self.listed):
            if type(known) is type(term) and self.equality.alike(known, term) and self._same(known, term):
                return i
        self.listed.append(term)
        return len(self.listed) - 1

    def _same(self, a: Element, b: Element) -> bool:
        if isinstance(a, Fold) and isinstance(b, Fold):
            return self.equality.folds(a, b)
        if isinstance(a, App) and isinstance(b, App):
            return a.function == b.function and self.equality.congruent(a, b)
        return self.equality.same(a, b)


def same(equality: Equality, a: Element, b: Element) -> bool:
    """Both the same polynomial, or for integers: the same bits."""
    known = ("add", "sub", "mul", "neg", "div", "rsqrt", "convert", "index", "literal")
    if any(isinstance(term, Fold) or _named(term) in known for term in (a, b)):
        atoms = _Atoms(equality)
        left, right = (_poly(equality, atoms, side) for side in (a, b))
        if left == right:
            return True
    return equality.sense == "integers" and _bits_same(equality, a, b)


def _named(term: Element) -> str:
    return term.function.split(":")[0] if isinstance(term, App) else ""


def _poly(equality: Equality, atoms: _Atoms, term: Element) -> Poly:
    term = equality.tidy(term)
    if isinstance(term, Fold) and term.function == "add":
        parts = list(equality.parts(term, "add"))
        if not all(isinstance(part, Fold) for part in parts):
            return _sum([_poly(equality, atoms, part) for part in parts])
        return _sum([{(atoms.number(part),): Fraction(1)} for part in parts])
    if not isinstance(term, App):
        return {(atoms.number(term),): Fraction(1)}
    name = term.function.split(":")[0]
    inner = [
        argument
        for argument in term.arguments
        if isinstance(argument, (App, Fold, Read)) or hasattr(argument, "of")
    ]
    match name:
        case "literal":
            value = Fraction(term.function.split(":", 2)[2]) if _finite(term) else None
            if value is not None:
                return {(): value} if value else {}
        case "add" | "sub":
            a, b = (_poly(equality, atoms, argument) for argument in inner)
            return _sum([a, b if name == "add" else _scaled(b, -1)])
        case "neg":
            return _scaled(_poly(equality, atoms, inner[0]), -1)
        case "mul":
            return _product(*(_poly(equality, atoms, argument) for argument in inner))
        case "div" if equality.sense == "reals":
            a = _poly(equality, atoms, inner[0])
            by = _poly(equality, atoms, inner[1])
            if set(by) == {()}:
                return _scaled(a, 1 / by[()])
            return _product(a, {(atoms.number(App("inverse", (inner[1],), term.of)),): Fraction(1)})
        case "rsqrt" if equality.sense == "reals":
            root = App("sqrt", (inner[0],), term.of)
            return {(atoms.number(App("inverse", (root,), term.of)),): Fraction(1)}
    return {(atoms.number(term),): Fraction(1)}


def _finite(term: App) -> bool:
    text = term.function.split(":", 2)[2]
    return text not in ("inf", "-inf", "nan")


def _sum(parts: list[Poly]) -> Poly:
    poly: Poly = {}
    for part in parts:
        for key, value in part.items():
            poly[key] = poly.get(key, Fraction(0)) + value
    return {key: value for key, value in poly.items() if value}


def _scaled(poly: Poly, by: int | Fraction) -> Poly:
    return {key: value * by for key, value in poly.items()}


def _product(a: Poly, b: Poly) -> Poly:
    poly: Poly = {}
    for left, x in a.items():
        for right, y in b.items():
            key = tuple(sorted((*left, *right)))
            poly[key] = poly.get(key, Fraction(0)) + x * y
    return {key: value for key, value in poly.items() if value}


def _bits_same(equality: Equality, a: Element, b: Element) -> bool:
    atoms = _Atoms(equality)
    try:
        left, right = (_bits(equality, atoms, side) for side in (a, b))
    except NotImplementedError:
        return False
    if left.sort() != right.sort():
        return False
    solver = limited.solver(BITS_S)
    solver.add(left != right)
    says = solver.check()
    if says == z3.sat:
        equality.shown |= _numbers(solver.model())
    return bool(says == z3.unsat)


def _numbers(model: z3.ModelRef) -> set[int]:
    """With a sign and without."""
    values = [model[name] for name in model.decls() if z3.is_bv_value(model[name])]
    return {number for value in values for number in (value.as_long(), value.as_signed_long())}


def _bits(equality: Equality, atoms: _Atoms, term: Element) -> Any:
    """A bit vector; of a ``bool``, a z3 Bool."""
    term = equality.tidy(term)
    of = number(term.of)
    if of.kind not in ("integer", "bool"):
        raise NotImplementedError
    name, *more = term.function.split(":", 2) if isinstance(term, App) else ("",)
    if name == "literal":
        value = int(more[1])
        return z3.BoolVal(bool(value)) if of.kind == "bool" else z3.BitVecVal(value, of.bits)
    if isinstance(term, App) and name in _BITS:
        source = number(term.arguments[-1].of)
        return _BITS[name](of, source, *(_bits(equality, atoms, argument) for argument in term.arguments))
    atom = f"a{atoms.number(term)}"
    return z3.Bool(atom) if of.kind == "bool" else z3.BitVec(atom, of.bits)


def _shift(arithmetic: bool, left: bool) -> Any:
    def made(of: Number, _: Number, a: Any, b: Any) -> Any:
        within = z3.And(b >= 0, b < of.bits) if of.signed else z3.ULT(b, of.bits)
        if left:
            return z3.If(within, a << b, z3.BitVecVal(0, of.bits))
        if arithmetic:
            return a >> z3.If(within, b, z3.BitVecVal(of.bits - 1, of.bits))
        return z3.If(within, z3.LShR(a, b), z3.BitVecVal(0, of.bits))

    return made


def _less(of: Number, a: Any, b: Any) -> Any:
    if of.kind == "bool":
        return z3.And(z3.Not(a), b)
    return a < b if of.signed else z3.ULT(a, b)


def _converted(of: Number, source: Number, a: Any) -> Any:
    if of.kind == "bool":
        return a if source.kind == "bool" else a != 0
    if source.kind == "bool":
        return z3.If(a, z3.BitVecVal(1, of.bits), z3.BitVecVal(0, of.bits))
    more = of.bits - source.bits
    if more <= 0:
        return z3.Extract(of.bits - 1, 0, a)
    return z3.SignExt(more, a) if source.signed else z3.ZeroExt(more, a)


def _either(whole: Any, truth: Any) -> Any:
    return lambda of, _, *operands: (truth if of.kind == "bool" else whole)(*operands)


_BITS: dict[str, Any] = {
    "add": _either(lambda a, b: a + b, z3.Or),
    "sub": lambda _, __, a, b: a - b,
    "mul": _either(lambda a, b: a * b, z3.And),
    "neg": lambda _, __, a: -a,
    "abs": lambda of, _, a: z3.If(a < 0, -a, a) if of.signed else a,
    "max": lambda of, _, a, b: z3.If(_less(of, a, b), b, a),
    "min": lambda of, _, a, b: z3.If(_less(of, b, a), b, a),
    "and": _either(lambda a, b: a & b, z3.And),
    "or": _either(lambda a, b: a | b, z3.Or),
    "xor": _either(lambda a, b: a ^ b, z3.Xor),
    "not": _either(lambda a: ~a, z3.Not),
    "shl": _shift(False, True),
    "sra": _shift(True, False),
    "srl": _shift(False, False),
    "convert": _converted,
    "select": lambda _, __, c, a, b: z3.If(c, a, b),
    "eq": lambda _, __, a, b: a == b,
    "ne": lambda _, __, a, b: a != b,
    "lt": lambda _, source, a, b: _less(source, a, b),
    "le": lambda _, source, a, b: z3.Not(_less(source, b, a)),
    "gt": lambda _, source, a, b: _less(source, b, a),
    "ge": lambda _, source, a, b: z3.Not(_less(source, a, b)),
}
