"""Polynomials over whole numbers, as factors by monomial: what proofs of sizes, sums and programs add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, TypeAlias, TypeVar

Symbol = TypeVar("Symbol", bound=Any)
"""Anything with an order: a name, a number."""
Monomial: TypeAlias = tuple[Symbol, ...]
"""Symbols in order, each as often as it is a factor; none: the number alone."""
Parts: TypeAlias = Iterable[tuple[Monomial[Symbol], int]]
"""Monomials and their factors."""
Range: TypeAlias = tuple[int, int]
"""The least and the greatest."""


def total(*summands: tuple[Parts[Symbol], int]) -> dict[Monomial[Symbol], int]:
    """The sum of polynomials, each so many times. Factors of 0 are left out."""
    factors: dict[Monomial[Symbol], int] = {}
    for parts, times in summands:
        for monomial, factor in parts:
            factors[monomial] = factors.get(monomial, 0) + times * factor
    return without_zeros(factors)


def times(left: Parts[Symbol], right: Parts[Symbol]) -> dict[Monomial[Symbol], int]:
    """The product of two polynomials. `right` is gone through more than once."""
    factors: dict[Monomial[Symbol], int] = {}
    for (a_symbols, a), (b_symbols, b) in product(left, right):
        monomial = tuple(sorted((*a_symbols, *b_symbols)))
        factors[monomial] = factors.get(monomial, 0) + a * b
    return without_zeros(factors)


def without_zeros(factors: Mapping[Monomial[Symbol], int]) -> dict[Monomial[Symbol], int]:
    return {monomial: factor for monomial, factor in factors.items() if factor}


def extent(monomial: Monomial[Symbol], range_of: Callable[[Symbol], Range]) -> Range:
    """Bounds of a product by those of its factors, each of which may be anything in its range."""
    low = high = 1
    for symbol in monomial:
        corners = [a * b for a in (low, high) for b in range_of(symbol)]
        low, high = min(corners), max(corners)
    return low, high


def bounds(parts: Parts[Symbol], extent_of: Callable[[Monomial[Symbol]], Range]) -> Range:
    """Bounds of a polynomial by those of its monomials."""
    low = high = 0
    for monomial, factor in parts:
        ends = sorted(factor * end for end in extent_of(monomial))
        low, high = low + ends[0], high + ends[1]
    return low, high
