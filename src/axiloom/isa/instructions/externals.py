"""Functions that no text of ours says in bits: floats. Proofs know them by name alone.

Each takes and gives bit patterns as int64 arrays of one shape. Besides those of `FUNCTIONS`, each number
format of :mod:`axiloom.isa.numerics` has its operations: ``numerics.fixed<32,16>.add`` (:func:`function`).
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa import numerics

Bits = npt.NDArray[np.int64]


@dataclass(frozen=True)
class External:
    """`python` on arrays of bit patterns, `scalar` on numbers: a tenth of the time for a single one."""

    arguments: int
    python: Callable[..., Bits]
    text: str
    scalar: Callable[..., int]
    patterns: Callable[..., npt.NDArray[np.unsignedinteger[Any]]] | None = None
    """The same on arrays of the smallest unsigned type, whose shapes broadcast, and on numbers: no copies."""
    accumulate: Callable[..., npt.NDArray[np.unsignedinteger[Any]]] | None = None
    """Of `patterns`: the first argument joined with all along the second one's first axis, in their order."""


def _single(bits: Bits) -> npt.NDArray[np.float32]:
    return np.asarray(bits, np.int64).astype(np.uint32).view(np.float32)


def _of_single(values: npt.NDArray[np.float32]) -> Bits:
    return np.asarray(values, np.float32).view(np.uint32).astype(np.int64)


def _brain(bits: Bits) -> npt.NDArray[np.float32]:
    return _single(np.asarray(bits, np.int64) << 16)


def _of_brain(values: npt.NDArray[np.float32]) -> Bits:
    """Round to nearest even; a NaN is the quiet one."""
    bits = _of_single(values)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(np.asarray(values, np.float32)), 0x7FC0, rounded)


def _on(
    decode: Callable[[Bits], npt.NDArray[np.float32]], encode: Callable[..., Bits]
) -> Callable[..., Callable[..., Bits]]:
    def lifted(rule: Callable[..., npt.NDArray[Any]]) -> Callable[..., Bits]:
        def python(*operands: Bits) -> Bits:
            with np.errstate(all="ignore"):
                return encode(rule(*map(decode, operands)).astype(np.float32))

        return python

    return lifted


def _exp(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """In float64 and then rounded: NumPy's own for float32 differs from machine to machine."""
    return np.exp(values.astype(np.float64))


def _max(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Of 0 and -0 it is 0, as in IEEE 754-2019: NumPy's differs from machine to machine."""
    greatest: npt.NDArray[np.float32] = np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))
    return greatest


# --- one number at a time: in float64, which rounds a sum, product or quotient of two float32 as float32 does


_WORDS, _SINGLES = struct.Struct("<II"), struct.Struct("<ff")
_WORD, _SINGLE = struct.Struct("<I"), struct.Struct("<f")
_ALL, _INFINITE, _SIGN, _QUIET = 0xFFFFFFFF, 0x7F800000, 0x80000000, 0x400000
_NONE = 0x7FC0
"""No number as a bfloat16."""


def _fast(
    python: Callable[..., Bits], rule: Callable[[float, float], float], shift: int
) -> Callable[[int, int], int]:
    """`shift`: of a pattern to a float32's."""
    passes = not shift and _passes(python)

    def scalar(left: int, right: int) -> int:
        a, b = _SINGLES.unpack(_WORDS.pack(left << shift & _ALL, right << shift & _ALL))
        try:
            result = rule(a, b)
            bits: int = _WORD.unpack(_SINGLE.pack(result))[0]
        except ZeroDivisionError:
            return int(python(left, right))
        except OverflowError:
            bits = _INFINITE | (_SIGN if result < 0 else 0)
        if result != result:
            if shift:
                return _NONE
            if passes and (a != a) != (b != b):
                return (left if a != a else right) | _QUIET
            return int(python(left, right))
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if shift else bits

    return scalar


def _passes(python: Callable[..., Bits]) -> bool:
    """Whether this machine gives what is no number on as it is, but quiet. Some give another one."""
    strange, plain = 0x7F812345, 0x3F800000
    return int(python(strange, plain)) == int(python(plain, strange)) == strange | _QUIET


def _larger(a: float, b: float) -> float:
    if a == 0 == b:
        return a + b
    return a if a > b or a != a else b


_FLOAT, _BFLOAT = _on(_single, _of_single), _on(_brain, _of_brain)
_RULES: Mapping[str, tuple[Callable[..., npt.NDArray[Any]], Callable[[float, float], float]]] = {
    "add": (np.add, operator.add),
    "sub": (np.subtract, operator.sub),
    "mul": (np.multiply, operator.mul),
    "div": (np.divide, operator.truediv),
    "max": (_max, _larger),
}


def _of_two(name: str, operation: str, shift: int) -> External:
    rule, alone = _RULES[operation]
    python = (_BFLOAT if shift else _FLOAT)(rule)

    def patterns(*operands: Any) -> npt.NDArray[np.uint32]:
        with np.errstate(all="ignore"):
            values = rule(*(np.asarray(bits, np.uint32).view(np.float32) for bits in operands))
        return np.asarray(values, np.float32).view(np.uint32)

    fast = None if shift else patterns
    return External(2, python, f"{operation} of {name}", _fast(python, alone, shift), fast)


def _narrowed(bits: int) -> int:
    return _NONE if bits & ~_SIGN > _INFINITE else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _exp_of(name: str, shift: int) -> External:
    python = (_BFLOAT if shift else _FLOAT)(_exp)
    return External(1, python, f"exp of {name}", lambda bits: int(python(bits)))


_NAMES = {"float32": 0, "bfloat16": 16}
FUNCTIONS: Mapping[str, External] = {
    **{f"{name}.{rule}": _of_two(name, rule, shift) for name, shift in _NAMES.items() for rule in _RULES},
    **{f"{name}.exp": _exp_of(name, shift) for name, shift in _NAMES.items()},
    "bfloat16.to_float32": External(
        1, lambda bits: np.asarray(bits, np.int64) << 16, "exact", lambda bits: bits << 16
    ),
    "float32.to_bfloat16": External(
        1, lambda bits: _of_brain(_single(bits)), "rounded to nearest even", _narrowed
    ),
}


def function(name: str) -> External:
    """The external function of this name: one of `FUNCTIONS`, or ``numerics.FORMAT.OPERATION``."""
    return FUNCTIONS[name] if name in FUNCTIONS else _of_format(name)


@cache
def _of_format(name: str) -> External:
    """An operation of a number format (:attr:`axiloom.isa.numerics.Numerics.operations`) on bit patterns."""
    _, form, operation = name.split(".")
    kind = numerics.of(form)
    rule, result = kind.operations[operation]

    def patterns(*operands: Any) -> npt.NDArray[np.unsignedinteger[Any]]:
        return result.encode(rule(*(kind.decode(np.asarray(bits, kind.raw)) for bits in operands)))

    def python(*operands: Bits) -> Bits:
        return np.asarray(patterns(*(np.asarray(bits).astype(kind.raw) for bits in operands)), np.int64)

    def accumulate(before: Any, terms: Any) -> npt.NDArray[np.unsignedinteger[Any]]:
        values = (kind.decode(np.asarray(bits, kind.raw)) for bits in (before, terms))
        return kind.encode(kind.accumulate(*values))

    many, text = len(signature(rule).parameters), f"{operation} of {form}"
    sums = accumulate if operation == "add" else None
    return External(many, python, text, lambda *bits: int(patterns(*bits)), patterns, sums)
