"""What was measured on a board: counters of whole processes, by configuration and problem size."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path

import axiloom
from axiloom.base.errors import UsageError
from axiloom.base.files import read_text
from axiloom.base.wording.names import shortened

FILE = "pynq_z2_matmul_calibration.csv"
COLUMNS = ("driver", "accel", "size", "flow", "M", "N", "K", "metric", "value", "flag")
DRIVERS = ("cpu", "manual", "generated")


@dataclass(frozen=True, order=True)
class Configuration:
    """What ran, at any problem size: left out together when the fit is tested."""

    driver: str
    accel: str
    size: int
    flow: str

    def __str__(self) -> str:
        return f"{self.driver} {self.accel}_{self.size} {self.flow}" if self.accel else self.driver


@dataclass(frozen=True, order=True)
class Point:
    """One run: a configuration on an M x K by K x N problem."""

    configuration: Configuration
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"{self.configuration} {self.m}x{self.n}x{self.k}"


@dataclass(frozen=True)
class Measurement:
    """A counter of one run, by perf's name; task-clock is in ms. `flagged`: its source distrusts it."""

    point: Point
    metric: str
    value: float
    flagged: bool


def find(path: Path | None = None) -> Path | None:
    """The measurements: `path`, or FILE in $AXILOOM_DATA, or beside the checkout; None without any."""
    if path is not None:
        return path
    folder = os.environ.get("AXILOOM_DATA")
    if folder:
        return Path(folder) / FILE
    beside = Path(axiloom.__file__).resolve().parents[3] / "shared" / "data" / FILE
    return beside if beside.is_file() else None


def read(path: Path) -> list[Measurement]:
    """All measurements of a CSV file with at least COLUMNS; UsageError says in which line it is wrong."""
    try:
        rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise UsageError(f"{path}: no column {', '.join(missing)}; it needs {', '.join(COLUMNS)}")
        return [_measurement(row, f"{path}:{rows.line_num}") for row in rows]
    except csv.Error as error:
        raise UsageError(f"{path}: no CSV file: {error}") from None


def _measurement(row: dict[str, str], where: str) -> Measurement:
    if None in row.values() or None in row:
        raise UsageError(f"{where}: the line has not as many cells as the first one has columns")
    if row["driver"] not in DRIVERS:
        raise UsageError(f"{where}: driver must be one of {', '.join(DRIVERS)}, not {row['driver']!r}")
    try:
        size = int(row["size"] or 0)
        m, n, k = (int(row[name]) for name in "MNK")
        value = float(row["value"])
    except ValueError as error:
        why = shortened(str(error))
        raise UsageError(f"{where}: size, M, N, K and value must be numbers: {why}") from None
    if not 0 < value < inf:  # false for NaN, too
        raise UsageError(f"{where}: value must be positive, not {value:g}")
    configuration = Configuration(row["driver"], row["accel"], size, row["flow"])
    return Measurement(Point(configuration, m, n, k), row["metric"], value, bool(row["flag"]))


def points(measurements: Iterable[Measurement], max_size: int | None = None) -> list[Point]:
    """The runs, each once, small ones first; with `max_size` without those that have a larger M, N or K."""
    different = {measurement.point for measurement in measurements}
    kept = [p for p in different if max_size is None or max(p.m, p.n, p.k) <= max_size]
    return sorted(kept, key=lambda p: (p.m * p.n * p.k, p))
