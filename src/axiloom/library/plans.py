"""Plans: a problem, a network or loops on a device, compiled and costed, not yet run."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from axiloom import boards
from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.cosim.system import System
from axiloom.drivergen import Driver
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore import chosen
from axiloom.explore.asked import OFF, Asked
from axiloom.explore.chosen import Task
from axiloom.isa import Link
from axiloom.library.devices import Device, Source, together
from axiloom.library.runs import Run, execute
from axiloom.library.works import Work, read
from axiloom.report.types import Kernel
from axiloom.run import selection
from axiloom.run.compare import Arrays
from axiloom.run.network import Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload

Array = np.ndarray[Any, Any]
On: TypeAlias = Device | Source | Sequence[Device | Source] | None
Job = Any
"""A :class:`axiloom.run.run.Run`."""


@dataclass(frozen=True)
class Simulated:
    """What stands around the accelerators, and watches them: fields of :class:`System`."""

    board: str
    sim: str
    wait: str
    os: str
    stall: range | str | None
    seed: int

    def system(self, links: Sequence[Link], asked: Asked) -> System:
        return System(
            links,
            self.board,
            self.sim,
            **asked.stands_in(*links),
            wait=self.wait,
            os=self.os,
            stall=asked.stall(self.stall),
            seed=self.seed,
        )


class Plan:
    """How a device computes a work: made by :func:`plan`. Call it with arrays, and it runs on the SoC."""

    def __init__(self, work: Work, text: str, job: Callable[[Arrays | None], Job]) -> None:
        """`job`: the run on inputs by name, random ones for None."""
        self.work, self._text, self._jobs = work, text, job
        self._job = job(None)
        self.last: Run | None = None
        """Of the last call."""

    @property
    def devices(self) -> tuple[Link, ...]:
        """The accelerators, as they were chosen."""
        return tuple(self._job.system.links)

    @property
    def driver(self) -> Driver:
        driver: Driver = self._job.driver
        return driver

    @property
    def c(self) -> str:
        """The driver in C."""
        return str(self.driver.c)

    @property
    def header(self) -> str:
        return str(self.driver.header)

    @property
    def schedule(self) -> Mapping[str, Any]:
        """Of one problem: flow, order of the loops, tile and pipeline; of others empty."""
        return self._job.schedule.options() if isinstance(self._job, ProblemRun) else {}

    @property
    def forecast_ms(self) -> float | None:
        """What the cost model foretells, in milliseconds, where it chose something."""
        choice = getattr(self._job, "choice", None)
        return None if choice is None else float(choice["predicted_ms"])

    @property
    def arguments(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Name to type and shape, of what the driver takes."""
        args = self.driver.args
        return {arg.name or arg.symbol: (arg.dtype, tuple(arg.shape)) for arg in args if arg.kind != "out"}

    def job(self, arrays: Mapping[str, Array] | None = None) -> Job:
        """The run, on these inputs in place of random ones. Raises UsageError for what does not fit."""
        if not arrays:
            return self._job
        return self._jobs({name: np.asarray(array) for name, array in arrays.items()})

    def __call__(self, *arrays: Array, **named: Array) -> Array | tuple[Array, ...]:
        """Runs on the simulated SoC; the results, one array or a tuple, checked. Inputs in order or by name.

        Raises Error if the run fails, or a byte differs from the referee's.
        """
        names = [f"input{number}" for number in range(len(arrays))]
        if not self.work.is_network:
            names = [*self.arguments]
        if len(arrays) > len(names):
            raise UsageError(f"{self.work.name}: takes {len(names)} arrays, not {len(arrays)}")
        self.last = execute(self, {**dict(zip(names, arrays, strict=False)), **named}).check()
        results = tuple(self.last.outputs.values())
        return results[0] if len(results) == 1 else results

    def __str__(self) -> str:
        """The transfers in their loops, as the compiler has them."""
        stages = self.driver.stages
        return str(stages.get("accel", self.c))

    def __repr__(self) -> str:
        return self._text


