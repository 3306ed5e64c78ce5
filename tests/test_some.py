"""Which cases the default run takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.some import MOST, some, thin

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from tests import some

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    some.mark(items)
    some.cap(items)
"""
MANY = """
import pytest

@pytest.mark.parametrize("a", range(10))
def test_many(a): ...

@pytest.mark.parametrize("a", range(3))
def test_few(a): ...
"""
CASES = """
import pytest

@pytest.mark.every(3)
@pytest.mark.parametrize("b", "xy")
@pytest.mark.parametrize("a", [pytest.param(0, marks=pytest.mark.slow), 1, 2, 3])
def test_grid(a, b): ...

def test_alone(): ...
"""


def test_the_default_run_takes_each_third_case_and_all_without_a_mark(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers = slow\n    every\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(CASES)
    result = pytester.runpytest_inprocess("--collect-only", "-q", "-m", "not slow")
    taken = [line.partition("::")[2] for line in result.outlines if "::" in line]
    assert taken == ["test_grid[1-x]", "test_grid[2-y]", "test_alone"]
    result = pytester.runpytest_inprocess("--collect-only", "-q")
    assert sum("::" in line for line in result.outlines) == 9


@pytest.mark.parametrize(("room", "taken"), [("hw", [0, 3, 5, 8, 0, 1, 2]), ("cli", [*range(10), 0, 1, 2])])
def test_of_cases_that_simulate_the_default_run_takes_a_few(
    room: str, taken: list[int], pytester: pytest.Pytester
) -> None:
    assert MOST == 4
    pytester.makeini("[pytest]\nmarkers = slow\n    every\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**{f"tests/{room}/test_cases": MANY})
    result = pytester.runpytest_inprocess("--collect-only", "-q", "-m", "not slow", "--import-mode=importlib")
    lines = [line.partition("[")[2] for line in result.outlines if "::" in line]
    assert [int(line.rstrip("]")) for line in lines] == taken


def test_parameters_are_marked_too() -> None:
    kept, slow, again = some([1, (2, 3), 4], 2)
    assert (kept, again) == (1, 4)
    assert slow.values == (2, 3)
    assert [mark.name for mark in slow.marks] == ["slow"]


def test_a_property_has_a_third_of_its_examples(request: pytest.FixtureRequest) -> None:
    tried: list[int] = []

    @settings(max_examples=60, database=None)
    @given(st.integers())
    def holds(number: int) -> None:
        tried.append(number)

    item = pytest.Function.from_parent(request.node.parent, name="holds", callobj=holds)
    thin([item, item])  # a case is an item, the function the same
    holds()
    assert len(tried) == 20
