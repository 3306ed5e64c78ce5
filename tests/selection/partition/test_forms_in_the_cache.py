"""Forms that are in the cache: what comes back is what was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from axiloom.graph.graph import Graph, Type
from axiloom.graph.ops import Builder
from axiloom.isa.kernels.forms import IMAGE, MATMUL
from axiloom.selection.partition.forms import Form, forms
from axiloom.selection.partition.replay import check, is_same


def product() -> Graph:
    builder = Builder()
    a, b = (builder.leaf("parameter", name, Type((4, 6), "int8")) for name in ("a", "b"))
    result = builder.op(
        "dot_general", a, b, number="int32", lhs_batch=(), rhs_batch=(), lhs_contracting=(1,),
        rhs_contracting=(1,),
    )  # fmt: skip
    return Graph("product", (a, b), (result,))


def make(graph: Graph, _: Sequence[str]) -> Mapping[str, Form]:
    """The product as it stands, and turned twice, as rules make it."""
    builder = Builder()
    a, b = graph.parameters
    other = builder.op("transpose", graph.results[0], permutation=(1, 0))
    back = builder.op("transpose", other, permutation=(1, 0))
    turned = Form("image by points", ("turned_twice",), Graph("form", (a, b), (back,)))
    return {MATMUL.kernel: Form("matmul dot", (), graph), IMAGE.kernel: turned}


def fails(*_: object) -> Mapping[str, Form]:
    raise AssertionError("asked again")


def test_what_was_made_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    graph = product()
    kernels = MATMUL.kernel, IMAGE.kernel
    first = forms(graph, kernels, make)
    again = product()
    second = forms(again, kernels[::-1], fails)
    assert list(map(str, second.values())) == list(map(str, first.values()))
    assert is_same(again, second[MATMUL.kernel].graph)
    turned = second[IMAGE.kernel].graph
    assert not is_same(again, turned)
    assert turned.parameters == again.parameters
    assert check(again, turned) > 2
    with pytest.raises(AssertionError, match="asked again"):
        forms(again, kernels[:1], fails)  # another question
