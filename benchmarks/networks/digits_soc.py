"""Digits on the simulated SoC: 200 images that were held back, each answer against the integer graph's.

All images are one batch, so that each network runs once. Needs the extra [networks].
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch

from axiloom import isa
from axiloom.base.files import write_arrays
from axiloom.cosim.system import System
from axiloom.quantise.network import quantise
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import simulate
from benchmarks.networks.quantisation import example

ON = {"digits_mlp": "v4_16", "digits_cnn": "conv_v4"}
"""The accelerator that each runs on."""


def measure(name: str, accelerator: str) -> None:
    module = example(name)
    images, labels = (values.numpy() for values in module.held_back())
    network, examples = module.build(len(images))
    quantised = quantise(network, examples, module.calibration(len(images)), name=name)
    inputs = quantised.inputs(examples)
    (integers,) = quantised.run(inputs).values()
    with torch.no_grad():
        real = network(*examples).numpy()
    model = quantised.model()
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        file = Path(folder) / "inputs.npz"
        write_arrays(file, {f"input{number}": array for number, array in enumerate(inputs.values())})
        run = NetworkRun(
            Network(name, model.mlir, model.weights, file),
            System(isa.builtin(accelerator, data_type="int8")),
        )
        result = simulate(run)
        (symbol,) = run.expected
        soc = result.outputs[symbol]
    places = [layer.place for layer in run.driver.layers]
    right = [int((answers.argmax(-1) == labels).sum()) for answers in (real, integers, soc)]
    alike = int((soc == integers).all(-1).sum())
    milliseconds = result.counters["task-clock"] / 1e6
    print(
        f"{name} on {accelerator}: of {len(images)} images float has {right[0]} right, "
        f"int8 in NumPy {right[1]}, int8 on the SoC {right[2]}; logits equal in every bit for {alike}; "
        f"{places.count('accelerator')} of {len(places)} layers on the accelerator, {milliseconds:.1f} ms"
    )
    if not np.array_equal(soc, integers):
        raise SystemExit(f"{name}: the SoC and the integer graph differ")


def main() -> None:
    for name, accelerator in ON.items():
        measure(name, accelerator)
