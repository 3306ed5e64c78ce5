"""Places as hardware are places as numbers; no two elements share one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests.lower import BankLayout
from axiloom.nests.lower.banks import layouts
from axiloom.nests.schedule import Cyclic, Hyperplane


@st.composite
def banked(draw: st.DrawFn) -> BankLayout:
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    if draw(st.booleans()):
        banks = draw(st.integers(1, 5))
        last = draw(st.sampled_from([x for x in range(1, 6) if np.gcd(x, banks) == 1]))
        others = [draw(st.integers(0, 4)) for _ in shape[1:]]
        return BankLayout("A", shape, Hyperplane((*others, last), banks))
    factors = tuple(draw(st.integers(1, n)) for n in shape)
    block = frozenset(draw(st.sets(st.integers(0, len(shape) - 1))))
    return BankLayout("A", shape, Cyclic(factors, block), draw(st.integers(1, 2)))


@given(banked(), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_terms_are_indices(layout: BankLayout, step: int) -> None:
    """Subscripts over two counters: one of tiles, one within."""
    names = [(f"o{d}", f"i{d}") for d in range(len(layout.shape))]
    forms = tuple(Affine.name(o) * step + Affine.name(i) for o, i in names)
    ranges = {}
    for (o, i), n in zip(names, layout.shape, strict=True):
        ranges[o], ranges[i] = (0, (n - 1) // step), (0, step - 1)
    bank, address = layout.place(forms, ranges)
    banks, addresses = layout.indices()
    assert len({*zip(banks.flat, addresses.flat, strict=True)}) == np.prod(layout.shape)
    assert banks.max() < layout.banks
    assert addresses.max() < layout.depth
    for element in np.ndindex(layout.shape):
        at = {}
        for (o, i), x in zip(names, element, strict=True):
            at[o], at[i] = x // step, x % step
        assert sum(layouts.value(each, at) for each in bank) == banks[element]
        assert sum(layouts.value(each, at) for each in address) == addresses[element]
    low, high = layouts.bounds(bank, ranges)
    assert low <= banks.min() <= banks.max() <= high


@given(banked())
def test_to_banks_and_back(layout: BankLayout) -> None:
    raw = np.arange(1, 1 + np.prod(layout.shape), dtype=np.uint32).reshape(layout.shape)
    for copy in range(layout.copies):
        np.testing.assert_array_equal(layout.from_banks(layout.to_banks(raw), copy), raw)


def test_a_hyperplane_that_folds_elements_is_refused() -> None:
    with pytest.raises(CompileError, match="common divisor: two elements would share a place"):
        BankLayout("A", (4, 8), Hyperplane((1, 2), 4))


def test_tiles_that_fit_the_banks_are_wired() -> None:
    form = Affine.name("j1") * 16 + 5
    bank, address = BankLayout("B", (3, 64), Cyclic((1, 16))).place((Affine.of(2), form), {"j1": (0, 3)})
    assert layouts.constant(bank) == 5
    assert [str(each.value) for each in address] == ["j1 + 8"]
