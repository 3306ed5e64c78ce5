"""Integers in as few bits as they need."""

from __future__ import annotations

from random import Random

import pytest

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.affine.scalars import function
from axiloom.nests.lower.iteration.narrow import narrowed
from axiloom.nests.program import Expression, Index, Literal, Load, Op
from axiloom.nests.program.typed import SIGNATURES


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


def test_a_product_by_a_power_of_two_is_a_shift() -> None:
    x = _wide("x", "int16")
    for factors in ((Literal(8, "int32"), x), (x, Literal(8, "int32"))):
        assert narrowed(Op("mul", factors, "int32")) == Op("shl", (x, Literal(3, "int32")), "int32")
    eighth = Op("shl", (x, Literal(3, "int32")), "int32")
    assert narrowed(Op("mul", (x, Literal(-8, "int32")), "int32")) == Op("neg", (eighth,), "int32")
    low = Op("shl", (x.operands[0], Literal(3, "int16")), "int16")
    assert narrowed(Op("convert", (Op("mul", (Literal(8, "int32"), x), "int32"),), "int16")) == low


INTEGERS = [name for name, each in SIGNATURES.items() if Kind.INTEGER in each.kinds]


@pytest.mark.parametrize("name", [*INTEGERS, "select", "convert"])
def test_the_same_bits_for_every_operator_in_every_width(name: str) -> None:
    """Against the interpreter's operators, with operands that were narrower, wider, literal and computed."""
    rng = Random(name)
    for _ in range(400):
        tree = _cut(rng, name)
        small = narrowed(tree)
        assert small.number == tree.number
        for _ in range(4):
            values = {each: rng.choice((0, 1, -1, 1 << 62, rng.getrandbits(64))) for each in "abcd"}
            assert _value(small, values) == _value(tree, values), (tree, small, values)


def _number(rng: Random) -> str:
    return (
        f"{rng.choice(('', 'u'))}int{rng.choice((1, 2, 5, 7, 8, 8, 12, 16, 16, 31, 32, 32, 33, 63, 64, 64))}"
    )


def _cut(rng: Random, name: str) -> Expression:
    """The operator in a wide format, kept in a narrow one."""
    return Op("convert", (_of(rng, name, _number(rng), 2),), _number(rng))


def _of(rng: Random, name: str, number: str, depth: int) -> Op:
    if name == "convert":
        return Op(name, (_leaf(rng, _number(rng), depth),), number)
    if name == "select":
        return _of(rng, rng.choice(("lt", "eq")), number, depth)
    operands = tuple(_leaf(rng, number, depth) for _ in range(SIGNATURES[name].operands))
    if SIGNATURES[name].boolean:
        compared = tuple(_leaf(rng, wide, depth) for wide in [_number(rng)] * 2)
        return Op("select", (Op(name, compared, "bool"), *operands), number)
    return Op(name, operands, number)


def _leaf(rng: Random, number: str, depth: int) -> Expression:
    kind, format = rng.random(), format_of(number)
    if kind < 0.2:
        powers = [sign << bit for bit in range(format.bits) for sign in (1, -1)]
        value = rng.choice((0, 1, 3, rng.choice(powers)))
        return Literal((value - format.lowest) % (1 << format.bits) + format.lowest, number)
    if kind < 0.3:
        return Index(Affine.name("i") * 3 - 1, number)
    if kind < 0.6 and depth:
        return _of(rng, rng.choice((*INTEGERS, "select", "convert")), number, depth - 1)
    source = number if kind < 0.75 else _number(rng)
    load = Load(rng.choice("abcd"), (), source)
    return load if source == number else Op("convert", (load,), number)


def _value(tree: Expression, values: dict[str, int]) -> int:
    if isinstance(tree, Op):
        compute = function(tree.name, tuple(each.number for each in tree.operands), tree.number)
        result: int = compute(*(_value(each, values) for each in tree.operands))
        return result
    format = format_of(tree.number)
    match tree:
        case Literal():
            return int(tree.value)
        case Index():
            whole = int(tree.value.values({"i": values["a"] % 100}))
        case Load():
            whole = values[tree.array]
    return (whole - format.lowest) % (1 << format.bits) + format.lowest
