"""Random applications: what they are made of, and that PyTorch computes what `evaluate` computes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.graph.graphs import FEWEST, MOST, inputs_of, random_graph
from tests.graph.text import text_of

from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number

pytest.importorskip("torch")
from tests.graph import torch_reference

SEEDS = range(200)
_ERRORS = {"bfloat16": 0.06, "float32": 1e-4}
"""Of the largest number of a result: sums are rounded in another order, and differences of them remain."""


@pytest.mark.every(32)
@pytest.mark.parametrize("seed", SEEDS)
def test_two_ways(seed: int) -> None:
    graph = random_graph(seed)
    inputs = inputs_of(graph, seed)
    found = evaluate(graph, inputs)
    for one, wanted, node in zip(found, torch_reference.compute(graph, inputs), graph.results, strict=True):
        of = number(node.type.number)
        values = of.decode(one)
        if of.kind == "integer":
            np.testing.assert_array_equal(values, wanted)
            continue
        assert np.isfinite(values).all()
        largest = float(np.abs(wanted).max(initial=1e-3))
        np.testing.assert_allclose(values, wanted, rtol=0, atol=_ERRORS[of.name] * largest)


def test_graphs_are_what_they_promise() -> None:
    graphs = [random_graph(seed) for seed in SEEDS]
    sizes = [sum(1 for _ in one.nodes()) for one in graphs]
    assert min(sizes) == FEWEST
    assert max(sizes) <= MOST
    assert max(sizes) > 80
    ops = Counter(node.op for one in graphs for node in one.nodes())
    wanted = (
        "dot_general dense add transpose softmax relu exponential reduce slice concatenate broadcast_in_dim"
    )
    assert all(ops[name] >= 100 for name in wanted.split())
    numbers = Counter(one.parameters[0].type.number for one in graphs)
    assert set(numbers) == {"int8", "int32", "bfloat16", "float32"}
    assert min(numbers.values()) > 30


def test_a_seed_gives_the_same_graph() -> None:
    assert text_of(random_graph(7)) == text_of(random_graph(7))
    assert text_of(random_graph(7)) != text_of(random_graph(8))
