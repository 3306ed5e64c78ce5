"""Affine maps and sets of the IR as text of C, for whoever emits C or C++ of it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
)

FLOOR = "floor_div"
MODULO = "floor_mod"
LARGEST = "largest"
LEAST = "least"
HELPERS = {
    FLOOR: "static inline long floor_div(long a, long b) { return a / b - (a % b < 0); }",
    MODULO: "static inline long floor_mod(long a, long b) { return a % b + (a % b < 0 ? b : 0); }",
    LARGEST: "static inline long largest(long a, long b) { return a > b ? a : b; }",
    LEAST: "static inline long least(long a, long b) { return a < b ? a : b; }",
}
"""What the text may call; divisors are positive."""
_SUM, _PRODUCT, _ATOM = 1, 2, 3


def form(value: AffineExpr, names: Sequence[str]) -> str:
    """``4 * i + j - 1``."""
    return _text(value, names)[0]


def factor(value: AffineExpr, names: Sequence[str]) -> str:
    """The same, in brackets where it is a sum."""
    text, strength = _text(value, names)
    return f"({text})" if strength == _SUM else text


def _text(value: AffineExpr, names: Sequence[str]) -> tuple[str, int]:
    if isinstance(value, AffineConstantExpr):
        return str(value.value), _ATOM if value.value >= 0 else _SUM
    if isinstance(value, AffineDimExpr):
        return names[value.position], _ATOM
    if not isinstance(value, AffineBinaryOpExpr):
        raise ValueError(f"no symbols in maps of scheduled programs: {value}")
    if value.kind is AffineBinaryOpKind.Add:
        return _sum(value, names), _SUM
    left, right = factor(value.lhs, names), factor(value.rhs, names)
    if value.kind is AffineBinaryOpKind.Mul:
        if isinstance(value.rhs, AffineConstantExpr):
            if value.rhs.value == -1:
                return f"-{left}", _SUM
            left, right = str(value.rhs.value), left
        return f"{left} * {right}", _PRODUCT if not left.startswith("-") else _SUM
    plain_left, plain_right = form(value.lhs, names), form(value.rhs, names)
    if value.kind is AffineBinaryOpKind.FloorDiv:
        return f"{FLOOR}({plain_left}, {plain_right})", _ATOM
    if value.kind is AffineBinaryOpKind.CeilDiv:
        return f"-{FLOOR}(-{left}, {plain_right})", _SUM
    return f"{MODULO}({plain_left}, {plain_right})", _ATOM


def _sum(value: AffineExpr, names: Sequence[str]) -> str:
    return _joined(_parts(value, names))


def _parts(value: AffineExpr, names: Sequence[str]) -> list[str]:
    """The terms of a sum, those that are subtracted with a sign before them."""
    if isinstance(value, AffineBinaryOpExpr) and value.kind is AffineBinaryOpKind.Add:
        return [*_parts(value.lhs, names), *_parts(value.rhs, names)]
    return [form(value, names)]


def _joined(parts: Sequence[str]) -> str:
    text = ""
    for part in sorted(parts, key=lambda part: part.startswith("-")):
        if not text:
            text = part
        else:
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text or "0"


def extreme(call: str, bounds: AffineMap, names: Sequence[str]) -> str:
    """Of all results of a map: ``least(10, i + 1)``."""
    texts = [form(result, names) for result in bounds.results]
    text = texts[-1]
    for operand in reversed(texts[:-1]):
        text = f"{call}({operand}, {text})"
    return text


def condition(where: AffineSet, names: Sequence[str]) -> str:
    """``i >= 1 && j == 0``."""
    return " && ".join(_constraint(constraint, names) for constraint in where.constraints)


_SIGNS = {AffineConstraintKind.ge: ">=", AffineConstraintKind.le: "<=", AffineConstraintKind.eq: "=="}
_MIRRORED = {">=": "<=", "<=": ">=", "==": "=="}


def _constraint(constraint: AffineConstraintExpr, names: Sequence[str]) -> str:
    """What is subtracted on one side is added on the other one."""
    left, right = _parts(constraint.lhs, names), _parts(constraint.rhs, names)
    plus = [part for part in left if not part.startswith("-")] + [p[1:] for p in right if p.startswith("-")]
    minus = [part[1:] for part in left if part.startswith("-")] + [p for p in right if not p.startswith("-")]
    first, second = (_joined([part for part in side if part != "0"]) for side in (plus, minus))
    sign = _SIGNS[constraint.kind]
    return f"{second} {_MIRRORED[sign]} {first}" if first.isdigit() else f"{first} {sign} {second}"
