"""What becomes of a model on its way in; needs the extra [networks].

Each network of examples/networks through PyTorch and through the ONNX file that torch exports of it: the same
integers, and the same C? Networks in unusual forms (`import_graphs`) on the simulated SoC with v4_16 and
conv_v4: which layers an accelerator executes, which the CPU, and whether all is as NumPy has it. And what is
refused, with its place.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from axiloom import isa
from axiloom.base.errors import AxiloomError
from axiloom.cosim.system import System
from axiloom.drivergen.network import compile_network
from axiloom.isa import AcceleratorSpec
from axiloom.quantise.network import Quantised, quantise
from axiloom.read.context.model import Model
from axiloom.read.models import network as load
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import report_of
from benchmarks.networks.import_graphs import FORMS, Graph
from benchmarks.networks.quantisation import example

NETWORKS = ("digits_mlp", "digits_cnn", "tinybert", "resnet18")
SAMPLES = 4
"""Of calibration: enough for what is compared here."""


def accelerators() -> list[AcceleratorSpec]:
    return isa.place([isa.builtin(name, data_type="int8") for name in ("v4_16", "conv_v4")])


def main() -> None:
    networks()
    forms()
    refused()


# -- PyTorch against ONNX --------------------------------------------------------------------------------
def networks() -> None:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # no torchvision: nobody asked for it
    print("Each network through PyTorch and through ONNX (torch.onnx.export, optimize=False):")
    for name in NETWORKS:
        module = example(name)
        network, examples = module.build()
        samples = _samples(module, examples)
        direct = quantise(network, examples, samples, name=name)
        # Its optimiser would fold batch norms into the convolutions in float32; we do it in float64.
        through = quantise(_by_onnx(network, examples), examples, samples, name=name)
        print(f"  {name}: {_alike(direct, through, examples)}", flush=True)


def _samples(module: Any, examples: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    if hasattr(module, "calibration"):
        return list(module.calibration())[:SAMPLES]
    generator = torch.Generator().manual_seed(4)
    return [
        tuple(torch.randn(example.shape, generator=generator) for example in examples) for _ in range(SAMPLES)
    ]


def _by_onnx(network: Any, examples: tuple[Any, ...]) -> Any:
    """The module that our own reader makes of the ONNX file."""
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "network.onnx"
        with contextlib.redirect_stdout(io.StringIO()):
            torch.onnx.export(network, examples, path, external_data=False, verbose=False, optimize=False)
        return load(str(path))[0]


def _alike(direct: Quantised, through: Quantised, examples: tuple[Any, ...]) -> str:
    (text, weights), (other, others) = (_anonymous(side.model()) for side in (direct, through))
    equal = sum(np.array_equal(weight, another) for weight, another in zip(weights, others, strict=True))
    facts = [f"{equal} of {len(weights)} quantised arrays equal ({sum(w.nbytes for w in weights):,} bytes)"]
    facts.append("the same MLIR" if text == other else "other MLIR")
    drivers = [
        compile_network(mlir, accelerators(), _labelled(arrays), name="network").sources
        for mlir, arrays in ((text, weights), (other, others))
    ]
    lines = sum(source.count("\n") for source in drivers[0].values())
    same = drivers[0] == drivers[1]
    facts.append(f"{'the same' if same else 'another'} driver ({len(drivers[0])} C files, {lines:,} lines)")
    results = [next(iter(side.run(side.inputs(examples)).values())) for side in (direct, through)]
    facts.append(f"{'the same' if np.array_equal(*results) else 'another'} result in integers")
    if equal != len(weights) or not (same and np.array_equal(*results)):
        raise SystemExit(f"{direct.graph.name}: PyTorch and ONNX differ: {', '.join(facts)}")
    return ", ".join(facts)


def _anonymous(model: Model) -> tuple[str, list[np.ndarray[Any, Any]]]:
    """Text and weights with numbers for the names of layers, which an ONNX file has of its own."""
    labels = {label: f"w{number}" for number, label in enumerate(model.weights)}
    values: dict[str, str] = {}
    text = re.sub(r' loc\("[^"]*"\)', "", model.mlir)
    text = re.sub(r'(axiloom\.weight = )"([^"]+)"', lambda m: f'{m[1]}"{labels[m[2]]}"', text)
    text = re.sub(r"%[\w.]+", lambda m: values.setdefault(m[0], f"%v{len(values)}"), text)
    return text, list(model.weights.values())


def _labelled(weights: Sequence[np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    return {f"w{number}": array for number, array in enumerate(weights)}


# -- unusual forms ---------------------------------------------------------------------------------------
def forms() -> None:
    system = System(accelerators())
    print(f"\n{len(FORMS)} networks in unusual forms on the SoC with v4_16 and conv_v4 (int8), on Verilator:")
    wrong: list[str] = []
    counts = {"accelerator": 0, "cpu": 0}
    reasons: list[str] = []
    for name, form in FORMS.items():
        graph = Graph()
        model = graph.model("form.mlir", form(graph))
        run = NetworkRun(Network(name, model.mlir, model.weights), system)
        right = report_of(run)["result"]["matches"]
        places = {
            place: [layer.function for layer in run.driver.layers if layer.place == place] for place in counts
        }
        for place, layers in places.items():
            counts[place] += len(layers)
        reasons += [f"{layer.location}: {layer.reason}" for layer in run.driver.layers if layer.reason]
        wrong += [] if right else [name]
        offloaded, rest = (", ".join(places[place]) or "-" for place in ("accelerator", "cpu"))
        print(f"  {name:42} {'right' if right else 'WRONG':6} {offloaded:49} CPU: {rest}", flush=True)
    print("Why a product stayed on the CPU (form:line:column):")
    for reason in reasons:
        print(f"  {reason}")
    print(
        f"{len(FORMS) - len(wrong)} of {len(FORMS)} right; "
        f"layers: {counts['accelerator']} on an accelerator, {counts['cpu']} on the CPU"
    )
    if wrong:
        raise SystemExit(f"not as NumPy has them: {', '.join(wrong)}")


# -- what cannot be done ---------------------------------------------------------------------------------
def refused() -> None:
    print("\nWhat is refused, and where:")
    for what, attempt in REFUSED.items():
        try:
            attempt()
        except AxiloomError as error:
            print(f"  {what}: {error}")
        else:
            raise SystemExit(f"{what}: was not refused")


_VECTOR = "tensor<4xf32>"


def _mlir(op: str) -> Callable[[], object]:
    text = (
        f"func.func @net(%x: {_VECTOR}, %y: {_VECTOR}) -> {_VECTOR} {{\n"
        f"  %z = {op}\n"
        f"  return %z : {_VECTOR}\n}}\n"
    )
    return lambda: compile_network(text, accelerators(), name="net.mlir")


def _torch(function: Callable[[Any], Any]) -> Callable[[], object]:
    class Layer(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    x = torch.ones(2, 6)
    return lambda: quantise(Layer().eval(), (x,), [(x,)], name="net")


def _onnx(op: str) -> Callable[[], object]:
    def attempt() -> object:
        make, kind = onnx.helper, onnx.TensorProto.FLOAT
        ends = [[make.make_tensor_value_info(name, kind, [2, 6])] for name in "xy"]
        nodes = [make.make_node("Relu", ["x"], ["r"]), make.make_node(op, ["r"], ["y"], name="layer7")]
        proto = make.make_model(
            make.make_graph(nodes, "net", *ends), opset_imports=[make.make_opsetid("", 18)]
        )
        with tempfile.TemporaryDirectory(prefix="axiloom-") as folder, contextlib.chdir(folder):
            onnx.save(proto, "net.onnx")
            return quantise(*load("net.onnx"), "1-random", name="net")

    return attempt


REFUSED: dict[str, Callable[[], object]] = {
    "an op of another dialect": _mlir(f"tosa.add %x, %y : ({_VECTOR}, {_VECTOR}) -> {_VECTOR}"),
    "an op that has no C": _mlir(
        f"linalg.generic {{indexing_maps = [{', '.join(['affine_map<(i) -> (i)>'] * 3)}], "
        f'iterator_types = ["parallel"]}} ins(%x, %y : {_VECTOR}, {_VECTOR}) outs(%x : {_VECTOR}) {{\n'
        "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %r = math.atan2 %a, %b : f32\n    linalg.yield %r : f32\n"
        f"  }} -> {_VECTOR}"
    ),
    "a PyTorch op without an integer form": _torch(lambda x: torch.cumsum(x, 1)),
    "a use of one that has none": _torch(lambda x: x / torch.exp(x[:1])),
    "an ONNX op without an integer form": _onnx("Tan"),
}
