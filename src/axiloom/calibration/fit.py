"""The parameters of a profile that explain the measurements best, and those without one configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.base import extras
from axiloom.base.errors import UsageError
from axiloom.boards import Board
from axiloom.calibration import model
from axiloom.calibration.measurements import Configuration, Measurement, Point
from axiloom.calibration.model import COUNTS, TIME, Parameter
from axiloom.calibration.traces import Trace

METRICS = ("task-clock", *model.ACCESSES)
PRIOR = 0.02
"""A parameter a spread away from its prior costs as much as an error of this fraction in one measurement."""


@dataclass(frozen=True)
class Sample:
    """A measurement that counts, with the trace of its run."""

    measurement: Measurement
    trace: Trace

    @property
    def configuration(self) -> Configuration:
        return self.measurement.point.configuration


def samples(measurements: Iterable[Measurement], traces: dict[Point, Trace]) -> list[Sample]:
    """The unflagged measurements of METRICS whose runs were simulated."""
    return [
        Sample(measurement, traces[measurement.point])
        for measurement in measurements
        if measurement.metric in METRICS and not measurement.flagged and measurement.point in traces
    ]


def solve(chosen: Sequence[Sample], simulated: Board) -> dict[str, float]:
    """Parameters by place: least squares of relative errors within the bounds, drawn to their priors.

    `simulated` is the board of the traces: the model is linear around it.
    """
    clock = [s for s in chosen if s.measurement.metric == "task-clock"]
    counts = [s for s in chosen if s.measurement.metric != "task-clock"]
    if not clock or not counts:
        raise UsageError("nothing to fit: the measurements have no unflagged task-clock, or no L1D accesses")
    return _solve(clock, TIME, simulated) | _solve(counts, COUNTS, simulated)


def _solve(chosen: Sequence[Sample], parameters: Sequence[Parameter], simulated: Board) -> dict[str, float]:
    try:
        from scipy.optimize import lsq_linear
    except ImportError:
        raise UsageError(f"fitting needs scipy: {extras.install('calibrate')}") from None
    start = np.array([p.of(simulated) for p in parameters])
    rows, wanted = [], []
    for s in chosen:
        unit = model.scale(s.measurement.metric, simulated) / s.measurement.value
        slopes = np.array([model.sensitivity(p, s.trace) for p in parameters]) * unit
        rows.append(slopes)
        wanted.append(1 - model.value(s.measurement.metric, s.trace) / s.measurement.value + slopes @ start)
    for index, p in enumerate(parameters):
        row = np.zeros(len(parameters))
        row[index] = PRIOR / p.spread
        rows.append(row)
        wanted.append(row[index] * p.prior)
    spread = np.array([p.spread for p in parameters])  # the unknowns in spreads, so that all have one size
    bounds = (np.array([p.low for p in parameters]) / spread, np.array([p.high for p in parameters]) / spread)
    solved: Any = lsq_linear(np.array(rows) * spread, np.array(wanted), bounds=bounds, method="bvls")
    return {p.place: float(x) for p, x in zip(parameters, solved.x * spread, strict=True)}


def predict(sample: Sample, simulated: Board, values: dict[str, float]) -> float:
    """The linear model's prediction of a measurement under `values`."""
    metric = sample.measurement.metric
    moved = sum(
        (values[p.place] - p.of(simulated)) * model.sensitivity(p, sample.trace)
        for p in (TIME if metric == "task-clock" else COUNTS)
    )
    return model.value(metric, sample.trace) + moved * model.scale(metric, simulated)


def left_out(chosen: Sequence[Sample], simulated: Board) -> dict[Configuration, dict[str, float]]:
    """For each configuration the parameters fitted without any of its measurements."""
    configurations = sorted({s.configuration for s in chosen})
    return {
        configuration: solve([s for s in chosen if s.configuration != configuration], simulated)
        for configuration in configurations
    }


Simulate = Callable[[Board], dict[Point, Trace]]


def settle(
    measurements: Sequence[Measurement],
    board: Board,
    simulate: Simulate,
    rounds: int = 4,
    enough: float = 0.002,
) -> tuple[Board, dict[Point, Trace]]:
    """Fit and simulate in turn until the simulator says what the linear model said of the fit (mean over the
    samples of the relative difference at most `enough`), or `rounds` are over. The board that was fitted,
    and its traces: `board` itself if a fit would not move it further than that."""
    traces = simulate(board)
    for _ in range(rounds):
        chosen = samples(measurements, traces)
        values = solve(chosen, board)
        said = [predict(s, board, values) for s in chosen]
        if _apart(said, chosen, traces) <= enough:
            break
        board = model.with_values(board, values)
        traces = simulate(board)
        if _apart(said, chosen, traces) <= enough:
            break
    return board, traces


def _apart(said: Sequence[float], chosen: Sequence[Sample], traces: dict[Point, Trace]) -> float:
    now = [model.value(s.measurement.metric, traces[s.measurement.point]) for s in chosen]
    return float(np.mean(np.abs(np.array(said) / np.array(now) - 1)))
