"""The main job: what is run goes in, a checked and counted run on the simulated SoC comes out.

What is run is a :class:`axiloom.run.problem.ProblemRun` or a :class:`axiloom.run.network.NetworkRun`: a
workload, the system that it runs on and the schedule. Both are a `Run`; the functions here know no more of
them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.base.files import make_folder
from axiloom.cosim import referee
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc, build_shared
from axiloom.cosim.system import System
from axiloom.drivergen import Driver
from axiloom.report.types import Kernel, OnCpu, Report
from axiloom.run.compare import Arrays

Progress = Callable[[str], None]
CpuPart = TypeVar("CpuPart", bound=OnCpu)


@dataclass(frozen=True)
class Watch:
    """How a run is watched."""

    progress: Progress = lambda _line: None
    live: bool = False
    """Let the simulator say every few seconds, on standard error, how far it is."""
    keep: Path | None = None
    """Where sources, program and stages of the compiler stay."""
    timeline: bool = False
    """Record one: `Result.profile` has it."""


UNSEEN = Watch()


class Run(Protocol[CpuPart]):
    """A workload on a system by a schedule."""

    @property
    def system(self) -> System: ...
    @property
    def program(self) -> str:
        """What its program is called: ``driver``, ``network``."""

    @property
    def driver(self) -> Driver:
        """What it compiles to."""

    @property
    def inputs(self) -> Arrays:
        """By symbol."""

    @property
    def expected(self) -> Arrays:
        """The outputs by NumPy, from the MLIR itself and not from what the compiler made of it."""

    def build(self, folder: Path) -> Path:
        """Write the sources of its program to `folder` and compile them for the board's CPU."""

    def explain(self, folder: Path) -> None:
        """Write what the sources were made of beside them."""

    def job(self, elf: Path) -> Job:
        """One run of the program on its inputs."""

    def run_on(self, soc: Soc, elf: Path, *, live: bool) -> Result:
        """That run."""

    def on_cpu(self, kernel: Kernel, keep: Path | None) -> CpuPart:
        """The same on the simulated CPU alone, checked as well; MismatchError if it is wrong."""

    def checked(self, result: Result, cpu: CpuPart | None = None) -> Report:
        """The report of `result`, compared with the reference. A wrong result is in it, not raised."""


def build_driver(driver: Driver, system: System, folder: Path) -> Path:
    """Write a driver that comes with its harness to `folder`, and compile both for the board's CPU."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"driver.c": driver.c, "driver.h": driver.header, "driver_main.c": driver.harness}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [folder / "driver.c", folder / "driver_main.c"]
    return system.compile(files, folder / "driver.elf", include=[folder])


@contextmanager
def folder_or_temporary(keep: Path | None) -> Iterator[Path]:
    """`keep`, or a temporary folder that is removed afterwards."""
    if keep is not None:
        make_folder(keep)
        yield keep
        return
    with processes.scratch("axiloom-") as folder:
        yield Path(folder)


def simulate(run: Run[CpuPart], watch: Watch = UNSEEN, begun: Callable[[], None] = lambda: None) -> Result:
    """Compile, build and run; the outputs are in the result, not yet compared.

    `begun` is called when nothing is left but to simulate.
    """
    watch.progress(f"compiling the {run.program}")
    with folder_or_temporary(watch.keep) as folder:
        soc = Soc(run.system, timeline=watch.timeline)
        with processes.meanwhile(lambda: build_shared(run.system.sim)):
            elf = run.build(folder)
            if watch.keep:
                run.explain(folder)
            soc.build(progress=watch.progress)
        watch.progress("")
        # Who makes IR from here on is the other thread alone: xDSL has one place for what is being built.
        _ = run.inputs
        begun()
        if not watch.live:  # else the simulator says itself how far it is
            watch.progress("simulating")
        try:
            return run.run_on(soc, elf, live=watch.live)
        finally:
            watch.progress("")


def simulate_both(run: Run[CpuPart], kernel: Kernel, watch: Watch = UNSEEN) -> tuple[Result, CpuPart]:
    """:func:`simulate`, and beside it :func:`simulate_cpu`, which begins when our program is compiled."""
    beside = _Beside(lambda: simulate_cpu(run, kernel, replace(watch, progress=UNSEEN.progress)))
    result = simulate(run, watch, beside.start)
    watch.progress("waiting for the CPU alone")
    return result, beside.result()


class _Beside(Generic[CpuPart]):
    """A call in a thread, which does not keep the process if it ends before."""

    def __init__(self, call: Callable[[], CpuPart]) -> None:
        self._call = call
        self._found: CpuPart | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._call()
        except BaseException as error:
            self._error = error

    def result(self) -> CpuPart:
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._found is not None
        return self._found


def simulate_cpu(run: Run[CpuPart], kernel: Kernel = "loops", watch: Watch = UNSEEN) -> CpuPart:
    """The same on the simulated CPU alone: plain loops at -O3, or NEON kernels by hand where there are some.

    MismatchError if it is wrong.
    """
    if kernel != "loops":
        run.system.profile.host.check_kernel(kernel)
    watch.progress("simulating the CPU alone")
    return run.on_cpu(kernel, watch.keep)


def report_of(run: Run[CpuPart], watch: Watch = UNSEEN, *, against: Kernel | None = None) -> Report:
    """Run it all, compare with NumPy, and report; `against`: the CPU alone beside it."""
    result, cpu = (simulate(run, watch), None) if against is None else simulate_both(run, against, watch)
    report = run.checked(result, cpu)
    referee.verdict(result)
    return report


def reports_of(runs: Sequence[Run[CpuPart]]) -> list[Report]:
    """Reports of several runs on one system, in one simulator process with a reset between them."""
    system = runs[0].system
    if any(run.system != system for run in runs):
        raise UsageError("runs in one simulator process must have one system")
    with folder_or_temporary(None) as folder:
        jobs = [run.job(run.build(folder / str(i))) for i, run in enumerate(runs)]
        results = Soc(system).run_many(jobs)
    for result in results:
        referee.verdict(result)
    return [run.checked(result) for run, result in zip(runs, results, strict=True)]
