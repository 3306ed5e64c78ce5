"""Counted as isl counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.base.affine import Affine
from axiloom.nests.poly import counting
from axiloom.nests.poly.sets import domain

NAMES = ("i", "j", "k")
FORMS = st.builds(
    lambda a, b, c, constant: Affine.sum(dict(zip(NAMES, (a, b, c), strict=True)), constant),
    *[st.integers(-2, 2)] * 3,
    st.integers(-4, 9),
)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that groups are counted value by value."""
    monkeypatch.setattr(counting, "VISITED", 0)
    counting._count.cache_clear()


@settings(max_examples=60, deadline=None)
@given(st.lists(FORMS, max_size=4), st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_as_isl_does(forms: list[Affine], sizes: list[int]) -> None:
    box = [
        form
        for name, size in zip(NAMES, sizes, strict=True)
        for form in (Affine.name(name), Affine.sum({name: -1}, size))
    ]
    expected = domain(NAMES, (*box, *forms)).count_val().to_python()
    assert counting.count(NAMES, [*box, *forms]) == expected


def test_boxes_are_not_visited() -> None:
    box = [form for name in NAMES for form in (Affine.name(name), Affine.sum({name: -1}, 10**6 - 1))]
    assert counting.count(NAMES, box) == 10**18
