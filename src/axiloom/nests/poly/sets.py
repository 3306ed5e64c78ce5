"""Between `Affine` and isl. Names of dimensions are iterators; sets and maps carry the names they were made
with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import islpy as isl

from axiloom.base.affine import Affine

Condition = tuple[Affine, ...]


def point(names: Sequence[str], tuple_name: str = "") -> str:
    """``S[i, j]``, as isl writes it."""
    return f"{tuple_name}[{', '.join(names)}]"


def conjunction(forms: Iterable[Affine]) -> str:
    """``i >= 0 and -i + 9 >= 0``, or ``true``."""
    return " and ".join(f"{form} >= 0" for form in forms) or "true"


@cache
def domain(names: tuple[str, ...], forms: Condition, tuple_name: str = "") -> isl.Set:
    """All integer points at which the forms are at least 0."""
    return isl.Set(f"{{ {point(names, tuple_name)} : {conjunction(forms)} }}")


@cache
def function(
    names: tuple[str, ...], values: tuple[Affine, ...], domain_name: str = "", range_name: str = ""
) -> isl.Map:
    """``names -> values``, on all integers."""
    return isl.Map(
        f"{{ {point(names, domain_name)} -> {point([f'({value})' for value in values], range_name)} }}"
    )


def bounds(names: tuple[str, ...], forms: Condition, value: Affine) -> tuple[int, int]:
    """Least and largest `value` where the forms are at least 0, which bound it; (0, 0) if that is nowhere."""
    points = domain(names, forms)
    if points.is_empty():
        return 0, 0
    values = points.apply(function(names, (value,)))
    return values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()


def conditions(points: isl.Set, names: Sequence[str]) -> list[Condition]:
    """The disjoint parts of a set, each as forms that are at least 0. Raises ValueError if a part needs a
    division."""
    parts = []
    for part in points.make_disjoint().get_basic_sets():
        forms: list[Affine] = []
        for constraint in part.get_constraints():
            if any(
                constraint.get_coefficient_val(isl.dim_type.div, i).to_python()
                for i in range(constraint.dim(isl.dim_type.div))
            ):
                raise ValueError(f"not affine without divisions: {part}")
            form = Affine.sum(
                [
                    (name, constraint.get_coefficient_val(isl.dim_type.set, i).to_python())
                    for i, name in enumerate(names)
                ],
                constraint.get_constant_val().to_python(),
            )
            forms += [form, -form] if constraint.is_equality() else [form]
        parts.append(tuple(sorted(forms, key=str)))
    return parts


def pieces(value: isl.PwAff, names: Sequence[str]) -> list[tuple[Condition, Affine]]:
    """The pieces of a function of `names`, each with its condition. Raises ValueError as
    :func:`conditions`."""
    forms: list[tuple[Condition, Affine]] = []
    parts: list[tuple[isl.Set, isl.Aff]] = []
    # An exception would not get through isl: what is wrong is looked for behind it.
    value.coalesce().foreach_piece(lambda where, form: parts.append((where, form)))
    for where, form in parts:
        if form.get_denominator_val().to_python() != 1 or form.dim(isl.dim_type.div):
            raise ValueError(f"not affine without divisions: {form}")
        result = Affine.sum(
            [
                (name, form.get_coefficient_val(isl.dim_type.in_, i).to_python())
                for i, name in enumerate(names)
            ],
            form.get_constant_val().to_python(),
        )
        forms.extend((condition, result) for condition in conditions(where, names))
    return forms


def union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    total = isl.UnionMap("{ }")
    for relation in maps:
        total = total.union(relation.to_union_map())
    return total
