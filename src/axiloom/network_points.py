"""Whole networks as points of a sweep, so that a run is simulated once: see :mod:`axiloom.points`."""

from __future__ import annotations

import json
from typing import Any

from axiloom import frontend, isa
from axiloom.choice import BEST
from axiloom.cosim.cache import content_hash
from axiloom.errors import MismatchError, UsageError
from axiloom.frontend import Model
from axiloom.isa import AcceleratorSpec
from axiloom.network_run import NetworkRun
from axiloom.points import Point, spec_of
from axiloom.report import Report


def contents(model: Model) -> str:
    """Hash of a network and its weights."""
    weights = [(name, array.tobytes()) for name, array in sorted(model.weights.items())]
    return content_hash(model.mlir, *(part for weight in weights for part in weight))


def network_point(name: str, model: Model, spec: AcceleratorSpec, *, board: str, seed: int = 0) -> Point:
    """The run of the network in the file `name` on `spec`, with the model's choice for each layer.

    Its contents go along as a hash, so that the key of the point changes with them.
    """
    return {
        "network": name,
        "contents": contents(model),
        "spec": json.loads(isa.dumps(spec)),
        "flow": BEST,
        "board": board,
        "seed": seed,
    }


def simulate(batch: list[Point]) -> list[Report]:
    """Worker: the report of each point. Raises MismatchError where a result is not NumPy's."""
    return [_report(one) for one in batch]


def _report(one: dict[str, Any]) -> Report:
    model = frontend.load(one["network"])
    if contents(model) != one["contents"]:
        raise UsageError(f"{one['network']}: the file was changed meanwhile")
    run = NetworkRun(
        one["network"],
        model.mlir,
        spec_of(one),
        flow=one["flow"],
        board=one["board"],
        seed=one["seed"],
        weights=model.weights,
        auto=True,
    )
    report = run.checked(run.simulate())
    if report["result"]["matches"] is False:
        raise MismatchError(f"{one['network']}: {report['result']['first']}")
    return report
