"""What ONNX files mean, by ONNX Runtime: kinds that were misread once, each as a small file; and who
notices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("torch_mlir")
pytest.importorskip("onnxruntime")

from tests.read import onnx_file, referee_onnx  # noqa: E402
from tests.read.random_onnx import Builder  # noqa: E402

from axiloom.base.errors import CompileError  # noqa: E402
from axiloom.cli import main  # noqa: E402
from axiloom.drivergen.dialects.mlir import only_function, parse  # noqa: E402
from axiloom.drivergen.evaluate.reference import evaluate  # noqa: E402
from axiloom.quantise.network import quantise  # noqa: E402
from axiloom.read.context.referee import Limits, agreement  # noqa: E402
from axiloom.read.models import network as load  # noqa: E402
from axiloom.read.onnx import ops as onnx_ops  # noqa: E402
from axiloom.read.onnx.file import read_onnx  # noqa: E402
from axiloom.read.onnx.model import import_file  # noqa: E402
from axiloom.run.scales import of  # noqa: E402

GRAPHS: dict[str, tuple[int, tuple[int, ...], Callable[[Builder, str], str]]] = {
    "gemm_alpha": (
        17,
        (4, 6),
        lambda b, x: b.op("Gemm", x, b.normal(6, 5), b.normal(5), alpha=0.5, beta=2.0),
    ),
    "gemm_alpha_alone": (17, (4, 6), lambda b, x: b.op("Gemm", x, b.normal(6, 5), alpha=-1.0)),
    "gemm_turned": (17, (6, 4), lambda b, x: b.op("Gemm", x, b.normal(6, 5), transA=1)),
    "gelu_like": (
        17,
        (4, 6),
        lambda b, x: b.op(
            "Mul",
            x,
            b.op(
                "Add",
                b.op("Mul", b.op("Erf", b.op("Div", x, b.const(2**0.5))), b.const(0.5)),
                b.const(np.float32(1)),
            ),
        ),
    ),
    "softmax_before_13": (11, (1, 8, 1, 1), lambda b, x: b.op("Softmax", x)),
    "softmax_before_13_of_4_dims": (11, (1, 8, 4, 4), lambda b, x: b.op("Softmax", x)),
    "unsqueeze_from_the_end": (13, (4, 8), lambda b, x: b.op("Unsqueeze", x, late={"axes": [-2, -1]})),
    "squeeze_all": (17, (1, 8, 1, 4), lambda b, x: b.op("Squeeze", x)),
    "transpose_by_default": (17, (2, 3, 4), lambda b, x: b.op("Transpose", x)),
    "global_pool_of_3_dims": (17, (1, 8, 16), lambda b, x: b.op("GlobalAveragePool", x)),
    "same_padding": (
        17,
        (1, 3, 8, 8),
        lambda b, x: b.op("Conv", x, b.normal(4, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    ),
    "resize_before_11": (
        10,
        (1, 2, 6, 6),
        lambda b, x: b.op("Resize", x, b.const([1, 1, 1.5, 2]), mode="linear"),
    ),
    "upsample": (9, (1, 2, 4, 4), lambda b, x: b.op("Upsample", x, b.const([1, 1, 2, 2]), mode="nearest")),
    "reverse": (
        13,
        (4, 6),
        lambda b, x: b.op("Slice", x, late={"starts": [-1], "ends": [-99], "axes": [1], "steps": [-1]}),
    ),
    "reverse_from_beyond": (
        13,
        (1, 4, 6),
        lambda b, x: b.op(
            "Slice", x, late={"starts": [2**31 - 1], "ends": [-(2**31)], "axes": [1], "steps": [-1]}
        ),
    ),
    "no_dims": (17, (), lambda b, x: b.op("Sigmoid", x)),
    "elu": (17, (4, 6), lambda b, x: b.op("Elu", x, alpha=0.7)),
    "recurrent": (
        17,
        (4, 1, 3),
        lambda b, x: b.op("RNN", x, b.normal(1, 5, 3), b.normal(1, 5, 5), outputs=2, hidden_size=5)[1],
    ),
    "two_outputs": (9, (4, 6), lambda b, x: b.op("Dropout", x, outputs=2)[0]),
}


def qkv(b: Builder, x: str) -> str:
    """Three products, then their three sums, as converters write that sort nodes by depth."""
    products = [b.op("MatMul", x, b.normal(6, 6, by=0.5)) for _ in range(3)]
    q, k, v = (b.op("Add", product, b.normal(6)) for product in products)
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 2, 1]))
    return str(b.op("MatMul", b.op("Softmax", scores, axis=-1), v))


GRAPHS["three_products_then_three_sums"] = (17, (1, 5, 6), qkv)


def save(name: str, path: Path) -> Path:
    opset, shape, make = GRAPHS[name]
    builder = Builder(np.random.default_rng(3), opset)
    result = make(builder, builder.input(shape))
    graph = onnx.helper.make_graph(
        builder.nodes,
        "net",
        builder.inputs,
        [onnx.helper.make_tensor_value_info(result, onnx.TensorProto.FLOAT, builder.shapes[result])],
        builder.weights,
    )
    ids = [onnx.helper.make_opsetid("", opset)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=ids, ir_version=8), path)
    return path


@pytest.mark.parametrize("name", GRAPHS)
def test_files_that_were_misread(name: str, tmp_path: Path) -> None:
    path = save(name, tmp_path / "net.onnx")
    assert referee_onnx.quantised(path).word == "right"
    assert referee_onnx.imported(path).word == "right"


def test_random_calibration_is_for_inputs_that_it_has_not_seen(tmp_path: Path) -> None:
    """Eight samples of a small network say too little about its ranges: more are drawn than asked for."""
    path = save("three_products_then_three_sums", tmp_path / "net.onnx")
    network = quantise(*load(str(path)), "8-random", name="net")
    outside, rng = referee_onnx.Outside(path), np.random.default_rng(1)
    for _ in range(100):
        inputs = outside.inputs(rng)
        (got,) = network.real([torch.from_numpy(x) for x in inputs])
        assert agreement([got], outside.results(inputs)).within(Limits(0.98, 0.25))


def test_bytes_without_a_sign(tmp_path: Path) -> None:
    """y = (a - 113)(b + 7) in int32, for all values of a uint8."""
    rng, kinds = np.random.default_rng(2), onnx.TensorProto
    a, b = rng.integers(0, 256, (7, 8)).astype(np.uint8), rng.integers(-100, 100, (8, 9)).astype(np.int8)
    path = onnx_file.save(
        tmp_path / "net.onnx",
        [onnx_file.node("MatMulInteger", "a b az bz", "y")],
        {"a": (kinds.UINT8, a.shape)},
        {"y": (kinds.INT32, [7, 9])},
        {"b": b, "az": np.array(113, np.uint8), "bz": np.array(-7, np.int8)},
    )
    model = import_file(path)
    function = only_function(parse(model.mlir, model.name), model.name)
    (border,) = of(function, "input", 1)
    (y,) = evaluate(function, [border.given(a, "a", a.shape, "int8"), *model.weights.values()])
    want = (a.astype(np.int32) - 113) @ (b.astype(np.int32) + 7)
    np.testing.assert_array_equal(y, want)
    assert model.referee is not None
    np.testing.assert_array_equal(model.referee.run([a])[0], want)  # on no CPU with sums of 16 bits


def test_a_misreading_ends_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = save("gemm_alpha", tmp_path / "net.onnx"), tmp_path / "out.mlir"
    right = onnx_ops.OPS["Gemm"]

    def forgets_alpha(A: Any, B: Any, C: Any, alpha: float, beta: float, transA: int, transB: int) -> Any:
        return right(A, B, C, 1.0, beta, transA, transB)

    words = ["quantize", str(path), "--calibration", "4-random", "-o", str(target)]
    assert main(words) == 0
    assert "against ONNX Runtime" in capsys.readouterr().out
    assert "axiloom.compared = " in target.read_text()
    target.unlink()
    monkeypatch.setitem(onnx_ops.OPS, "Gemm", forgets_alpha)
    assert main(words) == 1
    assert "what is read of it (in float32) differs from ONNX Runtime" in capsys.readouterr().err
    assert not target.exists()


def test_low_precision_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """x + 0.05 sin(40 x): int8 has no steps for the second part, and too few where it is multiplied."""
    GRAPHS["wild"] = (17, (4, 64), lambda b, x: b.op("Sin", b.op("Mul", x, b.const(np.float32(18)))))
    path = save("wild", tmp_path / "net.onnx")
    del GRAPHS["wild"]
    main(["quantize", str(path), "--calibration", "4-random", "-o", str(tmp_path / "out.mlir")])
    assert "note: below 20 dB much is lost. Calibrate with real data" in capsys.readouterr().out


def test_all_refusals_come_at_once(tmp_path: Path) -> None:
    """An op that is unknown, one behind it, an attribute, a use that has no integers, an op of other
    people's."""
    node = onnx_file.node
    nodes = [
        node("Tan", "x", "a", name="first"),
        node("Conv", "a w", "b", name="fine"),
        node("AveragePool", "b", "c", name="second", kernel_shape=[2, 2], dilations=[2, 2]),
        node("MatMul", "c v", "d", name="also_fine"),
        node("Div", "d q", "e", name="third"),
        node("Strange", "e", "f", name="fourth", domain="others"),
    ]
    weights = {"w": np.ones((2, 2, 1, 1), np.float32), "v": np.ones((4, 4), np.float32)}
    inputs, path = {"x": [1, 2, 6, 6], "q": [4]}, tmp_path / "net.onnx"
    onnx_file.save(path, nodes, inputs, {"f": [1, 2, 4, 4]}, weights, opset=19, others=1)
    with pytest.raises(CompileError) as caught:
        quantise(*load(str(path)), "4-random", name="net")
    said = str(caught.value)
    for part in (
        "first: ONNX op Tan: ",
        "second: ONNX op AveragePool: with dilations",
        "third: ONNX op Div: ",
    ):
        assert part in said
    assert "fourth: ONNX op others.Strange: cannot be quantised" in said
    assert len(said.splitlines()) == 4


