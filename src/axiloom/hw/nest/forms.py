"""Affine forms of counters as signals, each computed once; addresses of them, without multipliers.

A factor is a few shifts and additions (canonical signed digits), a division by a constant is a multiplication
by its reciprocal: Yosys would spend a DSP block on either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition, Piece, Place, Term

Range = tuple[int, int]
"""Least and largest value, both included."""


def plain(name: str) -> str:
    """`name` as a part of a name in Verilog."""
    return re.sub(r"[\W_]+", "_", name).strip("_") or "x"


def digits(number: int) -> list[tuple[int, int]]:
    """`number` as the sum of ``sign << position``, with as few as possible: pairs (sign, position)."""
    pairs, position, rest = [], 0, number
    while rest:
        if rest & 1:
            sign = 2 - (rest & 3)  # 1 before ...01, -1 before ...11
            pairs.append((sign, position))
            rest -= sign
        rest >>= 1
        position += 1
    return pairs


def reciprocal(divisor: int, largest: int) -> tuple[int, int]:
    """(factor, shift): ``(x * factor) >> shift`` is ``x // divisor`` for each x from 0 to `largest`."""
    for shift in range(divisor.bit_length() - 1, 2 * largest.bit_length() + divisor.bit_length() + 2):
        factor = -(-(1 << shift) // divisor)
        # x * factor is too large by x * error, which must not reach the next multiple of 1 << shift.
        if (factor * divisor - (1 << shift)) * largest < 1 << shift:
            return factor, shift
    raise AssertionError(f"no reciprocal of {divisor} up to {largest}")


def term_range(term: Term, ranges: Mapping[str, Range]) -> Range:
    """Least and largest value of `term` where it counts."""
    low, high = (max(0, end) // term.divisor for end in term.value.range(ranges))
    if term.divisor == 1 and not term.modulus:
        low, high = term.value.range(ranges)
    if term.modulus and high >= term.modulus:
        low, high = 0, term.modulus - 1
    ends = sorted((term.factor * low, term.factor * high))
    return ends[0], ends[1]


def place_range(place: Sequence[Term], ranges: Mapping[str, Range]) -> Range:
    ends = [term_range(term, ranges) for term in place]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def place_values(place: Place, ranges: Mapping[str, Range]) -> set[int]:
    """All values that `place` may have, and few others."""
    sums = {0}
    for term in place:
        values = {term.factor * value for value in _values(term, ranges)}
        sums = {total + value for total in sums for value in values}
    return sums


def _values(term: Term, ranges: Mapping[str, Range]) -> Iterable[int]:
    """Of ``(value div divisor) mod modulus``. Every fourth element lies in every fourth bank."""
    low, high = term_range(Term(term.value, 1, term.divisor, term.modulus), ranges)
    if term.divisor > 1:
        return range(low, high + 1)
    first, last = term.value.range(ranges)
    step = gcd(*(factor for name, factor in term.value.terms if len({*ranges[name]}) > 1))
    if step == 0:
        return (low,) if low == high else (first % term.modulus,)
    if term.modulus and last >= term.modulus:
        step = gcd(step, term.modulus)
    return (value for value in range(low, high + 1) if (value - first) % step == 0)


def varying(place: Place, ranges: Mapping[str, Range]) -> tuple[Place, int]:
    """What of `place` changes, and the number that stands beside it: in bits of its own, or 0."""
    fixed = [term for term in place if term.value.is_constant and term.divisor == 1 and not term.modulus]
    beside = sum(term.value.constant * term.factor for term in fixed)
    rest = tuple(term for term in place if term not in fixed)
    taken = 0
    for value in place_values(rest, ranges):
        taken |= value
    return (rest, beside) if rest and beside >= 0 and taken & beside == 0 else (place, 0)


class Forms:
    """Forms over `values`, signals or numbers by counter, of which `ranges` are the values they may have.

    Results are exact, combinational, and named `name` and a number.
    """

    def __init__(
        self, m: Module, name: str, values: Mapping[str, Value], ranges: Mapping[str, Range]
    ) -> None:
        self._m, self._name, self._values, self.ranges = m, name, values, ranges
        self._known: dict[object, Value] = {}
        self._count = 0

    def form(self, form: Affine) -> Value:
        low, high = form.range(self.ranges)
        if low == high:
            return Const(low, range(low, low + 1) if low else 1)
        if form.constant == 0 and len(form.terms) == 1 and form.terms[0][1] == 1:
            return self._values[form.names[0]]
        if form not in self._known:
            parts = [
                (sign, self._values[name] << position)
                for name, factor in form.terms
                for sign, position in digits(factor)
            ]
            if form.constant:
                parts.append((1 if form.constant > 0 else -1, Const(abs(form.constant))))
            self._known[form] = self._sum(parts, (low, high))
        return self._known[form]

    def holds(self, condition: Condition) -> Value:
        """One bit: all forms of `condition` are at least 0."""
        key = ("holds", tuple(sorted(set(condition), key=str)))
        if key not in self._known:
            known = set(condition)
            equal = {form for form in known if -form in known}
            bits = [self._at_least(form) for form in sorted(known - equal, key=str)]
            done: set[Affine] = set()
            for form in sorted(equal, key=str):
                if -form not in done:
                    bits.append(self._zero(form))
                    done.add(form)
            bits = [bit for bit in bits if not (isinstance(bit, Const) and bit.value == 1)]
            self._known[key] = (
                self._named(Cat(*bits).all(), 1) if len(bits) > 1 else (bits or [Const(1, 1)])[0]
            )
        return self._known[key]

    def place(self, place: Place) -> Value:
        """The sum of the terms of `place`: right where all of them count."""
        low, high = place_range(place, self.ranges)
        if low == high:
            return Const(low, range(low, low + 1) if low > 0 else 1)
        if all(term.divisor == 1 and not term.modulus for term in place):
            total = Affine()
            for term in place:
                total = total + term.value * term.factor
            return self.form(total)
        key = ("place", tuple(sorted(place, key=str)))
        if key not in self._known:
            parts = [
                (sign, self._term(term) << position)
                for term in place
                for sign, position in digits(term.factor)
            ]
            self._known[key] = self._sum(parts, (low, high))
        return self._known[key]

    def choose(self, pieces: tuple[Piece, ...]) -> Value:
        """The value of the piece that holds."""
        result = self.form(pieces[-1].value)
        for piece in reversed(pieces[:-1]):
            result = Mux(self.holds(piece.when), self.form(piece.value), result)
        return result

    def _sum(self, parts: list[tuple[int, Value]], ends: Range) -> Value:
        plus = [value for sign, value in parts if sign > 0]
        minus = [value for sign, value in parts if sign < 0]
        total: Value = sum(plus[1:], plus[0]) if plus else Const(0, 1)
        for value in minus:
            total = total - value
        return self._named(total, range(ends[0], ends[1] + 1))

    def _named(self, value: Value, shape: int | range) -> Signal:
        signal = Signal(shape, name=f"{self._name}_{self._count}")
        self._count += 1
        self._m.d.comb += signal.eq(value)
        return signal

    def _at_least(self, form: Affine) -> Value:
        low, high = form.range(self.ranges)
        if low >= 0:
            return Const(1, 1)
        if high < 0:
            return Const(0, 1)
        key = ("sign", form)
        if key not in self._known:
            if len(form.terms) == 1:  # a comparison of one counter is smaller than a sum and its sign
                ((name, factor),) = form.terms
                bound = form.constant // -factor if factor < 0 else -(form.constant // factor)
                value = self._values[name]
                bit = value <= bound if factor < 0 else value >= bound
            else:
                bit = self.form(form) >= 0
            self._known[key] = self._named(bit, 1)
        return self._known[key]

    def _zero(self, form: Affine) -> Value:
        low, high = form.range(self.ranges)
        if low == high == 0:
            return Const(1, 1)
        if low > 0 or high < 0:
            return Const(0, 1)
        key = ("zero", form)
        if key not in self._known:
            if len(form.terms) == 1:
                ((name, factor),) = form.terms
                if form.constant % factor:
                    return Const(0, 1)
                bit = self._values[name] == -form.constant // factor
            else:
                bit = self.form(form) == 0
            self._known[key] = self._named(bit, 1)
        return self._known[key]

    def _term(self, term: Term) -> Value:
        """``(value div divisor) mod modulus``, without the factor."""
        value = self.form(term.value)
        if term.divisor == 1 and not term.modulus:
            return value
        high = max(term.value.range(self.ranges)[1], 0)
        key = ("term", term.value, term.divisor, term.modulus)
        if key not in self._known:
            value = value.as_unsigned()[: max(high.bit_length(), 1)] if len(value) else value
            quotient = self._divided(value, term.divisor, high)
            if term.modulus and high // term.divisor >= term.modulus:
                quotient = self._remainder(quotient, term.modulus, high // term.divisor)
            self._known[key] = quotient
        return self._known[key]

    def _divided(self, value: Value, divisor: int, largest: int) -> Value:
        if largest < divisor:
            return Const(0, 1)
        if divisor & (divisor - 1) == 0:
            return value[divisor.bit_length() - 1 :]
        factor, shift = reciprocal(divisor, largest)
        product = [(sign, value << position) for sign, position in digits(factor)]
        whole = self._sum(product, (0, largest * factor))
        return self._named(whole >> shift, range(largest // divisor + 1))

    def _remainder(self, value: Value, modulus: int, largest: int) -> Value:
        if modulus & (modulus - 1) == 0:
            return value[: modulus.bit_length() - 1] if modulus > 1 else Const(0, 1)
        quotient = self._divided(value, modulus, largest)
        parts = [(1, value), *((-sign, quotient << position) for sign, position in digits(modulus))]
        return self._sum(parts, (0, modulus - 1))
