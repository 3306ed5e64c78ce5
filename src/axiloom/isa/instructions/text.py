"""Expressions as text, as they are written in a file."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Choice,
    Const,
    Expr,
    Fold,
    Lookup,
    Name,
    Range,
    Read,
    Wrapped,
)  # fmt: skip

_SIGNS: Mapping[str, tuple[str, int]] = {
    "or": ("or", 1), "and": ("and", 2), "eq": ("==", 4), "ne": ("!=", 4), "lt": ("<", 4), "le": ("<=", 4),
    "bitor": ("|", 5), "bitxor": ("^", 6), "bitand": ("&", 7), "shl": ("<<", 8), "shr": (">>", 8),
    "add": ("+", 9), "sub": ("-", 9), "mul": ("*", 10), "floordiv": ("//", 10), "mod": ("%", 10),
}  # fmt: skip
"""Operation to its sign and how tightly it binds."""
_BEFORE: Mapping[str, tuple[str, int]] = {"not": ("not ", 3), "neg": ("-", 11), "invert": ("~", 11)}
_FOLDS = {"add": "sum", "and": "all", "or": "any"}
_WHOLE = 12


def type_name(kind: Range) -> str:
    """``int8``."""
    return f"{'' if kind.signed else 'u'}int{kind.bits}"


def text_of(expr: Expr) -> str:
    """An expression as it is written."""
    return _text(expr)[0]


def _within(expr: Expr, binding: int) -> str:
    text, own = _text(expr)
    return text if own >= binding else f"({text})"


def _text(expr: Expr) -> tuple[str, int]:
    match expr:
        case Const(value=value):
            return str(value), _WHOLE if value >= 0 else 11
        case Name(name=name):
            return name, _WHOLE
        case Read(memory=memory, index=index):
            return f"{memory.name}[{', '.join(map(text_of, index))}]", _WHOLE
        case Lookup(table=table, index=at):
            return f"{table.name}[{text_of(at)}]", _WHOLE
        case Bits(value=value, low=Const(value=low), width=width):
            return f"{_within(value, _WHOLE)}[{low}:{low + width}]", _WHOLE
        case Bits(value=value, low=low_, width=width):
            return f"bits({text_of(value)}, {text_of(low_)}, {width})", _WHOLE
        case Wrapped(value=value, range=kind):
            return f"{type_name(kind)}({text_of(value)})", _WHOLE
        case Choice(condition=condition, yes=yes, no=no):
            return f"{_within(yes, 1)} if {_within(condition, 1)} else {_within(no, 0)}", 0
        case Fold(operation=operation, iterator=iterator, count=count, body=body):
            name = _FOLDS.get(operation, operation)
            return f"{name}({text_of(body)} for {iterator} in range({count}))", _WHOLE
        case Call(function=function, arguments=arguments):
            return f"{function.name}({', '.join(map(text_of, arguments))})", _WHOLE
        case Apply(operation=operation, arguments=arguments) if operation in _SIGNS:
            sign, binding = _SIGNS[operation]
            left, right = arguments
            return f"{_within(left, binding)} {sign} {_within(right, binding + 1)}", binding
        case Apply(operation=operation, arguments=(only,)) if operation in _BEFORE:
            sign, binding = _BEFORE[operation]
            return f"{sign}{_within(only, binding)}", binding
        case Apply(operation=operation, arguments=arguments):
            return f"{operation}({', '.join(map(text_of, arguments))})", _WHOLE
    raise AssertionError(expr)
