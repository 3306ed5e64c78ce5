"""Models from PyTorch and ONNX, and what is said of those that are none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.read.onnx_file import node, save

from axiloom.base.errors import AxiloomError, BuildError, CompileError, UsageError
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.graph.evaluate import evaluate as evaluate_graph
from axiloom.read import models
from axiloom.read.context.model import Model
from axiloom.read.mlir.model import read as read_model

MODEL = """
import torch
from helper import SIZE

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(SIZE, 3)

    def forward(self, x):
        return self.layer(x)

def build():
    torch.manual_seed(0)
    return Net(), (torch.ones(2, SIZE),)

def nothing():
    return 5

def text():
    return torch.nn.Linear(4, 3), ("a",)

def branch():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x
    return Net(), torch.ones(2)

def unknown():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x).real
    return Net(), torch.ones(2, 2)

def several():
    class Net(torch.nn.Module):
        def forward(self, x):
            y = torch.cumsum(x, 0)
            return torch.sort(y, 1)[0]
    return Net(), torch.ones(2, 2)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("SIZE = 4\n")
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def evaluated(model: Model, inputs: list[Any]) -> Any:
    function = only_function(parse(model.mlir, model.name), model.name)
    names = [name for name in model.weights if f'"{name}"' in model.mlir]
    (result,) = evaluate(function, [*inputs, *(model.weights[name] for name in names)])
    return result


