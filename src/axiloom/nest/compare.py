"""Arrays beside what is right, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Host = npt.NDArray[Any]


@dataclass(frozen=True)
class Comparison:
    """Of all elements of all results. `first`: the first one that is wrong."""

    elements: int
    mismatches: int
    first: str = ""

    @property
    def matches(self) -> bool:
        return not self.mismatches


def compare(ours: Mapping[str, Host], expected: Mapping[str, Host]) -> Comparison:
    """`expected` says which arrays count. Any NaN is equal to any other one: C leaves their bits open."""
    elements = mismatches = 0
    first = ""
    for name, right in expected.items():
        values, right = np.asarray(ours[name]), np.asarray(right)
        wrong = (_bits(values) != _bits(right)) & ((values == values) | (right == right))
        elements, mismatches = elements + right.size, mismatches + int(wrong.sum())
        if wrong.any() and not first:
            at = tuple(int(places[0]) for places in np.nonzero(np.atleast_1d(wrong)))[: right.ndim]
            place = "".join(f"[{n}]" for n in at)
            first = f"{name}{place} is {values[at]}, expected {right[at]}"
    return Comparison(elements, mismatches, first)


def _bits(array: Host) -> Host:
    """Equal floats may have different bits: 0 and -0."""
    return np.array(array, order="C").view(f"u{array.dtype.itemsize}")
