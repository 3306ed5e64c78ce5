"""Affine forms against plain dictionaries, and against numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from axiloom.base.affine import Affine

NAMES = "abc"
numbers = st.integers(-3, 3)
forms = st.builds(Affine.sum, st.lists(st.tuples(st.sampled_from(NAMES), numbers), max_size=4), numbers)


def spelled(coefficients: dict[str, int], constant: int) -> Affine:
    """The one spelling: terms sorted, none of them zero."""
    return Affine(tuple(sorted((name, x) for name, x in coefficients.items() if x)), constant)


@given(forms, forms, numbers)
def test_sums_and_multiples_have_one_spelling(one: Affine, other: Affine, factor: int) -> None:
    def combined(sign: int) -> Affine:
        parts = {name: one.coefficient(name) + sign * other.coefficient(name) for name in NAMES}
        return spelled(parts, one.constant + sign * other.constant)

    assert one + other == combined(1)
    assert one - other == combined(-1)
    multiple = {name: factor * one.coefficient(name) for name in NAMES}
    assert one * factor == factor * one == spelled(multiple, factor * one.constant)


@given(forms, forms, st.tuples(numbers, numbers, numbers))
def test_values(one: Affine, other: Affine, at: tuple[int, int, int]) -> None:
    values = dict(zip(NAMES, at, strict=True))
    assert (one - other).value(values) == one.value(values) - other.value(values)
    assert (one + 5 - one * 2).value(values) == 5 - one.value(values)
