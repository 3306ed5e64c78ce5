"""Values of elements as terms: a function's name and its arguments, equal terms once.

Two programs whose elements are the same terms compute the same bits, whatever the functions are. Functions of
integers are known: sums and products are in one order, and what wraps once at the end need not wrap before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from axiloom.isa.instructions.tree import Range

Term: TypeAlias = int
"""Its number among the terms of one `Terms`."""
Key: TypeAlias = tuple[Any, ...]


@dataclass
class Terms:
    """`keys[t]` is (name, arguments ...) of term t; arguments are terms, or what a leaf says. A term is a
    number in `ranges[t]`, if that is known."""

    keys: list[Key] = field(default_factory=list)
    known: dict[Key, Term] = field(default_factory=dict)
    ranges: dict[Term, Range] = field(default_factory=dict)

    def make(self, *key: Any) -> Term:
        term = self.known.get(key)
        if term is None:
            term = self.known[key] = len(self.keys)
            self.keys.append(key)
        return term

    def ranged(self, kind: Range, *key: Any) -> Term:
        term = self.make(*key)
        self.ranges.setdefault(term, kind)
        return term

    def const(self, value: int) -> Term:
        return self.ranged(Range(value, value), "const", value)

    def value(self, term: Term) -> int | None:
        """Of a constant."""
        key = self.keys[term]
        return key[1] if key[0] == "const" else None

    def said(self, term: Term, most: int = 160) -> str:
        """For people: cut off where it is long."""
        key = self.keys[term]
        if key[0] == "read":
            text = f"{key[1]}[{key[2] or 0}:]({', '.join(map(str, key[3]))})"
        elif key[0] == "const":
            text = str(key[1])
        else:
            name, arguments = (key[1], key[2:]) if key[0] == "call" else (key[0], key[1:])
            terms = (
                arguments[:1]
                if key[0] in ("wrap", "bits")
                else arguments[::2]
                if key[0] == "cat"
                else arguments
            )
            inner = [self.said(term, most // 2) for term in terms[:3]]
            text = f"{name}({', '.join([*inner, *(['...'] if len(terms) > 3 else [])])})"
        return text if len(text) <= most else f"{text[: most - 3]}..."

    # --- bits ---------------------------------------------------------------------------------------------

    def bits(self, term: Term, low: int, width: int, whole: int) -> Term:
        """`width` bits from `low` on of a term that has `whole`, as an unsigned number."""
        if (known := self.value(term)) is not None:
            return self.const(known >> low & ((1 << width) - 1))
        key = self.keys[term]
        if key[0] == "wrap" and _modulus(key) >= 1 << low + width:
            return self.bits(key[1], low, width, max(low + width, self._width(key[1], whole)))
        if low == 0 and width == whole:
            return self.wrap(term, 0, (1 << width) - 1)
        return self.ranged(Range(0, (1 << width) - 1), "bits", term, low, width, whole)

    def _width(self, term: Term, otherwise: int) -> int:
        return self.ranges[term].bits if term in self.ranges else otherwise

    def cat(self, parts: list[tuple[Term, int]]) -> Term:
        """Terms with their bits, the first lowest; pieces that are all of one term are its bits."""
        if len(parts) == 1:
            return self.wrap(parts[0][0], 0, (1 << parts[0][1]) - 1)
        first = self.keys[parts[0][0]]
        if first[0] == "bits":
            at = 0
            for piece, width in parts:
                key = self.keys[piece]
                if key[0] != "bits" or key[1] != first[1] or key[2] != at or key[3] != width:
                    break
                at += width
            else:
                if at == first[4]:
                    return self.wrap(int(first[1]), 0, (1 << at) - 1)
        many = sum(width for _, width in parts)
        return self.ranged(Range(0, (1 << many) - 1), "cat", *(item for part in parts for item in part))

    def wrap(self, term: Term, low: int, high: int) -> Term:
        """The number in that range that has the term's low bits."""
        kind, modulus = Range(low, high), high - low + 1
        if (known := self.value(term)) is not None:
            return self.const(low + (known - low) % modulus)
        term = self._unwrapped(term, modulus)
        if term in self.ranges and kind.holds(self.ranges[term]):
            return term
        return self.ranged(kind, "wrap", term, low, high)

    def _unwrapped(self, term: Term, modulus: int) -> Term:
        """The same but for multiples of `modulus`, which is a power of two."""
        key = self.keys[term]
        if key[0] == "wrap" and _modulus(key) % modulus == 0:
            return self._unwrapped(key[1], modulus)
        if key[0] in ("add", "sub", "mul", "neg"):
            return self.integer(key[0], [self._unwrapped(argument, modulus) for argument in key[1:]])
        return term

    # --- integers -----------------------------------------------------------------------------------------

    def integer(self, operation: str, arguments: Sequence[Term]) -> Term:
        """Of :data:`axiloom.isa.instructions.tree.OPERATIONS`."""
        if operation == "add":
            flat: list[Term] = []
            total = 0
            for argument in arguments:
                for part in self._flat("add", argument):
                    known = self.value(part)
                    total, flat = (total + known, flat) if known is not None else (total, [*flat, part])
            arguments = sorted([*flat, self.const(total)] if total or not flat else flat)
            if len(arguments) == 1:
                return arguments[0]
        elif operation in ("max", "min"):
            arguments = sorted({part for argument in arguments for part in self._flat(operation, argument)})
            if len(arguments) == 1:
                return arguments[0]
        elif operation == "mul":
            arguments = sorted(arguments)
        ranges = [self.ranges[argument] for argument in arguments if argument in self.ranges]
        kind = _RANGES[operation](ranges) if operation in _RANGES and len(ranges) == len(arguments) else None
        if kind is None:
            return self.make(operation, *arguments)
        return self.const(kind.low) if kind.low == kind.high else self.ranged(kind, operation, *arguments)

    def _flat(self, operation: str, term: Term) -> tuple[Term, ...]:
        key = self.keys[term]
        return key[1:] if key[0] == operation else (term,)

    def choice(self, condition: Term, yes: Term, no: Term) -> Term:
        """The larger or the smaller of two, where it is that."""
        key = self.keys[condition]
        if key[0] in ("lt", "le"):
            if key[1:] == (no, yes):
                return self.integer("max", [yes, no])
            if key[1:] == (yes, no):
                return self.integer("min", [yes, no])
        kinds = [self.ranges.get(term) for term in (yes, no)]
        if kinds[0] is None or kinds[1] is None:
            return self.make("choice", condition, yes, no)
        return self.ranged(kinds[0].joined(kinds[1]), "choice", condition, yes, no)


def _modulus(key: Key) -> int:
    return int(key[3] - key[2] + 1)


def _corners(ranges: Sequence[Range]) -> Range:
    products = [1]
    for factor in ranges:
        products = [a * b for a in (min(products), max(products)) for b in (factor.low, factor.high)]
    return Range(min(products), max(products))


_RANGES: Mapping[str, Callable[[Sequence[Range]], Range]] = {
    "add": lambda ranges: Range(sum(range_.low for range_ in ranges), sum(range_.high for range_ in ranges)),
    "sub": lambda ranges: Range(ranges[0].low - ranges[1].high, ranges[0].high - ranges[1].low),
    "neg": lambda ranges: Range(-ranges[0].high, -ranges[0].low),
    "mul": _corners,
    "max": lambda ranges: Range(max(range_.low for range_ in ranges), max(range_.high for range_ in ranges)),
    "min": lambda ranges: Range(min(range_.low for range_ in ranges), min(range_.high for range_ in ranges)),
}
