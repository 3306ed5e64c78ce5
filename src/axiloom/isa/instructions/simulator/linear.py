"""Indices as sums: a base, and a step along each axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from axiloom.isa.instructions.arithmetic import ZERO, RangeError, apply, minus, plus, times
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
    Read,
    Wrapped,
    unsigned,
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """An iterator that runs all at once: `low`, `low` + 1, ... `count` of them."""

    name: str
    low: Expr
    count: Expr
    loop: bool = False
    """Of a `for`, whose turns follow each other; else of lanes or a sum."""


@dataclass(frozen=True)
class Linear:
    """`base` + the sum of `steps[axis]` * (0, 1, ...), modulo `window` where there is one."""

    base: Expr
    steps: Mapping[str, Expr] = field(default_factory=dict)
    window: int = 0

    @property
    def axes(self) -> frozenset[str]:
        return frozenset(self.steps)


def combined(operation: str, a: Linear, b: Linear) -> Linear:
    """Their sum or difference. Raises RangeError."""
    steps = dict(a.steps)
    rule = plus if operation == "add" else minus
    for axis, step in b.steps.items():
        steps[axis] = rule(steps.get(axis, ZERO), step)
    return Linear(rule(a.base, b.base), {axis: step for axis, step in steps.items() if step != ZERO})


def scaled(a: Linear, factor: Expr) -> Linear:
    """Raises RangeError."""
    return Linear(times(a.base, factor), {axis: times(s, factor) for axis, s in a.steps.items()})


def linear(expr: Expr, known: Mapping[str, Linear | Axis], varies: frozenset[str]) -> Linear | None:
    """`expr` as a sum; `varies` are the names that are no scalars, `known` those of them that are linear."""
    try:
        return _linear(expr, known, varies)
    except RangeError:
        return None


def _linear(expr: Expr, known: Mapping[str, Linear | Axis], varies: frozenset[str]) -> Linear | None:
    if not names(expr) & varies:
        return Linear(expr)
    match expr:
        case Name(name=name):
            local = known.get(name)
            return Linear(local.low, {local.name: Const(1)}) if isinstance(local, Axis) else local
        case Apply(operation="add" | "sub" as operation, arguments=(left, right)):
            a, b = _linear(left, known, varies), _linear(right, known, varies)
            return combined(operation, a, b) if a and b and not a.window and not b.window else None
        case Apply(operation="mul" | "shl" as operation, arguments=(left, right)):
            if operation == "mul" and not names(left) & varies:
                left, right = right, left
            a = _linear(left, known, varies)
            if a is None or a.window or names(right) & varies:
                return None
            return scaled(a, right if operation == "mul" else apply("shl", Const(1), right))
        case Wrapped(value=value, range=kind) if kind.holds(value.range):
            return _linear(value, known, varies)
        case Wrapped(value=value, range=kind) if not kind.signed:
            return _windowed(_linear(value, known, varies), kind.high + 1)
        case Bits(value=value, low=Const(value=0), width=width):
            a = _linear(value, known, varies)
            return a if unsigned(width).holds(value.range) else _windowed(a, 1 << width)
        case Apply(operation="mod", arguments=(value, Const(value=modulus))):
            a = _linear(value, known, varies)
            within = value.range.low >= 0 and value.range.high < modulus
            return a if within else _windowed(a, modulus)
    return None


def _windowed(a: Linear | None, window: int) -> Linear | None:
    return Linear(a.base, a.steps, window) if a and not a.window else None


def names(expr: Expr) -> frozenset[str]:
    """Of inputs, registers, locals and iterators that it uses, without its own sums' iterators."""
    match expr:
        case Name(name=name):
            return frozenset((name,))
        case Read(index=parts) | Apply(arguments=parts) | Call(arguments=parts):
            return frozenset().union(*map(names, parts))
        case Bits(value=value, low=low):
            return names(value) | names(low)
        case Wrapped(value=value):
            return names(value)
        case Choice(condition=condition, yes=yes, no=no):
            return names(condition) | names(yes) | names(no)
        case Lookup(index=index):
            return names(index)
        case Fold(iterator=iterator, body=body):
            return names(body) - {iterator}
    return frozenset()
