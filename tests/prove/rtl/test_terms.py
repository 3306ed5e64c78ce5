"""Nodes of z3's terms without z3's checks: what z3's Python says of them."""

from __future__ import annotations

import pytest

z3 = pytest.importorskip("z3")

from axiloom.prove.rtl.terms.nodes import Substitution, children, number  # noqa: E402

A, B = z3.BitVecs("a b", 8)
P = z3.Bool("p")
MEMORY = z3.Array("m", z3.BitVecSort(8), z3.BitVecSort(8))
N = z3.Int("n")
TERMS = [
    A, z3.BitVecVal(7, 8), A + B * 3, z3.If(P, A, B), z3.And(P, z3.ULT(A, B)), z3.BoolVal(True),
    z3.Store(MEMORY, A, B), z3.Select(MEMORY, A), N + 2, z3.ForAll([N], N > 2),
    z3.Function("f", z3.BitVecSort(8), z3.BoolSort(), z3.BoolSort())(A, P),
]  # fmt: skip


@pytest.mark.parametrize("term", TERMS, ids=str)
def test_nodes(term: z3.ExprRef) -> None:
    assert number(term) == term.get_id()
    found, expected = children(term), term.children()
    assert [type(one) for one in found] == [type(one) for one in expected]
    assert all(map(z3.eq, found, expected))
    assert [number(one) for one in found] == [one.get_id() for one in expected]


def test_substitution_again_and_again() -> None:
    made = Substitution(z3.If(P, A + B, A), [A, P])
    for a, p in ((B, z3.BoolVal(True)), (z3.BitVecVal(1, 8), z3.ULT(A, B))):
        assert z3.eq(made([a, p]), z3.substitute(z3.If(P, A + B, A), (A, a), (P, p)))


def test_a_word_of_one_bit_is_a_truth() -> None:
    bit = z3.BitVec("bit", 1)
    assert z3.eq(Substitution(P, [P])([bit]), bit == 1)


def test_sorts_that_do_not_agree_are_refused_by_z3() -> None:
    with pytest.raises(z3.Z3Exception):
        Substitution(A + B, [A])([z3.BitVec("wide", 16)])
