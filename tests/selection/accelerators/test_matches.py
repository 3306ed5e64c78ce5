"""Kernels of accelerators: exact and flexible matches, and what they do not match."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.networks.matches import matches

from axiloom.base.errors import UsageError
from axiloom.graph import Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.selection.accelerators.kernels import accelerators, load
from axiloom.selection.egraph import Limits, saturate
from axiloom.selection.rules import RuleError, library

TEXTS = tuple(
    one for one in library.ours() if one.place in ("products.rules", "moves.rules", "convolutions.rules")
)
FLOAT = "float32"


def _dense(rank: int, biased: bool) -> Graph:
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((*(16,) * (rank - 1), 64), FLOAT))
    w = builder.leaf("constant", "w", Type((64, 64), FLOAT))
    made = builder.op("dense", x, w, number=FLOAT)
    if biased:
        made = builder.op(
            "bias_add", made, builder.leaf("constant", "b", Type((64,), FLOAT)), dimension=rank - 1
        )
    return Graph("dense", (x,), (made,))


def _conv(groups: int) -> Graph:
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((1, 4, 6, 6), FLOAT))
    w = builder.leaf("constant", "w", Type((4, 4 // groups, 3, 3), FLOAT))
    made = builder.op(
        "convolution", x, w, dims="bf01_oi01->bf01", strides=(1, 1), padding=(1, 1, 1, 1),
        lhs_dilation=(1, 1), rhs_dilation=(1, 1), feature_group_count=groups, number=FLOAT,
    )  # fmt: skip
    return Graph("conv", (x,), (made,))


@pytest.mark.parametrize(
    ("graph", "target", "exact", "flexible"),
    [
        (_dense(2, True), "flexasr", 1, 1),
        (_dense(2, False), "flexasr", 0, 1),
        (_dense(3, True), "flexasr", 0, 1),
        (_dense(3, True), "vta", 0, 1),
        (_dense(2, True), "vta", 1, 1),
        (_dense(2, True), "hlscnn", 0, 0),
        (_conv(1), "hlscnn", 1, 1),
        (_conv(1), "flexasr", 0, 1),
        (_conv(1), "vta", 0, 1),
        (_conv(4), "hlscnn", 0, 0),
        (_conv(4), "vta", 0, 0),
    ],
)
def test_counts(
    graph: Graph, target: str, exact: int, flexible: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Proofs have tests of their own.
    monkeypatch.setattr("axiloom.selection.egraph.saturation.usable", lambda texts, names=None: tuple(texts))
    accelerator = accelerators()[target]
    names = [one.name for one in accelerator.kernels]
    assert matches(graph, [accelerator]).of(target, names) == exact
    assert matches(graph, [accelerator], TEXTS, Limits(iterations=20)).of(target, names) == flexible


def test_an_lstm_of_a_batch_is_none_of_flexasr() -> None:
    for batch, wanted in ((1, 1), (2, 0)):
        builder = Builder()

        def leaf(name: str, *shape: int, builder: Builder = builder) -> Node:
            return builder.leaf("parameter", name, Type(shape, FLOAT))

        operands = (
            leaf("x", 16, batch, 32), leaf("h", batch, 32), leaf("c", batch, 32),
            leaf("wx", 128, 32), leaf("wh", 128, 32), leaf("b", 128),
        )  # fmt: skip
        graph = Graph("lstm", operands, (builder.op("lstm", *operands),))
        assert matches(graph, [accelerators()["flexasr"]]).counted == ({"flexasr.lstm": 1} if wanted else {})


def test_an_lstm_comes_apart() -> None:
    """Three cells, each with two products, which its hidden and its cell state share."""
    builder = Builder()
    shapes = {"x": (3, 1, 4), "h": (1, 2), "c": (1, 2), "wx": (8, 4), "wh": (8, 2), "b": (8,)}
    operands = tuple(builder.leaf("parameter", name, Type(shape, FLOAT)) for name, shape in shapes.items())
    graph = Graph("lstm", operands, (builder.op("lstm", *operands),))
    texts = [one for one in library.ours() if one.place == "recurrent.rules"]
    saturated = saturate(graph, texts, Limits(iterations=20), unproved=True)
    dense = {node for of in saturated.classes for node in of if node.op == "dense"}
    assert len(dense) == 6
    assert saturated.stopped == "saturated"


def test_faults(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"flexasr has no kernel linea; did you mean `linear`|flexasr has no kernel"
    ):
        accelerators()["flexasr"].only(("linea",))
    path = tmp_path / "mine.kernels"
    path.write_text("def gemm(x: (m, k), w: (n, k)):\n    old = dense(x, w, number='int8')\n")
    with pytest.raises(RuleError, match=r"mine.kernels:1: gemm: no `computes"):
        load(path)
