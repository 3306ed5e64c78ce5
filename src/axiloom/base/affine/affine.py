"""`Affine`: an integer affine form, as ``4*i + j - 1``. Immutable, with one spelling for each form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Affine:
    """The sum of `terms`, each a name and its coefficient, and `constant`. Terms are sorted, none is zero."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, value: Affine | str | int) -> Affine:
        """An iterator's name, a number, or the form itself."""
        if isinstance(value, Affine):
            return value
        return cls.name(value) if isinstance(value, str) else cls((), value)

    @classmethod
    def name(cls, name: str) -> Affine:
        return cls(((name, 1),))

    @classmethod
    def sum(cls, terms: Mapping[str, int] | Iterable[tuple[str, int]], constant: int = 0) -> Affine:
        """Terms in any order; the same name may come more than once."""
        total: dict[str, int] = {}
        for name, factor in terms.items() if isinstance(terms, Mapping) else terms:
            total[name] = total.get(name, 0) + factor
        return cls(tuple(sorted((name, factor) for name, factor in total.items() if factor)), constant)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def coefficient(self, name: str) -> int:
        return dict(self.terms).get(name, 0)

    def __add__(self, other: Affine | int) -> Affine:
        other = Affine.of(other)
        if not self.terms or not other.terms:  # as in most sums
            return Affine(self.terms or other.terms, self.constant + other.constant)
        return Affine.sum((*self.terms, *other.terms), self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        if factor == 0:
            return Affine()
        return Affine(
            tuple([(name, coefficient * factor) for name, coefficient in self.terms]), self.constant * factor
        )

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        other = Affine.of(other)
        if self.terms == other.terms:
            return Affine((), self.constant - other.constant)
        return self + -other

    def __rsub__(self, other: Affine | int) -> Affine:
        return Affine.of(other) - self

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """Each name in `values` replaced; other names stay."""
        total = Affine((), self.constant)
        for name, factor in self.terms:
            total = total + Affine.of(values.get(name, name)) * factor
        return total

    def value(self, at: Mapping[str, int]) -> int:
        """The number where each name has the number `at` gives."""
        return self.constant + sum(factor * at[name] for name, factor in self.terms)

    def values(self, at: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[Any]:
        """As :meth:`value`, for arrays of points at once; a form without names gives a 0-d array. Integers
        are Python's where a factor or the constant is large, as it is where C wraps at 64 bits."""
        large = any(abs(number) >> 31 for number in (self.constant, *(factor for _, factor in self.terms)))
        kind = object if large else np.int64
        total: npt.NDArray[Any] = np.asarray(self.constant, kind)
        for name, factor in self.terms:
            total = total + np.asarray(at[name], kind) * factor
        return total

    def range(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Least and largest value where each name is within its inclusive range, independent of the
        others."""
        ends = [sorted((factor * ranges[name][0], factor * ranges[name][1])) for name, factor in self.terms]
        return self.constant + sum(low for low, _ in ends), self.constant + sum(high for _, high in ends)

    def __str__(self) -> str:
        """As people and isl write it: ``4*i + j - 1``."""
        text = ""
        for name, factor in self.terms:
            size = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
            text += f" {'-' if factor < 0 else '+'} {size}" if text else f"{'-' if factor < 0 else ''}{size}"
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text
