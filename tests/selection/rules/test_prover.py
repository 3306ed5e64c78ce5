"""The prover proves no mutant, also without the search for a counter-example."""

from __future__ import annotations

import time

import pytest
from tests.selection.rules.test_mutants import MUTANTS, _source
from tests.some import some

from axiloom.selection.rules.prove.proof import prove
from axiloom.selection.rules.text import parse


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "old", "new"), some(MUTANTS, 2), ids=[f"{i}_{one[0]}" for i, one in enumerate(MUTANTS)]
)
def test_not_proved(name: str, old: str, new: str) -> None:
    text, place = _source(name)
    head, _, tail = text.rpartition(old)
    assert not prove(parse(head + new + tail, place)[0], time.monotonic() + 10).proved


FALSE = """
@exact
def sums_of_narrow_floats(x: (m, k, n)):
    "The inner sum is rounded once more."
    assert number_of(x) == "bfloat16"
    old = reduce(x, kind="add", dimensions=(1, 2))
    new = reduce(reduce(x, kind="add", dimensions=(2,)), kind="add", dimensions=(1,))


@reals
def exact_sums(x: (m, k), number: ("float32",)):
    old = reduce(add(x, x), kind="add", dimensions=(1,))
    new = reduce(x, kind="add", dimensions=(1,))


@exact
def one_more(x: (m, n)):
    old = slice(x, start=(0, 0), limit=(m, n), strides=(2, 1))
    new = x


@integers
def forgotten_last(x: (m, n), number: ("int32",)):
    assert n > 1
    old = reduce(x, kind="add", dimensions=(1,))
    new = reduce(slice(x, start=(0, 0), limit=(m, n - 1), strides=(1, 1)), kind="add", dimensions=(1,))


@integers
def another_column(x: (m, n), number: ("int32",)):
    "A fold over what is nothing but at one index, which is not in the fold for the last row."
    rows = iota(shape=(n, n), number="int64", dimension=0)
    one = splat(shape=(n, n), number="int64", value="1")
    columns = add(iota(shape=(n, n), number="int64", dimension=1), one)
    eye = convert(compare(rows, columns, direction="EQ"), number=number)
    old = dense(x, eye, number=number)
    new = x


@exact
def wrapped_index(x: (m, n)):
    "An iota of int8 does not tell 0 from 256."
    rows = iota(shape=(300, 300), number="int8", dimension=0)
    columns = iota(shape=(300, 300), number="int8", dimension=1)
    rows_ = iota(shape=(300, 300), number="int64", dimension=0)
    columns_ = iota(shape=(300, 300), number="int64", dimension=1)
    old = select(compare(rows, columns, direction="EQ"), x, x)
    new = select(compare(rows_, columns_, direction="EQ"), x, x)
"""


@pytest.mark.parametrize("rule", parse(FALSE, "false.rules"), ids=lambda one: one.name)
def test_false_rules_are_not_proved(rule: object) -> None:
    assert not prove(rule, time.monotonic() + 10).proved  # type: ignore[arg-type]
