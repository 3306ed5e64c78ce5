"""What is written computes what the graph does: by drivergen's reference on the text, and as compiled C."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.drivergen import network_host
from tests.graph.cases import CASES, arrays_of

from axiloom import isa
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate as reference
from axiloom.drivergen.network import compile_network
from axiloom.graph import Graph, GraphError, Type
from axiloom.graph.evaluate import evaluate
from axiloom.graph.ops import Builder
from axiloom.graph.write import linalg
from axiloom.graph.write.moves import groups

WRITTEN = sorted({*CASES} - {"remainder", "power", "sign", "splat", "iota"})
"""Operations with a form in linalg, for some numbers at least."""


def one_op(name: str, data: st.DataObject) -> tuple[Graph, dict[str, np.ndarray]]:
    types, attributes = data.draw(CASES[name])
    builder = Builder()
    leaves = [builder.leaf("parameter", f"p{i}", one) for i, one in enumerate(types)]
    node = builder.op(name, *leaves, **attributes)
    arrays = arrays_of(types, np.random.default_rng(data.draw(st.integers(0, 99))))
    # What they are defined for:
    if name == "requantise":
        arrays[2], arrays[3] = arrays[2] & 0xFFFF, arrays[3] & 63
    if name == "embedding":
        arrays[0] = arrays[0] % types[1].shape[0]
    if name == "softmax_int8":
        arrays[1] = arrays[1] & 0x3FFF | 1
    return Graph("one", tuple(leaves), (node,)), {f"p{i}": one for i, one in enumerate(arrays)}


@st.composite
def unsigned(draw: st.DrawFn) -> tuple[Graph, dict[str, np.ndarray]]:
    """Integers without sign between conversions, as sums are rounded."""
    builder = Builder()
    of = draw(st.sampled_from(["uint8", "uint16", "uint32"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    x, y = (builder.leaf("parameter", one, Type((5,), "int32")) for one in "xy")
    a, b = (builder.op("convert", one, number=of) for one in (x, y))
    name = draw(st.sampled_from(["add", "subtract", "multiply", "maximum", "minimum", "compare"]))
    made = builder.op(name, a, b, **({"direction": "LT"} if name == "compare" else {}))
    wide = builder.op("convert", made, number=draw(st.sampled_from(["int64", "int32", "int8"])))
    given = {one: rng.integers(-(1 << 31), 1 << 31, 5).astype(np.int32) for one in "xy"}
    return Graph("unsigned", (x, y), (wide,)), given


@given(case=unsigned())
@settings(max_examples=40, deadline=None)
def test_integers_without_sign(case: tuple[Graph, dict[str, np.ndarray]]) -> None:
    graph, inputs = case
    function = only_function(parse(linalg(graph).mlir, "one.mlir"), "one.mlir")
    (found,) = reference(function, list(inputs.values()))
    agree(found, *evaluate(graph, inputs))


def agree(found: np.ndarray, wanted: np.ndarray) -> None:
    """Integers in every bit; floats as close as elementary functions of two libraries are."""
    assert found.shape == wanted.shape
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=3e-5, atol=3e-5)
    else:
        np.testing.assert_array_equal(found.astype(wanted.dtype), wanted)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", WRITTEN)
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_operation(name: str, data: st.DataObject) -> None:
    graph, inputs = one_op(name, data)
    try:
        text = linalg(graph).mlir
    except GraphError:
        return  # what is refused is listed below
    function = only_function(parse(text, "one.mlir"), "one.mlir")
    (found,) = reference(function, list(inputs.values()))
    (wanted,) = evaluate(graph, inputs)
    agree(found, wanted)


def layer(seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """A quantised product with its rounding, and float arithmetic behind it."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    m, n, k = (int(one) for one in rng.integers(3, 40, 3))
    x, w = (
        builder.leaf("parameter", "x", Type((m, k), "int8")),
        builder.leaf("constant", "w", Type((n, k), "int8")),
    )
    vectors = [builder.leaf("constant", one, Type((n,), "int32")) for one in ("bias", "multiplier", "shift")]
    sums = builder.op("dense", x, w, number="int32")
    small = builder.op("requantise", sums, *vectors, dimension=1, zero=0, low=-128, high=127)
    real = builder.op("softmax", builder.op("convert", small, number="float32"), dimension=1)
    constants = {
        "w": rng.integers(-128, 128, (n, k)).astype(np.int8),
        "bias": rng.integers(-1000, 1000, n).astype(np.int32),
        "multiplier": rng.integers(1, 1 << 16, n).astype(np.int32),
        "shift": rng.integers(16, 24, n).astype(np.int32),
    }
    given = {"x": rng.integers(-128, 128, (m, k)).astype(np.int8)}
    return Graph("layer", (x,), (small, real), constants), given


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_layer_on_an_accelerator(seed: int) -> None:
    """The product goes to v4, the rest is C; both as they run, against the graph."""
    graph, given = layer(seed)
    written = linalg(graph)
    spec = isa.builtin("v4_16", data_type="int8", post=True)
    driver = compile_network(written.mlir, spec, written.weights, name="layer.mlir")
    assert [one.place for one in driver.layers].count("accelerator") == 1
    found = network_host.run(driver, spec, list(given.values()))
    for one, wanted in zip(found, evaluate(graph, given), strict=True):
        agree(one, wanted)


