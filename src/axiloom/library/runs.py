"""Runs on the simulated SoC, and runs beside each other."""

from __future__ import annotations

import html
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
from axiloom.isa import Link
from axiloom.library.progress import told
from axiloom.library.tables import table
from axiloom.library.works import Work
from axiloom.report import build, page
from axiloom.report.compare import compare as lines
from axiloom.report.types import Kernel, Report
from axiloom.run.network import NetworkRun
from axiloom.run.run import Watch, simulate, simulate_both

Array = np.ndarray[Any, Any]
NS_PER_S = 1e9


class Planned(Protocol):
    """A plan, as far as a run knows it."""

    work: Work

    @property
    def c(self) -> str: ...
    @property
    def devices(self) -> Sequence[Link]: ...
    def job(self, arrays: Mapping[str, Array] | None = None) -> Any:
        """What runs (:class:`axiloom.run.run.Run`)."""


class Run:
    """What a run gave: made by :func:`axiloom.run`. Times in seconds, cycles of the accelerator's clock."""

    def __init__(
        self, planned: Planned, report: Report, result: Result, outputs: Mapping[str, Array]
    ) -> None:
        self.plan, self.report, self._result = planned, report, result
        self.outputs = dict(outputs)
        """Arrays by the names of arguments; of networks ``output0``, ... or their names."""

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
        return self._result.profile.timeline

    def check(self) -> Run:
        """This run. Raises Error where a byte differs from the referee's, a rule was broken or data were
        stale."""
        judge(self._result)
        if self.right is False:
            raise MismatchError(f"{self.plan.work.name}: {self.report['result'].get('first', 'wrong')}")
        return self

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` and ``report.json`` to `folder`, of one accelerator; the page's path."""
        place, text = Path(folder), self._page()
        make_folder(place)
        build.write_json(self.report, place / "report.json")
        write_whole(place / page.FILE, text)
        return place / page.FILE

    def _page(self) -> str:
        if self.timeline is None:
            raise UsageError("a page has a timeline, which is drawn of one accelerator: see `report`")
        return page.render(self.report, page.Source(self.timeline, self.plan.c, repr(self.plan)))

    def _repr_html_(self) -> str:
        if self.timeline is None:
            return f"<pre>{html.escape(str(self))}</pre>"
        frame = 'style="width: 100%; height: 40em; border: 0"'
        return f'<iframe srcdoc="{html.escape(self._page())}" {frame}></iframe>'

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
    watch = Watch(say, keep=keep, timeline=len(planned.devices) == 1)
    result, cpu = (simulate(job, watch), None) if against is None else simulate_both(job, against, watch)
    report = job.checked(result, cpu)
    say("")
    return Run(planned, report, result, _outputs(job, result))


def _outputs(job: Any, result: Result) -> dict[str, Array]:
    if isinstance(job, NetworkRun):
        return job.results(result)
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

    def __str__(self) -> str:
        if len(self.runs) == 2:
            return "\n".join(lines(*(run.report for run in self.runs)))
        return "\n".join("  ".join(str(value) for value in row.values()) for row in self.rows)

    def _repr_html_(self) -> str:
        return table(self.rows)

    def __repr__(self) -> str:
        return f"ax.compare({', '.join(map(repr, (run.plan for run in self.runs)))})"


def compare(*runs: Run) -> Comparison:
    """Runs beside each other, the first of them what the others are measured by."""
    if len(runs) < 2:
        raise UsageError("ax.compare: two runs or more")
    return Comparison(runs)
