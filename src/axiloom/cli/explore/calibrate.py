"""``axiloom calibrate``: a board profile held against measurements, and fitted to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.base.files import check_file, write_whole
from axiloom.boards import Board
from axiloom.calibration import fit, measurements, model, profile, report, traces
from axiloom.calibration.fit import Sample
from axiloom.calibration.measurements import Configuration, Measurement, Point
from axiloom.calibration.report import Prediction
from axiloom.calibration.traces import Trace
from axiloom.cli import HELP
from axiloom.cli.applet import Applet, option, output_file
from axiloom.cli.options import positive

BOARD = "pynq-z2-linux"
CORES = os.cpu_count() or 1
ROUNDS = 3


def execute(
    data: Path | None = None,
    board: str = BOARD,
    check: bool = False,
    max_size: int | None = None,
    jobs: int = CORES,
    rounds: int = ROUNDS,
    left_out_simulated: bool = False,
    output: Path | None = None,
    update: bool = False,
) -> int:
    """Print what was fitted and how far off it is. 0, also if there is nothing to compare with."""
    path = measurements.find(data)
    if path is None:
        print("calibrate: skipped, there are no measurements: set AXILOOM_DATA, or give --data")
        return 0
    profiled = boards.load(board)
    if profiled.os is None:
        raise UsageError(f"board {profiled.name} has no [os]: what is fitted are processes under one")
    target = output or (_file(board) if update else None)
    if target:
        check_file(target)  # before hours of runs
    measured = measurements.read(path)
    points = measurements.points(measured, max_size)
    measured = [measurement for measurement in measured if measurement.point in set(points)]

    def simulate(candidate: Board) -> dict[Point, Trace]:
        return dict(zip(points, _simulate([(p, candidate) for p in points], jobs), strict=True))

    fitted, traces = fit.settle(measured, profiled, simulate, 0 if check else rounds)
    chosen = fit.samples(measured, traces)
    if not check:
        _print_parameters(profiled, fitted)
    source = (
        f"{path.name}, {len({s.configuration for s in chosen})} configurations, M from {report.FROM_SIZE}"
    )
    inside = [_simulated(s.measurement, traces) for s in chosen]
    how = "as it is" if check else "all measurements in the fit"
    outside = _print_errors(chosen, fitted, inside, points, how, jobs if left_out_simulated else 0)
    band = report.fidelity(outside or inside, source)
    print(f"\n{profiled.name}, simulated: {report.fidelity(inside, source)}")
    if outside:
        print(f"{profiled.name}, every configuration predicted by a fit without it: {band}")
    if check:
        print(f"{profiled.name}, stated in the profile: {profiled.fidelity or 'not calibrated'}")
    if target:
        values = {p.place: p.of(fitted) for p in (*model.TIME, *model.COUNTS)}
        values |= {p.place.replace("loads", "stores"): p.of(fitted) for p in model.COUNTS}
        text = _file(board).read_text(encoding="utf-8")
        write_whole(target, profile.updated(text, values, band))
        print(f"wrote {target}")
    return 0


def _print_errors(
    chosen: Sequence[Sample],
    fitted: Board,
    inside: Sequence[Prediction],
    points: Sequence[Point],
    how: str,
    jobs: int,
) -> list[Prediction]:
    """Print the errors by configuration; those of fits without the configuration are returned, too: simulated
    by so many `jobs`, or by the linear model."""
    print(report.table(inside, f"Simulated with the profile, {how}"))
    if len({s.configuration for s in chosen}) == 1:
        print("\nOnly one configuration: there is no fit without it")
        return []
    without = fit.left_out(chosen, fitted)
    linear = [_predicted(s, fitted, without[s.configuration]) for s in chosen]
    print("\n" + report.table(linear, "Each configuration left out of the fit, linear model"))
    if not jobs:
        return linear
    again = _simulate_left_out(points, fitted, without, jobs)
    simulated = [_simulated(s.measurement, again) for s in chosen]
    print("\n" + report.table(simulated, "Each configuration left out of the fit, simulated"))
    apart = [abs(a.value / b.value - 1) for a, b in zip(linear, simulated, strict=True)]
    print(f"\nLinear model and simulator: {np.mean(apart):.2%} apart on average, {max(apart):.2%} at most")
    return simulated


def _file(board: str) -> Path:
    return Path(board) if board.endswith(".toml") else Path(boards.__file__).parent / board / "profile.toml"


def _simulate(work: Sequence[tuple[Point, Board]], jobs: int) -> list[Trace]:
    # The time left counts multiply-adds: a run of 256 takes as long as 4,096 of 16.
    sizes = {point: point.m * point.n * point.k for point, _ in work}
    seconds = 0.1 if sys.stderr.isatty() else 60.0  # a log needs no more than a sign of life
    with tqdm(total=sum(sizes.values()), unit="MAC", unit_scale=True, mininterval=seconds) as bar:

        def progress(done: int, of: int, point: Point) -> None:
            bar.set_description(f"{done}/{of} {point}", refresh=False)
            bar.update(sizes[point])

        return traces.simulate_all(work, jobs, progress)


def _simulate_left_out(
    points: Sequence[Point], fitted: Board, without: dict[Configuration, dict[str, float]], jobs: int
) -> dict[Point, Trace]:
    boards_of = {c: model.with_values(fitted, values) for c, values in without.items()}
    work = [(p, boards_of[p.configuration]) for p in points if p.configuration in boards_of]
    return dict(zip((p for p, _ in work), _simulate(work, jobs), strict=True))


def _simulated(measurement: Measurement, traces: dict[Point, Trace]) -> Prediction:
    return Prediction(measurement, model.value(measurement.metric, traces[measurement.point]))


def _predicted(sample: Sample, board: Board, values: dict[str, float]) -> Prediction:
    return Prediction(sample.measurement, fit.predict(sample, board, values))


def _print_parameters(before: Board, after: Board) -> None:
    print(f"{'parameter':<28}{'prior':>12}{'before':>12}{'fitted':>12}")
    for p in (*model.TIME, *model.COUNTS):
        print(f"{p.place:<28}{p.prior:>12,.4g}{p.of(before):>12,.6g}{p.of(after):>12,.6g}")
    print()


_CHECK = {"check": "--check compares the profile as it is; it fits and writes nothing"}
APPLETS = (
    Applet(
        "calibrate",
        HELP["calibrate"],
        execute,
        (
            option(
                "--data",
                type=Path,
                metavar="CSV",
                help=f"measurements (default: {measurements.FILE} in $AXILOOM_DATA, or in ../shared/data)",
            ),
            option("--board", metavar="NAME|FILE", help=f"profile (default {BOARD})"),
            option("--check", action="store_true", help="only hold the profile against them as it is"),
            option("--max-size", type=positive, metavar="N", help="leave out runs with M, N or K above N"),
            option("--jobs", type=positive, metavar="J", help="runs at a time (default: all cores)"),
            option(
                "--rounds",
                type=positive,
                metavar="N",
                excludes=_CHECK,
                help=f"of fitting and simulating (default {ROUNDS})",
            ),
            option(
                "--left-out-simulated",
                action="store_true",
                help="simulate each configuration with the fit that leaves it out, too (as long as a round)",
            ),
            option(
                "-o",
                "--output",
                type=output_file,
                metavar="FILE",
                excludes={**_CHECK, "update": "--update writes the profile in place"},
                help="write the fitted profile",
            ),
            option("--update", action="store_true", excludes=_CHECK, help="write it in place"),
        ),
    ),
)
