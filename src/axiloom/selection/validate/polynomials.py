"""Integers that are not known, as polynomials of elements: equal polynomials, equal numbers.

A value is a Python integer or a `Poly`. Sums and products are polynomials; what wraps is a symbol for its
polynomial modulo a power of two, so that sums in any order and grouping are one symbol. Clips, shifts and
parts of bits are symbols too. Every symbol has a range: where a value fits, nothing wraps and nothing clips.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from axiloom.base.affine import polynomial
from axiloom.base.errors import AxiloomError

Product: TypeAlias = polynomial.Monomial[int]


class UnknownError(AxiloomError):
    """An operation that has no form here."""


@dataclass(frozen=True)
class Poly:
    """`terms`: factors by monomial, none 0. Its field has ranges of its symbols."""

    of: Polynomials
    terms: dict[Product, int]

    @property
    def key(self) -> tuple[tuple[Product, int], ...]:
        return tuple(sorted(self.terms.items()))

    def __add__(self, other: Value) -> Value:
        return self.of.simplified(polynomial.total((self.terms.items(), 1), (_terms(other).items(), 1)))

    __radd__ = __add__

    def __mul__(self, other: Value) -> Value:
        return self.of.simplified(polynomial.times(self.terms.items(), _terms(other).items()))

    __rmul__ = __mul__

    def __sub__(self, other: Value) -> Value:
        return self + other * -1

    def __rsub__(self, other: Value) -> Value:
        return self * -1 + other

    def __neg__(self) -> Value:
        return self * -1


Value: TypeAlias = int | Poly


def _terms(value: Value) -> dict[Product, int]:
    return value.terms if isinstance(value, Poly) else {(): value}


@dataclass
class Polynomials:
    """Symbols by what they are, with their ranges."""

    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    keys: list[tuple[Any, ...]] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    extents: dict[Product, tuple[int, int]] = field(default_factory=dict)
    inside: dict[int, tuple[int, Poly]] = field(default_factory=dict)
    """Of a symbol for what wraps: how many bits it has, and what."""

    def symbol(self, key: tuple[Any, ...], low: int, high: int) -> Poly:
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.keys)
            self.keys.append(key)
            self.ranges.append((low, high))
        return Poly(self, {(number,): 1})

    def simplified(self, terms: dict[Product, int]) -> Value:
        kept = polynomial.without_zeros(terms)
        if not kept.keys() - {()}:
            return kept.get((), 0)
        return Poly(self, kept)

    def sum(self, values: Iterable[Value]) -> Value:
        return self.simplified(polynomial.total(*((_terms(value).items(), 1) for value in values)))

    def range(self, value: Value) -> tuple[int, int]:
        if isinstance(value, int):
            return value, value
        return polynomial.bounds(value.terms.items(), self._extent)

    def _extent(self, monomial: Product) -> tuple[int, int]:
        ends = self.extents.get(monomial)
        if ends is None:
            ends = self.extents[monomial] = polynomial.extent(monomial, self.ranges.__getitem__)
        return ends

    def fits(self, value: Value, low: int, high: int) -> bool:
        ends = self.range(value)
        return low <= ends[0] and ends[1] <= high

    def _only(self, value: Value) -> int | None:
        """The symbol that a value is."""
        if isinstance(value, Poly) and list(value.terms.values()) == [1]:
            (monomial,) = value.terms
            return monomial[0] if len(monomial) == 1 else None
        return None

    # --- what is no sum and no product --------------------------------------------------------------------

    def bits(self, value: Value, low: int, width: int) -> Value:
        """`width` bits from `low` on, as a number without sign."""
        if isinstance(value, int):
            return value >> low & ((1 << width) - 1)
        if low == 0 and self.fits(value, 0, (1 << width) - 1):
            return value
        return self.symbol(("bits", value.key, low, width), 0, (1 << width) - 1)

    def cat(self, parts: list[tuple[Value, int]]) -> Value:
        """Values with their bits, the first lowest: numbers, or pieces of one value from its bit 0 on."""
        if all(isinstance(value, int) for value, _ in parts):
            whole = at = 0
            for value, width in parts:
                assert isinstance(value, int)
                whole |= value << at
                at += width
            return whole
        if len(parts) == 1:
            return parts[0][0]
        at, held = 0, None
        for value, width in parts:
            symbol = self._only(value)
            key = self.keys[symbol] if symbol is not None else ("",)
            if key[0] != "bits" or key[2:] != (at, width) or held not in (None, key[1]):
                return self._put_together(parts)
            held, at = key[1], at + width
        assert held is not None
        return self.bits(Poly(self, dict(held)), 0, at)

    def _put_together(self, parts: list[tuple[Value, int]]) -> Value:
        keys = tuple((part.key if isinstance(part, Poly) else part, width) for part, width in parts)
        return self.symbol(("cat", keys), 0, (1 << sum(width for _, width in parts)) - 1)

    def wrapped(self, value: Value, bits: int, *, signed: bool) -> Value:
        """The low bits, with or without a sign."""
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if self.fits(value, low, high):
            return value
        if isinstance(value, int):
            low_bits = value & ((1 << bits) - 1)
            return low_bits - (1 << bits) if low_bits > high else low_bits
        symbol = self._only(value)
        if symbol is not None:
            name, *rest = self.keys[symbol]
            if name == "bits" and tuple(rest[1:]) == (0, bits):
                return self.wrapped(Poly(self, dict(rest[0])), bits, signed=signed)
        if not signed:
            return self.bits(value, 0, bits)
        inner = self._modulo(value, bits)
        if isinstance(inner, int):
            return self.wrapped(inner, bits, signed=True)
        if self.fits(inner, low, high):
            return inner
        wrapped = self.symbol(("wrap", bits, inner.key), low, high)
        only = self._only(wrapped)
        assert only is not None
        self.inside[only] = bits, inner
        return wrapped

    def _modulo(self, value: Poly, bits: int) -> Value:
        """An equal polynomial modulo 2^bits, with what had wrapped at as many bits or more in the open."""
        terms: dict[Product, int] = {}
        for monomial, factor in value.terms.items():
            if not any(symbol in self.inside for symbol in monomial):
                terms[monomial] = terms.get(monomial, 0) + factor
                continue
            opened: Value = factor
            for symbol in monomial:
                wide, inner = self.inside.get(symbol, (0, None))
                opened = opened * (
                    inner if inner is not None and wide >= bits else Poly(self, {(symbol,): 1})
                )
            for other, times in _terms(opened).items():
                terms[other] = terms.get(other, 0) + times
        half, whole = 1 << bits - 1, 1 << bits
        return self.simplified({m: (factor + half) % whole - half for m, factor in terms.items()})

    def clipped(self, value: Value, low: int | None, high: int | None) -> Value:
        """``min(max(value, low), high)``; None clips nothing."""
        if isinstance(value, int):
            value = value if low is None else max(value, low)
            return value if high is None else min(value, high)
        ends = self.range(value)
        low, high = (ends[0] if low is None else low), (ends[1] if high is None else high)
        if low >= high:
            return high
        symbol = self._only(value)
        if symbol is not None and self.keys[symbol][0] == "clip":
            _, inner, first, last = self.keys[symbol]
            first, last = (min(max(end, low), high) for end in (first, last))
            return self.clipped(Poly(self, dict(inner)), first, last)
        if low <= ends[0] and ends[1] <= high:
            return value
        low, high = max(low, ends[0]), min(high, ends[1])
        return self.symbol(("clip", value.key, low, high), low, high) if low < high else low

    def shifted(self, value: Value, by: int) -> Value:
        """To the right, rounded down."""
        if isinstance(value, int):
            return value >> by
        if by == 0:
            return value
        symbol = self._only(value)
        if symbol is not None:
            name, *rest = self.keys[symbol]
            if name == "clip":
                inner = self.shifted(Poly(self, dict(rest[0])), by)
                return self.clipped(inner, rest[1] >> by, rest[2] >> by)
            if name == "shift":
                return self.shifted(Poly(self, dict(rest[0])), by + rest[1])
        low, high = self.range(value)
        return self.symbol(("shift", value.key, by), low >> by, high >> by)
