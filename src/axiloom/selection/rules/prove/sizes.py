"""`Size`: an integer in a proof: a polynomial over unknowns, so that equal ones are equal as they stand.

Quotients and remainders are taken apart where the divisor divides a part and the rest is known to be smaller;
else they are unknowns of their own, with what is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from axiloom.base.affine import polynomial
from axiloom.graph.graph import Unknown

Product: TypeAlias = polynomial.Monomial[str]
"""Of unknowns, by their names."""


class Reckons(Protocol):
    """What knows of unknowns: `prove.context.Context`."""

    def compared(self, value: Any, form: str) -> Any: ...
    def divided(self, value: Any, by: Any) -> tuple[Any, Any]: ...


@dataclass(frozen=True, eq=False)
class Size(Unknown):
    """`parts` has no zero, and more than the empty monomial: an integer is a Python integer."""

    context: Reckons
    parts: tuple[tuple[Product, int], ...]

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        def term(names: Product, factor: int) -> str:
            text = "*".join(names)
            return str(factor) if not names else (text if factor == 1 else f"{factor}*{text}")

        return " + ".join(term(*part) for part in self.parts).replace("+ -", "- ")

    __repr__ = __str__

    @cached_property
    def unknowns(self) -> frozenset[str]:
        return frozenset(name for names, _ in self.parts for name in names)

    def __add__(self, other: Any) -> Any:
        return _sum(self, other, 1) if _is(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, -1) if _is(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return _sum(-self, other, 1) if _is(other) else NotImplemented

    def __neg__(self) -> Any:
        return sized(self.context, {names: -factor for names, factor in self.parts})

    def __mul__(self, other: Any) -> Any:
        if not _is(other):
            return NotImplemented
        return sized(self.context, polynomial.times(self.parts, parts_of(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self.context.divided(self, other)[0]

    def __mod__(self, other: Any) -> Any:
        return self.context.divided(self, other)[1]

    def __rfloordiv__(self, other: int) -> Any:
        return self.context.divided(other, self)[0]

    def __rmod__(self, other: int) -> Any:
        return self.context.divided(other, self)[1]

    def __ge__(self, other: Any) -> Any:
        return self.context.compared(self - other, ">=")

    def __le__(self, other: Any) -> Any:
        return self.context.compared(other - self, ">=")

    def __gt__(self, other: Any) -> Any:
        return self.context.compared(self - other - 1, ">=")

    def __lt__(self, other: Any) -> Any:
        return self.context.compared(other - self - 1, ">=")

    def __eq__(self, other: object) -> Any:
        if not _is(other) or (isinstance(other, Size) and other.context is not self.context):
            return False  # another proof's: caches of types are shared
        return self.context.compared(self - other, "==")

    def __ne__(self, other: object) -> Any:
        return self.context.compared(self - other, "==").opposite() if _is(other) else True


def _is(value: object) -> bool:
    return isinstance(value, (Size, int)) and not isinstance(value, bool)


def parts_of(value: Any) -> tuple[tuple[Product, int], ...]:
    return value.parts if isinstance(value, Size) else ((((), value),) if value else ())


def sized(context: Reckons, factors: Mapping[Product, int]) -> Any:
    """The polynomial; a Python integer if it is one."""
    parts = tuple(sorted((names, factor) for names, factor in factors.items() if factor))
    if not parts:
        return 0
    return parts[0][1] if parts[0][0] == () and len(parts) == 1 else Size(context, parts)


def _sum(a: Size, b: Any, sign: int) -> Any:
    return sized(a.context, polynomial.total((a.parts, 1), (parts_of(b), sign)))


def replaced(value: Any, of: Callable[[str], Any]) -> Any:
    """The polynomial with other values for its unknowns."""
    if not isinstance(value, Size):
        return value
    result: Any = 0
    for names, factor in value.parts:
        part: Any = factor
        for name in names:
            part = part * of(name)
        result = result + part
    return result
