"""Networks as torch-mlir and the quantiser write them: compiled, run here, equal to NumPy in every bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.drivergen import network_host

from axiloom import isa, sw
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.network import compile_network, estimate, is_network, network_data_type
from axiloom.drivergen.network.estimate import Clocks
from axiloom.read.context.model import Model
from axiloom.read.mlir.model import read as read_model

FIXTURES = Path(__file__).parents[2] / "fixtures"
IMPORTED = sorted((FIXTURES / "imported").glob("*.mlir"))
QUANTISED = sorted((FIXTURES / "quantised").glob("*.mlir"))
FAST = ("attention", "conv_residual", "embedding", "pools", "concat_slice", "depthwise")
"""What between them has nearly every op that there is; the others are slow tests."""


def example(path: Path) -> tuple[Model, list[np.ndarray], np.ndarray]:
    """A model, its inputs, and what its author says comes out."""
    with np.load(path.with_suffix(".npz")) as stored:
        inputs = [stored[f"input{n}"] for n in range(10) if f"input{n}" in stored]
        return read_model(path), inputs, stored["output0"]


def cases(paths: list[Path], fast: tuple[str, ...]) -> list[object]:
    return [
        pytest.param(path, id=path.stem, marks=() if path.stem in fast else pytest.mark.slow)
        for path in paths
    ]


@pytest.mark.every(3)
@pytest.mark.parametrize("path", cases(IMPORTED, FAST))
def test_on_the_cpu(path: Path) -> None:
    model, inputs, output = example(path)
    network_host.check(model, None, inputs)
    (found,) = network_host.expected(model, inputs)
    if output.dtype.kind == "f":
        np.testing.assert_allclose(found, output.reshape(found.shape), rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, output.reshape(found.shape))


@pytest.mark.parametrize("path", cases(QUANTISED, ("digits_mlp",)))
def test_products_on_the_accelerator(path: Path) -> None:
    model, inputs, output = example(path)
    spec = isa.builtin("v4_16", data_type="int8")
    driver = network_host.check(model, spec, inputs)
    products = [one for one in driver.layers if one.multiply_adds and one.function.startswith("matmul")]
    assert products
    assert all(one.place == "accelerator" for one in products)
    assert all(one.reason is None or one.place == "cpu" for one in driver.layers)
    np.testing.assert_array_equal(network_host.expected(model, inputs)[0], output)


def test_equal_layers_are_one_function() -> None:
    model, _, _ = example(FIXTURES / "imported" / "attention.mlir")
    driver = compile_network(model.mlir, None, model.weights)
    functions = [layer.function for layer in driver.layers]
    assert len(set(functions)) < len(functions)
    assert driver.sources["cpu.c"].count("void matmul_12x16x16(") == 1


def test_the_arena_is_smaller_than_what_is_in_it() -> None:
    model, _, _ = example(FIXTURES / "imported" / "attention.mlir")
    memory = compile_network(model.mlir, None, model.weights).memory
    assert 0 < memory.peak < memory.total


def test_the_c_of_a_network(golden) -> None:  # type: ignore[no-untyped-def]
    model, _, _ = example(FIXTURES / "imported" / "reshapes_between.mlir")
    driver = compile_network(model.mlir, isa.builtin("v4_16", data_type="int8"), model.weights)
    golden(driver.c, "network.c")
    golden(driver.header, "network.h")
    golden(driver.harness, "network_main.c")


def test_products_that_are_faster_on_the_cpu_stay_there() -> None:
    model, _, _ = example(FIXTURES / "quantised" / "digits_cnn.mlir")
    spec = isa.builtin("v4_16", data_type="int8")
    clocks = Clocks(650_000_000, 100_000_000)
    layers = compile_network(model.mlir, spec, model.weights, clocks=clocks).layers
    places = [(one.multiply_adds, one.place) for one in layers if one.multiply_adds]
    assert places == [(4608, "cpu"), (73_728, "accelerator"), (147_456, "accelerator"), (2560, "cpu")]
    (said,) = [one.reason for one in layers if one.multiply_adds == 2560]
    assert said == "about 0.080 ms on v4_16, 0.016 ms on the CPU"


@pytest.mark.parametrize(
    ("name", "width", "cycles"),
    [
        ("v1_8", 32, 8**3 * 64),  # C comes back after each step
        ("v1_8", 64, 8**3 * 64 // 2),
        ("v4_16", 32, 64**3 // 64),  # of its array: words are fewer
    ],
)
def test_the_slower_of_stream_and_array_is_estimated(name: str, width: int, cycles: int) -> None:
    spec = isa.builtin(name, data_type="int8").replace(stream_width=width)
    calls = compile_mlir(matmul_mlir(64, 64, 64, "int8"), spec, stop="linalg").calls
    seconds = estimate.on_accelerator(calls, spec, Clocks(650_000_000, 100_000_000))
    assert seconds == (estimate.START + cycles) / 100_000_000


def test_results_are_called_alike_on_the_cpu_and_beside_accelerators() -> None:
    """Both are compared with one reference, by name, whatever else is packed for an accelerator."""
    model, _, _ = example(FIXTURES / "quantised" / "digits_mlp.mlir")
    spec = isa.builtin("v4_16", data_type="int8").replace(stream_width=64)
    alone, beside = (compile_network(model.mlir, one, model.weights) for one in (None, spec))
    assert alone.args == beside.args


def test_small_products_stay_on_the_cpu_if_asked() -> None:
    model, _, _ = example(FIXTURES / "quantised" / "digits_mlp.mlir")
    spec = isa.builtin("v4_16", data_type="int8")
    layers = compile_network(model.mlir, spec, model.weights, least=1000).layers
    products = {layer.multiply_adds: layer for layer in layers if layer.multiply_adds}
    assert {count: layer.place for count, layer in products.items()} == {
        4096: "accelerator",
        2048: "accelerator",
        320: "cpu",
    }
    assert products[320].reason == "320 multiply-adds are fewer than --offload-from 1,000"


@pytest.mark.slow
def test_kernels_by_hand_where_there_are_any() -> None:
    """Convolutions without dilation, and the products of the attention; not the depthwise one."""
    model, _, _ = example(FIXTURES / "quantised" / "shapes.mlir")
    sources = compile_network(model.mlir, None, model.weights, neon=sw.BASELINES).sources
    assert [file for file in sources if file.startswith("conv")] == ["conv_8x8x8_f3_s2.c"]
    assert "#define OC 8\n" in sources["conv_8x8x8_f3_s2.c"]
    model, _, _ = example(FIXTURES / "quantised" / "transformer.mlir")
    sources = compile_network(model.mlir, None, model.weights, neon=sw.BASELINES).sources
    assert "#define BATCHES 4\n" in sources["batch_matmul_4x6x6x8.c"]


ADD = """\
func.func @f(%x: tensor<4xf32>, %w: tensor<4xf32> {axiloom.weight = "bias"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                       affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = OP %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


TOSA = """func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = tosa.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}"""
SAME = "func.func @f(%a: KIND) -> KIND {\n  func.return %a : KIND\n}"
BIAS = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("text", "weights", "why"),
    [
        (ADD.replace("OP", "math.atan2"), {"bias": BIAS}, ":7:5: math.atan2: there is no C for it"),
        (
            ADD.replace("OP", "arith.addf"),
            {"scale": BIAS},
            ": no array for the weight `bias`; there are scale",
        ),
        (
            ADD.replace("OP", "arith.addf"),
            {"bias": BIAS.astype(np.float64)},
            ": weight `bias` is float64 (4,), the function takes float32 (4,)",
        ),
        (TOSA, {}, ":2:8: an op of tosa. Lower it to linalg first: mlir-opt "),
        *(
            (
                SAME.replace("KIND", kind),
                {},
                f":1:1: func.func: argument 0 is {kind}; sizes must be known, and at least 1",
            )
            for kind in ("tensor<?x4xf32>", "tensor<0x4xf32>")
        ),
    ],
)
def test_what_is_refused_is_named_with_its_place(text: str, weights: dict[str, np.ndarray], why: str) -> None:
    with pytest.raises((CompileError, UsageError)) as caught:
        compile_network(text, None, weights, name="net.mlir")
    assert str(caught.value).startswith(f"net.mlir{why}")


def test_what_is_a_network() -> None:
    model, _, _ = example(FIXTURES / "imported" / "mlp.mlir")
    assert is_network(model.mlir)
    matmul = (
        "func.func @f(%A: tensor<4x4xi8>, %B: tensor<4x4xi8>, %C: tensor<4x4xi32>) -> tensor<4x4xi32> {\n"
        "  %0 = linalg.matmul ins(%A, %B : tensor<4x4xi8>, tensor<4x4xi8>) outs(%C : tensor<4x4xi32>)"
        " -> tensor<4x4xi32>\n  func.return %0 : tensor<4x4xi32>\n}"
    )
    assert not is_network(matmul)


def test_the_type_of_most_products() -> None:
    model, _, _ = example(FIXTURES / "quantised" / "digits_mlp.mlir")
    assert network_data_type(model.mlir, model.weights) == "int8"
