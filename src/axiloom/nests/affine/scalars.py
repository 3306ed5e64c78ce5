"""Operators of programs on Python integers and NumPy's float32, for the oracle.

Integers are those of a format, sign included; fixed-point is in units. What is left open elsewhere, as
``hw/nest/operators`` has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from axiloom.hw.nest.operators.registry import operator
from axiloom.isa.numerics.formats import Format, Kind, format_of

Scalar = Any
"""An int, a np.float32 or a np.float64."""
Function = Callable[..., Scalar]
_NAN = np.float32(np.nan)
_TINY = np.float32(2.0**-126)
_COMPARISONS: dict[str, Function] = {
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
}
_WRAPPED: dict[str, Function] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "max": max,
    "min": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
}
_FLOAT: dict[str, Function] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": np.sqrt,
    "exp": lambda a: _exp(a),
    "max": lambda a, b: _extreme(a, b, max),
    "min": lambda a, b: _extreme(a, b, min),
}


def function(name: str, operands: tuple[str, ...], number: str) -> Function:
    """The operator on scalars. Raises ValueError for one that there is not."""
    result, source = format_of(number), format_of(operands[-1])
    if name == "select":
        return lambda condition, yes, no: yes if condition else no
    if name == "convert":
        return _convert(source, result)
    if name in _COMPARISONS:
        compare = _COMPARISONS[name]
        return (lambda a, b: compare(_flush(a), _flush(b))) if source.name == "float32" else compare
    if source.name == "float64" and name in _FLOAT:
        double = (lambda a: np.float64(math.exp(a))) if name == "exp" else _FLOAT[name]
        return lambda *values: _nan(double(*values))
    if source.kind is Kind.FLOAT and name in _FLOAT:
        compute = _FLOAT[name]
        return lambda *values: _rounded(compute(*[_flush(value) for value in values]))
    if source.kind is Kind.FIXED and name == "mul":
        return _fixed_product(source, result)
    if source.kind is Kind.INTEGER and name in _DIVISIONS:
        divide = _DIVISIONS[name]
        return lambda a, b: _wrap(divide(a, b), result)
    if source.kind is Kind.INTEGER and name in ("shl", "shr"):
        return _shift(name, source)
    if source.kind is not Kind.FLOAT and name in _WRAPPED:
        whole = _WRAPPED[name]
        return lambda *values: _wrap(whole(*values), result)
    raise ValueError(f"no operator `{name}` of {', '.join(operands)} to {number}")


def _wrap(value: int, format: Format) -> int:
    return (value - format.lowest) % (1 << format.bits) + format.lowest


def _clip(value: int, format: Format) -> int:
    return min(max(value, format.lowest), format.highest)


def _flush(value: np.float32) -> np.float32:
    return np.float32(np.copysign(np.float32(0), value)) if abs(value) < _TINY else value


def _rounded(value: np.float32) -> np.float32:
    return _NAN if value != value else _flush(value)


def _nan(value: np.float64) -> np.float64:
    return np.float64(np.nan) if value != value else value


def _extreme(a: Scalar, b: Scalar, choose: Function) -> Scalar:
    """IEEE 754-2019 maximumNumber and minimumNumber: a NaN gives way, and -0 is less than 0."""
    if a != a or b != b:
        return b if a != a else a
    return choose((a, b), key=lambda number: (number, not np.signbit(number)))


def _exp(value: np.float32) -> np.float32:
    """The circuit's: it is not the nearest float32."""
    raw = operator("exp", "float32", "float32").reference(np.array([value], np.float32).view(np.uint32))
    return np.float32(np.asarray(raw, np.uint32).view(np.float32)[0])


def _halves_up(value: int, bits: int) -> int:
    return (value + ((1 << bits) >> 1)) >> bits


def _fixed_product(source: Format, result: Format) -> Function:
    if result != source:
        return lambda a, b: _wrap(a * b, result)  # exact, in units of both fractions
    narrow = _clip if source.bits < 32 else _wrap
    return lambda a, b: narrow(_halves_up(a * b, source.fraction), source)


def _divide(a: int, b: int) -> int:
    """Towards zero; -1 (all ones) if b is 0."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    """With the sign of a; a if b is 0."""
    return a if b == 0 else a - _divide(a, b) * b


def _shift(name: str, format: Format) -> Function:
    """By the bits of b as an unsigned number; beyond the width nothing is left but the sign."""

    def shift(a: int, b: int) -> int:
        by = min(b % (1 << format.bits), format.bits)
        return _wrap(a << by, format) if name == "shl" else a >> by

    return shift


def _convert(source: Format, result: Format) -> Function:
    if result.kind is Kind.BOOL:
        return (lambda a: int(_flush(a) != 0)) if source.name == "float32" else lambda a: int(a != 0)
    if source.kind is Kind.FLOAT and result.kind is Kind.FLOAT:
        if result.name == "float32":
            return lambda a: _rounded(np.float32(a))
        return lambda a: _nan(np.float64(_flush(a)))
    if source.kind is Kind.FLOAT:
        return lambda a: _from_float(float(_flush(a) if source.name == "float32" else a), result)
    if result.kind is Kind.FLOAT:
        whole, kind = np.int64 if source.signed else np.uint64, result.numpy
        scale = kind.type(2.0**-source.fraction)
        return lambda a: whole(a).astype(kind) * scale
    if Kind.FIXED not in (source.kind, result.kind):
        return lambda a: _wrap(a, result)
    shift = result.fraction - source.fraction
    if shift >= 0:
        return lambda a: _clip(a << shift, result)
    return lambda a: _clip(_halves_up(a, -shift), result)


def _from_float(value: float, result: Format) -> int:
    """To an integer towards zero, to fixed-point halves up; the end of the range beyond it, 0 for NaN."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return result.highest if value > 0 else result.lowest
    units = value * 2.0**result.fraction
    if result.kind is Kind.FIXED and abs(units) < 2.0**30:  # beyond, float32 has no halves
        units = math.floor(units + 0.5)
    return _clip(int(units), result)


_DIVISIONS: dict[str, Function] = {"div": _divide, "rem": _remainder}
