"""Runs an experiment: its points through a sweep, then CSV, table, plot and conclusion."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from axiloom.base import errors
from axiloom.base.files import write_whole
from axiloom.report import build as report
from axiloom.sweep.store import key
from axiloom.sweep.sweep import Outcome, sweep
from benchmarks.paper import plots
from benchmarks.paper.experiment import Experiment, Measured, Options
from benchmarks.paper.sides import by_content, group, measure

# What a pipeline, a specification or the hardware cannot do is missing; anything else is a failure.
_MISSING = {
    kind.__name__ for kind in (errors.UsageError, errors.SpecError, errors.CompileError, errors.BuildError)
}

COUNTERS = (
    "task-clock",
    "cpu-cycles",
    "instructions",
    "branch-instructions",
    "cache-references",
    "cache-misses",
    "l2-misses",
)
FABRIC = ("cycles", "words_in", "words_out", "transfers_in", "transfers_out")


@dataclass(frozen=True)
class Done:
    """An experiment after its run."""

    measured: list[Measured]
    text: str
    """Table, missing sides, conclusion, error band of the board's profile."""
    drawing: str
    """The plot, SVG; empty without matplotlib."""
    failed: list[str]
    """One line for each point that gave a wrong result, hung or crashed."""
    exit_code: int


def run(
    experiment: Experiment,
    options: Options,
    *,
    output: Path,
    store: Path,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> Done:
    """Run what `store` does not have, and write ``NAME.csv``, ``NAME.txt`` and ``NAME.svg`` to `output`.

    Without matplotlib there is no ``NAME.svg``.
    """
    cases = [
        replace(case, sides={side: by_content(point) for side, point in case.sides.items()})
        for case in experiment.cases(options)
    ]
    every = [point for case in cases for point in case.sides.values()]
    outcomes = sweep(
        every,
        measure,
        store,
        jobs=jobs,
        dask=dask,
        progress=progress,
        group=group,
        retry_failed=True,
        title=experiment.name,
    )
    by_key = {key(outcome.point): outcome for outcome in outcomes}
    measured = [
        _measured(case.labels, {side: by_key[key(point)] for side, point in case.sides.items()})
        for case in cases
    ]
    failed = [outcome for outcome in outcomes if outcome.error and outcome.error["class"] not in _MISSING]
    text = _text(experiment, measured, report.error_band(options.board))
    write_whole(output / f"{experiment.name}.csv", _csv(measured))
    write_whole(output / f"{experiment.name}.txt", text)
    drawing = ""
    if plots.can_draw():
        drawing = plots.svg(lambda figure: experiment.plot(figure, measured), experiment.title)
        write_whole(output / f"{experiment.name}.svg", drawing)
    code = int(failed[0].error["exit_code"]) if failed and failed[0].error else 0
    return Done(measured, text, drawing, [_failure(outcome) for outcome in failed], code)


def _measured(labels: dict[str, Any], outcomes: dict[str, Outcome]) -> Measured:
    return Measured(
        labels,
        {side: outcome.result for side, outcome in outcomes.items() if not outcome.error},
        {side: _reason(outcome) for side, outcome in outcomes.items() if outcome.error},
    )


def _reason(outcome: Outcome) -> str:
    error = outcome.error or {}
    return f"{error['class']}: {error['message']}"


def _failure(outcome: Outcome) -> str:
    point = outcome.point
    what = (point["kind"], point["spec"]["accelerators"][0]["name"], point["flow"], point["pipeline"])
    return f"{point['problem']} {' '.join(map(str, what))}: {_reason(outcome)}"


def _csv(measured: Sequence[Measured]) -> str:
    """A line a side: labels, side, counters, fabric, limit, and why it is missing."""
    labels = list(dict.fromkeys(label for case in measured for label in case.labels))
    header = [
        *labels,
        "side",
        *("task-clock-ns" if name == "task-clock" else name for name in COUNTERS),
        *(f"fabric-{name.replace('_', '-')}" for name in FABRIC),
        "limit-cycles",
        "limit-ratio",
        "missing",
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for case in measured:
        before = [case.labels.get(label, "") for label in labels]
        for side, figures in case.sides.items():
            fabric, limit = figures.get("fabric", {}), figures.get("limit", {})
            writer.writerow(
                [
                    *before,
                    side,
                    *(figures["counters"][name] for name in COUNTERS),
                    *(fabric.get(name, "") for name in FABRIC),
                    limit.get("cycles", ""),
                    limit.get("ratio", ""),
                    "",
                ]
            )
        blank = [""] * (len(COUNTERS) + len(FABRIC) + 2)
        writer.writerows([*before, side, *blank, reason] for side, reason in case.missing.items())
    return text.getvalue()


def _text(experiment: Experiment, measured: Sequence[Measured], band: str) -> str:
    rows = experiment.table(measured)
    lines = [experiment.title, ""]
    if rows:
        columns = list(rows[0])
        widths = [max(len(name), *(len(row[name]) for row in rows)) for name in columns]
        lines += [
            "  ".join(
                (cell.ljust if i == 0 else cell.rjust)(width)
                for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            for cells in (columns, *([row[name] for name in columns] for row in rows))
        ]
    lines += ["", *_missing(measured), experiment.conclude(measured), "", f"{band}."]
    return "\n".join(lines) + "\n"


def _missing(measured: Sequence[Measured]) -> list[str]:
    """How often each side is missing, and the first reason."""
    reasons: dict[str, list[str]] = {}
    for case in measured:
        for side, reason in case.missing.items():
            reasons.setdefault(side, []).append(reason)
    return [
        f"missing: {side}, {len(texts)} of {len(measured)} cases ({texts[0]})"
        for side, texts in reasons.items()
    ]
