"""Distances of dependences: for each common loop the least and largest number of iterations from source to
sink."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

Distance = tuple[int | None, int | None]
"""Least and largest, both included; None where there is no limit."""
Vector = tuple[Distance, ...]


def vector(pairs: isl.Map, common: int) -> Vector:
    """Of values of the loops of the source to those of the sink; the first `common` loops are the same."""
    outer = pairs.project_out(isl.dim_type.in_, common, pairs.dim(isl.dim_type.in_) - common)
    outer = outer.project_out(isl.dim_type.out, common, outer.dim(isl.dim_type.out) - common)
    deltas = _unnamed(outer).deltas()
    return tuple((_number(deltas.dim_min_val(k)), _number(deltas.dim_max_val(k))) for k in range(common))


def _unnamed(pairs: isl.Map) -> isl.Map:
    """Both sides in one space, whatever the loops are called."""
    for side in (isl.dim_type.in_, isl.dim_type.out):
        for k in range(pairs.dim(side)):
            pairs = pairs.set_dim_name(side, k, f"{'i' if side == isl.dim_type.in_ else 'o'}{k}")
    return pairs


def _number(value: isl.Val) -> int | None:
    return value.to_python() if value.is_int() else None


def distances(of: Vector) -> str:
    """``(0, 1, -2..2)``; a side without limit is left empty: ``(1..)``."""
    return f"({', '.join(map(_range, of))})"


def _range(of: Distance) -> str:
    low, high = of
    if low is not None and low == high:
        return str(low)
    return f"{'' if low is None else low}..{'' if high is None else high}"


def directions(of: Vector) -> str:
    """``(=, <, *)``: < is forwards, = in the same iteration, > backwards, ``<=`` both, * any."""
    return f"({', '.join(map(_direction, of))})"


def _direction(of: Distance) -> str:
    low, high = of
    forwards, backwards = high is None or high > 0, low is None or low < 0
    still = (low is None or low <= 0) and (high is None or high >= 0)
    signs: Sequence[tuple[bool, str]] = ((forwards, "<"), (still, "="), (backwards, ">"))
    direction = "".join(sign for holds, sign in signs if holds)
    return {"<=>": "*", "<>": "!=", "=>": ">="}.get(direction, direction)
