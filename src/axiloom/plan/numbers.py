"""Arithmetic of plans: the same for an int and for an array with one value a candidate."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Num: TypeAlias = Any
"""An int, or an array of ints; of a yes or no, a bool or an array of them."""


def least(a: Num, b: Num) -> Num:
    return np.minimum(a, b) if _is_array(a) or _is_array(b) else min(a, b)


def most(a: Num, b: Num) -> Num:
    return np.maximum(a, b) if _is_array(a) or _is_array(b) else max(a, b)


def where(condition: Num, yes: Num, no: Num) -> Num:
    if _is_array(condition):
        return np.where(condition, yes, no)
    return yes if condition else no


def ceil_div(a: Num, b: Num) -> Num:
    return -(-a // b)


def pick(value: Num, which: Any) -> Num:
    """Of candidate number `which`, an int; or of those whose numbers are in an array."""
    if not _is_array(value):
        return value
    chosen = value[which]
    return chosen if _is_array(chosen) else chosen.item()


def _is_array(value: Num) -> bool:
    return isinstance(value, np.ndarray)
