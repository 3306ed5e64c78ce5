"""Comparing results bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]


def same(a: Arrays, b: Arrays) -> bool:
    return a.keys() == b.keys() and all(a[each].tobytes() == b[each].tobytes() for each in a)
