"""Formulas of integers beside those of bit vectors."""

from __future__ import annotations

import pytest

z3 = pytest.importorskip("z3")
pytest.importorskip("bitwuzla")

from axiloom.prove import solvers  # noqa: E402


def test_integers_are_no_sort_like_any_other() -> None:
    a, b = z3.Ints("a b[0:3]")
    v = z3.BitVec("v", 8)
    formulas = [z3.Implies(z3.And(a > 3, b > 4), a * b > 15), z3.Implies(a > 3, a > 4), v + 1 != v]
    said = list(solvers.decide(formulas, 20))
    assert [one.holds for one in said] == [True, False, True]
    assert said[1].values["a"] == "4"
