"""``axiloom.load``: a network as a function of NumPy arrays, which runs on the simulated SoC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import MismatchError, UsageError
from axiloom.cli import given, parser
from axiloom.cli.run.command import network_run
from axiloom.cosim.soc import judge
from axiloom.drivergen.network import is_network
from axiloom.read import models
from axiloom.report.types import Report
from axiloom.run.network import ALL
from axiloom.run.run import simulate

Array = np.ndarray[Any, Any]


class Loaded:
    """A network on a system. Call it with the inputs, in order or by name; each call simulates one run."""

    def __init__(self, model: str, words: list[str]) -> None:
        self.options = parser("run").parse_args(words)
        self.options.words = words
        self.options.layers = ALL  # what is not simulated gives no results
        given.check(self.options)
        loaded = models.load(model) if models.is_model(model) else None
        if loaded is None or not is_network(loaded.mlir, model):
            raise UsageError(
                f"{model}: expected a network: FILE.mlir with many ops, FILE.onnx or FILE.py:FUNCTION"
            )
        self.model = loaded
        self.report: Report | None = None
        """Of the last call: what ``axiloom run --json`` writes."""

    def __repr__(self) -> str:
        return f"axiloom.load({self.model.name!r})"

    def __call__(self, *inputs: Array, **named: Array) -> Array | tuple[Array, ...]:
        """The results, one array or a tuple: floats where the network has scales.

        Inputs are what the network takes, or floats for an int8 network. Every result is compared with
        NumPy's; MismatchError if it differs, HangError, DriverError or StaleDataError if the run fails.
        """
        arrays = {f"input{number}": np.asarray(array) for number, array in enumerate(inputs)}
        arrays |= {name: np.asarray(array) for name, array in named.items()}
        run = network_run(self.options, self.model, arrays or None)
        result = simulate(run)
        self.report = run.checked(result)
        judge(result)
        if not self.report["result"]["matches"]:
            raise MismatchError(f"{self.model.name}: {self.report['result']['first']}")
        results = tuple(run.results(result).values())
        return results[0] if len(results) == 1 else results


def load(model: str | Path, **options: Any) -> Loaded:
    """A network (``FILE.mlir``, ``FILE.onnx``, ``FILE.py:FUNCTION``) on accelerators of the simulated SoC.

    `options` are those of ``axiloom run``, with underscores: ``accel="conv_v4,v4", post=True,
    stream_width=64``. Raises UsageError, SpecError or CompileError as the command does.

    ::

        digits = axiloom.load("digits.mlir", accel="conv_v4,v4", post=True)
        logits = digits(image)
        print(digits.report["counters"]["task-clock"])
    """
    words = ["run", str(model)]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not False and value is not None:
            words += [flag, *map(str, value if isinstance(value, (list, tuple)) else [value])]
    try:
        return Loaded(str(model), words)
    except SystemExit:  # argparse has said on standard error what it takes
        raise UsageError(f"axiloom.load({model!r}): options are those of `axiloom run`") from None
