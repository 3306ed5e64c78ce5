"""A tile of an array, and C for the places of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class View:
    """A tile of the array `base`; `offset` is C. Sizes, strides and the offset are in elements."""

    base: str
    offset: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    element: str  # its type in C

    @property
    def words(self) -> int:
        """Each element is one."""
        return prod(self.sizes)

    def at(self, places: Sequence[str]) -> str:
        return f"{self.base}[{total([self.offset, *map(times, places, self.strides)])}]"


def whole(base: str, sizes: tuple[int, ...], element: str) -> View:
    return View(base, "0", sizes, tuple(dense(sizes)), element)


def dense(sizes: Sequence[int]) -> Iterator[int]:
    """Strides of a row-major array of these sizes."""
    return (prod(sizes[dim + 1 :]) for dim in range(len(sizes)))


def times(place: str, stride: int) -> str:
    return place if stride == 1 else "0" if place == "0" else f"{place} * {stride}"


def total(terms: Sequence[str]) -> str:
    return " + ".join(term for term in terms if term != "0") or "0"
