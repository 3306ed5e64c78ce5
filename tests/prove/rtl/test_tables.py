"""Functions of one byte by their tables."""

from __future__ import annotations

import z3

from axiloom.prove.rtl.terms.tables import Tables

A, B, WIDE = z3.BitVec("a", 8), z3.BitVec("b", 8), z3.BitVec("wide", 32)
PRODUCT = z3.Function("product", *[z3.BitVecSort(8)] * 3)


def test_two_ways_to_say_a_function_become_one() -> None:
    ours, theirs = PRODUCT(A + A, ~B), PRODUCT(A << 1, -B - 1)
    assert not ours.eq(theirs)
    one, other = Tables()([ours, theirs])
    assert one.eq(other)
    assert not one.eq(ours)


def test_other_functions_and_other_bytes_stay_apart() -> None:
    tables = Tables()
    terms = [PRODUCT(A + A, B), PRODUCT(A + 1, B), PRODUCT(B + B, B), PRODUCT(A + A, B + 1)]
    found = tables(terms)
    assert not any(found[0].eq(one) for one in found[1:])
    same = PRODUCT(A << 1, B)
    assert tables([same])[0].eq(found[0])


def test_more_bits_with_the_sign_are_the_same_function() -> None:
    """Not those with zeros: these are other numbers."""
    tables = Tables()
    half = A >> 1
    narrow, signed, zeros = tables([half, z3.SignExt(8, half), z3.ZeroExt(8, half)])
    assert signed.eq(z3.SignExt(16 - narrow.arg(0).size(), narrow.arg(0)))
    assert tables.range_of(narrow.arg(0)) == (-64, 63)
    assert not z3.simplify(zeros).eq(z3.simplify(signed))


def test_a_function_is_what_its_table_says() -> None:
    """With the tables put back, nothing has changed."""
    tables = Tables()
    term = z3.If(A == B, (A * A) ^ 3, z3.Concat(z3.Extract(3, 0, A + 7), z3.Extract(7, 4, ~B)))
    (found,) = tables([term])
    assert len(tables.values) == 3
    for name, values in tables.values.items():
        bits = max(max(one, ~one) for one in values).bit_length() + 1
        at, read = z3.Var(0, A.sort()), z3.BitVecVal(values[0], bits)
        for place, value in enumerate(values):
            read = z3.If(at == place, z3.BitVecVal(value, bits), read)
        found = z3.substitute_funs(found, (z3.Function(name, A.sort(), read.sort()), read))
    solver = z3.Solver()
    solver.add(found != term)
    assert solver.check() == z3.unsat


def test_what_hangs_on_more_stays_as_it_is() -> None:
    for term in (A, PRODUCT(A, B), WIDE + 1, z3.BitVecVal(3, 8), A + B):
        assert Tables()([term])[0].eq(term)
    assert not Tables()([A + 1])[0].eq(A + 1)
