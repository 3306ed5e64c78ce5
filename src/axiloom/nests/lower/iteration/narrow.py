"""Integers in as few bits as they need: `narrowed` gives an expression with the same bits.

C computes `short` and `signed char` as int, and what is stored keeps the low bits. A product of int32 is
three DSP slices, one of int16 is one:

- ``convert(a + b: int32) -> int16`` is ``convert(a) + convert(b)`` in int16, for sums, products, bits and
  shifts to the left by a constant
- ``convert(x: int16) * convert(y: int16)`` in int32 is ``mul(x, y)``, from int16 to int32
- ``x * 8`` is ``x << 3``, and ``x * -8`` is ``-(x << 3)``

Conversions among integers and shifts by a constant are wires, so that none of this costs anything.
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
    return _product(tree) if _is_product(tree) else tree


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
        case Op(name="shl", operands=(value, Literal(value=places))) if places >= 0:
            bits = format_of(number).bits
            return _shifted(_low(value, number), int(places)) if places < bits else Literal(0, number)
        case Op() if tree.name in _LOW_BITS and _is_of_one_format(tree):
            low = Op(tree.name, tuple(_low(operand, number) for operand in tree.operands), number)
            return _product(low) if tree.name == "mul" else low
    return _converted(narrowed(tree), number)


def _is_product(tree: Op) -> bool:
    kinds = {
        format_of(number).kind for number in (tree.number, *(operand.number for operand in tree.operands))
    }
    return tree.name == "mul" and kinds == {Kind.INTEGER}


def _product(tree: Op) -> Expression:
    """A product of integers: a shift if a factor is a power of two; else one of operands that are no wider
    than they need be."""
    for factor, other in (tree.operands, tree.operands[::-1]):
        if isinstance(factor, Literal) and abs(int(factor.value)).bit_count() == 1:
            shifted = _shifted(_converted(other, tree.number), abs(int(factor.value)).bit_length() - 1)
            return Op("neg", (shifted,), tree.number) if factor.value < 0 else shifted
    result = format_of(tree.number)
    if not _is_of_one_format(tree):
        return tree
    operands = [_unwidened(operand) for operand in tree.operands]
    formats = [_format_of_value(operand) for operand in operands]
    signed = result.signed
    if not signed and any(format.signed for format in formats):
        return tree
    bits = max(format.bits + (signed and not format.signed) for format in formats)
    if bits >= result.bits:
        return tree
    number = f"{'' if signed else 'u'}int{bits}"
    return Op("mul", tuple(_converted(operand, number) for operand in operands), tree.number)


def _shifted(tree: Expression, places: int) -> Expression:
    """``tree << places``, of fewer places than the integer has bits."""
    return Op("shl", (tree, Literal(places, tree.number)), tree.number) if places else tree


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
    return all(operand.number == tree.number for operand in tree.operands)


def _wrapped(value: int, format: Format) -> int:
    return (value - format.lowest) % (1 << format.bits) + format.lowest
