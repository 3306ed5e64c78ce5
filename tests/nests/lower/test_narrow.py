"""Integers in as few bits as they need."""

from __future__ import annotations

from axiloom.isa.affine import Affine
from axiloom.nests.lower.iteration.narrow import narrowed
from axiloom.nests.program import Literal, Load, Op


def _wide(array: str, number: str) -> Op:
    return Op("convert", (Load(array, (Affine(),), number),), "int32")


def test_what_is_stored_keeps_the_low_bits() -> None:
    a, b = _wide("a", "int16"), _wide("b", "int16")
    total = Op("add", (a, Op("mul", (a, b), "int32")), "int32")
    x, y = a.operands[0], b.operands[0]
    expected = Op("add", (x, Op("mul", (x, y), "int16")), "int16")
    assert narrowed(Op("convert", (total,), "int16")) == expected


def test_a_product_of_operands_before_they_were_widened() -> None:
    a, b = _wide("a", "int16"), _wide("b", "int16")
    assert narrowed(Op("mul", (a, b), "int32")) == Op("mul", (*a.operands, *b.operands), "int32")
    byte = _wide("c", "uint8")
    signed = Op("convert", byte.operands, "int16")
    assert narrowed(Op("mul", (a, byte), "int32")) == Op("mul", (a.operands[0], signed), "int32")
    three = Op("mul", (a.operands[0], Literal(3, "int16")), "int32")
    assert narrowed(Op("mul", (a, Literal(3, "int32")), "int32")) == three


def test_high_bits_that_matter_stay() -> None:
    a, b = _wide("a", "int16"), _wide("b", "int16")
    for name in ("max", "div", "shr"):
        tree = Op("convert", (Op(name, (a, b), "int32"),), "int16")
        assert narrowed(tree) == tree
    wide = Load("w", (Affine(),), "int32")
    assert narrowed(Op("mul", (wide, a), "int32")) == Op("mul", (wide, a), "int32")
