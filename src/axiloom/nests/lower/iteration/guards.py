"""Conditions over the counters of a pipe: simplified, and compared with each other.

Equal guards are equal objects: a form is divided by the gcd of its coefficients, what the counters imply is
left out, and forms are sorted.
"""

from __future__ import annotations

from math import gcd

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition
from axiloom.nests.lower.iteration.space import Space
from axiloom.nests.poly import sets


class Guards:
    """Questions about conditions at the points a pipe reaches. Answers are kept."""

    def __init__(self, space: Space) -> None:
        self.names = space.names
        self.ranges = space.ranges
        self.reached = space.reached
        self._sets: dict[Condition, isl.Set] = {}
        self._simple: dict[Condition, Condition | None] = {}
        self._implied: dict[tuple[Condition, Condition], bool] = {}
        self._excluded: dict[tuple[Condition, Condition], bool] = {}
        self._asked: dict[tuple[int, int], tuple[Condition, Condition, bool]] = {}
        """The same by objects, which are kept: a condition's hash takes longer than all else."""

    def points(self, condition: Condition) -> isl.Set:
        """Where a pipe reaches points at which it holds."""
        points = self._sets.get(condition)
        if points is None:
            points = self._sets[condition] = self.reached.intersect(sets.domain(self.names, condition))
        return points

    def simple(self, condition: Condition) -> Condition | None:
        """The guard that says the same; None if it never holds."""
        if condition not in self._simple:
            self._simple[condition] = self._simplified(condition)
        return self._simple[condition]

    def _simplified(self, condition: Condition) -> Condition | None:
        forms: list[Affine] = []
        for form in sorted({_tight(form) for form in condition}, key=str):
            low, high = form.range(self.ranges)
            if high < 0:
                return None
            if low < 0:
                forms.append(form)
        if self.points(tuple(forms)).is_empty():
            return None
        for form in list(forms):
            rest = tuple(other for other in forms if other != form)
            if self.points(rest).is_subset(sets.domain(self.names, (form,))):
                forms.remove(form)
        return tuple(forms)

    def implies(self, strong: Condition, weak: Condition) -> bool:
        """Whether `weak` holds wherever `strong` does."""
        if set(weak) <= set(strong):
            return True
        key = (strong, weak)
        if key not in self._implied:
            self._implied[key] = self.points(strong).is_subset(self.points(weak))
        return self._implied[key]

    def excludes(self, condition: Condition, other: Condition) -> bool:
        """Whether no iteration has both."""
        if not condition or not other:
            return False
        asked = (id(condition), id(other))
        known = self._asked.get(asked)
        if known is None:
            known = self._asked[asked] = (condition, other, self._excludes(condition, other))
        return known[2]

    def _excludes(self, condition: Condition, other: Condition) -> bool:
        key = (condition, other) if id(condition) <= id(other) else (other, condition)
        if key not in self._excluded:
            forms = set(other)
            self._excluded[key] = any(_tight(-form - 1) in forms for form in condition) or bool(
                self.points(condition).intersect(self.points(other)).is_empty()
            )
        return self._excluded[key]

    def weaker(self, condition: Condition, other: Condition) -> Condition:
        """A guard that both imply."""
        if self.implies(condition, other):
            return other
        if self.implies(other, condition):
            return condition
        return tuple(form for form in condition if self.implies(other, (form,)))

    def both(self, condition: Condition, other: Condition) -> Condition | None:
        """Where both hold; None if nowhere."""
        return self.simple((*condition, *other))


def _tight(form: Affine) -> Affine:
    """The form with the same integer points: ``4*i - 3`` is ``i - 1``."""
    divisor = gcd(*(factor for _, factor in form.terms)) if form.terms else 0
    if divisor < 2:
        return form
    return Affine(tuple((name, factor // divisor) for name, factor in form.terms), form.constant // divisor)
