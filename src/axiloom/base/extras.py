"""Optional parts of an installation: what each is for, whether it is there, and how it comes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

from axiloom.base.errors import BuildError

NAME = "axiloom"
USES = {
    "nests": "loops in C: `axiloom nest`",
    "prove": "proofs by solvers: `axiloom prove`",
    "select": "a choice of instructions by e-graphs: `axiloom run --select egraph`",
    "torch": "PyTorch models: `axiloom run model.py:build`, `axiloom quantize`",
    "onnx": "ONNX models: `axiloom run model.onnx`",
    "synth": "clocks and bitstreams: `axiloom estimate`",
    "calibrate": "fitting a board's profile: `axiloom calibrate`",
    "pynq": "a server for PYNQ notebooks: `axiloom serve --pynq`",
    "dask": "sweeps on several machines: `axiloom sweep --dask`",
    "networks": "the networks of examples/networks",
    "bench": "plots: `python -m benchmarks.paper`",
}
"""Extras that a user may want, and what they give."""
_BRINGS = {
    "torch": ("PyTorch", "torch"),
    "torch_mlir": ("torch-mlir", "torch"),
    "onnx": ("ONNX", "onnx"),
    "sklearn": ("scikit-learn", "networks"),
    "grpc": ("gRPC", "pynq"),
    "grpc_tools": ("gRPC's compiler of messages", "pynq"),
}
"""By module: the library's name, and the extra that brings it."""
_REQUIREMENT = re.compile(
    r"(?P<package>[\w.-]+)(?:\[(?P<extras>[\w,]+)\])?.*\bextra == ['\"](?P<extra>\w+)['\"]"
)


def install(*names: str) -> str:
    """The command that brings these extras: from where Axiloom itself came, never from a registry, which may
    have another package of this name."""
    listed = ",".join(names)
    checkout = Path(__file__).parents[3]
    if (checkout / "pyproject.toml").is_file():
        place = "." if checkout == Path.cwd() else str(checkout)
        return f"pip install -e '{place}[{listed}]'"
    if came := _came_from():
        return f"pip install '{came}[{listed}]'"
    return f"pip install 'FILE[{listed}]', where FILE is the wheel or the checkout that {NAME} came from"


def require(module: str, what: str) -> None:
    """Raise BuildError unless `module` can be imported; `what` (``model.onnx``) needs it."""
    if importlib.util.find_spec(module) is None:
        library, extra = _BRINGS[module]
        raise BuildError(f"{what}: needs {library}, which is not installed: {install(extra)}")


def _came_from() -> str:
    """The file or address of this installation, as pip keeps it (PEP 610); empty if it keeps none."""
    try:
        text = metadata.distribution(NAME).read_text("direct_url.json")
        url = str(json.loads(text or "{}").get("url", ""))
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    return os.path.relpath(unquote(urlparse(url).path)) if url.startswith("file:") else url


def packages(name: str) -> dict[str, str | None]:
    """The packages of an extra, those of extras in it too, and their versions; None: not installed."""
    return {package: _version(package) for package in dict.fromkeys(_packages(name))}


def _packages(name: str) -> Iterator[str]:
    try:
        lines = metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match is None or match["extra"] != name:
            continue
        if match["package"] == NAME:
            for inner in match["extras"].split(","):
                yield from _packages(inner)
        else:
            yield match["package"]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
