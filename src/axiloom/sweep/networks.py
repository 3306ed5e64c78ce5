"""Whole networks as sides of an experiment: where their models are kept, and the worker that runs them.

A point names its model by a hash of text and weights; both lie under it in the cache folder, so that the key
of a point does not depend on where a file was, and a worker finds it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import axiloom
from axiloom import boards, isa
from axiloom.base.cache import cache_root, cached_build, content_hash
from axiloom.base.errors import MismatchError, StaleDataError, UsageError
from axiloom.base.extras import require
from axiloom.base.files import code_hash
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec
from axiloom.read.context.model import Model
from axiloom.read.mlir.model import read as read_model
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import report_of, simulate_cpu
from axiloom.sweep import points

Point = dict[str, Any]
Figures = dict[str, Any]

KIND = "network"
_FILE = "model.mlir"
MEASURING = (*points.MEASURING, "graph", "quantise", "read", "selection")
"""Rooms whose code the figures of a network depend on."""
RANDOM = "10-random"
"""What an example is calibrated on that has no data of its own."""


def on_soc(
    model: str,
    name: str,
    spec: AcceleratorSpec,
    *,
    code: str,
    flow: str | None,
    pipeline: str | None,
    tile: tuple[int, ...] | None = None,
    board: str = boards.DEFAULT,
) -> Point:
    """The network `model` (a hash from `keep`) on `spec`; `code`: hash of all that figures come from."""
    return {
        "kind": KIND,
        "kernel": None,
        "problem": f"network:{name}",
        "model": model,
        "code": code,
        "spec": json.loads(isa.dumps(spec)),
        "flow": flow,
        "pipeline": pipeline,
        "tile": list(tile) if tile else None,
        "board": board,
    }


def on_cpu(model: str, name: str, spec: AcceleratorSpec, *, code: str, board: str = boards.DEFAULT) -> Point:
    """The same on the CPU alone, products by NEON kernels; `spec` gives no more than the type."""
    point = on_soc(model, name, spec, code=code, flow=None, pipeline=None, board=board)
    return {**point, "kernel": "neon"}


def measure(point: Point) -> Figures:
    """Counters and layers, on the SoC fabric and limit too. MismatchError, StaleDataError: what they say."""
    model = read_model(_folder(point["model"]) / _FILE)
    run = NetworkRun(
        Network(point["problem"], model.mlir, model.weights),
        System(points.spec_of(point), point["board"]),
        points.schedule_of(point),
    )
    if point["kernel"]:
        alone = simulate_cpu(run, point["kernel"])
        return {"counters": alone["counters"], "layers": alone["layers"]}
    report = report_of(run)
    if not report["result"]["matches"]:
        raise MismatchError(f"{point['problem']}: {report['result']['first']}")
    if report["stale"]:
        raise StaleDataError(f"{point['problem']}: {report['stale'][0]}")
    return {
        "counters": report["counters"],
        "fabric": report["fabric"],
        "limit": report["limit"],
        "layers": report["network"]["layers"],
        "elements": report["result"]["elements"],
    }


# --- models ------------------------------------------------------------------------------------------


def keep(model: Model) -> str:
    """Put text and weights of a model into the cache folder; its hash."""
    weights = [part for name, array in sorted(model.weights.items()) for part in _parts(name, array)]
    key = content_hash(model.mlir, *weights)
    cached_build("models", key, lambda folder: model.write(folder / _FILE))
    return key


def _parts(name: str, array: Any) -> tuple[str, str, bytes]:
    return name, f"{array.dtype} {array.shape}", array.tobytes()


def _folder(key: str) -> Path:
    folder = cache_root() / "models" / key
    if not (folder / _FILE).is_file():
        raise UsageError(f"the model {key} is not in {folder.parent}: start the experiment on this machine")
    return folder


def example(name: str) -> Model:
    """An int8 network of ``examples/networks/NAME.py``, calibrated as it says; made once, then kept.

    UsageError where the examples are not there, BuildError without torch.
    """
    file = _examples() / f"{name}.py"
    if not file.is_file():
        raise UsageError(f"examples/networks/{name}.py is not in this installation; give --model FILE.mlir")
    require("torch", f"building {name}")
    key = content_hash(file, code_hash("quantise", "read"))

    def build(folder: Path) -> None:
        from axiloom.quantise.network import quantise
        from axiloom.read.models import network as load

        network, inputs = load(f"{file}:build")
        text = file.read_text(encoding="utf-8")
        calibration = f"{file}:calibration" if "calibration" in text else RANDOM
        quantised = quantise(network, inputs, calibration, name=name)
        quantised.model().write(folder / _FILE)

    return read_model(cached_build("examples", key, build) / _FILE)


def _examples() -> Path:
    """In the repository; an installed package has none."""
    return Path(axiloom.__file__).resolve().parents[2] / "examples" / "networks"


@cache
def fingerprint(board: str) -> str:
    """Of all code that a figure depends on: what an older version measured is not taken for this one's."""
    # the profile of a board may be a file of the user's own
    return content_hash(code_hash(*MEASURING, endings=points.SOURCES), repr(boards.load(board)))
