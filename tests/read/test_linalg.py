"""linalg on tensors: what is read computes what drivergen's reference computes on the same text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.graph.graphs import inputs_of, random_graph

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate as reference
from axiloom.graph import Graph
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number
from axiloom.graph.write import linalg
from axiloom.read import ReadError, read
from axiloom.read.linalg.reader import read_text

ADD = """
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<2x3xf32>, %v: tensor<2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %c = arith.constant 2.0 : f32
  %r = linalg.generic {indexing_maps = [#all, #rows, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<2x3xf32>, tensor<2xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %b, %c : f32
    %t = arith.addf %a, %s : f32
    %m = arith.cmpf ugt, %t, %c : f32
    %u = arith.select %m, %t, %c : f32
    linalg.yield %u : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
"""
PRODUCT = """
#a = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
#b = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#c = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>
func.func @main(%x: tensor<4x2x3xi8>, %y: tensor<5x4x2xi8>, %i: tensor<3x2x5xi32>) -> tensor<3x2x5xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x2x3xi8>, tensor<5x4x2xi8>) outs(%i : tensor<3x2x5xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %p = arith.extsi %a : i8 to i32
    %q = arith.extsi %b : i8 to i32
    %m = arith.muli %p, %q : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<3x2x5xi32>
  return %r : tensor<3x2x5xi32>
}
"""
FOLD = """
#all = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0, 0)>
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x1xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%i : tensor<3x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}
"""
ROWS = """
#in = affine_map<(d0, d1) -> (d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%t: tensor<7x3xf32>, %n: tensor<5xi32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<5xi32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%a: i32, %o: f32):
    %i = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%i, %j] : tensor<7x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
"""
POOL = """
func.func @main(%x: tensor<1x4x6x2xi8>, %k: tensor<3x3x2x4xi8>) -> tensor<1x2x2x4xi32> {
  %z = arith.constant 0 : i8
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : i8
  } : tensor<1x4x6x2xi8> to tensor<1x6x8x2xi8>
  %c = arith.constant dense<3> : tensor<1x4x6x4xi32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%p, %k : tensor<1x6x8x2xi8>, tensor<3x3x2x4xi8>) outs(%c : tensor<1x4x6x4xi32>)
      -> tensor<1x4x6x4xi32>
  %w = tensor.empty() : tensor<2x3xi32>
  %m = arith.constant dense<-2147483648> : tensor<1x2x2x4xi32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 3]> : vector<2xi64>}
      ins(%y, %w : tensor<1x4x6x4xi32>, tensor<2x3xi32>) outs(%m : tensor<1x2x2x4xi32>)
      -> tensor<1x2x2x4xi32>
  return %r : tensor<1x2x2x4xi32>
}
"""


def arguments(graph: Graph) -> dict[str, Any]:
    rng, found = np.random.default_rng(0), {}
    for one in graph.parameters:
        of, shape = number(one.type.number), one.type.shape
        floats = of.kind == "float"
        drawn = rng.normal(size=shape) if floats else rng.integers(-5, 12, shape)
        found[str(one.attributes["name"])] = drawn.astype(of.host)
    return found


@pytest.mark.parametrize("text", [ADD, PRODUCT, FOLD, POOL], ids=["add", "product", "fold", "pool"])
def test_against_reference(text: str) -> None:
    graph = read_text(text, "t.mlir", {})
    inputs = arguments(graph)
    (found,) = evaluate(graph, inputs)
    wanted = reference(only_function(parse(text), "t"), list(inputs.values()))
    wanted = wanted[0] if isinstance(wanted, list | tuple) else wanted
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_rows_of_a_table() -> None:
    graph = read_text(ROWS, "t.mlir", {})
    assert [one.op for one in graph.nodes() if one.operands] == ["take"]
    table, rows = np.arange(21, dtype=np.float32).reshape(7, 3), np.array([6, 0, 3, 3, 1], np.int32)
    np.testing.assert_array_equal(evaluate(graph, {"arg0": table, "arg1": rows})[0], table[rows])


def test_bodies_become_what_they_are() -> None:
    ops = {name: {one.op for one in read_text(text, "t", {}).nodes() if one.operands} for name, text in (
        ("product", PRODUCT), ("fold", FOLD), ("pool", POOL))}  # fmt: skip
    assert ops["product"] == {"dot_general", "transpose", "add"}
    assert ops["fold"] == {"reduce", "reshape"}
    assert ops["pool"] == {"pad", "convolution", "add", "reduce_window"}


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_random_graphs_there_and_back(seed: int) -> None:
    """Written as linalg and read again, a graph gives the same bits, or floats whose sums were regrouped."""
    graph = random_graph(seed, of=["int8", "int32", "float32"][seed // 10 % 3])
    written = linalg(graph)
    again = read_text(written.mlir, "t.mlir", written.weights)
    inputs = inputs_of(graph, seed)
    named = dict(zip((str(one.attributes["name"]) for one in again.parameters), inputs.values(), strict=True))
    for a, b in zip(evaluate(graph, inputs), evaluate(again, named), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * float(np.abs(a).max(initial=1)))


def test_weights_lie_beside(tmp_path: Path) -> None:
    text = ADD.replace("%v: tensor<2xf32>", '%v: tensor<2xf32> {axiloom.weight = "bias"}')
    (tmp_path / "net.mlir").write_text(text)
    with pytest.raises(ReadError, match=r"net.npz is not beside it"):
        read(tmp_path / "net.mlir")
    np.savez(tmp_path / "net.npz", bias=np.array([1, 2], np.float32))
    graph = read(tmp_path / "net.mlir")
    assert [one.attributes["name"] for one in graph.parameters] == ["arg0"]
    assert graph.constants["bias"].tolist() == [1, 2]
    np.savez(tmp_path / "net.npz", bias=np.array([1, 2, 3], np.float32))
    with pytest.raises(ReadError, match=r"the weight bias is float32\(3,\), not 2xfloat32"):
        read(tmp_path / "net.mlir")


REFUSED = [
    (ADD.replace("arith.mulf", "arith.addf").replace("%b, %c", "%b, %z"), "t.mlir:"),
    (ADD.replace("(d0)>", "(d0 + d1)>").replace("<2xf", "<4xf"), "loops, and 0 for sizes of 1, are read"),
    (FOLD.replace("arith.maximumf %a, %o", "arith.subf %a, %o"), "a reduction by arith.subf: known are"),
    (POOL.replace("linalg.pooling_nhwc_max", "linalg.frobnicate"), "frobnicate"),
    (ADD.replace("@main", "@one") + ADD.replace("#rows", "#r").replace("#all", "#b").replace("#turned", "#u"),
     "one function is needed; there are one, main"),
    (ADD.replace("tensor<2xf32>", "tensor<?xf32>"), "t.mlir"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(text, "t.mlir", {})
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tinybert", "resnet18"])
def test_networks(name: str) -> None:
    """What the front end gives of the networks of ``examples/`` computes what the modules compute."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    from axiloom.read.models import load
    from axiloom.read.pytorch.module import build

    path = Path("examples/networks") / f"{name}.py"
    model, (network, examples) = load(f"{path}:build"), build(path, "build")
    graph = read_text(model.mlir, name, model.weights)
    with torch.no_grad():
        wanted = network(*examples).numpy()
    names = (str(one.attributes["name"]) for one in graph.parameters)
    (found,) = evaluate(graph, dict(zip(names, (one.numpy() for one in examples), strict=True)))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * float(np.abs(wanted).max()))
