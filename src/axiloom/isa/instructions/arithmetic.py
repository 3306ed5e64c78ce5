"""Expressions that know their ranges: what the reader builds trees with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from axiloom.isa.instructions.tree import (
    BOOL,
    MOST_BITS,
    Apply,
    Choice,
    Const,
    Expr,
    Fold,
    Range,
    signed,
    unsigned,
)

MOST_SHIFT = 4096
MOST_WIDE = 4096
"""Bits of any number: of an input, of a constant."""


ZERO = Const(0)


class RangeError(ValueError):
    """Why an operation cannot have these arguments."""


def _corners(rule: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    """The range of an operation that is monotonic in each argument."""

    def of(a: Range, b: Range) -> Range:
        values = [rule(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
        return Range(min(values), max(values))

    return of


def _divided(a: Range, b: Range) -> Range:
    if b.low <= 0:
        raise RangeError(f"the divisor may be {b.low}: it must be positive")
    return _corners(lambda x, y: x // y)(a, b)


def _modulo(a: Range, b: Range) -> Range:
    if b.low <= 0:
        raise RangeError(f"the divisor may be {b.low}: it must be positive")
    return a if a.low >= 0 and a.high < b.low else Range(0, b.high - 1)


def _amount(b: Range) -> None:
    if b.low < 0 or b.high > MOST_SHIFT:
        raise RangeError(f"a shift by {b}: it must be within 0 to {MOST_SHIFT}")


def _left(a: Range, b: Range) -> Range:
    _amount(b)
    return _corners(lambda x, y: x << y)(a, b)


def _right(a: Range, b: Range) -> Range:
    _amount(b)
    return _corners(lambda x, y: x >> y)(a, b)


def _and(a: Range, b: Range) -> Range:
    tops = [operand.high for operand in (a, b) if not operand.signed]
    return Range(0, min(tops)) if tops else signed(max(a.bits, b.bits))


def _merged(a: Range, b: Range) -> Range:
    if a.signed or b.signed:
        return signed(max(operand.bits + (not operand.signed) for operand in (a, b)))
    return unsigned(max(a.bits, b.bits))


def _truth(*of: Range) -> Range:
    for operand in of:
        if not BOOL.holds(operand):
            raise RangeError(f"a condition is needed, not a number of {operand}: compare it")
    return BOOL


def _joined_bits(*of: Range) -> Range:
    for operand in of:
        if operand.low != 0 or operand.high & (operand.high + 1):
            raise RangeError(f"cat takes bits, not a number of {operand}: say how many, such as uint8(x)")
    return unsigned(sum(operand.bits for operand in of))


_RANGES: Mapping[str, Callable[..., Range]] = {
    "add": lambda a, b: Range(a.low + b.low, a.high + b.high),
    "sub": lambda a, b: Range(a.low - b.high, a.high - b.low),
    "mul": _corners(lambda x, y: x * y),
    "floordiv": _divided,
    "mod": _modulo,
    "shl": _left,
    "shr": _right,
    "bitand": _and,
    "bitor": _merged,
    "bitxor": _merged,
    "invert": lambda a: Range(~a.high, ~a.low),
    "neg": lambda a: Range(-a.high, -a.low),
    "abs": lambda a: Range(max(0, a.low, -a.high), max(abs(a.low), abs(a.high))),
    "min": lambda a, b: Range(min(a.low, b.low), min(a.high, b.high)),
    "max": lambda a, b: Range(max(a.low, b.low), max(a.high, b.high)),
    "eq": lambda _a, _b: BOOL,
    "ne": lambda _a, _b: BOOL,
    "lt": lambda _a, _b: BOOL,
    "le": lambda _a, _b: BOOL,
    "and": _truth,
    "or": _truth,
    "not": _truth,
    "cat": _joined_bits,
}  # fmt: skip

VALUES: Mapping[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "invert": lambda a: ~a,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "and": lambda a, b: int(a and b),
    "or": lambda a, b: int(a or b),
    "not": lambda a: int(not a),
}
"""What an operation is on integers; ``cat`` needs ranges and is not folded."""


def apply(operation: str, *arguments: Expr, most: int = MOST_BITS) -> Expr:
    """The operation with its range of at most `most` bits; constants fold. Raises RangeError."""
    ranges = [argument.range for argument in arguments]
    kind = _RANGES[operation](*ranges)
    if kind.bits > MOST_WIDE:
        raise RangeError(f"{kind.bits} bits: no number has more than {MOST_WIDE}")
    values = [argument.value for argument in arguments if isinstance(argument, Const)]
    if len(values) == len(arguments) and operation in VALUES:
        return Const(VALUES[operation](*values))
    if kind.bits > most and operation != "cat":
        raise RangeError(f"{kind.bits} bits: no more than {most} are computed with; narrow an operand")
    return Apply(operation, arguments, kind)


def plus(a: Expr, b: Expr) -> Expr:
    """Raises RangeError."""
    if ZERO in (a, b):
        return b if a == ZERO else a
    return apply("add", a, b)


def times(a: Expr, b: Expr) -> Expr:
    """Raises RangeError."""
    if ZERO in (a, b):
        return ZERO
    if Const(1) in (a, b):
        return b if a == Const(1) else a
    return apply("mul", a, b)


def minus(a: Expr, b: Expr) -> Expr:
    """Raises RangeError."""
    return a if b == ZERO else apply("sub", a, b)


def choice(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """Raises RangeError."""
    _truth(condition.range)
    if isinstance(condition, Const):
        return yes if condition.value else no
    return Choice(condition, yes, no)


_FOLDS: Mapping[str, Callable[[Range, int], Range]] = {
    "add": lambda body, count: Range(body.low * count, body.high * count),
    "min": lambda body, _count: body,
    "max": lambda body, _count: body,
    "and": lambda body, _count: _truth(body),
    "or": lambda body, _count: _truth(body),
}


def fold(operation: str, iterator: str, count: int, body: Expr) -> Expr:
    """Raises RangeError."""
    kind = _FOLDS[operation](body.range, count)
    if kind.bits > MOST_BITS:
        raise RangeError(f"{kind.bits} bits: no more than {MOST_BITS} are computed with")
    return Fold(operation, iterator, count, body, kind)


def all_of(parts: Sequence[Expr]) -> Expr:
    """They all hold."""
    result: Expr = Const(1)
    for part in parts:
        result = part if result == Const(1) else apply("and", result, part)
    return result
