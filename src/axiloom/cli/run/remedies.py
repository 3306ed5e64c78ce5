"""``axiloom run --try``: the run once more with each remedy of its report, and what that won."""

from __future__ import annotations

from collections.abc import Callable

from axiloom.base.errors import AxiloomError
from axiloom.library.plans import Plan
from axiloom.report.types import Report, Tried
from axiloom.run.run import Watch, simulate

MOST = 5
"""Remedies that are tried, of the largest losses first."""


def wanted(report: Report) -> list[str]:
    """The remedies, without repetition, those of the largest losses first."""
    losses = sorted(report["losses"], key=lambda loss: -loss["cycles"])
    return list(dict.fromkeys(remedy for loss in losses for remedy in loss["remedies"]))[:MOST]


def measured(report: Report, planned: Callable[[str], Plan], watch: Watch) -> list[Tried]:
    """A run with each of the remedies, words of a command line; `planned` plans one. One that is refused says
    why."""
    rows: list[Tried] = []
    for remedy in wanted(report):
        watch.progress(f"trying {remedy}")
        try:
            run = planned(remedy).job()
            repeat = run.checked(simulate(run, watch))
        except AxiloomError as error:
            rows.append({"options": remedy, "cycles": None, "times": None, "said": str(error)})
            continue
        cycles, before = repeat["fabric"]["cycles"], report["fabric"]["cycles"]
        said = "right" if repeat["result"]["matches"] else "WRONG"
        rows.append({"options": remedy, "cycles": cycles, "times": round(before / cycles, 2), "said": said})
    return rows
