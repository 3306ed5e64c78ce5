"""Values of elements as terms: a function's name and its arguments, equal terms once.

Two programs whose elements are the same terms compute the same bits, whatever the functions are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Term: TypeAlias = int
"""Its number among the terms of one `Terms`."""
Key: TypeAlias = tuple[Any, ...]


@dataclass
class Terms:
    """`keys[t]` is (name, arguments ...) of term t; arguments are terms, or what a leaf says."""

    keys: list[Key] = field(default_factory=list)
    known: dict[Key, Term] = field(default_factory=dict)

    def make(self, *key: Any) -> Term:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.keys)
            self.keys.append(key)
        return found

    def const(self, value: int) -> Term:
        return self.make("const", value)

    def value(self, term: Term) -> int | None:
        """Of a constant."""
        key = self.keys[term]
        return key[1] if key[0] == "const" else None

    def bits(self, term: Term, low: int, width: int, whole: int) -> Term:
        """`width` bits from `low` on of a term that has `whole`."""
        if (known := self.value(term)) is not None:
            return self.const(known >> low & ((1 << width) - 1))
        if low == 0 and width == whole:
            return term
        return self.make("bits", term, low, width, whole)

    def cat(self, parts: list[tuple[Term, int]]) -> Term:
        """Terms with their bits, the first lowest; pieces of one term that are all of it are that term."""
        first = self.keys[parts[0][0]]
        if first[0] == "bits":
            at = 0
            for one, width in parts:
                key = self.keys[one]
                if key[0] != "bits" or key[1] != first[1] or key[2] != at or key[3] != width:
                    break
                at += width
            else:
                if at == first[4]:
                    return int(first[1])
        return self.make("cat", *(item for part in parts for item in part))
