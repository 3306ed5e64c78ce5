"""Scalar functions: what `Algebra.apply` names, and what each is on NumPy values.

Integers wrap. As XLA has it: an integer division rounds towards 0 and gives -1 (all bits set) for a divisor
of 0; a shift by as many bits as there are, or more, gives 0 (or -1 where an arithmetic shift takes the sign).
Floats: each function is rounded once from what float64 gives, so that no machine's library shows; bfloat16
and float16 are rounded to float32 first. A maximum or minimum of 0 and -0 may be either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from axiloom.graph.numbers import Array, Number

Rule = Callable[..., Array]


def _wide(rule: Callable[[Array], Array]) -> Rule:
    """In float64, rounded to what the values are in."""

    def made(number: Number, value: Array) -> Array:
        return np.asarray(rule(value.astype(np.float64)), number.values)

    return made


def _divide(number: Number, a: Array, b: Array) -> Array:
    if number.kind == "float":
        return np.asarray(np.divide(a, b))
    zero = b == 0
    quotient, rest = _parts(number, a, b)
    if number.signed:
        quotient = quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(number.values)
    return np.where(zero, number.values.type(-1 if number.signed else np.iinfo(number.values).max), quotient)


def _parts(number: Number, a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient rounded down and its rest; the least number by -1 is itself."""
    safe = np.where(b == 0, number.values.type(1), b)
    minus = safe == number.values.type(-1) if number.signed else np.zeros_like(safe, np.bool_)
    safe = np.where(minus, number.values.type(1), safe)
    quotient, rest = np.divmod(a, safe)
    return np.where(minus, np.negative(a), quotient), np.where(minus, number.values.type(0), rest)


def _remainder(number: Number, a: Array, b: Array) -> Array:
    """With the sign of the dividend; of integers by 0, the dividend."""
    if number.kind == "float":
        return np.asarray(np.fmod(a, b))
    rest: Array = np.asarray(a - _divide(number, a, b) * b)
    return np.where(b == 0, a, rest)


def _power(number: Number, a: Array, b: Array) -> Array:
    """Of integers: wraps; a negative exponent gives 1/x rounded towards 0, and -1 for x = 0."""
    if number.kind == "float":
        return np.asarray(np.power(a.astype(np.float64), b.astype(np.float64)), number.values)
    result, base, left = np.ones_like(a), a, np.maximum(b, 0)
    for _ in range(number.bits):
        result = np.where(left & 1 == 1, result * base, result)
        base, left = base * base, left >> number.values.type(1)
    if not number.signed:
        return result
    odd = b & 1 == 1
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(odd, -1, 1), np.where(a == 0, -1, 0)))
    return np.where(b < 0, inverse.astype(number.values), result)


def _left(number: Number, a: Array, b: Array) -> Array:
    return np.asarray(np.where(_within(number, b), a << _amount(number, b), number.values.type(0)))


def _right_arithmetic(number: Number, a: Array, b: Array) -> Array:
    signed = a.astype(f"int{number.bits}")
    amount = np.where(_within(number, b), b, number.bits - 1).astype(signed.dtype)
    return np.asarray(signed >> amount).astype(number.values)


def _right_logical(number: Number, a: Array, b: Array) -> Array:
    bits = a.astype(f"uint{number.bits}") >> _amount(number, b).astype(f"uint{number.bits}")
    return np.asarray(np.where(_within(number, b), bits.astype(number.values), number.values.type(0)))


def _within(number: Number, b: Array) -> Array:
    return np.asarray((b >= 0) & (b < number.bits))


def _amount(number: Number, b: Array) -> Array:
    return np.where(_within(number, b), b, number.values.type(0))


def _bits(rule: Callable[..., Any], truth: Callable[..., Any]) -> Rule:
    return lambda number, *values: np.asarray((truth if number.kind == "bool" else rule)(*values))


def _erf(values: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(values), np.float64)


def _logistic(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)))


SCALARS: Mapping[str, Rule] = {
    "add": _bits(np.add, np.logical_or),
    "sub": lambda _, a, b: np.subtract(a, b),
    "mul": _bits(np.multiply, np.logical_and),
    "div": _divide,
    "rem": _remainder,
    "pow": _power,
    # Of 0 and -0 it is 0, as in IEEE 754-2019 and in texts: NumPy's differs with machine and order.
    "max": lambda _, a, b: np.asarray(np.where((a == 0) & (b == 0), np.add(a, b), np.maximum(a, b))),
    "min": lambda _, a, b: np.minimum(a, b),
    "neg": lambda _, a: np.negative(a),
    "abs": lambda _, a: np.abs(a),
    "sign": lambda _, a: np.asarray(np.where(a == 0, a, np.sign(a))),
    "floor": lambda _, a: np.floor(a),
    "ceil": lambda _, a: np.ceil(a),
    "exp": _wide(np.exp),
    "log": _wide(np.log),
    "tanh": _wide(np.tanh),
    "logistic": _wide(_logistic),
    "sqrt": _wide(np.sqrt),
    "rsqrt": _wide(lambda a: 1 / np.sqrt(a)),
    "erf": _wide(_erf),
    "and": _bits(np.bitwise_and, np.logical_and),
    "or": _bits(np.bitwise_or, np.logical_or),
    "xor": _bits(np.bitwise_xor, np.logical_xor),
    "not": _bits(np.invert, np.logical_not),
    "shl": _left,
    "sra": _right_arithmetic,
    "srl": _right_logical,
    "eq": lambda _, a, b: a == b,
    "ne": lambda _, a, b: a != b,
    "lt": lambda _, a, b: a < b,
    "le": lambda _, a, b: a <= b,
    "gt": lambda _, a, b: a > b,
    "ge": lambda _, a, b: a >= b,
}
"""Each takes the operands' `Number` and their values, and gives values."""


def compute(function: str, number: Number, *values: Array) -> Array:
    """The function on values of `number`."""
    with np.errstate(all="ignore"):
        return np.asarray(SCALARS[function](number, *values))


def convert(values: Array, source: Number, target: Number) -> Array:
    """Raw host values of `target`. As XLA converts: integers wrap; a float becomes an integer rounded towards
    0, the nearest end of the range where it exceeds it, 0 for NaN; ``bool`` is whether it is not 0; floats
    are rounded to the nearest, halves to even."""
    if target.kind == "bool":
        return np.asarray(values != 0)
    if target.kind == "integer" and source.kind == "float":
        return _saturated(values.astype(np.float64), target)
    if target.kind == "float" and source.kind == "integer" and target.bits <= 32:
        # 64 bits to float32 directly: through float64 they would be rounded twice.
        return target.encode(values.astype(np.float32))
    return target.encode(values)


def _saturated(values: Array, target: Number) -> Array:
    low, high = int(np.iinfo(target.host).min), int(np.iinfo(target.host).max)
    whole = np.trunc(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
    above, below = whole >= float(high), whole <= float(low)
    inner = np.where(above | below, 0.0, whole).astype(target.host)
    return np.where(above, target.host.type(high), np.where(below, target.host.type(low), inner))
