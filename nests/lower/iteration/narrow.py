"""Integers in as few bits as they need: `narrowed` gives an expression with the same bits.

C computes `short` and `signed char` as int, and what is stored keeps the low bits. A product of int32 is
three DSP slices, one of int16 is one:

- ``convert(a + b: int32) -> int16`` is ``convert(a) + convert(b)`` in int16, for sums, products and bits
- ``convert(x: int16) * convert(y: int16)`` in int32 is ``mul(x, y)``, from int16 to int32

Conversions among integers are wires, so that none of this costs anything.
"""

from __future__ import annotations

from dataclasses import replace

from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.program import Expression, Index, Literal, Op

_LOW_BITS = ("add", "sub", "mul", "neg", "and", "or", "xor", "not")
"""Operators whose low bits depend on the low bits of their operands alone."""


def narrowed(tree: Expression) -> Expression:
    if not isinstance(tree, Op):
        return tree
    if tree.name == "convert" and _is_cut(tree):
        return _low(tree.operands[0], tree.number)
    tree = replace(tree, operands=tuple(map(narrowed, tree.operands)))
    return _product(tree) if tree.name == "mul" else tree


def _is_cut(tree: Op) -> bool:
    source, result = format_of(tree.operands[0].number), format_of(tree.number)
    return source.kind is result.kind is Kind.INTEGER and result.bits < source.bits


def _low(tree: Expression, number: str) -> Expression:
    """The low bits of an integer, in a format that has no more bits than the integer's."""
    if tree.number == number:
        return narrowed(tree)
    match tree:
        case Literal():
            return Literal(_wrapped(int(tree.value), format_of(number)), number)
        case Index():
            return Index(tree.value, number)
        case Op(name="convert", operands=(source,)) if format_of(source.number).kind is Kind.INTEGER:
            if format_of(source.number).bits >= format_of(number).bits:
                return _low(source, number)
            return _converted(narrowed(source), number)
        case Op(name="select", operands=(condition, yes, no)):
            return Op("select", (narrowed(condition), _low(yes, number), _low(no, number)), number)
        case Op() if tree.name in _LOW_BITS and _is_of_one_format(tree):
            return _product(Op(tree.name, tuple(_low(each, number) for each in tree.operands), number))
    return _converted(narrowed(tree), number)


def _product(tree: Op) -> Op:
    """A product of operands that were wider than they need: of the unwidened ones."""
    result = format_of(tree.number)
    if result.kind is not Kind.INTEGER or not _is_of_one_format(tree):
        return tree
    operands = [_unwidened(each) for each in tree.operands]
    formats = [_format_of_value(each) for each in operands]
    signed = result.signed
    if not signed and any(each.signed for each in formats):
        return tree
    bits = max(each.bits + (signed and not each.signed) for each in formats)
    if bits >= result.bits:
        return tree
    number = f"{'' if signed else 'u'}int{bits}"
    return Op("mul", tuple(_converted(each, number) for each in operands), tree.number)


def _unwidened(tree: Expression) -> Expression:
    if isinstance(tree, Op) and tree.name == "convert":
        source, result = format_of(tree.operands[0].number), format_of(tree.number)
        exact = source.bits < result.bits and (result.signed or not source.signed)
        if source.kind is result.kind is Kind.INTEGER and exact:
            return tree.operands[0]
    return tree


def _format_of_value(tree: Expression) -> Format:
    """The narrowest for a literal."""
    if isinstance(tree, Literal):
        value = int(tree.value)
        bits = max(1, (value if value >= 0 else ~value).bit_length() + (value < 0))
        return format_of(f"{'' if value < 0 else 'u'}int{bits}")
    return format_of(tree.number)


def _converted(tree: Expression, number: str) -> Expression:
    if isinstance(tree, Literal):
        return Literal(_wrapped(int(tree.value), format_of(number)), number)
    return tree if tree.number == number else Op("convert", (tree,), number)


def _is_of_one_format(tree: Op) -> bool:
    return all(each.number == tree.number for each in tree.operands)


def _wrapped(value: int, format: Format) -> int:
    return (value - format.lowest) % (1 << format.bits) + format.lowest