@pytest.mark.parametrize(
    ("of", "operation", "said"),
    [
        ("bfloat16", "add", "bfloat16 has no C on the CPU; there are int8, int16"),
        ("uint8", "add", "a: uint8 goes in or out of the function"),
        ("int32", "power", "power has no form in linalg; written are abs, add"),
        ("int32", "shift_left", "shift_left by what are no constants below 32"),
    ],
)
def test_what_has_no_form_is_refused(of: str, operation: str, said: str) -> None:
    builder = Builder()
    a, b = (builder.leaf("parameter", one, Type((4,), of)) for one in "ab")
    with pytest.raises(GraphError, match=said):
        linalg(Graph("refused", (a, b), (builder.op(operation, a, b),)))


def test_a_thousand_layers_deep() -> None:
    """Neither recursion nor a square of the number of nodes."""
    builder = Builder()
    node = first = builder.leaf("parameter", "x", Type((4,), "float32"))
    for _ in range(1000):
        node = builder.op("gelu", node)
    assert linalg(Graph("deep", (first,), (node,))).mlir.count("math.erf") == 1000


def test_what_follows_from_constants_is_computed_once() -> None:
    """A converted vector is a weight; the same vector repeated over a matrix is not."""
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((3, 4), "int32"))
    v = builder.op("convert", builder.leaf("constant", "v", Type((4,), "int8")), number="int32")
    wide = builder.op("broadcast_in_dim", v, shape=(3, 4), dimensions=(1,))
    graph = Graph("fold", (x,), (builder.op("add", x, wide),), {"v": np.arange(4, dtype=np.int8)})
    written = linalg(graph)
    assert [(one.dtype.name, one.shape) for one in written.weights.values()] == [("int32", (4,))]
    assert "extsi" not in written.mlir, "the conversion is the weight itself"


def test_order_names_and_places() -> None:
    """Nodes that are equal stay apart, are written in the graph's order and named after their places."""
    builder = Builder(unify=False)
    x = builder.leaf("parameter", "x", Type((2, 3), "int8"), "x")
    table = builder.leaf("constant", 'a "table"', Type((256,), "int8"), "late")
    late, early = (builder.op("lookup", x, table, place=place) for place in ("late", "early"))
    both = builder.op("add_scaled", late, early, place="0.sum", first=1, second=2, shift=1, low=-9, high=9)
    constants = {'a "table"': np.arange(256).astype(np.int8)}
    written = linalg(
        Graph("net", (x,), (both,), constants, (early,)), {"axiloom.input_scales": "[1.0 : f64]"}
    )
    names = re.findall(r"(%\w+) = linalg.generic", written.mlir)
    assert names == ["%early", "%late", "%layer0_sum"]
    assert re.findall(r'loc\("(.*)"\)', written.mlir) == ["early"] * 2 + ["late"] * 2 + ["0.sum"] * 2
    assert list(written.weights) == ["a 'table'"]
    assert "-> tensor<2x3xi8> attributes {axiloom.input_scales = [1.0 : f64]} {" in written.mlir
    assert len(linalg(Graph("net", (x,), (both,), constants)).mlir.split("loc")) == 7


def test_names_within_bodies_are_free() -> None:
    builder = Builder()
    a, b = (builder.leaf("parameter", name, Type((2,), "int32")) for name in ("a0", "b0"))
    graph = Graph("f", (a, b), (builder.op("convert", builder.op("add", a, b), number="float32"),))
    function = only_function(parse(linalg(graph).mlir, "f.mlir"), "f.mlir")
    (total,) = reference(function, [np.array([1, 2], np.int32)] * 2)
    assert total.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("long", "short", "want"),
    [
        ((2, 3, 4), (6, 4), [[0, 1], [2]]),
        ((1, 8, 1, 1), (1, 8), [[0], [1, 2, 3]]),
        ((2, 3, 4), (3, 8), None),
        ((4, 1), (4,), [[0, 1]]),
        ((2, 2), (1, 4), None),
    ],
)
def test_groups(long: tuple[int, ...], short: tuple[int, ...], want: list[list[int]] | None) -> None:
    assert groups(long, short) == want
