"""Pairs of terms: equal, another for drawn numbers, another for rare ones, or nobody knows."""

from __future__ import annotations

import pytest
import z3

from axiloom.prove import solvers
from axiloom.prove.rtl.terms import same
from axiloom.prove.rtl.terms.machine import product

A, B, WIDE = z3.BitVec("a", 8), z3.BitVec("b", 8), z3.BitVec("wide", 24)
FUNCTION = z3.Function("without a meaning", *[z3.BitVecSort(8)] * 2)


def test_products_of_functions_of_bytes() -> None:
    a, b = (z3.SignExt(8, one) for one in (A, B))
    rtl = product(16)(a + a, b) + 1
    text = 1 + (b * (a << 1))
    said = same.said_of([(rtl, text), (A + B, B + A)], 5)
    assert said.holds
    assert said.values is None


def test_numbers_that_are_drawn() -> None:
    said = same.said_of([(A + B, B + A), (z3.Concat(A, B), z3.Concat(B, A))], 5)
    assert (said.holds, said.place, said.solver) == (False, 1, "drawn numbers")
    assert said.values is not None
    assert said.values["a"] != said.values["b"]


def test_only_what_matters_is_not_zero() -> None:
    ours, theirs = z3.Concat(A, B, WIDE), z3.Concat(A ^ 1, B, WIDE)
    assert same.said_of([(ours, theirs)], 5).values == {"a": 0, "b": 0, "wide": 0}


def test_numbers_that_are_rare() -> None:
    """None is drawn: a solver finds them."""
    rare = z3.And(WIDE == 0xABCDE, A == B + 3, B == 17)
    said = same.said_of([(z3.If(rare, A, B), B)], 5)
    assert said.holds is False
    assert said.values == {"a": 20, "b": 17, "wide": 0xABCDE}


def test_what_the_short_form_forgets() -> None:
    """A function by its table is no longer the byte: asked again, it holds."""
    ours, theirs = z3.If(A + B == 5, A, B), z3.If(A + B == 5, 5 - B, B)
    squared = z3.If(A * A == B, 0 * B, A - A)
    assert same.said_of([(ours, theirs), (squared, z3.BitVecVal(0, 8))], 5).holds


def test_functions_have_no_values() -> None:
    said = same.said_of([(FUNCTION(A), FUNCTION(B))], 5)
    assert (said.holds, said.values) == (False, None)
    assert same.said_of([(FUNCTION(A + A), FUNCTION(A << 1))], 5).holds


def test_a_solver_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its numbers do not show it: nothing is said."""
    wrong = [solvers.Said(False, "one", 0.0, {})]
    monkeypatch.setattr(solvers, "decide", lambda formulas, _limit: iter(wrong * len(formulas)))
    assert same.said_of([(A + B, B + A)], 5).holds is None
