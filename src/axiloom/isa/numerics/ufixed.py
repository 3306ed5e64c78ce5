"""Fixed-point without sign: ``ufixed<8,FRACTION>``, 8 bits in units of 2^-FRACTION.

What a quantised activation behind a ReLU is. Products are exact in ``fixed<32,2*FRACTION>``, and sums wrap
there. :meth:`UnsignedFixed.narrow` rounds halves up and stops at 0 and at the largest number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from axiloom.isa.numerics.fixed import Fixed

BITS = 8
FORM = f"ufixed<{BITS},FRACTION>"


@dataclass(frozen=True)
class UnsignedFixed(Fixed):
    """Values are int32 arrays of units, from 0."""

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(f"uint{self.bits}")

    @property
    def extend(self) -> str | None:
        return "arith.extui"


@cache
def ufixed(fraction: int) -> UnsignedFixed:
    """The one value of this name."""
    return UnsignedFixed(f"ufixed<{BITS},{fraction}>", BITS, fraction)


def parse(name: str) -> UnsignedFixed | str | None:
    """The numerics of this name; why there is none of it; None if the name is of something else."""
    match = re.fullmatch(r"ufixed<\s*(\d+)\s*,\s*(\d+)\s*>", name)
    if match is None:
        return None
    bits, fraction = int(match[1]), int(match[2])
    if bits != BITS:
        return f"an element of `{name}` has {bits} bits; without sign it may have {BITS}"
    if fraction > BITS:
        return f"`{name}` has {fraction} bits of fraction; of {BITS} bits they may be 0 to {BITS}"
    return ufixed(fraction)
