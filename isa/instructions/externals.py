"""Functions that no text of ours says in bits: floats. Proofs know them by name alone.

Each takes and gives bit patterns as int64 arrays of one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.int64]


@dataclass(frozen=True)
class External:
    """`python` on arrays of bit patterns."""

    arguments: int
    python: Callable[..., Bits]
    text: str


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
    def made(rule: Callable[..., npt.NDArray[Any]]) -> Callable[..., Bits]:
        def python(*given: Bits) -> Bits:
            with np.errstate(all="ignore"):
                return encode(rule(*map(decode, given)).astype(np.float32))

        return python

    return made


def _exp(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """In float64 and then rounded: NumPy's own for float32 differs from machine to machine."""
    return np.exp(values.astype(np.float64))


def _max(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Of 0 and -0 it is 0, as in IEEE 754-2019: NumPy's differs from machine to machine."""
    found: npt.NDArray[np.float32] = np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))
    return found


_FLOAT, _BFLOAT = _on(_single, _of_single), _on(_brain, _of_brain)
FUNCTIONS: Mapping[str, External] = {
    **{
        f"{name}.{operation}": External(arguments, on(rule), f"{operation} of {name}")
        for name, on in (("float32", _FLOAT), ("bfloat16", _BFLOAT))
        for operation, arguments, rule in (
            ("add", 2, np.add), ("sub", 2, np.subtract), ("mul", 2, np.multiply), ("div", 2, np.divide),
            ("max", 2, _max), ("exp", 1, _exp),
        )
    },
    "bfloat16.to_float32": External(1, lambda bits: np.asarray(bits, np.int64) << 16, "exact"),
    "float32.to_bfloat16": External(1, lambda bits: _of_brain(_single(bits)), "rounded to nearest even"),
}  # fmt: skip
