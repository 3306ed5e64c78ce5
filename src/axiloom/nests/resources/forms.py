"""What addresses, banks and guards take: sums of counters. `hw/nest/forms.py` builds them, each once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition, Place, Term
from axiloom.hw.nest.forms import Range, digits, place_range, reciprocal, term_range
from axiloom.nests.resources.pieces import any_of, total


def bits_of_range(ends: Range) -> int:
    low, high = ends
    return max(high.bit_length(), (-low - 1).bit_length() + 1 if low < 0 else 0, 1)


class FormCount:
    """`lut` of all that was asked for. Each method gives a key of the value, None for a constant, and its
    bits."""

    def __init__(self, ranges: Mapping[str, Range]) -> None:
        self.ranges = ranges
        self.lut = 0
        self._known: set[object] = set()

    def form(self, form: Affine) -> tuple[object, int]:
        ends = form.range(self.ranges)
        if ends[0] == ends[1]:
            return None, 1
        bits = bits_of_range(ends)
        if self._is_new(("form", form)):
            parts = [
                (position, position + bits_of_range(self.ranges[name]))
                for name, factor in form.terms
                for _, position in digits(factor)
            ]
            self.lut += min(total(parts), bits * (len(parts) - 1))
        return ("form", form), bits

    def holds(self, condition: Condition) -> object:
        """The key of one bit."""
        forms = {form for form in condition if self._may_fail(form)}
        if not forms:
            return None
        key = ("holds", tuple(sorted(forms, key=str)))
        if self._is_new(key):
            bits = 0
            for form in sorted(forms, key=str):
                is_equality = -form in forms
                if is_equality and str(-form) < str(form):
                    continue
                bits += 1
                if not self._is_new(("sign", form, is_equality)):
                    continue
                if len(form.terms) == 1:
                    self.lut += 1 + any_of(bits_of_range(self.ranges[form.names[0]]))
                else:
                    _, width = self.form(form)
                    self.lut += any_of(width) if is_equality else 0
            self.lut += any_of(bits)
        return key

    def _may_fail(self, form: Affine) -> bool:
        return form.range(self.ranges)[0] < 0 or -form.range(self.ranges)[0] == 0

    def place(self, place: Place) -> tuple[object, int]:
        ends = place_range(place, self.ranges)
        if ends[0] == ends[1]:
            return None, 1
        if all(term.divisor == 1 and not term.modulus for term in place):
            whole = Affine()
            for term in place:
                whole = whole + term.value * term.factor
            return self.form(whole)
        key = ("place", tuple(sorted(place, key=str)))
        if self._is_new(key):
            parts = []
            for term in place:
                width = self._term(term)
                parts += [(position, position + width) for _, position in digits(term.factor)]
            self.lut += total(parts)
        return key, bits_of_range(ends)

    def wires(self, place: Place) -> tuple[object, ...]:
        """What each bit of `place` is, from the lowest: a bit of a counter, or None for 0. Empty where terms
        overlap, so that bits are sums."""
        bits: dict[int, object] = {}
        for term in place:
            for source, position, width in self._slices(term):
                if source is None:
                    return ()
                for bit in range(width):
                    if position + bit in bits:
                        return ()
                    bits[position + bit] = (*source, bit)
        return tuple(bits.get(bit) for bit in range(max(bits, default=-1) + 1))

    def _slices(self, term: Term) -> Iterator[tuple[tuple[str, int] | None, int, int]]:
        """For each counter in `term` the bits of it that are used, from the lowest one up: counter and lowest
        bit (None: it is no slice of a counter), where they stand, and how many they are."""
        if term.value.constant:
            yield None, 0, 0
        for name, factor in term.value.terms:
            low, high = self.ranges[name]
            scale = factor * term.factor
            powers = (scale, term.divisor, term.modulus or 1)
            is_sliced = term.divisor > 1 or term.modulus > 0
            is_sum = factor != 1 or len(term.value.terms) > 1
            if low < 0 or (is_sliced and is_sum) or any(power < 1 or power & (power - 1) for power in powers):
                yield None, 0, 0
            else:
                first = term.divisor.bit_length() - 1
                width = max(high.bit_length() - first, 0)
                if term.modulus:
                    width = min(width, term.modulus.bit_length() - 1)
                yield (name, first), scale.bit_length() - 1, width

    def _term(self, term: Term) -> int:
        """Its bits."""
        _, bits = self.form(term.value)
        high = max(term.value.range(self.ranges)[1], 0)
        width = bits_of_range(term_range(Term(term.value, 1, term.divisor, term.modulus), self.ranges))
        if term.divisor == 1 and not term.modulus:
            return bits
        if self._is_new(("term", term.value, term.divisor, term.modulus)):
            self.lut += self._quotient(term.value, term.divisor, high)
            if term.modulus and high // term.divisor >= term.modulus and term.modulus & (term.modulus - 1):
                divided: object = term.value if term.divisor == 1 else (term.value, term.divisor)
                self.lut += self._quotient(divided, term.modulus, high // term.divisor)
                self.lut += len(digits(term.modulus)) * (term.modulus - 1).bit_length()
        return width

    def _quotient(self, key: object, divisor: int, largest: int) -> int:
        """A division and the remainder of it have one quotient."""
        if divisor & (divisor - 1) == 0 or largest < divisor:
            return 0
        if not self._is_new(("quotient", key, divisor)):
            return 0
        factor, _ = reciprocal(divisor, largest)
        bits = largest.bit_length()
        return total([(position, position + bits) for _, position in digits(factor)])

    def _is_new(self, key: object) -> bool:
        new = key not in self._known
        self._known.add(key)
        return new
