"""Numbers of tensors: how host arrays hold them, and the NumPy values that operations compute with.

A host array holds raw values: int8 to uint64 and float32 as NumPy has them, ``bool`` as `numpy.bool_`,
bfloat16 as the upper 16 bits of a float32 in uint16. `decode` gives values to compute with and `encode` goes
back: integers wrap, floats are rounded to the nearest, halves to even. bfloat16 is computed with in float32,
and rounded after every operation.

Numbers of :mod:`axiloom.isa.numerics` that are not listed here (``adaptivfloat<8,3>``, fixed point) can be
moved and reshaped, not computed with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.graph import GraphError
from axiloom.isa.numerics import NumericsError
from axiloom.isa.numerics import of as numerics_of

Kind = Literal["integer", "float", "bool", "opaque"]
Array = NDArray[Any]


_FRACTION = {"bfloat16": 7, "float16": 10, "float32": 23, "float64": 52}
"""Stored bits of a float behind its point."""


@dataclass(frozen=True)
class Number:
    """`host` is the NumPy type of arrays that hold it, `values` of what is computed with."""

    name: str
    kind: Kind
    bits: int
    host: np.dtype[Any]
    values: np.dtype[Any]
    signed: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def narrow(self) -> bool:
        """Whether it is rounded after each operation in a wider number."""
        return self.kind == "float" and self.bits < 32

    def decode(self, raw: Array) -> Array:
        """Values of raw host values."""
        raw = np.asarray(raw)
        if self.name == "bfloat16":
            return (raw.astype(np.uint32) << 16).view(np.float32)
        return raw.astype(self.values, copy=False)

    def encode(self, values: Array) -> Array:
        """Raw host values of values, which may be of a wider type: integers wrap, floats are rounded."""
        values = np.asarray(values)
        with np.errstate(all="ignore"):
            if self.name == "bfloat16":
                return _brain(values.astype(np.float32))
            return values.astype(self.host, copy=False)

    @property
    def lowest(self) -> float | int:
        """The maximum of nothing."""
        return -np.inf if self.kind == "float" else _ends(self)[0]

    @property
    def highest(self) -> float | int:
        return np.inf if self.kind == "float" else _ends(self)[1]

    @property
    def edges(self) -> Array:
        """Raw host values at which results turn: ends, zeros, ones and what is next to these; of floats both
        signs, the smallest ones, infinities and a NaN too."""
        if self.kind == "integer":
            low, high = _ends(self)
            return np.unique(np.array([low, low + 1, max(low, -1), 0, 1, high - 1, high], self.host))
        if self.kind != "float":
            return np.zeros(1, self.host) if self.kind == "opaque" else np.array([0, 1], self.host)
        fraction = _FRACTION[self.name]
        infinite = (1 << self.bits - 1) - (1 << fraction)
        unit = (infinite >> fraction + 1) << fraction
        sizes = (
            0,
            1,
            (1 << fraction) - 1,
            1 << fraction,
            unit - 1,
            unit,
            unit + 1,
            infinite - 2,
            infinite - 1,
        )
        signed = [size | sign << self.bits - 1 for sign in (0, 1) for size in (*sizes, infinite)]
        raw = np.array([*signed, infinite | 1 << fraction - 1], f"u{self.bits // 8}")
        return raw if self.host.kind == "u" else raw.view(self.host)

    def text(self, value: Any) -> str:
        """The shortest text of a value, which `parse` reads back."""
        if self.kind == "float":
            with np.errstate(all="ignore"):
                return repr(self.values.type(value).item()) if self.bits > 32 else _short(value, self)
        return str(int(value))

    def parse(self, text: str) -> Array:
        """The raw host value of a number's text, an array without dimensions. Raises GraphError."""
        try:
            value = float(text) if self.kind == "float" else int(text)
        except ValueError:
            raise GraphError(f"`{text[:40]}` is no {self.name}") from None
        if self.kind == "opaque" or (self.kind != "float" and not _ends(self)[0] <= value <= _ends(self)[1]):
            raise GraphError(f"`{text[:40]}` is no {self.name}")
        with np.errstate(all="ignore"):
            return self.encode(np.array(value, np.float64 if self.kind == "float" else self.host))


def _ends(number: Number) -> tuple[int, int]:
    if number.kind == "bool":
        return 0, 1
    return int(np.iinfo(number.host).min), int(np.iinfo(number.host).max)


def _short(value: Any, number: Number) -> str:
    """The fewest digits that round to the same number."""
    raw = number.encode(np.asarray(value, np.float64))
    exact = float(number.decode(raw))
    for digits in range(1, 10):
        text = repr(float(f"{exact:.{digits}g}"))
        if number.encode(np.array(float(text))) == raw:
            return text
    return repr(exact)


def _brain(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Rounded to the nearest, halves to even; a NaN is the quiet one."""
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def _integer(bits: int, signed: bool) -> Number:
    name = f"{'' if signed else 'u'}int{bits}"
    return Number(name, "integer", bits, np.dtype(name), np.dtype(name), signed)


NUMBERS: dict[str, Number] = {
    kind.name: kind
    for kind in (
        *(_integer(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)),
        Number("bool", "bool", 1, np.dtype(np.bool_), np.dtype(np.bool_), signed=False),
        Number("bfloat16", "float", 16, np.dtype(np.uint16), np.dtype(np.float32)),
        Number("float16", "float", 16, np.dtype(np.float16), np.dtype(np.float32)),
        Number("float32", "float", 32, np.dtype(np.float32), np.dtype(np.float32)),
        Number("float64", "float", 64, np.dtype(np.float64), np.dtype(np.float64)),
    )
}


@cache
def number(name: str) -> Number:
    """The number of this name. Raises GraphError."""
    if name in NUMBERS:
        return NUMBERS[name]
    try:
        numerics = numerics_of(name)
    except NumericsError as error:
        known = ", ".join(NUMBERS)
        raise GraphError(f"{error.short}; there are {known}, and those of axiloom.isa.numerics") from None
    return Number(numerics.name, "opaque", numerics.bits, numerics.numpy, numerics.numpy)


def accumulator(number: Number) -> Number:
    """What sums are made in: float32 for narrower floats, which are rounded once at the end."""
    return NUMBERS["float32"] if number.narrow else number