def plan(
    work: Any,
    on: On = None,
    *,
    board: str | Path = boards.DEFAULT,
    flow: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    pipeline: str | None = None,
    schedule: str | Path | None = None,
    calls: int = 1,
    sim: str = "verilator",
    wait: str = "poll",
    os: str = "none",
    stall: range | int | str | None = None,
    seed: int = 0,
) -> Plan:
    """How `work` (what :func:`read` gives or takes) is computed on a device, or several.

    `on`: what :func:`device` gives or takes; without it the fastest built-in accelerator by the cost
    model. `flow`, `order`, `tile` and `pipeline` are the driver's, the best where they are left out;
    `schedule`: a file of primitives, of loops. `board` is a name or a file; `calls` of the driver by one
    program; `stall`: seeds of pauses, or ``"off"``; `seed` of random inputs. Raises what the command
    raises, before anything runs.
    """
    if not isinstance(work, Work):
        work = read(work)
    asked = together(on, str(board))
    if isinstance(stall, str) and stall != OFF:
        raise UsageError(f"stall={stall!r}: a seed, a range of seeds, or {OFF!r}")
    seeds = range(stall, stall + 1) if isinstance(stall, int) else stall
    around = Simulated(str(board), sim, wait, os, seeds, seed)
    text = f"ax.plan({work.name!r}{f', on={on!r}' if on is not None else ''})"
    if work.loops is not None:
        if on is not None or flow or order or tile or pipeline or calls != 1:
            raise UsageError(
                f"{work.name}: loops become an accelerator of their own: leave `on`, `flow`, `calls`, ... out"
            )
        if schedule is not None and work.schedule is not None:
            raise UsageError(f"{work.name}: a nest has its `schedule` already")
        return _of_loops(work, text, around, asked, schedule)
    if schedule is not None:
        raise UsageError(f"{work.name}: `schedule` is a file of primitives, for loops")
    use = Schedule(flow, tuple(order) if order else None, tuple(tile) if tile else None, pipeline)
    task = Task(work.name, work.mlir, work.data_type, asked, use, calls)
    if work.model is None:
        return _of_problem(work, text, around, task)
    if calls != 1:
        raise UsageError(f"{work.name}: `calls` is for problems of one op")
    return _of_network(work, text, around, task)


def _of_problem(work: Work, text: str, around: Simulated, task: Task) -> Plan:
    taken = chosen.of_problem(task)
    system = around.system(taken.specs, task.asked)

    def job(arrays: Arrays | None) -> ProblemRun:
        workload = Workload(work.name, work.mlir, around.seed, arrays)
        return ProblemRun(workload, system, taken.schedule, choice=taken.choice, calls=task.calls)

    return Plan(work, text, job)


def _of_network(work: Work, text: str, around: Simulated, task: Task) -> Plan:
    model = work.model
    assert model is not None
    taken = chosen.of_network(replace(task, weights=dict(model.weights)))
    system = around.system(taken.specs, task.asked)
    how = selection.of_network(taken.specs, stands_in=bool(task.asked.rtl))

    def job(arrays: Arrays | None) -> NetworkRun:
        network = Network(work.name, model.mlir, model.weights, arrays, around.seed, model.referee)
        return NetworkRun(
            network,
            system,
            taken.schedule,
            auto=True,
            selecting=how.egraph,
            or_matching=True,
            because=how.because,
            choice=taken.choice,
        )

    return Plan(work, text, job)


def _of_loops(work: Work, text: str, around: Simulated, asked: Asked, schedule: str | Path | None) -> Plan:
    from axiloom.library.works import scheduled
    from axiloom.nest.accelerator import accelerator, multiply_adds
    from axiloom.nest.reference import reference
    from axiloom.nest.values import values_of
    from axiloom.run.nest import NestRun

    loaded = work.loops
    assert loaded is not None
    program = loaded.program
    nest = work.schedule or scheduled(program, None if schedule is None else Path(schedule))
    built = accelerator(nest)
    place = ExitStack()
    system = around.system([built.link], asked)
    system = replace(system, user_rtl=built.rtl(place.enter_context(processes.scratch())))

    def job(arrays: Arrays | None) -> NestRun:
        values = values_of(loaded, arrays, around.seed, work.name)
        right = reference(loaded, nest, values)
        for warning in right.warnings:
            warnings.warn(warning, stacklevel=2)
        work_done = multiply_adds(program)
        return NestRun(
            program, built.packets, system, values, dict(right.results), right.text, work_done, around.seed
        )

    compiled = Plan(work, text, job)
    weakref.finalize(compiled, place.close)
    return compiled


def run(
    work: Any,
    on: On = None,
    *,
    against: Kernel | None = None,
    progress: bool = True,
    keep: str | Path | None = None,
    **options: Any,
) -> Run:
    """`work` on the simulated SoC: a plan, or what :func:`plan` takes, with its `options`.

    A wrong result is in what comes back: `Run.check` raises it.

    Options that are arrays are inputs by name (``A=a``), in place of random ones. `against`: the same on the
    CPU alone, by ``"loops"`` or ``"neon"``. `keep`: a folder for sources, ELF and stages of the compiler.
    Raises Error where there is no result: it does not compile, it hangs, the driver fails.
    """
    arrays = {name: value for name, value in options.items() if isinstance(value, np.ndarray)}
    others = {name: value for name, value in options.items() if name not in arrays}
    if not isinstance(work, Plan):
        work = plan(work, on, **others)
    elif on is not None or others:
        raise UsageError(f"ax.run: a plan has its device and options: leave {', '.join(others) or 'on'} out")
    return execute(
        work, arrays, against=against, progress=progress, keep=None if keep is None else Path(keep)
    )
