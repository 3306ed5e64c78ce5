"""Units of several accelerators in one application, chosen for all operations at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from tests.application.small import Making

from axiloom.application import select as module
from axiloom.application.cycles import of_operator, on_host
from axiloom.application.data import Data, of_arrays
from axiloom.application.select import HOST, Selected, check, lines, select
from axiloom.application.validate import Request, validate
from axiloom.base.errors import MismatchError, UsageError
from axiloom.graph.graph import Graph

pytest.importorskip("egglog")
pytest.importorskip("ortools")
STEPS, BATCH, WIDTH, HIDDEN, WORDS = 4, 3, 32, 32, 64


def model() -> Graph:
    """An LSTM, and a dense layer with a bias behind it."""
    make = Making()
    xs = make.parameter("x", STEPS, BATCH, WIDTH)
    state = make.constant("state", np.zeros((BATCH, HIDDEN)))
    weights = [make.weights(name, 4 * HIDDEN, n) for name, n in (("w_x", WIDTH), ("w_h", HIDDEN))]
    hidden = make.op("lstm", xs, state, state, *weights, make.weights("b", 4 * HIDDEN), place="lstm")
    y = make.op("dense", hidden, make.weights("w", WORDS, HIDDEN), number="float32", place="decoder")
    return make.graph(make.op("bias_add", y, make.weights("c", WORDS), dimension=2, place="decoder.bias"), xs)


def data(graph: Graph) -> Data:
    x = np.random.default_rng(1).standard_normal((STEPS, BATCH, WIDTH)).astype(np.float32)
    return of_arrays({"x": x[None]}, graph, "test")


def where(found: Selected) -> Mapping[str, str]:
    return {one.node.op: one.unit.name for one in found.offloaded.operators}


@pytest.mark.slow
def test_each_operation_goes_to_the_cheapest() -> None:
    graph = model()
    found = select(graph, ["vta", "flexasr.lstm"])
    assert where(found) == {"lstm": "flexasr.lstm", "bias_add": "vta.gemm"}
    assert found.bound == found.cycles
    assert found.cycles < min(found.alone.values()) < found.on_host
    (lstm, decoder) = found.choices
    assert lstm.cycles["flexasr.lstm"] < lstm.cycles[HOST]
    assert "vta.gemm" not in lstm.cycles
    assert decoder.cycles["vta.gemm"] < decoder.cycles[HOST]
    both = where(select(graph, ["vta", "flexasr"]))
    assert both == {"lstm": "flexasr.lstm", "bias_add": "flexasr.linear"}
    said = "\n".join(lines(check(found, graph, data(graph))))
    assert "1 on flexasr.lstm, 1 on vta.gemm" in said
    assert "vta alone" in said


@pytest.mark.slow
def test_the_sum_is_that_of_its_operators() -> None:
    """Cycles of the whole are those of what was chosen, each once."""
    graph = model()
    found = select(graph, ["vta", "flexasr.lstm"])
    inside = {id(one) for operator in found.offloaded.operators for one in operator.inside}
    host = sum(
        on_host(one.op, one.attributes, [each.type for each in one.operands], one.type)
        for one in found.graph.nodes()
        if id(one) not in inside
    )
    assert found.cycles == host + sum(map(of_operator, found.offloaded.operators))


def test_it_runs_in_the_numbers_of_both() -> None:
    graph = model()
    request = Request(("vta", "flexasr.lstm"), metric="error", replays=4, selecting=True)
    found = validate(graph, data(graph), request)
    assert {one.unit.name for one in found.offloaded.operators} == {"vta.gemm", "flexasr.lstm"}
    assert not any(one.wrong for one in found.replayed)
    assert 0 < found.run.output.percent < 20


def test_another_graph_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = model()
    found = select(graph, ["flexasr"])
    other = Making(seed=5)
    x = other.parameter("x", STEPS, BATCH, WIDTH)
    flat = other.op("dense", x, other.weights("w", WORDS, WIDTH), number="float32")
    from dataclasses import replace

    with pytest.raises(MismatchError, match="the chosen graph is"):
        check(replace(found, graph=other.graph(flat, x)), graph, data(graph))


def test_nothing_to_take() -> None:
    make = Making()
    x = make.parameter("x", 2, 3)
    with pytest.raises(UsageError, match="nothing is faster than on the host"):
        select(make.graph(make.op("relu", x), x), ["vta"])
    assert module.CLOSE < 0.01
