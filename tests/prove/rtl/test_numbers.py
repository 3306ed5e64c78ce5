"""The functions of a text by their names: in the RTL they are those of the text."""

from __future__ import annotations

import z3

from axiloom.isa.instructions.library import target
from axiloom.prove.rtl.terms.numbers import with_wires

WIDE = z3.Function("wide", z3.BitVecSort(16), z3.BitVecSort(32))


def test_a_bfloat16_is_the_upper_half_of_a_float32() -> None:
    a = z3.BitVec("a", 16)
    assert with_wires(target("qkv"), WIDE(a)).eq(z3.Concat(a, z3.BitVecVal(0, 16)))


def test_a_text_without_floats_keeps_its_terms() -> None:
    """A function of the same name in another text is not that one."""
    term = WIDE(z3.BitVec("a", 16))
    assert with_wires(target("vta"), term).eq(term)
