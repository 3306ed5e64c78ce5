"""A driver in C that runs on this machine, while its DMA and accelerator are behind a line.

The same sources as for a processor beside the accelerator, with the same runtime; ``sw/remote/platform.c``
takes what the DMA reads to the board, and fetches what it wrote.
"""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import sw
from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import DriverError, UsageError
from axiloom.cosim.build import toolchain
from axiloom.isa import AcceleratorSpec
from axiloom.remote.serial_host import Bridge

LIBRARY = "driver.so"
TIMEOUT_US = 60_000_000
"""Of a wait of the driver: a simulated board is slow, and does not hang for ever either."""
TIMER_HZ = 1_000_000_000
FLAGS = (*toolchain.FLAGS, "-O2", "-fPIC", "-shared")
_Pointer = ctypes.POINTER(ctypes.c_uint32)
_TRANSFER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, _Pointer, ctypes.c_uint32)

Arrays = Mapping[str, np.ndarray[Any, Any]]
Shapes = Mapping[str, tuple[tuple[int, ...], str]]


class _Line(ctypes.Structure):
    """``axl_remote`` of ``sw/remote/remote.h``."""

    _fields_ = (("write", _TRANSFER), ("read", _TRANSFER))


def compile_remote(sources: Sequence[Path], spec: AcceleratorSpec, include: Sequence[Path] = ()) -> Path:
    """The library of C `sources` with the runtime, for this machine; cached. CompileError carries the
    compiler's first error."""
    macros = {
        **toolchain.hardware_macros(spec),
        "AXL_REMOTE": 1,
        "AXL_TIMEOUT_US": TIMEOUT_US,
        "AXL_CPU_HZ": f"{TIMER_HZ}u",
    }
    headers = [header for folder in include for header in sorted(folder.glob("*.h"))]
    runtime = [*sw.REMOTE_SOURCES, *sorted(sw.ROOT.rglob("*.h"))]
    flags = [*FLAGS, *(f"-D{name}={value}" for name, value in macros.items())]
    names = [path.name for path in (*sources, *headers)]
    key = content_hash(toolchain.version(), flags, names, *sources, *headers, *runtime)

    def build(folder: Path) -> None:
        paths = [f"-I{path.absolute()}" for path in (*include, *sw.INCLUDE[:1])]
        files = [str(path.absolute()) for path in (*sources, *sw.REMOTE_SOURCES)]
        toolchain.run_zig(["cc", *flags, *paths, "-o", str(folder / LIBRARY), *files], folder)

    return cached_build("remote-driver", key, build) / LIBRARY


def run_remote(
    library: Path, bridge: Bridge, inputs: Arrays, outputs: Shapes
) -> tuple[int, dict[str, np.ndarray[Any, Any]]]:
    """Fill the driver's arrays by `inputs`, call its ``main``, and read the arrays `outputs` (shape, type).

    Returns what ``main`` returned and the outputs. What the line raises comes out of here. UsageError for an
    array that the driver does not have.
    """
    failure: list[Exception] = []

    def guarded(transfer: Any) -> Any:
        def call(address: int, words: Any, count: int) -> int:
            try:
                transfer(address, words, count)
            except Exception as error:
                failure.append(error)
                return 1
            return 0

        return _TRANSFER(call)

    def write(address: int, words: Any, count: int) -> None:
        bridge.write(address, np.ctypeslib.as_array(words, (count,)))

    def read(address: int, words: Any, count: int) -> None:
        np.ctypeslib.as_array(words, (count,))[:] = bridge.read(address, count)

    line = _Line(guarded(write), guarded(read))
    with _fresh(library) as loaded:
        for symbol, array in inputs.items():
            _array(loaded, symbol, array.shape, str(array.dtype))[...] = array
        loaded.axl_remote_attach(ctypes.byref(line))
        code = int(loaded.main())
        if failure:
            raise failure[0]
        return code, {symbol: _array(loaded, symbol, *form).copy() for symbol, form in outputs.items()}


@contextmanager
def _fresh(library: Path) -> Iterator[ctypes.CDLL]:
    """The library from a copy of its own: what is loaded twice from one path has its variables once."""
    with processes.scratch("axiloom-") as folder:
        copy = Path(shutil.copy(library, folder))
        try:
            loaded = ctypes.CDLL(str(copy))
        except OSError as error:
            raise DriverError(f"the driver cannot be loaded: {error}") from None
        yield loaded


def _array(library: ctypes.CDLL, symbol: str, shape: Sequence[int], dtype: str) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    try:
        memory = (ctypes.c_uint8 * size).in_dll(library, symbol)
    except ValueError:
        raise UsageError(f"{symbol}: the driver has no such global array") from None
    return np.frombuffer(memoryview(memory), dtype=kind).reshape(shape)
