"""``axiloom run --try``: the run once more with each remedy of its report, and what that won."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable

from axiloom.base.errors import AxiloomError
from axiloom.report.types import Report, Tried
from axiloom.run.problem import ProblemRun
from axiloom.run.run import Watch, simulate

MOST = 5
"""Remedies that are tried, of the largest losses first."""
FILES = ("json", "report", "perfetto", "trace", "trace_window", "keep", "against")
"""Options that the runs with a remedy leave out."""


def wanted(report: Report) -> list[str]:
    """The remedies, without repetition, those of the largest losses first."""
    losses = sorted(report["losses"], key=lambda loss: -loss["cycles"])
    return list(dict.fromkeys(remedy for loss in losses for remedy in loss["remedies"]))[:MOST]


def measured(
    report: Report,
    options: argparse.Namespace,
    make: Callable[[argparse.Namespace], ProblemRun],
    watch: Watch,
) -> list[Tried]:
    """A run with each of the remedies; `make` makes a run of parsed options. One that is refused says why."""
    from axiloom.cli import parser  # it imports this module's users

    rows: list[Tried] = []
    for remedy in wanted(report):
        again = parser("run").parse_args([*options.words, *shlex.split(remedy)])
        for name in FILES:
            setattr(again, name, None)
        watch.progress(f"trying {remedy}")
        try:
            run = make(again)
            repeat = run.checked(simulate(run, watch))
        except AxiloomError as error:
            rows.append({"options": remedy, "cycles": None, "times": None, "said": str(error)})
            continue
        cycles, before = repeat["fabric"]["cycles"], report["fabric"]["cycles"]
        said = "right" if repeat["result"]["matches"] else "WRONG"
        rows.append({"options": remedy, "cycles": cycles, "times": round(before / cycles, 2), "said": said})
    return rows
