"""Orders that learn: right addresses, at the live peak where quick ways find none, and none that overlap."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.selection.allocate.lives import Life, beside, live_peak
from axiloom.selection.allocate.place import place
from axiloom.selection.allocate.repaired import fullest, repaired


def right(lives: list[Life], found: list[int], capacity: int) -> bool:
    for one, at in zip(lives, found, strict=True):
        if at < 0 or at + one.units > capacity or at % one.align or (one.at is not None and at != one.at):
            return False
    return not any(
        a.start < b.end and b.start < a.end and x < y + b.units and y < x + a.units
        for (a, x), (b, y) in combinations(list(zip(lives, found, strict=True)), 2)
    )


def many(seed: int, count: int = 200) -> list[Life]:
    """Of many sizes at once, as `benchmarks.instructions.allocation` draws them."""
    rng = random.Random(seed)
    return [
        Life(start := rng.randrange(count), start + rng.randrange(1, 40), rng.randrange(1, 200))
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_up_to_the_live_peak(seed: int) -> None:
    lives = many(seed)
    peak = live_peak(lives)
    assert (place(lives, peak) is None) == (seed != 1)  # quick ways alone seldom do
    found = repaired(lives, beside(lives), peak)
    assert found is not None
    assert right(lives, found, peak)
    assert repaired(lives, beside(lives), peak - 1, orders=12) is None
    assert place(lives, peak - 1, 60.0) is None  # without a search


@st.composite
def lifetimes(draw: st.DrawFn) -> list[Life]:
    found = []
    for _ in range(draw(st.integers(1, 8))):
        start, align = draw(st.integers(0, 6)), draw(st.sampled_from([1, 2, 4]))
        at = draw(st.none() | st.integers(0, 2))
        units = draw(st.integers(1, 5))
        found.append(
            Life(start, start + draw(st.integers(1, 4)), units, align, None if at is None else at * align)
        )
    return found


@given(lives=lifetimes(), more=st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_what_is_found_is_right(lives: list[Life], more: int) -> None:
    capacity = live_peak(lives) + more
    found = repaired(lives, beside(lives), capacity, orders=12)
    assert found is None or right(lives, found, capacity)


@given(lives=lifetimes())
@settings(max_examples=60, deadline=None)
def test_who_is_beside_whom(lives: list[Life]) -> None:
    for number, others in enumerate(beside(lives)):
        one = lives[number]
        assert sorted(others) == [
            i for i, other in enumerate(lives)
            if i != number and other.start < one.end and one.start < other.end
        ]  # fmt: skip
        rows = [sum(o.units for o in lives if o.start <= t < o.end) for t in range(one.start, one.end)]
        assert fullest(lives)[number] == max(rows)
