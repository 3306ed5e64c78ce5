"""Runs compiled networks on this machine: layers of the accelerator against the functional model."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.drivergen import host

from axiloom.drivergen.c.driver import Arg
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.drivergen.network import NetworkDriver, compile_network
from axiloom.drivergen.network.passes.fold_constants import weight_names
from axiloom.isa import AcceleratorSpec
from axiloom.read.context.model import Model

Array = np.ndarray[Any, Any]

TIMER = """\
#include <stdint.h>
uint64_t axl_timer(void) { static uint64_t ticks; return ++ticks; }
"""


def build(driver: NetworkDriver) -> ctypes.CDLL:
    """Compile with all warnings as errors, and load."""
    objects, _ = host.runtime()
    with tempfile.TemporaryDirectory(prefix="axiloom-test-") as name:
        folder = Path(name)
        files = {
            **driver.sources,
            driver.header_name: driver.header,
            "main.c": driver.harness,
            "timer.c": TIMER,
        }
        for file, text in files.items():
            (folder / file).write_text(text)
        sources = [folder / file for file in files if file.endswith(".c")]
        flags = [*host.WARNINGS, "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
        flags += [f"-I{host.SW / 'include'}", f"-I{folder}"]
        host.gcc(*flags, *sources, *objects, "-o", folder / "network.so")
        return ctypes.CDLL(str(folder / "network.so"))


def run(
    driver: NetworkDriver, spec: AcceleratorSpec | None, inputs: list[Array], times: int = 2
) -> list[Array]:
    """The results after `times` runs, each with inputs filled in again and results filled with rubbish."""
    library = build(driver)
    device = host.Device(spec) if spec and driver.calls else None
    if device:
        library.host_connect(device.send, device.recv)
    for arg in driver.weight_args:
        host.view(library, arg)[...] = driver.weights[arg.symbol]
    given = [arg for arg in driver.args if arg.kind == "in"]
    results = [arg for arg in driver.args if arg.kind != "in"]
    for _ in range(times):
        for arg, array in zip(given, inputs, strict=True):
            host.view(library, arg)[...] = array
        for arg in results:
            host.view(library, arg)[...] = 77
        status = library.main()
        assert status == 0, f"dma_status {status}; device: {device.model.error if device else None}"
    if device:
        assert device.model.code == 0, device.model.error
        assert device.waiting.size == 0, "words were left in the device"
    return [host.view(library, arg).copy() for arg in results]


def random_inputs(args: list[Arg], seed: int = 0) -> list[Array]:
    """Integers over the whole range (int64: 0 to 7, they index), floats around 0."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for arg in args:
        kind = np.dtype(arg.dtype)
        if kind.kind == "f":
            found.append(rng.normal(size=arg.shape).astype(kind))
        elif kind == np.int64:
            found.append(rng.integers(0, 8, arg.shape, kind))
        else:
            info = np.iinfo(kind)
            found.append(rng.integers(info.min, info.max, arg.shape, kind, endpoint=True))
    return found


def expected(model: Model, inputs: list[Array]) -> list[Array]:
    """By NumPy, from the text of the model."""
    function = only_function(parse(model.mlir, model.name), model.name)
    rest = iter(inputs)
    names = weight_names(function)
    return evaluate(function, [next(rest) if n is None else model.weights[n] for n in names])


def check(
    model: Model, spec: AcceleratorSpec | None, inputs: list[Array] | None = None, **options: Any
) -> NetworkDriver:
    """Compile, run twice, and compare every bit with the reference."""
    driver = compile_network(model.mlir, spec, model.weights, name=model.name, **options)
    given = inputs if inputs is not None else random_inputs([a for a in driver.args if a.kind == "in"])
    for found, want in zip(run(driver, spec, given), expected(model, given), strict=True):
        np.testing.assert_array_equal(found, want)
    return driver
