"""Which driver, and which hardware."""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

from axiloom import boards, drivergen
from axiloom.base.errors import UsageError
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore import chosen
from axiloom.explore.chosen import Task
from axiloom.explore.driver_report import as_json
from axiloom.explore.explore import Exploration, confirm, of_workload
from axiloom.explore.hardware import choose_hardware
from axiloom.explore.products import of_problem
from axiloom.isa import AcceleratorSpec
from axiloom.library.calls import On, plan
from axiloom.library.devices import device, together
from axiloom.library.loops import Nest, Schedules
from axiloom.library.plans import Plan
from axiloom.library.progress import told
from axiloom.library.works import Work, read
from axiloom.report.page import front
from axiloom.report.page.document import framed

PART = "xc7z020"
"""For which loops are scheduled by default."""


class Choices:
    """Ways to use a device for a problem, the fastest first: made by :func:`explore`."""

    def __init__(self, work: Work, found: Exploration, board: str) -> None:
        self.work, self._found, self._board = work, found, board

    @property
    def device(self) -> AcceleratorSpec:
        """The hardware: as it was asked for, or as it was chosen for a part."""
        return self._found.spec

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Flow, order, tile, pipeline; milliseconds by the model and, where it was confirmed, simulated."""
        return [
            {
                "flow": row.choice.candidate.flow,
                "order": ",".join(row.choice.candidate.order),
                "tile": "x".join(map(str, row.choice.candidate.tile)),
                "pipeline": row.choice.pipeline,
                "predicted_ms": row.choice.seconds * 1e3,
                "simulated_ms": None if row.simulated is None else row.simulated * 1e3,
                "names": ", ".join(row.names),
            }
            for row in self._found.rows
        ]

    @property
    def best(self) -> Plan:
        """A plan by the fastest: simulated, where it was confirmed, else foretold."""
        way = self._found.chosen.choice
        return plan(
            self.work,
            device(self._found.spec),
            board=self._board,
            flow=way.candidate.flow,
            order=way.candidate.order,
            tile=way.candidate.tile,
            pipeline=way.pipeline,
        )

    def __len__(self) -> int:
        return len(self._found.rows)

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` to `folder`: time against words moved, and the rows; the page's path."""
        return front.write([as_json(self._found)], None, "", Path(folder))

    def _repr_html_(self) -> str:
        return framed(front.render([as_json(self._found)], None, ""))

    def __repr__(self) -> str:
        return f"ax.explore({self.work.name!r}, on={self._found.spec.name!r})  # {len(self)} ways"


@overload
def explore(
    work: Nest, *, part: str | None = ..., seconds: float | None = ..., progress: bool = ...
) -> Schedules: ...


@overload
def explore(
    work: str | Path | Work,
    on: On = ...,
    *,
    part: str | None = ...,
    board: str | Path = ...,
    pipeline: str | None = ...,
    show: int = ...,
    confirm_first: int = ...,
    progress: bool = ...,
) -> Choices: ...


def explore(
    work: str | Path | Work | Nest,
    on: On = None,
    *,
    part: str | None = None,
    board: str | Path = boards.DEFAULT,
    pipeline: str | None = None,
    show: int = 10,
    confirm_first: int = 0,
    seconds: float | None = None,
    progress: bool = True,
) -> Choices | Schedules:
    """Ways to use a device for a matrix product or a convolution, the fastest first by the cost model; or
    ways to schedule what :func:`nest` gave, with exact cycles.

    `on`: what :func:`device` gives or takes. `part`: an FPGA (``xc7z020``), for which array, buffers,
    stream and DMA are chosen, too, of a product; of loops the limits of their circuit. `show` rows; of these
    the first `confirm_first` are simulated. `seconds`: a search of schedules ends, with the best so far.
    Raises UsageError for what no model ranks.
    """
    if isinstance(work, Nest):
        if on is not None or pipeline or confirm_first or str(board) != boards.DEFAULT:
            raise UsageError("ax.explore of loops takes `part` and `seconds` alone: they become a circuit")
        if seconds is not None and seconds <= 0:
            raise UsageError(f"ax.explore: `seconds` is a number above 0, not {seconds:g}")
        return work.ways(part or PART, seconds, told(progress))
    if seconds is not None:
        raise UsageError("ax.explore: `seconds` limits the search of schedules of loops")
    if not isinstance(work, Work):
        work = read(work)
    if not work.mlir or work.is_network:
        raise UsageError(f"{work.name}: explore ranks drivers of one matrix product or convolution")
    asked = together(on, str(board))
    task = Task(work.name, work.mlir, work.data_type, asked, Schedule(pipeline=pipeline))
    spec = chosen.explored(task) if part is None else _on(part, task, progress)
    found = of_workload(
        work.name,
        spec,
        pipeline=pipeline,
        board=str(board),
        top=max(show, confirm_first),
        user_rtl=asked.user_rtl(spec),
    )
    if confirm_first:
        (found,) = confirm([found], confirm_first)
    return Choices(work, found, str(board))


def _on(part: str, task: Task, progress: bool) -> AcceleratorSpec:
    """The hardware that is chosen for a part; what is asked for stays."""
    problem = drivergen.parse_workload(task.problem)
    if not isinstance(problem, Problem):
        raise UsageError(f"{task.problem}: hardware is chosen for matmul:MxNxK[:TYPE]")
    if task.asked.rtl:
        raise UsageError("part: hardware is chosen for generated accelerators, not for `rtl`")
    pipeline, say = task.schedule.pipeline, told(progress)
    choice = choose_hardware(
        of_problem(problem),
        task.spec(),
        part,
        board=task.asked.board,
        pipelines=(pipeline,) if pipeline else None,
        kept=task.asked.kept,
        progress=say,
    )
    say("")
    return choice.chosen.variant.spec
