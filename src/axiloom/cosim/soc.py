"""The simulated SoC as a Python object: build it once, run drivers on it.

::

    soc = Soc(System(isa.builtin("v3", 16)))
    soc.build()
    result = soc.run(elf, {"axl_arg0": a}, {"axl_arg2": (c.shape, "int32")})

Every `run` starts one simulator process in a temporary folder of its own; :mod:`axiloom.cosim.session`
is the other side of it. Runs in parallel share builds and nothing else.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base import cache, processes
from axiloom.base.errors import (
    DriverError,
    HangError,
    ProtocolError,
    SimulatorError,
    StaleDataError,
    UsageError,
)
from axiloom.cosim import core, mistakes, outside, pauses, referee, stale
from axiloom.cosim.build import emitted, icarus, inspection, process, verilator
from axiloom.cosim.coverage import check_counts, uncounted
from axiloom.cosim.job import ERROR_FILE, FROM_SESSION, TIMEOUT_S, TO_SESSION, Job, Result, Work
from axiloom.cosim.system import Stall, System

Progress = Callable[[str], None]
Array = np.ndarray[Any, Any]

_WRAPPER = ("axiloom_tb.v", "axl_watch.v", "axl_memory.vh", "axl_master.vh", "axl_dma_registers.vh")

_GRACE_S = 20.0  # for the session to notice its own timeout, with a diagnosis, before it is killed

# What Python writes, and what it only reads: of that, Verilator knows every change.
_PUBLIC = "\n".join(
    f'public_flat_{access} -module "axiloom_tb" -var "{name}"'
    for access, names in (("rw", ("ctl_*", "cfg_*")), ("rd", ("stat_*", "now", "done")))
    for name in names
)


class HungError(HangError):
    """A run that the watchdog stopped, with what it gave until then."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        self.result = result
        super().__init__(message)


class StaleHungError(StaleDataError, HungError):
    """... because of stale data, as far as anybody can tell."""


class MistakeHungError(DriverError, HungError):
    """... because of a mistake of the driver's."""


def build_shared(sim: str) -> None:
    """What builds of every design share: compilers run, and little Python."""
    core.library()
    if sim == "verilator":
        verilator.runtime()


