"""Runs on the simulated SoC, and runs beside each other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import make_folder, write_whole
from axiloom.cosim.job import Result
from axiloom.cosim.profile import Timeline
from axiloom.cosim.soc import judge
from axiloom.isa import AcceleratorSpec
from axiloom.library.progress import told
from axiloom.library.works import Work
from axiloom.report import build, page
from axiloom.report.compare import compare as lines
from axiloom.report.page import compare as page_of_runs
from axiloom.report.page.compare import Side
from axiloom.report.page.document import framed
from axiloom.report.page.traces import FEW, MOST, trace
from axiloom.report.types import Kernel, Report
from axiloom.run import device_bound, gains, neon_advice
from axiloom.run.network import ALL, NetworkRun
from axiloom.run.problem import ProblemRun
from axiloom.run.run import Watch, simulate, simulate_both

Array = np.ndarray[Any, Any]
NS_PER_S = 1e9
OF_THE_MACHINE = "simulation", "versions"
"""Parts of a report that tell of what simulates: wall times, and the versions of tools."""


class Planned(Protocol):
    """A plan, as far as a run knows it."""

    work: Work

    @property
    def devices(self) -> Sequence[AcceleratorSpec]: ...
    def job(self, arrays: Mapping[str, Array] | None = None) -> Any:
        """What runs (:class:`axiloom.run.run.Run`)."""


class Run:
    """What a run gave: made by :func:`axiloom.run`. Times in seconds, cycles of the accelerator's clock."""

    def __init__(self, planned: Planned, job: Any, report: Report, result: Result) -> None:
        self.plan, self.report, self.result = planned, report, result
        self.c = str(job.driver.c)
        """The driver that ran."""
        self.outputs = dict(_outputs(job, result))
        """Arrays by the names of arguments; of networks ``output0``, ... or their names."""
        self.warnings: tuple[str, ...] = tuple(getattr(job, "warnings", ()))
        """Of the referee, of loops: what C leaves open, and what the host's compiler made of it."""

    def __eq__(self, other: object) -> bool:
        """Whether plan, results and figures are the same, on whatever machine."""
        if not isinstance(other, Run) or self.plan != other.plan or [*self.outputs] != [*other.outputs]:
            return False
        mine, others = (
            {name: part for name, part in run.report.items() if name not in OF_THE_MACHINE}
            for run in (self, other)
        )
        return mine == others and all(map(np.array_equal, self.outputs.values(), other.outputs.values()))

    def __hash__(self) -> int:
        return hash(self.plan)

    @property
    def right(self) -> bool | None:
        """Whether every element is the referee's; None where nothing was compared."""
        return self.report["result"]["matches"]

    @property
    def cycles(self) -> int:
        return self.report["fabric"]["cycles"]

    @property
    def time(self) -> float:
        return self.report["counters"]["task-clock"] / NS_PER_S

    @property
    def counters(self) -> dict[str, int]:
        """By the names of perf: ``cpu-cycles``, ``cache-misses``, ``L1-dcache-loads``, ..."""
        return dict(self.report["counters"])

    @property
    def limit(self) -> Any:
        """The least `cycles` that stream and array allow, and by what `ratio` this run is above."""
        return SimpleNamespace(**self.report["limit"])

    @property
    def losses(self) -> list[dict[str, Any]]:
        """Where the cycles went, the most first, each with its remedies."""
        return [dict(loss) for loss in sorted(self.report["losses"], key=lambda loss: -loss["cycles"])]

    @property
    def timeline(self) -> Timeline | None:
        return self.result.profile.timeline

    def check(self) -> Run:
        """This run. Raises Error where a byte differs from the referee's, a rule was broken or data were
        stale."""
        judge(self.result)
        if self.right is False:
            raise MismatchError(f"{self.plan.work.name}: {self.report['result'].get('first', 'wrong')}")
        return self

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` and ``report.json`` to `folder`; the page's path."""
        place, text = Path(folder), page.render(self.report, self._source)
        make_folder(place)
        build.write_json(self.report, place / "report.json")
        write_whole(place / page.FILE, text)
        return place / page.FILE

    @property
    def _source(self) -> page.Source:
        return page.Source(self.timeline, self.c, repr(self.plan))

    def _repr_html_(self) -> str:
        return framed(page.render(self.report, self._source, most=FEW))

    def __str__(self) -> str:
        return build.table(self.report)

    def __repr__(self) -> str:
        said = {True: "right", False: "WRONG", None: "not compared"}[self.right]
        return f"ax.run({self.plan!r})  # {said}, {self.cycles:,} cycles, {self.time * 1e3:.3f} ms"


def execute(
    planned: Planned,
    arrays: Mapping[str, Array],
    *,
    against: Kernel | None = None,
    progress: bool = True,
    keep: Path | None = None,
) -> Run:
    """A plan on these inputs, random ones where there are none."""
    job, say = planned.job(arrays), told(progress)
    run = simulated(planned, job, Watch(say, keep=keep, timeline=len(planned.devices) == 1), against)
    say("")
    for line in run.warnings:
        warnings.warn(line, stacklevel=3)
    return run


def simulated(planned: Planned, job: Any, watch: Watch, against: Kernel | None = None) -> Run:
    """The `job` of a plan, run and compared; what may win cycles back is estimated."""
    try:
        result, cpu = (simulate(job, watch), None) if against is None else simulate_both(job, against, watch)
    finally:
        watch.progress("")  # or a log goes on to say how long a step takes that has ended
    report = job.checked(result, cpu)
    if isinstance(job, ProblemRun) and report["result"]["matches"]:
        gains.add(report, job)
        device_bound.add(report, job)
        neon_advice.add(report, job)
    return Run(planned, job, report, result)


def _outputs(job: Any, result: Result) -> Mapping[str, Array]:
    if isinstance(job, NetworkRun):
        is_whole = job.stop_after is None and job.simulated == ALL  # else results of some layers are kept
        return job.results(result) if is_whole else {}
    if (by_name := getattr(job, "by_name", None)) is not None:
        arrays: Mapping[str, Array] = by_name(result)
        return arrays
    names = {arg.symbol: arg.name or arg.symbol for arg in job.driver.args}
    return {names[symbol]: array for symbol, array in result.outputs.items()}


class Comparison:
    """Two runs beside each other: made by :func:`compare`."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row a run: what it is, milliseconds, cycles, misses, and times as fast as the first."""
        first = self.runs[0].time
        return [
            {
                "run": run.plan.work.name,
                "device": ", ".join(link.name for link in run.plan.devices),
                "right": run.right,
                "ms": run.time * 1e3,
                "cycles": run.cycles,
                "cache-misses": run.counters["cache-misses"],
                "times": first / run.time,
            }
            for run in self.runs
        ]

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` to `folder`, with the timeline of each; the page's path."""
        return page_of_runs.write(self._sides(MOST), Path(folder))

    def _sides(self, most: int) -> list[Side]:
        return [Side(run.report, trace(run.timeline, most)) for run in self.runs]

    def __str__(self) -> str:
        return "\n".join(lines([run.report for run in self.runs]))

    def _repr_html_(self) -> str:
        return framed(page_of_runs.render(self._sides(FEW)))

    def __repr__(self) -> str:
        return f"ax.compare({', '.join(map(repr, (run.plan for run in self.runs)))})"


def compare(*runs: Run) -> Comparison:
    """Runs beside each other, the first of them what the others are measured by."""
    if len(runs) < 2:
        raise UsageError("ax.compare: two runs or more")
    return Comparison(runs)
