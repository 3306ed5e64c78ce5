"""Saturation keeps the meaning: what is extracted computes the same, by any costs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.graph.graphs import inputs_of, random_graph

from axiloom.graph import Graph, Type
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder
from axiloom.selection.egraph import ENode, Limits, SaturationError, extract, saturate
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText

LIMITS = Limits(nodes=3000, iterations=6, seconds=20)
_ERRORS = {"bfloat16": 0.1, "float32": 1e-3}


def _costs(seed: int):  # type: ignore[no-untyped-def]
    """Costs that have nothing to do with anything: rare ways are taken."""

    def cost(node: ENode, operands: object, result: object) -> int:
        return random.Random(f"{seed} {node}").randint(0, 1000) + (1000 if not node.rule else 0)

    return cost


@pytest.mark.every(9)
@pytest.mark.parametrize("seed", range(0, 200, 7))
def test_the_same_results(seed: int) -> None:
    graph = random_graph(seed)
    saturated = saturate(graph, library.ours(), LIMITS, unproved=True)
    found = extract(saturated, _costs(seed), seconds=0)
    inputs = inputs_of(graph, seed)
    for one, other, node in zip(
        evaluate(graph, inputs), evaluate(found.graph, inputs), graph.results, strict=True
    ):
        of = number(node.type.number)
        a, b = of.decode(one), of.decode(other)
        if of.kind == "integer":
            np.testing.assert_array_equal(a, b)
        else:
            largest = float(np.abs(a).max(initial=1e-3))
            np.testing.assert_allclose(a, b, rtol=0, atol=_ERRORS[of.name] * largest)
    assert sum(bool(one.rule) for one in found.chosen.values()) > 0


def _add() -> Graph:
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((2, 3), "int32"))
    return Graph("g", (x,), (builder.op("transpose", builder.op("add", x, x), permutation=(1, 0)),))


def test_a_pool_of_images_becomes_maxima_of_rows() -> None:
    """2 x 2 and 4 x 2, columns first, each in steps of two: what an accelerator with a maximum has."""
    for window in ((1, 2, 2, 1), (1, 4, 2, 1)):
        builder = Builder()
        x = builder.leaf("parameter", "x", Type((1, 8, 8, 16), "int8"))
        given = {"window": window, "strides": window, "padding": (0,) * 8, "dilation": (1,) * 4}
        graph = Graph("g", (x,), (builder.op("reduce_window", x, kind="max", **given),))
        saturated = saturate(graph, library.ours(), LIMITS, unproved=True)

        def cost(node: ENode, operands: object, result: object) -> int:
            return 1000 if node.op in ("reduce_window", "reduce") else 1

        found = extract(saturated, cost, seconds=0).graph
        ops = {node.op for node in found.nodes()}
        assert "maximum" in ops
        assert not ops & {"reduce_window", "reduce"}
        inputs = inputs_of(graph, 1)
        np.testing.assert_array_equal(evaluate(graph, inputs)[0], evaluate(found, inputs)[0])


def test_contradictory_rules_stop_it() -> None:
    text = RuleText(
        "wrong.rules",
        "@exact\ndef wrong(x: (m, n)):\n    old = transpose(x, permutation=(1, 0))\n    new = x\n",
    )
    with pytest.raises(SaturationError, match=r"rule wrong .*joins 3x2xint32 and 2x3xint32|joins 2x3"):
        saturate(_add(), [text], unproved=True)


def test_no_rank_beyond_the_proof() -> None:
    """A rule about any shape is proved to rank 4, and matches no more."""
    builder = Builder()
    made = {}
    for rank in (4, 5):
        x = builder.leaf("parameter", f"x{rank}", Type((2,) * rank, "int32"))
        graph = Graph("g", (x,), (builder.op("add", x, builder.op("negate", x)),))
        found = saturate(
            graph, [one for one in library.ours() if one.place == "arithmetic.rules"], unproved=True
        )
        made[rank] = found.applied.get("add_turned", 0)
    assert made[4] > 0
    assert made[5] == 0


@pytest.mark.parametrize(("size", "matches"), [(2, 1), (4, 1), (3, 0)])
def test_no_size_beyond_the_proof(size: int, matches: int) -> None:
    """A rule that is proved for some sizes alone matches those."""
    text = "@exact\n@sizes(m=(2, 4))\ndef some(x: (m,)):\n    old = add(x, x)\n    new = multiply(x, x)\n"
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((size,), "int32"))
    graph = Graph("g", (x,), (builder.op("add", x, x),))
    rules = [RuleText("some.rules", text, None, frozenset({"some"}))]
    assert saturate(graph, rules, unproved=True).applied.get("some", 0) == matches
