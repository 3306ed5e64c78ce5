"""Values by cases, as isl writes them, against isl's own values."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest
from tests.nests.affine.test_schedules import compare
from xdsl.ir.affine import AffineExpr

from axiloom.nests.affine import syntax
from axiloom.nests.affine.cases import Cases, Choice, Condition, negated

VALUES = {"x": AffineExpr.dimension(0), "y": AffineExpr.dimension(1)}
POINTS = [*product(range(-4, 5), repeat=2)]


def holds(condition: Condition, at: tuple[int, int]) -> bool:
    def passes(guard: syntax.Guard) -> bool:
        value = guard.value.eval(at, ())
        return value == 0 if guard.equal else value >= 0

    return any(all(passes(each) for each in part) for part in condition)


def value(cases: Cases[AffineExpr], at: tuple[int, int]) -> int:
    if not isinstance(cases, Choice):
        return cases.eval(at, ())
    return value(cases.then if holds(cases.condition, at) else cases.other, at)


def expression(function: isl.PwAff) -> isl.AstExpr:
    return isl.AstBuild.from_context(isl.Set("{ [x, y] }")).expr_from_pw_aff(function)


@pytest.mark.parametrize(
    "text",
    [
        "{ [x, y] -> [0] : x <= 1; [x, y] -> [1] : x >= 2 }",
        "{ [x, y] -> [x] : x >= y; [x, y] -> [y] : x < y }",
        "{ [x, y] -> [2*x + 1] : x = y; [x, y] -> [x - y] : x < y; [x, y] -> [-3] : x > y }",
        "{ [x, y] -> [y] : x < 0 or (y > 0 and x > 1); [x, y] -> [x+y] : 0 <= x <= 1 or (x > 1 and y < 1) }",
    ],
)
def test_values_by_cases(text: str) -> None:
    function = isl.PwAff(text)
    made = syntax.form(expression(function), VALUES)
    assert isinstance(made, Choice)
    for x, y in POINTS:
        expected = function.eval(isl.Set(f"{{ [{x}, {y}] }}").sample_point())
        assert value(made, (x, y)) == expected.to_python(), (x, y)


@pytest.mark.parametrize("operation", ["min", "max"])
def test_least_and_largest(operation: str) -> None:
    left = isl.PwAff("{ [x, y] -> [x] }")
    function = getattr(left, operation)(isl.PwAff("{ [x, y] -> [y - 1] }"))
    made = syntax.form(expression(function), VALUES)
    pick = {"min": min, "max": max}[operation]
    assert all(value(made, (a, b)) == pick(a, b - 1) for a, b in POINTS)


def test_conditions_with_cases_in_them() -> None:
    """A comparison of a value by cases, and what fails where it holds."""
    chosen = expression(isl.PwAff("{ [x, y] -> [y] : x <= 1; [x, y] -> [3 - y] : x >= 2 }"))
    condition = syntax.guards(chosen.ge(expression(isl.PwAff("{ [x, y] -> [2] }"))), VALUES)
    equal = syntax.guards(chosen.eq(expression(isl.PwAff("{ [x, y] -> [2] }"))), VALUES)
    for x, y in POINTS:
        meant = y if x <= 1 else 3 - y
        assert holds(condition, (x, y)) == (meant >= 2)
        assert holds(equal, (x, y)) == (meant == 2)
        assert holds(negated(condition), (x, y)) != holds(condition, (x, y))
        assert holds(negated(equal), (x, y)) != holds(equal, (x, y))


def test_a_loop_of_one_value_by_cases() -> None:
    """Seed 200 of the random schedules: ``int t3 = t1 <= 1 ? 0 : 1``, a skewed and tiled triangle."""
    compare(range(200, 201))
