"""Fitting: from traces of known cost back to the cost, and the same through the simulator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.boards import Board
from axiloom.calibration import fit, model, traces
from axiloom.calibration.measurements import Configuration, Measurement, Point
from axiloom.calibration.traces import Trace

BOARD = boards.load("pynq-z2-linux")
EXECUTED = ("alu", "load", "store", "branch", "mul")
EVENTS = [f"executed_{name}" for name in EXECUTED]
EVENTS += ["syscalls", "page_faults", "branch-misses", "cache-misses", "L1-icache-load-misses"]
EVENTS += ["l2-misses", "writebacks", "uncached_loads", "uncached_stores"]
TRUTH = {
    "os.start.cycles": 7_000_000.0,
    "os.syscall.cycles": 900.0,
    "cost.load": 1.2,
    "latency.ddr": 95.0,
    "latency.uncached_read": 110.0,
    "os.syscall.loads": 150.0,
}


def cost(trace: Trace, values: dict[str, float], parameters: tuple[model.Parameter, ...]) -> int:
    return round(sum(values[p.place] * model.sensitivity(p, trace) for p in parameters))


@pytest.fixture
def synthetic() -> tuple[list[Measurement], dict[Point, Trace]]:
    """Forty runs of ten configurations with random counts, measured on a board whose parameters are TRUTH."""
    random = np.random.default_rng(3)
    truth = {p.place: TRUTH.get(p.place, p.prior) for p in (*model.TIME, *model.COUNTS)}
    before = {p.place: p.of(BOARD) for p in (*model.TIME, *model.COUNTS)}
    measured, found = [], {}
    for number in range(10):
        configuration = Configuration("manual", "v1", number, "Ns")
        for size in (64, 96, 128, 256):
            point = Point(configuration, size, size, size)
            trace = {name: int(random.integers(1, 20) * size**2 * random.random()) for name in EVENTS}
            found[point] = trace
            for metric, parameters in (("task-clock", model.TIME), ("L1-dcache-loads", model.COUNTS)):
                unit = 1e9 / BOARD.cpu_hz if metric == "task-clock" else 1  # of a trace: ns, accesses
                trace[metric] = round(cost(trace, before, parameters) * unit)
                true = trace | {metric: round(cost(trace, truth, parameters) * unit)}
                measured.append(Measurement(point, metric, model.value(metric, true), False))
    return measured, found


def test_parameters_are_found_again(
    synthetic: tuple[list[Measurement], dict[Point, Trace]],
) -> None:
    chosen = fit.samples(*synthetic)
    values = fit.solve(chosen, BOARD)
    for place in ("os.start.cycles", "os.syscall.cycles", "os.syscall.loads", "latency.uncached_read"):
        assert values[place] == pytest.approx(TRUTH[place], rel=0.1), place
    for sample in chosen:
        assert fit.predict(sample, BOARD, values) == pytest.approx(sample.measurement.value, rel=0.02)


def test_left_out_knows_nothing_of_the_configuration(
    synthetic: tuple[list[Measurement], dict[Point, Trace]],
) -> None:
    measured, found = synthetic
    odd = Configuration("manual", "v1", 4, "Ns")
    wrong = [replace(one, value=9 * one.value) if one.point.configuration == odd else one for one in measured]
    clean = fit.left_out(fit.samples(measured, found), BOARD)
    spoilt = fit.left_out(fit.samples(wrong, found), BOARD)
    assert clean[odd] == spoilt[odd]
    assert clean[Configuration("manual", "v1", 5, "Ns")] != spoilt[Configuration("manual", "v1", 5, "Ns")]
    assert len(clean) == 10


def test_flagged_measurements_do_not_count(
    synthetic: tuple[list[Measurement], dict[Point, Trace]],
) -> None:
    measured, found = synthetic
    flagged = [replace(one, flagged=True) if one.metric == "task-clock" else one for one in measured]
    with pytest.raises(UsageError, match="nothing to fit"):
        fit.solve(fit.samples(flagged, found), BOARD)


def test_bounds_hold(synthetic: tuple[list[Measurement], dict[Point, Trace]]) -> None:
    measured, found = synthetic
    absurd = [replace(one, value=100 * one.value) for one in measured]
    values = fit.solve(fit.samples(absurd, found), BOARD)
    for p in (*model.TIME, *model.COUNTS):
        assert p.low - 1e-6 <= values[p.place] <= p.high + 1e-6


def test_board_with_values() -> None:
    changed = model.with_values(BOARD, {"os.syscall.loads": 77.4, "cost.load": 1.23456, "latency.ddr": 81.6})
    assert changed.os is not None
    assert (changed.os.syscall.loads, changed.os.syscall.stores) == (77, 77)
    assert (changed.cost.load, changed.latency.ddr) == (1.23, 82)
    assert boards.load("pynq-z2-linux") == BOARD


@pytest.mark.slow
def test_through_the_simulator() -> None:
    """A board nobody has: measured by simulating it, found again from the profile as it is."""
    expected = {p.place: p.prior for p in (*model.TIME, *model.COUNTS)}
    odd = {"os.start.cycles": 2_000_000, "os.syscall.cycles": 900, "os.syscall.loads": 120}
    secret = model.with_values(BOARD, expected | odd)
    points = [
        Point(c, size, size, size)
        for c in (Configuration("cpu", "", 0, ""), Configuration("manual", "v1", 4, "Ns"))
        for size in (16, 32)
    ]

    def simulate(board: Board) -> dict[Point, Trace]:
        return {point: traces.simulate(point, board) for point in points}

    measured = [
        Measurement(point, metric, model.value(metric, trace), False)
        for point, trace in simulate(secret).items()
        for metric in fit.METRICS
    ]
    fitted, found = fit.settle(measured, BOARD, simulate, rounds=3)
    assert fitted.os is not None
    assert fitted.os.start.cycles == pytest.approx(2_000_000, rel=0.1)
    assert fitted.os.syscall.cycles == pytest.approx(900, rel=0.1)
    assert fitted.os.syscall.loads == pytest.approx(120, rel=0.1)
    for one in measured:
        assert model.value(one.metric, found[one.point]) == pytest.approx(one.value, rel=0.02)
