"""Formulas of whole numbers as formulas of bits: the same answers; what has no ranges is none."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

import z3

from axiloom.isa.formal.bits import in_bits
from axiloom.prove import solvers

X, Y = z3.Ints("x y")
GIVEN = z3.And(X >= -5, X <= 9, Y >= 0, Y <= 7)
CLAIMS = {
    "product": (X * Y <= 63, True),
    "product, one less": (X * Y <= 62, False),
    "floor": (X / 4 >= -2, True),
    "floor, one more": (X / 4 >= -1, False),
    "by three": (z3.And(X % 3 >= 0, X == X / 3 * 3 + X % 3), True),
    "choice": (z3.If(X < 0, -X, X) + Y <= 16, True),
    "choice, one less": (z3.If(X < 0, -X, X) + Y <= 15, False),
    "difference": (X - Y >= -12, True),
    "not equal": (z3.Distinct(X, Y + 10), True),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_same_answer(name: str) -> None:
    claim, wanted = CLAIMS[name]
    formula = in_bits(z3.Implies(GIVEN, claim))
    assert formula is not None
    solver = z3.Solver()
    solver.add(z3.Not(formula))
    assert (solver.check() == z3.unsat) == wanted
    (said,) = solvers.decide([z3.Implies(GIVEN, claim)], 5)
    assert said.holds == wanted
    assert said.certified == ("bitwuzla" if wanted else "")


def test_claims_with_ranges_of_their_own() -> None:
    """A number that is small in one claim, and large in the next: its product needs more bits there."""
    small, large = z3.And(X >= 0, X <= 1), z3.And(X >= 0, X <= 300)
    formula = in_bits(z3.And(z3.Implies(small, X * X <= 1), z3.Implies(large, X * X <= 89_999)))
    solver = z3.Solver()
    solver.add(z3.Not(formula))
    assert solver.check() == z3.sat
    assert in_bits(z3.And(z3.Implies(small, X * X <= 1), X * X >= 0)) is None


def test_without_a_range() -> None:
    assert in_bits(z3.Implies(X >= 0, X * X >= 0)) is None
    assert in_bits(z3.Implies(GIVEN, X / Y >= -5)) is None
