"""Errors of predictions against measurements, by configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.boards import Fidelity
from axiloom.calibration.fit import METRICS
from axiloom.calibration.measurements import Configuration, Measurement

FROM_SIZE = 64
"""Smaller problems are start-up of the process: whoever knows that knows them."""


@dataclass(frozen=True)
class Prediction:
    """What was predicted for a measurement."""

    measurement: Measurement
    value: float

    @property
    def error(self) -> float:
        """Signed, a fraction of what was measured."""
        return self.value / self.measurement.value - 1


def held(predictions: Sequence[Prediction], metric: str) -> list[float]:
    """Absolute errors of a metric, of unflagged measurements with M at least FROM_SIZE."""
    return [
        abs(prediction.error)
        for prediction in predictions
        if prediction.measurement.metric == metric
        and not prediction.measurement.flagged
        and prediction.measurement.point.m >= FROM_SIZE
    ]


def fidelity(predictions: Sequence[Prediction], source: str) -> Fidelity:
    """The profile's error band. UsageError if nothing large enough was measured."""
    clock = held(predictions, "task-clock")
    accesses = [held(predictions, metric) for metric in METRICS if metric != "task-clock"]
    if not clock or not all(accesses):
        raise UsageError(f"no unflagged measurements with M of {FROM_SIZE} or more")
    return Fidelity(source, _mean(clock), max(clock), max(_mean(access) for access in accesses))


def table(predictions: Sequence[Prediction], title: str) -> str:
    """Mean and worst absolute error of each metric, a line a configuration, and all of them below."""
    lines = [title, f"  {'configuration':<22}" + "".join(f"{name:>26}" for name in METRICS)]
    lines.append(f"  {'':<22}" + f"{'mean':>17}{'worst':>9}" * len(METRICS))
    chosen: dict[Configuration | None, list[Prediction]] = {}
    for prediction in predictions:
        chosen.setdefault(prediction.measurement.point.configuration, []).append(prediction)
    rows = [(str(c), chosen[c]) for c in sorted(chosen, key=str)]
    for name, those in [*rows, ("all", list(predictions))]:
        cells = [held(those, metric) for metric in METRICS]
        shown = [f"{_mean(c):>17.1%}{max(c):>9.1%}" if c else f"{'flagged':>26}" for c in cells]
        lines.append(f"  {name:<22}{''.join(shown)}")
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
