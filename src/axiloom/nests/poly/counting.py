"""How many points a domain has, without visiting them where its loops are independent.

isl counts by visiting: 4096^3 points take it a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

from axiloom.base.affine import Affine
from axiloom.nests.poly.sets import domain


def count(names: Sequence[str], forms: Sequence[Affine]) -> int:
    """Of points at which all forms are at least 0; they bound every name. Groups of names that no form
    connects are counted by themselves and multiplied; large groups, value by value of their first name."""
    return _count(tuple(names), frozenset(forms))


VISITED = 1 << 28
"""The largest box in which isl visits points: about a second."""


@cache
def _count(names: tuple[str, ...], forms: frozenset[Affine]) -> int:
    if any(not form.terms and form.constant < 0 for form in forms):
        return 0
    total = 1
    for group in _groups(names, forms):
        mine = frozenset(form for form in forms if set(form.names) & set(group))
        total *= _of_one(group[0], mine) if len(group) == 1 else _of_group(group, mine)
    return total


def _of_one(name: str, forms: frozenset[Affine]) -> int:
    """Of the integers between the bounds of one name."""
    lows = [-(form.constant // form.coefficient(name)) for form in forms if form.coefficient(name) > 0]
    highs = [form.constant // -form.coefficient(name) for form in forms if form.coefficient(name) < 0]
    return max(0, min(highs) - max(lows) + 1)


def _of_group(names: tuple[str, ...], forms: frozenset[Affine]) -> int:
    points = domain(names, tuple(sorted(forms, key=str)))
    if points.is_empty():
        return 0
    ends = [(points.dim_min_val(n).to_python(), points.dim_max_val(n).to_python()) for n in range(len(names))]
    if prod(high - low + 1 for low, high in ends) <= VISITED:
        return int(points.count_val().to_python())
    low, high = ends[0]
    total = 0
    for value in range(low, high + 1):
        total += _count(names[1:], frozenset(form.substitute({names[0]: value}) for form in forms))
    return total


def _groups(names: tuple[str, ...], forms: frozenset[Affine]) -> list[tuple[str, ...]]:
    """Names that forms connect, in the order of `names`."""
    group = {name: {name} for name in names}
    for form in forms:
        joined = set[str]().union(*(group[name] for name in form.names)) if form.names else set()
        for name in joined:
            group[name] = joined
    groups = []
    for name in names:
        if name == min(group[name], key=names.index):
            groups.append(tuple(other for other in names if other in group[name]))
    return groups