class Soc:
    """`system`, simulated.

    With `timeline` results have one (:class:`axiloom.cosim.profile.Timeline`); counters do not depend on it.
    With `coverage` a user's RTL counts its lines, for jobs that ask for them. With `inspect` registers and
    memories of the RTL can be read while it stands: another build, and slower.
    """

    def __init__(
        self, system: System, timeline: bool = False, coverage: bool = False, inspect: bool = False
    ) -> None:
        if timeline and len(system.devices) > 1:
            raise UsageError("a timeline is drawn of one accelerator; several have none: leave timeline out")
        if coverage:
            check_counts(system)
        self.system = system
        self.timeline = timeline
        self._inspect = inspect
        self._counts = coverage and system.user_rtl is not None
        self._trace = Path(system.trace).absolute() if system.trace else None
        self._command: list[str | Path] | None = None

    def build(self, progress: Progress | None = None) -> None:
        """Generate, verilate and compile, or take it from the cache. Raises BuildError."""
        wrapper = tuple((name, (verilator.RTL / name).read_text(encoding="utf-8")) for name in _WRAPPER)
        sources = self._sources()
        verilog = (*wrapper, *sources)
        library = core.library(progress)
        trace = self._trace
        if self.system.sim == "verilator":
            design = verilator.Design(
                verilog,
                "axiloom_tb",
                _PUBLIC
                + (uncounted(name for name, _ in (*wrapper, *sources[:1])) if self._counts else "")
                + (inspection.control(sources) if self._inspect else ""),
                soc=True,
                coverage=self._counts,
                trace=trace.suffix[1:] if trace else None,
                defines=self._defines(),
            )
            self._command = [verilator.build(design, library, progress) / verilator.PROGRAM]
            return
        defines = ("AXL_WINDOW", *(f"{name}={value}" for name, value in self._defines()))
        program = icarus.build(
            verilog, "axiloom_tb", defines=defines, trace=trace is not None, progress=progress
        )
        self._command = icarus.command(program, icarus.glue(library, progress))

    def _sources(self) -> verilator.Sources:
        has_fifo = self.system.fifo is not None
        if self.system.model:
            return emitted.model_sources(self.system.devices, has_fifo)
        return emitted.sources(self.system.devices, "soc", self.system.user_rtl, True, has_fifo)

    @property
    def build_id(self) -> str:
        """Name of the build, a hash of all that went into it."""
        if self._command is None:
            self.build()
        assert self._command is not None
        return Path(self._command[0]).parent.name

    def run(
        self,
        elf: Path,
        inputs: Mapping[str, Array] | None = None,
        outputs: Mapping[str, tuple[tuple[int, ...], str]] | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        progress: bool = False,
    ) -> Result:
        """Run one program to the end of its main. See :meth:`run_many`."""
        return self.run_many(
            [Job(Path(elf), inputs or {}, outputs or {}, timeout_s=timeout_s)], progress=progress
        )[0]

    def run_many(self, jobs: Sequence[Job], *, check: bool = True, progress: bool = False) -> list[Result]:
        """Run jobs one after another in one simulator process, the hardware reset before each.

        With `check` the first job that hangs raises HangError, one that fails (a fault, an exit code
        that is not 0) DriverError, or StaleDataError if it saw stale data; without, the results say so.
        What a job that ends well did wrong is in its result alone (:func:`refuse_run`). With `progress` a
        line about every two seconds goes to stderr. A simulator that dies is a SimulatorError that says how.
        """
        if self._command is None:
            self.build()
        assert self._command is not None
        try:
            results = self._simulate(jobs, check, progress)
        except (SimulatorError, OSError):
            if not cache.damaged():
                raise
            # It was damaged while we ran: built again, once.
            core.forget_library()
            self.build()
            results = self._simulate(jobs, check, progress)
        if check:
            for result in results:
                raise_failure(result)
        return results

    def _simulate(self, jobs: Sequence[Job], check: bool, progress: bool) -> list[Result]:
        with processes.scratch("axiloom-run-") as work:
            return self._simulated(work, jobs, check, progress)

    def prepare(
        self, work: Path, jobs: Sequence[Job], *, check: bool, progress: bool = False, stall: Stall = None
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The command that does the jobs in the folder `work`, and its environment."""
        todo = Work(
            system=self.system,
            jobs=jobs,
            folder=Path.cwd(),
            glue=self._glue(),
            progress=progress,
            stop_at_failure=check,
            timeline=self.timeline,
            stall=stall,
        )
        (work / TO_SESSION).write_bytes(pickle.dumps(todo))
        env = process.environment(
            "axiloom_tb",
            "axiloom.cosim.session",
            work / "results.xml",
            sim=self.system.sim,
            libraries=core.library_folders(),
            seed=self.system.seed,
            log_level="ERROR",
        )
        env[core.USED] = str(core.library())
        env["COCOTB_REWRITE_ASSERTION_FILES"] = ""  # the session asserts nothing; the hook costs 0.7 s
        assert self._command is not None
        return [*self._command, *self._arguments()], env

    def _simulated(self, work: Path, jobs: Sequence[Job], check: bool, progress: bool) -> list[Result]:
        command, env = self.prepare(work, jobs, check=check, progress=progress, stall=self.system.stall)
        debuggers = [job.gdb for job in jobs if job.gdb is not None]
        ended = process.run(
            command,
            env,
            work,
            sum(j.timeout_s + _GRACE_S for j in jobs) * (1 + 2 * len(pauses.seeds(self.system.stall))),
            pass_stderr=progress or bool(debuggers),
            pass_fds=[*debuggers, *(number for job in jobs for number in job.terminal.descriptors)],
        )
        results = [
            pickle.loads(file.read_bytes())
            for i in range(len(jobs))
            if (file := work / FROM_SESSION.format(i)).exists()
        ]
        if len(results) == len(jobs) or (check and results and results[-1].failed):
            # Killed after its last answer: is that one sound?
            if ended.returncode < 0 and not ended.timed_out:
                raise SimulatorError(f"after the last job: the simulator {ended.describe()}")
            return results
        place = f"job {len(results) + 1} of {len(jobs)} ({Path(jobs[len(results)].elf).name})"
        if ended.timed_out:
            limit = jobs[len(results)].timeout_s
            raise HangError(f"{place}: the simulator did not answer for {limit:g} s and was stopped")
        if (work / ERROR_FILE).exists():
            raise pickle.loads((work / ERROR_FILE).read_bytes())
        raise SimulatorError(f"{place}: the simulator {ended.describe()}")

    def _defines(self) -> tuple[tuple[str, str], ...]:
        """Macros of the wrapper: the rules' numbers, and what the SoC's ports are."""
        macros = {f"AXL_RULE_{name}": str(number) for number, name in enumerate(referee.RULES)}
        macros["AXL_WIDTH"] = str(self.system.device.link.stream_width)
        if self.system.device.link.dma.scatter_gather:
            macros["AXL_SG"] = "1"
        if self.system.fifo is not None:
            macros["AXL_FIFO"] = "1"
        if self.system.device.link.rtl.registers:
            macros["AXL_REGISTERS"] = "1"
        if self.system.user_rtl is not None and self.system.user_rtl.master is not None:
            macros["AXL_MASTER"] = str(self.system.user_rtl.master_width)
        if pauses.seeds(self.system.stall):
            macros["AXL_PAUSES"] = "1"
        if self._inspect:
            macros[inspection.MACRO] = "1"
        if len(self.system.devices) > 1:
            pages = [f"16'h{spec.link.dma.address >> 16:x}" for spec in reversed(self.system.devices)]
            macros |= {"AXL_DMAS": str(len(self.system.devices)), "AXL_PAGES": f"{{{','.join(pages)}}}"}
        return tuple(macros.items())

    def _glue(self) -> Path | None:
        return None if self.system.sim == "verilator" else icarus.glue(core.library()) / icarus.MODULE

    def _arguments(self) -> list[str]:
        arguments = [f"+axl_period_ps={round(1e12 / self.system.profile.fabric_hz)}"]
        if self._trace:
            self._trace.parent.mkdir(parents=True, exist_ok=True)
            arguments.append(f"+axl_trace={self._trace}")
            if self.system.trace_window:
                begin, end = self.system.trace_window
                arguments += [f"+axl_trace_begin={begin}", f"+axl_trace_end={end}"]
        return arguments


def raise_failure(result: Result) -> None:
    """StaleDataError, HangError or DriverError for a run that did not come to its end in order."""
    left = f"; before, {outside.refusal(result.outside)}" if result.outside else ""
    if not result.failed:
        return
    wrong = f"{mistakes.refusal(result.mistakes)}; then " if result.mistakes else ""
    if result.breaches and not result.broken:
        wrong = f"{referee.refusal(result.breaches)}; then {wrong}"
    if result.stale:
        wrong = f"{stale.refusal(result.stale)}; then {wrong}"
    if result.hang:
        hung = StaleHungError if result.stale else MistakeHungError if result.mistakes else HungError
        raise hung(wrong + result.hang + left, result)
    what = (referee.refusal(result.breaches) if result.broken else result.fault) or ""
    kind = StaleDataError if result.stale else ProtocolError if result.breaches else DriverError
    raise kind(wrong + what + left)


def judge(result: Result) -> None:
    """Raise what is wrong with a run that came to its end: as :func:`refuse_run`, and rules of the buses."""
    refuse_run(result.stale, result.mistakes, result.outside)
    referee.verdict(result)


def refuse_run(
    found_stale: Sequence[str], found_mistakes: Sequence[str], found_outside: Sequence[str]
) -> None:
    """What is wrong with a run that came to its end.

    StaleDataError for stale data; DriverError for mistakes with registers, or accesses beside arrays.
    """
    if found_stale:
        raise StaleDataError(stale.refusal(found_stale))
    if found_mistakes:
        raise DriverError(mistakes.refusal(found_mistakes))
    if found_outside:
        raise DriverError(outside.refusal(found_outside))
