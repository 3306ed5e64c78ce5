"""Forms of products by rules: which kernels they are, and that a wrong form is caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.network.compile import canonicalise
from axiloom.drivergen.network.layers import title
from axiloom.drivergen.network.passes import generics
from axiloom.graph.graph import Graph
from axiloom.graph.ops import Builder
from axiloom.isa.kernels.forms import IMAGE, MATMUL
from axiloom.read.mlir.model import read
from axiloom.selection.partition.forms import forms
from axiloom.selection.partition.products import graph_of
from axiloom.selection.partition.replay import SAMPLED, FormFaultError, check

pytest.importorskip("egglog")
FIXTURES = Path("tests/fixtures/quantised")
KERNELS = (IMAGE.kernel, MATMUL.kernel)


def products(network: str) -> dict[str, Graph]:
    """Of a fixture, by title."""
    model = read(FIXTURES / f"{network}.mlir")
    module = parse(model.mlir, network)
    canonicalise(module, dict(model.weights), network)
    ops = only_function(module, network).body.block.ops
    found = {}
    for op in ops:
        if op.name == "linalg.generic" and generics.is_contraction(op):
            graph = graph_of(op, title(op))  # type: ignore[arg-type]
            if graph is not None:
                found[title(op)] = graph
    return found


@pytest.mark.slow
def test_a_convolution_is_a_product_over_windows() -> None:
    graph = products("digits_cnn")["conv_8x8x16_f3_s1"]
    found = forms(graph, KERNELS)
    assert found[IMAGE.kernel].rules == ()
    assert found[MATMUL.kernel].rules == ("im2col_of_channels_first",)
    for one in found.values():
        assert check(graph, one.graph) == SAMPLED


def test_a_product_is_a_convolution_by_points() -> None:
    graph = products("digits_cnn")["matmul_1x10x256"]
    found = forms(graph, KERNELS)
    assert str(found[MATMUL.kernel]) == "linalg.matmul dot as it stands"
    assert found[IMAGE.kernel].rules == ("dot_is_points",)
    check(graph, found[IMAGE.kernel].graph)


def test_batches_of_products_are_a_loop_of_the_driver() -> None:
    graph = products("transformer")["batch_matmul_4x6x6x8"]
    assert list(forms(graph, KERNELS)) == [MATMUL.kernel]


def test_groups_have_no_form() -> None:
    assert not [name for name in products("shapes") if name.startswith("conv_1x8x4x4")]


def _dot(builder: Builder, swapped: bool) -> Graph:
    from axiloom.graph.graph import Type

    a, b = (builder.leaf("parameter", name, Type((4, 4), "int8"), "") for name in "ab")
    left, right = (b, a) if swapped else (a, b)
    made = builder.op(
        "dot_general", left, right, number="int32",
        lhs_batch=(), rhs_batch=(), lhs_contracting=(1,), rhs_contracting=(0,),
    )  # fmt: skip
    return Graph("dot", (a, b), (made,))


def test_a_wrong_form_is_caught() -> None:
    """Operands in the wrong order, a transpose too many, and another type."""
    right = _dot(Builder(), False)
    check(right, right)
    with pytest.raises(FormFaultError, match=r"dot: element \(0, 0\) of a form is another one"):
        check(right, _dot(Builder(), True))
    node = right.results[0]
    turned = replace(right, results=(Builder().op("transpose", node, permutation=(1, 0)),))
    with pytest.raises(FormFaultError):
        check(right, turned)
    wide = replace(right, results=(Builder().op("convert", node, number="int64"),))
    with pytest.raises(FormFaultError, match="a form is 4x4xint64, not 4x4xint32"):
        check(right, wide)
