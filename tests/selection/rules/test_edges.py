"""Rules that are false at one number alone are refuted with it."""

from __future__ import annotations

import pytest

from axiloom.selection.rules.prove.search import search
from axiloom.selection.rules.text import parse

RULE = """
@exact
def rule(x: (n,)):
    old = {old}
    new = {new}
"""
ONE = "splat(shape=shape(x), number=number_of(x), value=numeral(number_of(x), {}))"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f"maximum(x, {ONE.format(-127)})", "x", "left -127, right -128"),
        ("divide(x, x)", ONE.format(1), "left"),
        (f"multiply(x, {ONE.format(0)})", ONE.format(0), "left"),
    ],
)
def test_refuted(old: str, new: str, said: str) -> None:
    (rule,) = parse(RULE.format(old=old, new=new), "edges.rules")
    found = search(rule, float("inf")).counterexample
    assert found is not None
    assert said in found.line
