"""Cases of which the default run takes some: the others are marked slow.

``@pytest.mark.every(n)`` above a test: of its cases, whatever they are made of, the default run takes each
`n`-th. :func:`some` does so with one of several lists of parameters. Where tests simulate or prove it takes
at most :data:`MOST` cases of any test (:func:`cap`), and of a property's examples a third (:func:`thin`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """Each `every`-th of `cases`, from the first on, is in the default run. With a prime that divides no
    number of neighbours, all kinds come."""
    found = []
    for at, case in enumerate(cases):
        found.append(case if at % every == 0 else _marked(case))
    return found


def mark(items: Iterable[pytest.Item]) -> None:
    """Marks those slow that ``every`` leaves to ``make test-all``."""
    seen: Counter[str] = Counter()
    for item in items:
        every = item.get_closest_marker("every")
        if every is None or item.get_closest_marker("slow") is not None:
            continue
        (n,) = every.args
        function = item.nodeid.partition("[")[0]
        if seen[function] % n:
            item.add_marker(pytest.mark.slow)
        seen[function] += 1


_SETTINGS = "_hypothesis_internal_use_settings"
_PART = 3


def thin(items: Iterable[pytest.Item]) -> None:
    """Of each property's examples leaves a third, and two at least."""
    for item in items:
        function = getattr(item, "function", None)
        if isinstance(chosen := getattr(function, _SETTINGS, None), settings) and not hasattr(
            function, "thin"
        ):
            few = max(2, chosen.max_examples // _PART)
            setattr(function, _SETTINGS, settings(chosen, max_examples=min(few, chosen.max_examples)))
            setattr(function, "thin", True)  # noqa: B010 (a function has no such attribute for mypy)


ROOMS = ("hw", "drivergen", "nests", "nest", "cosim", "prove", "system", "accelerators", "selection", "run")
"""Of tests: there a case takes tenths of a second, elsewhere thousandths."""
MOST = 4


def cap(items: Iterable[pytest.Item]) -> None:
    """Of the cases of each test in `ROOMS` leaves `MOST`, spread evenly, and marks the others slow."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        function, _, case = item.nodeid.partition("[")
        if case and function.startswith(tuple(f"tests/{room}/" for room in ROOMS)) and _is_quick(item):
            cases.setdefault(function, []).append(item)
    for alike in cases.values():
        for at, item in enumerate(alike):
            if at * MOST // len(alike) == (at - 1) * MOST // len(alike):
                item.add_marker(pytest.mark.slow)


def _is_quick(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is None


def _marked(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return case._replace(marks=[*case.marks, pytest.mark.slow])
    return slow(*case) if isinstance(case, tuple) else slow(case)


def slow(*values: Any) -> Any:
    """A case of `make test-all` alone."""
    return pytest.param(*values, marks=pytest.mark.slow)
