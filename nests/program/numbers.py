"""`Number`: the number formats of programs, by name.

``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float32`` and ``fixed<BITS,FRACTION>``. They are a table of
their own, not more entries of ``isa/numerics``: a format there is one of stream words (8, 16 or 32 bits, sums
in int32, a type of specification files), and int64 or uint32 are none. Where both have a name, it means the
same bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from axiloom.isa.wording.names import hint, shortened

BOOL = "bool"
WIDTHS = (8, 16, 32, 64)


class Kind(StrEnum):
    INTEGER = "integer"
    FIXED = "fixed"
    FLOAT = "float"


@dataclass(frozen=True)
class Number:
    """`bits` of an element; `fraction`: those behind the point, of fixed-point."""

    name: str
    bits: int
    kind: Kind
    signed: bool = True
    fraction: int = 0

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's type of an array on the host. Fixed-point is held in units of 2^-fraction."""
        if self.kind is Kind.FLOAT:
            return np.dtype(f"float{self.bits}")
        return np.dtype(f"{'' if self.signed else 'u'}int{self.bits}")

    @property
    def raw(self) -> np.dtype[Any]:
        """NumPy's type of the same bits as a number without sign."""
        return np.dtype(f"uint{self.bits}")

    @property
    def range(self) -> tuple[int, int]:
        """The least and the largest integer, of fixed-point the units. Not for floats."""
        low = -(1 << (self.bits - 1)) if self.signed else 0
        return low, low + (1 << self.bits) - 1


INTEGERS = tuple(
    Number(f"{sign}int{bits}", bits, Kind.INTEGER, not sign) for sign in ("", "u") for bits in WIDTHS
)
FLOAT32 = Number("float32", 32, Kind.FLOAT)
NAMED = {each.name: each for each in (*INTEGERS, FLOAT32)}
FORMS = (*NAMED, "fixed<BITS,FRACTION>")


def of(name: str) -> Number:
    """The format of this name. Raises ValueError that says what there is."""
    if name in NAMED:
        return NAMED[name]
    found = re.fullmatch(r"fixed<\s*(\d+)\s*,\s*(\d+)\s*>", name)
    if found is None:
        raise ValueError(
            f"unknown number `{shortened(name)}`{hint(name, FORMS)}; there are {', '.join(FORMS)}"
        )
    bits, fraction = int(found[1]), int(found[2])
    if bits not in WIDTHS:
        raise ValueError(f"`{name}` has {bits} bits; fixed-point may have 8, 16, 32 or 64")
    if fraction >= bits:
        raise ValueError(
            f"`{name}` has {fraction} bits of fraction; of {bits} bits they may be 0 to {bits - 1}"
        )
    return Number(f"fixed<{bits},{fraction}>", bits, Kind.FIXED, True, fraction)
