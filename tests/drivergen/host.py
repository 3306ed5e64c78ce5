"""Runs generated drivers on this machine, against the functional model: the compiler without RTL."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import axiloom.sw
from axiloom.drivergen import Driver, compile_mlir, reference
from axiloom.drivergen.c.driver import Arg
from axiloom.isa import AcceleratorSpec, numerics
from axiloom.isa.opcode_map.model import FunctionalModel

Arrays = dict[str, np.ndarray[Any, Any]]

SW = Path(axiloom.sw.__file__).parent
COPIES = ("dma_copy.c", "dma_block.c")
"""Sources of the runtime that know no platform."""
QUEUES = ["-DAXL_DMA_SG=1", f"-I{Path(__file__).with_name('queue')}"]
"""Drivers may have queues; their header on this machine is in the folder."""
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
_Word = ctypes.POINTER(ctypes.c_uint32)
_Send = ctypes.CFUNCTYPE(None, _Word, ctypes.c_uint32, ctypes.c_int)
_Recv = ctypes.CFUNCTYPE(ctypes.c_uint32, _Word, ctypes.c_uint32)


def gcc(*arguments: str | Path) -> None:
    result = subprocess.run(["gcc", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@cache
def runtime() -> tuple[list[Path], tempfile.TemporaryDirectory[str]]:
    """Objects of the runtime; the folder lives as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="axiloom-test-")
    flags = ["-c", "-O1", "-fPIC", *QUEUES, f"-I{SW / 'include'}", f"-I{SW / 'src'}"]
    own = (Path(__file__).with_name(f"host_{what}.c") for what in ("runtime", "queue"))
    sources = (*own, *(SW / "src" / f for f in COPIES))
    objects = [Path(folder.name, source.name).with_suffix(".o") for source in sources]
    for source, compiled in zip(sources, objects, strict=True):
        gcc(*flags, source, "-o", compiled)
    return objects, folder


def build(driver: Driver) -> ctypes.CDLL:
    """Compile with all warnings as errors, and load; the driver's own `main` is in it."""
    objects, _ = runtime()
    with tempfile.TemporaryDirectory(prefix="axiloom-test-") as name:
        folder = Path(name)
        (folder / "driver.c").write_text(driver.c)
        (folder / driver.header_name).write_text(driver.header)
        (folder / "main.c").write_text(driver.harness)
        flags = [*WARNINGS, "-shared", "-fPIC", *QUEUES, f"-I{SW / 'include'}", f"-I{folder}"]
        gcc(*flags, folder / "driver.c", folder / "main.c", *objects, "-o", folder / "driver.so")
        return ctypes.CDLL(str(folder / "driver.so"))


def view(library: ctypes.CDLL, arg: Arg) -> np.ndarray[Any, Any]:
    """The harness' array of an argument, in place."""
    kind = np.ctypeslib.as_ctypes_type(np.dtype(arg.dtype))
    return np.ctypeslib.as_array((kind * arg.size).in_dll(library, arg.symbol)).reshape(arg.shape)


def random_inputs(driver: Driver, seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    arrays: Arrays = {}
    for arg in driver.args:
        if arg.kind != "out":
            arrays[arg.symbol] = numerics.host(arg.dtype).random(rng, arg.shape)
    return arrays


class Device:
    """The functional model behind the DMA. `sent` and `received` hold the length of each transfer."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.model = FunctionalModel(spec)
        self.waiting = np.zeros(0, np.uint32)
        self.sent: list[int] = []
        self.received: list[int] = []
        self.unarmed = 0
        self.send, self.recv = _Send(self._send), _Recv(self._recv)

    def _send(self, words: Any, count: int, armed: int) -> None:
        self.sent.append(count)
        out = self.model.feed(np.ctypeslib.as_array(words, (count,)).copy())
        self.unarmed += int(out.size > 0 and not armed)
        self.waiting = np.concatenate([self.waiting, out])

    def _recv(self, words: Any, count: int) -> int:
        found = self.waiting[:count]
        self.waiting = self.waiting[count:]
        np.ctypeslib.as_array(words, (count,))[: found.size] = found
        self.received.append(count)
        return int(found.size)


def run(
    driver: Driver, spec: AcceleratorSpec | None, inputs: Arrays, times: int = 1
) -> tuple[Arrays, Device | None]:
    """Outputs after `times` runs of the harness, each with the inputs filled in again."""
    library = build(driver)
    device = Device(spec) if spec else None
    if device:
        assert spec is not None
        library.host_connect(device.send, device.recv)
        library.host_stream(spec.link.stream_width)
    for _ in range(times):
        for arg in driver.args:
            view(library, arg)[...] = inputs.get(arg.symbol, 77)  # what is only written may hold anything
        status = library.main()
        assert status == 0, f"dma_status {status}; device: {device.model.error if device else None}"
    if device:
        assert device.model.code == 0, device.model.error
        assert device.waiting.size == 0, "words were left in the device"
        assert device.unarmed == 0, "a receive was armed too late"
    return {arg.symbol: view(library, arg).copy() for arg in driver.args if arg.kind != "in"}, device


def check(text: str, spec: AcceleratorSpec, **options: Any) -> tuple[Driver, Device]:
    """Compile, run twice, and compare with the reference."""
    driver = compile_mlir(text, spec, **options)
    inputs = random_inputs(driver)
    found, device = run(driver, spec, inputs, times=2)
    expected = reference(text, inputs)
    assert expected.keys() == found.keys()
    for symbol, array in expected.items():
        np.testing.assert_array_equal(found[symbol], array)
    assert device is not None
    return driver, device