def test_files_that_cannot_be_converted(tmp_path: Path) -> None:
    path, x, y = tmp_path / "net.onnx", {"x": [2, 4]}, {"y": [2, 4]}
    file = read_onnx(onnx_file.save(path, [onnx_file.node("Relu", "x", "y")], x, y, {}, 12, 8))
    assert (file.own_opset, file.opset) == (12, 17)
    scale = {"s": np.array([1, 1], np.float32)}
    onnx_file.save(path, [onnx_file.node("Upsample", "x s", "y", mode="nearest")], x, y, scale, 7, 3)
    with pytest.raises(
        CompileError, match=r"net\.onnx: (opset 7, and onnx\.version_converter|no valid ONNX)"
    ):
        read_onnx(path)


def _refused(op: str, shape: tuple[int, ...], *constants: Any, **attributes: Any) -> tuple[Any, ...]:
    return op, shape, constants, attributes


@pytest.mark.parametrize(
    ("net", "why"),
    [
        (_refused("Softmax", (2, 4), axis=7), r"no valid ONNX model: .*'axis' must be in"),
        (
            _refused("Conv", (1, 1, 8, 8), np.ones((1, 1, 3, 3), np.float32), auto_pad="SOME"),
            "node0: ONNX op Conv: auto_pad = 'SOME'; accepted are NOTSET, ",
        ),
        (_refused("Relu", (1 << 40,)), r"`x` has 1,099,511,627,776 elements; accepted are at most"),
        (_refused("Expand", (1,), np.array([1 << 40])), r"`y` has 1,099,511,627,776 elements"),
        (_refused("Relu", (-2, 4)), r"input `x` has dynamic sizes"),
        (
            _refused("Gather", (2, 4), np.array([9])),
            "node0: ONNX op Gather: indices from 9 to 9 of 2 elements",
        ),
        (
            _refused("MatMul", (2, 4), np.full((4, 3), np.inf, np.float32)),
            "ONNX op MatMul: its weight has values that are not finite",
        ),
    ],
)
def test_files_that_would_take_the_machine_or_mean_nothing(
    net: tuple[Any, ...], why: str, tmp_path: Path
) -> None:
    """One of them kept torch-mlir busy for ever, one asked for 4 TB, one was read as if it had no padding."""
    op, shape, constants, attributes = net
    weights = {f"w{n}": array for n, array in enumerate(constants)}
    nodes = [onnx_file.node(op, " ".join(["x", *weights]), "y", name="node0", **attributes)]
    sizes = [f"size{axis}" for axis in range(len(shape))]
    path = onnx_file.save(tmp_path / "net.onnx", nodes, {"x": list(shape)}, {"y": sizes}, weights, 17, 8)
    with pytest.raises(CompileError, match=why):
        quantise(*load(str(path)), "1-random", name="net")
