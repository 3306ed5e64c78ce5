"""Parameters of which the default run takes some: the others are marked slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """Each `every`-th of `cases`, from the first on, is in the default run. With a prime that divides no
    number of neighbours, all kinds come."""
    found = []
    for at, case in enumerate(cases):
        found.append(case if at % every == 0 else _marked(case))
    return found


def _marked(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return case._replace(marks=[*case.marks, pytest.mark.slow])
    return slow(*case) if isinstance(case, tuple) else slow(case)


def slow(*values: Any) -> Any:
    """A case of `make test-all` alone."""
    return pytest.param(*values, marks=pytest.mark.slow)
