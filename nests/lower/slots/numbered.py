"""The number of each iteration of a pipe as affine forms of its counters, where there are such forms.

Counters whose bounds are constant make a box, in which the number is one form. Where bounds depend on the
phase (a counter of few values), each phase is a part with a form of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from axiloom.hw.nest.circuit import Condition, Counter, Piece
from axiloom.isa.affine import Affine

FEW = 64
"""Values of a counter that may each be a part of its own."""


@dataclass(frozen=True)
class Part:
    """Where `where` holds, an iteration has this number, counted from 0."""

    where: Condition
    number: Affine


Numbers = tuple[int, tuple[Part, ...]]
"""How many iterations there are, and their parts."""


def numbered(counters: Sequence[Counter], fixed: Mapping[str, Affine | int] | None = None) -> Numbers | None:
    """Of counters, outermost first; None where bounds depend on counters of many values. `fixed` are those
    further out that have one value."""
    fixed = dict(fixed or {})
    if not counters:
        return 1, (Part((), Affine()),)
    counter, inner = counters[0], counters[1:]
    low, high = _constant(counter.lower, fixed), _constant(counter.upper, fixed)
    if low is None or high is None:
        return None
    name = Affine.name(counter.name)
    box = (name - low, high - name)
    if (alike := numbered(inner, fixed)) is not None:
        size, parts = alike
        return size * (high - low + 1), tuple(
            Part((*box, *each.where), (name - low) * size + each.number) for each in parts
        )
    if high - low >= FEW:
        return None
    total = 0
    found: list[Part] = []
    for value in range(low, high + 1):
        one = numbered(inner, {**fixed, counter.name: value})
        if one is None:
            return None
        here = (name - value, value - name)
        found += [Part((*here, *each.where), each.number + total) for each in one[1]]
        total += one[0]
    return total, tuple(found)


def _constant(pieces: Sequence[Piece], fixed: Mapping[str, Affine | int]) -> int | None:
    """The bound, if it is one number."""
    values: set[int] = set()
    for each in pieces:
        when = [form.substitute(fixed) for form in each.when]
        if any(form.is_constant and form.constant < 0 for form in when):
            continue
        value = each.value.substitute(fixed)
        if not value.is_constant:
            return None
        values.add(value.constant)
        if all(form.is_constant for form in when):
            break
    return values.pop() if len(values) == 1 else None