@pytest.mark.parametrize("missing", ["torch", "torch_mlir", "onnx"])
def test_missing_extras_are_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    text = "net.onnx" if missing == "onnx" else "net.py:build"
    extra = "onnx" if missing == "onnx" else "torch"
    with pytest.raises(BuildError, match=rf"^{text}: needs .*: pip install -e '.\[{extra}\]'$"):
        models.load(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("net.tflite", "`net.tflite` is no model; accepted are model.py:build"),
        ("net.py", "`net.py` is no model"),
        ("absent.mlir", "absent.mlir: no such file"),
    ],
)
def test_what_is_no_model(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        models.load(text)


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text('func.func @f(%a: tensor<2xi8> {axiloom.weight = "w"}) { return }')
    with pytest.raises(UsageError, match=r"has weights \(w, \.\.\.\), but net\.npz is not beside it"):
        read_model(path)
    np.savez(tmp_path / "net.npz", v=np.zeros(2, np.int8))
    with pytest.raises(UsageError, match=r"net\.npz: no array `w`"):
        read_model(path)


def test_a_module_and_its_weights(model: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    made = models.load(f"{model}:build")
    assert sorted(made.weights) == ["layer.bias", "layer.weight"]
    assert "model.py" in made.mlir
    assert str(model.parent) not in made.mlir  # places name the file alone
    torch.manual_seed(0)
    want = torch.nn.Linear(4, 3)(torch.ones(2, 4)).detach().numpy()
    np.testing.assert_allclose(evaluated(made, [np.ones((2, 4), np.float32)]), want, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "kind", "why"),
    [
        ("absent", UsageError, r"model\.py:absent: no such function; there are build, nothing"),
        ("nothing", UsageError, r"model\.py:nothing: returned int; it must return"),
        ("text", UsageError, r"example inputs that are no tensors"),
        ("branch", CompileError, r"model\.py:branch: does not export: .*model\.py"),
        ("unknown", CompileError, r"model\.py:unknown: model\.py:\d+: .*linalg_eig"),
    ],
)
def test_modules_that_do_not_work(model: Path, function: str, kind: type[AxiloomError], why: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    with pytest.raises(kind, match=why) as caught:
        models.load(f"{model}:{function}")
    assert "\n" not in str(caught.value)


def test_all_lines_that_do_not_work_are_named(model: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    with pytest.raises(CompileError) as caught:
        models.load(f"{model}:several")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[2] for line in lines] == ["tm_tensor.scan", "tm_tensor.sort"]
    places = [line.split(": ")[1] for line in lines]
    assert [model.read_text().splitlines()[int(place.removeprefix("model.py:")) - 1] for place in places] == [
        "            y = torch.cumsum(x, 0)",
        "            return torch.sort(y, 1)[0]",
    ]


def onnx_model(path: Path, op: str = "Relu", size: object = 2) -> Path:
    """y = op(x W + b) with W (4, 3)."""
    pytest.importorskip("torch_mlir")
    rng = np.random.default_rng(4)
    weights = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in (("W", (4, 3)), ("b", (3,)))
    }
    nodes = [
        node("MatMul", "x W", "p", name="product"),
        node("Add", "p b", "s", name="sum"),
        node(op, "s", "y", name="last"),
    ]
    return save(path, nodes, {"x": [size, 4]}, {"y": [size, 3]}, weights)


def test_an_onnx_file(tmp_path: Path) -> None:
    made = models.load(str(onnx_model(tmp_path / "net.onnx")))
    assert sorted(made.weights) == ["W", "b"]
    x = np.random.default_rng(5).normal(size=(2, 4)).astype(np.float32)
    want = np.maximum(x @ made.weights["W"] + made.weights["b"], 0)
    np.testing.assert_allclose(evaluated(made, [x]), want, rtol=1e-5, atol=1e-6)


def test_graphs_of_networks(tmp_path: Path) -> None:
    """An ONNX file computes as a graph what it computes as linalg."""
    file = str(onnx_model(tmp_path / "net.onnx"))
    x = np.random.default_rng(5).normal(size=(2, 4)).astype(np.float32)
    graph = models.graph(file)
    (parameter,) = graph.parameters
    (result,) = evaluate_graph(graph, {str(parameter.attributes["name"]): x})
    np.testing.assert_allclose(result, evaluated(models.load(file), [x]), rtol=1e-5, atol=1e-6)
    with pytest.raises(CompileError, match=r"last: ONNX op Tan: "):
        models.graph(str(onnx_model(tmp_path / "tan.onnx", op="Tan")))


def test_onnx_files_that_do_not_work(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "dynamic.onnx", size="batch")
    with pytest.raises(CompileError, match=r"input `x` has dynamic sizes \(batch, 4\); they must be known"):
        models.load(str(path))
    path.write_bytes(b"no model")
    with pytest.raises(CompileError, match=r"dynamic\.onnx: no valid ONNX model"):
        models.load(str(path))
    with pytest.raises(UsageError, match="no such file"):
        models.load(str(tmp_path / "absent.onnx"))


def test_quantising_an_onnx_file(tmp_path: Path) -> None:
    path = onnx_model(tmp_path / "net.onnx")
    from axiloom.quantise.network import quantise
    from axiloom.quantise.report import rows
    from axiloom.read.models import network as load

    made = quantise(*load(str(path)), "16-random", name="net")
    assert [node.op for node in made.values] == ["parameter", "dot_general", "requantise"]
    assert made.values[0].place == "x"
    assert rows(made)[-1].sqnr > 30
    assert made.real(made.samples[0])[0].min() >= 0
    with pytest.raises(CompileError, match=r"last: ONNX op Tan: cannot be quantised; near it are Tanh"):
        quantise(*load(str(onnx_model(path, op="Tan"))), "1-random", name="net")


def test_parameters_of_the_type_and_shape_of_a_value(tmp_path: Path) -> None:
    """As torch writes a batch norm where its optimiser is off."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    from axiloom.read.onnx.network import load_network

    rng = np.random.default_rng(6)
    weights = {name: rng.normal(size=3).astype(np.float32) for name in ("offset", "mean")}
    weights["variance"] = np.array([0.5, 1.0, 2.0], np.float32)
    nodes = [
        node("Shape", "x", "channels", start=1, end=2),
        node("CastLike", "gain64 x", "gain32"),
        node("Expand", "gain32 channels", "gain"),
        node("BatchNormalization", "x gain offset mean variance", "y"),
    ]
    sizes, gain = [2, 3, 4, 4], np.array(2.0)  # float64, one number
    path = save(tmp_path / "net.onnx", nodes, {"x": sizes}, {"y": sizes}, {**weights, "gain64": gain})
    network, (x,) = load_network(path)
    assert len(list(network.children())) == 1
    x = torch.randn(x.shape)
    offset, mean, variance = map(torch.from_numpy, weights.values())
    want = torch.nn.functional.batch_norm(x, mean, variance, torch.full((3,), 2.0), offset)
    torch.testing.assert_close(network(x), want)


@pytest.mark.parametrize("half", ["before", "after", "missing"])
def test_a_gelu_in_parts(half: str, tmp_path: Path) -> None:
    """As exporters of old opsets write it: one table, and so is what is nearly a GELU."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    from axiloom.quantise.network import quantise
    from axiloom.read.models import network as load

    numbers = {"root": np.sqrt(2.0), "one": 1.0, "half": 0.5}
    ends = {
        "before": [node("Mul", "x half", "h"), node("Mul", "h a", "y")],
        "after": [node("Mul", "x a", "h"), node("Mul", "h half", "y")],
        "missing": [node("Mul", "x a", "y")],
    }
    nodes = [node("Div", "x root", "d"), node("Erf", "d", "e", name="erf"), node("Add", "e one", "a")]
    weights = {name: np.array(value, np.float32) for name, value in numbers.items()}
    path = save(tmp_path / "net.onnx", [*nodes, *ends[half]], {"x": [4]}, {"y": [4]}, weights)
    made = quantise(*load(str(path)), "16-random", name="net")
    assert [node.op for node in made.values] == ["parameter", "lookup"]
    (sample,) = made.samples[0]
    (y,) = made.real((sample,))
    want = torch.nn.functional.gelu(sample) * (2 if half == "missing" else 1)
    np.testing.assert_allclose(y, want.numpy(), atol=0.05)


@pytest.mark.slow
def test_pytorch_and_onnx_give_the_same_values(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from tests.read.modules import CASES

    from axiloom.read.pytorch.linalg import import_module

    for name in ("conv_residual", "mlp", "attention", "embedding", "pools"):
        torch.manual_seed(0)
        network, inputs = CASES[name].make().eval(), CASES[name].inputs()
        path = tmp_path / f"{name}.onnx"
        torch.onnx.export(network, inputs, path, external_data=False, verbose=False)
        given = [value.numpy() for value in inputs]
        both = [
            evaluated(made, given) for made in (import_module(network, inputs, name), models.load(str(path)))
        ]
        np.testing.assert_allclose(*both, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv_residual", "mlp"])
def test_pytorch_and_onnx_give_the_same_integers(name: str, tmp_path: Path) -> None:
    """Where the exporter leaves batch norms to us. The example networks: ``python -m benchmarks imports``."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from tests.read.modules import CASES

    from axiloom.quantise.network import quantise
    from axiloom.read.models import network as load

    torch.manual_seed(0)
    network, inputs = CASES[name].make().eval(), CASES[name].inputs()
    path = tmp_path / f"{name}.onnx"
    torch.onnx.export(network, inputs, path, external_data=False, verbose=False, optimize=False)
    both = [quantise(model, inputs, [inputs], name=name) for model in (network, load(str(path))[0])]
    for nodes in zip(*(made.graph.nodes() for made in both), strict=True):
        assert repr(nodes[0]).replace(*(str(node.attributes.get("name")) for node in nodes)) == repr(nodes[1])
        assert len({made.scales.get(id(node)) for made, node in zip(both, nodes, strict=True)}) == 1
    for arrays in zip(*(made.graph.constants.values() for made in both), strict=True):
        np.testing.assert_array_equal(*arrays)
