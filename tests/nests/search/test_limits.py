from __future__ import annotations

from dataclasses import astuple

import pytest

from axiloom.base.errors import UsageError
from axiloom.boards.synthesis import resources
from axiloom.nests.search import Limits
from axiloom.nests.search.limits import PARTS


def test_parts_are_those_of_synthesis() -> None:
    for name, part in PARTS.items():
        assert astuple(part) == astuple(getattr(resources, name.upper()))


def test_a_budget_takes_the_place_of_the_parts_limits() -> None:
    limits = Limits.of("xc7z020", "dsp=140,lut=25000", 32)
    assert astuple(limits.amount) == (140, 25_000, 95_760, 140)
    assert limits.lanes == 32


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="no part 'xc7'; there are xc7z010"):
        Limits.of("xc7")
    with pytest.raises(UsageError, match="budget 'dps=3': write NAME=NUMBER, with a name of dsp, lut, ff"):
        Limits.of("xc7z020", "dps=3")
