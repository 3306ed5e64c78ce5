"""Tensors as views: which element of which array each of their elements is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from axiloom.base.affine import Affine
from axiloom.nests.program import Array, Expression, Load
from axiloom.nests.program.expressions import BOOL
from axiloom.nests.program.typed import apply, literal

STORED_BOOL = "uint1"


@dataclass(frozen=True)
class View:
    """A tensor: element d of it is element `subscripts`(d) of an array; or the same number everywhere. `dims`
    are the names that subscripts are written with."""

    shape: tuple[int, ...]
    array: str
    subscripts: tuple[Affine, ...]
    value: Expression | None = None

    def at(self, place: Sequence[Affine], number: str) -> Expression:
        if self.value is not None:
            return self.value
        values = {f"d{n}": form for n, form in enumerate(place)}
        return loaded(
            self.array, tuple(subscript.substitute(values) for subscript in self.subscripts), number
        )


def loaded(array: str, subscripts: tuple[Affine, ...], number: str) -> Expression:
    """An element as a value of the number; arrays hold a bool as a bit."""
    if number != BOOL:
        return Load(array, subscripts, number)
    return apply("ne", Load(array, subscripts, STORED_BOOL), literal(0, STORED_BOOL))


def moved(source: View, shape: tuple[int, ...], place: Sequence[Affine]) -> View:
    """A tensor of `shape` whose element d is the one at `place`(d) of another."""
    if source.value is not None:
        return View(shape, "", (), source.value)
    values = {f"d{n}": form for n, form in enumerate(place)}
    return View(shape, source.array, tuple(subscript.substitute(values) for subscript in source.subscripts))


def dims(shape: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"d{n}" for n in range(len(shape)))


def whole(array: Array) -> View:
    return View(array.shape, array.name, tuple(Affine.name(dim) for dim in dims(array.shape)))


def box(shape: Sequence[int]) -> tuple[Affine, ...]:
    forms = []
    for name, size in zip(dims(shape), shape, strict=True):
        forms += [Affine.name(name), Affine.sum({name: -1}, size - 1)]
    return tuple(forms)


def form(expression: AffineExpr) -> Affine:
    """Raises ValueError for what has divisions."""
    if isinstance(expression, AffineDimExpr):
        return Affine.name(f"d{expression.position}")
    if isinstance(expression, AffineConstantExpr):
        return Affine((), expression.value)
    if isinstance(expression, AffineBinaryOpExpr):
        left, right = form(expression.lhs), form(expression.rhs)
        if expression.kind is AffineBinaryOpKind.Add:
            return left + right
        if expression.kind is AffineBinaryOpKind.Mul and left.is_constant:
            return right * left.constant
        if expression.kind is AffineBinaryOpKind.Mul and right.is_constant:
            return left * right.constant
    raise ValueError(f"an indexing map with {expression} is not affine in the loops")
