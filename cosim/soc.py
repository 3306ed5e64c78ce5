"""The simulated SoC as a Python object: build it once, run drivers on it.

::

    soc = Soc(isa.builtin("v3", 16))
    soc.build()
    result = soc.run(elf, {"axl_arg0": a}, {"axl_arg2": (c.shape, "int32")})

Every `run` starts one simulator process in a temporary folder of its own; :mod:`axiloom.cosim.session`
is the other side of it. Runs in parallel share builds and nothing else.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom import boards
from axiloom.cosim import core, linux
from axiloom.cosim.build import emitted, icarus, process, verilator
from axiloom.cosim.profile import Profile
from axiloom.cosim.session import ERROR_FILE, FROM_SESSION, TO_SESSION, Finished, Order, Work
from axiloom.errors import DriverError, HangError, SpecError, UsageError
from axiloom.isa import AcceleratorSpec, check_together

if TYPE_CHECKING:
    from axiloom.hw.rtl_files.user_rtl import UserRtl

Progress = Callable[[str], None]
Array = np.ndarray[Any, Any]

WATCHDOG_CYCLES = 1_000_000
"""Fabric cycles that make a hang: no word on a stream, no register write, DMA busy (10 ms at 100 MHz)."""

TIMEOUT_S = 3600.0
"""Wall time that a run may take by default: a guard against drivers that compute for ever."""

_WRAPPER = ("axiloom_tb.v", "axl_memory.vh")

_GRACE_S = 20.0  # for the session to notice its own timeout, with a diagnosis, before it is killed

# What Python writes, and what it only reads: of that, Verilator knows every change.
_PUBLIC = "\n".join(
    f'public_flat_{access} -module "axiloom_tb" -var "{name}"'
    for access, names in (("rw", ("ctl_*", "cfg_*")), ("rd", ("stat_*", "now", "done")))
    for name in names
)


@dataclass(frozen=True)
class Job:
    """One run of one program."""

    elf: Path
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Symbol to the array that is put there before the program starts (row major, as it is)."""
    outputs: Mapping[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    """Symbol to shape and type of what is read there after the program has ended."""
    reset: bool = True
    """False: the hardware stays as the job before it left it; only CPU and memory start anew."""
    timeout_s: float = TIMEOUT_S
    layers: Sequence[tuple[str, float]] = ()
    """Of a network: what progress calls each layer, and about how long it takes in relation to the others."""
    section: str = ""
    """A function of the program; how long its first call takes is in the result."""
    section_clean: bool = False
    """Caches and branch prediction are empty when it begins."""
    strict: bool = False
    """Missing cache maintenance ends the run with a fault, not only with a line in the result."""
    devices: Sequence[str] = linux.DEVICES
    """Of a Linux process: what it finds beside /dev/mem."""


@dataclass(frozen=True)
class RunResult:
    """What one run gave. Counters are deterministic; `simulation` is not."""

    outputs: dict[str, Array]
    exit_code: int
    counters: dict[str, int]
    """By the names of perf: ``cache-misses``, ``cpu-cycles``, ..."""
    events: dict[str, int]
    """What the cost model is made of: see :meth:`axiloom.cosim.core.Core.events`."""
    fabric: dict[str, int]
    """``cycles`` = sum of ``compute``, ``load``, ``store``, ``dma_wait``, ``idle``; words, accesses."""
    simulation: dict[str, float]
    """``wall_s`` and ``process_s`` (CPU time) of the run, ``rtl_cycles`` evaluated, ``rtl_cycles_per_s`` and
    ``cpu_mips``; ``rtl_share``, ``cpu_share``, ``python_share`` of the wall time."""
    profile: Profile
    """Where the time went; with the timeline, if the `Soc` was made with one."""
    accelerators: dict[str, dict[str, int]] = field(default_factory=dict)
    """By name, what is of each alone: ``words_in``, ``words_out``, ``transfers_in``, ``transfers_out``,
    ``compute``."""
    stale: list[str] = field(default_factory=list)
    """Missing cache flushes and invalidations, one line each."""
    laps: list[list[tuple[int, int]]] = field(default_factory=list)
    """Of a network, when each layer begins and at the end: words in and out so far of each accelerator."""
    section_cycles: int = 0
    """Fabric cycles of the first call of the job's section, if it had one."""
    section_stack: int = 0
    """The stack pointer when that call began."""
    console: str = ""
    """What a Linux process wrote to standard output and error."""
    hang: str | None = None
    """Why the watchdog ended the run, if `check` was False; else a HangError was raised."""
    fault: str | None = None
    """Why the program failed, if `check` was False; else a DriverError was raised."""


class Soc:
    """An accelerator, its DMA, a memory and the CPU of `board`, simulated.

    `spec` may be several specifications, each with its own DMA and windows (:func:`axiloom.isa.place`):
    `fabric` of a result is then of all together, and a hang says which of them it was.

    `sim` is "verilator" or "icarus". `trace` is a waveform file: .fst or .vcd on Verilator, .vcd on
    Icarus; `trace_window` limits it to fabric cycles [begin, end) of each job. `watchdog_cycles`
    fabric cycles without progress are a hang. `seed` seeds cocotb's random numbers. With `timeline`
    results have one (:class:`axiloom.cosim.profile.Timeline`); counters do not depend on it. With `model` the
    functional model stands in each accelerator's place, and takes the cycles of
    :class:`axiloom.cosim.model_device.Timing`.
    """

    def __init__(
        self,
        spec: AcceleratorSpec | Sequence[AcceleratorSpec],
        board: str | boards.Board = boards.DEFAULT,
        sim: str = "verilator",
        user_rtl: UserRtl | None = None,
        trace: Path | str | None = None,
        trace_window: tuple[int, int] | None = None,
        watchdog_cycles: int = WATCHDOG_CYCLES,
        seed: int = 0,
        timeline: bool = False,
        model: bool = False,
    ) -> None:
        if sim not in ("verilator", "icarus"):
            raise UsageError(f"simulator must be 'verilator' or 'icarus', not {sim!r}")
        if watchdog_cycles <= 0:
            raise UsageError(f"watchdog_cycles must be positive, not {watchdog_cycles}")
        if trace_window and not 0 <= trace_window[0] < trace_window[1]:
            window = ":".join(map(str, trace_window))
            raise UsageError(f"trace window must be START:END with 0 <= START < END, not {window}")
        if model and user_rtl is not None:
            raise UsageError(
                f"{user_rtl.top} or the functional model takes the accelerator's place, not both"
            )
        self.specs = (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
        if faults := check_together(self.specs):
            raise SpecError(faults)
        if timeline and len(self.specs) > 1:
            raise UsageError("a timeline is drawn of one accelerator; several have none: leave timeline out")
        if user_rtl is not None:
            user_rtl.check_width(self.spec.stream_width, self.spec.name)
        self.board = boards.load(board) if isinstance(board, str) else board
        self.sim = sim
        self.user_rtl = user_rtl
        self.trace = Path(trace).absolute() if trace else None
        self.trace_window = trace_window
        self.watchdog_cycles = watchdog_cycles
        self.seed = seed
        self.timeline = timeline
        self.model = model
        self._trace_format = _trace_format(self.trace, sim)
        self._command: list[str | Path] | None = None

    @property
    def spec(self) -> AcceleratorSpec:
        """The first one, which most often is the only one."""
        return self.specs[0]

    def build(self, progress: Progress | None = None) -> None:
        """Generate, verilate and compile, or take it from the cache. Raises BuildError."""
        library = core.library(progress)
        wrapper = tuple((name, (verilator.RTL / name).read_text(encoding="utf-8")) for name in _WRAPPER)
        verilog = (*wrapper, *self._sources())
        if self.sim == "verilator":
            design = verilator.Design(
                verilog,
                "axiloom_tb",
                _PUBLIC,
                soc=True,
                trace=self._trace_format,
                defines=self._defines(),
            )
            self._command = [verilator.build(design, library, progress) / verilator.PROGRAM]
            return
        defines = ("AXL_WINDOW", *(f"{name}={value}" for name, value in self._defines()))
        program = icarus.build(
            verilog, "axiloom_tb", defines=defines, trace=self.trace is not None, progress=progress
        )
        self._command = icarus.command(program, icarus.glue(library, progress))

    def _sources(self) -> verilator.Sources:
        if self.model:
            return emitted.model_sources(self.specs)
        return emitted.sources(self.specs, "soc", self.user_rtl)

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
    ) -> RunResult:
        """Run one program to the end of its main. See :meth:`run_many`."""
        return self.run_many(
            [Job(Path(elf), inputs or {}, outputs or {}, timeout_s=timeout_s)], progress=progress
        )[0]

    def run_many(self, jobs: Sequence[Job], *, check: bool = True, progress: bool = False) -> list[RunResult]:
        """Run jobs one after another in one simulator process, the hardware reset before each.

        With `check` the first job that hangs raises HangError, one that fails (a fault, an exit code
        that is not 0) DriverError; without, the results say so. With `progress` a line about every
        two seconds goes to stderr. A simulator that dies is a DriverError that says how.
        """
        if self._command is None:
            self.build()
        assert self._command is not None
        with tempfile.TemporaryDirectory(prefix="axiloom-run-") as folder:
            work = Path(folder)
            finished = self._simulate(work, jobs, check, progress)
        results = [_result(one) for one in finished]
        if check:
            for one in results:
                _raise_failure(one)
        return results

    def _simulate(self, work: Path, jobs: Sequence[Job], check: bool, progress: bool) -> list[Finished]:
        orders = [
            Order(
                Path(j.elf).absolute(),
                j.inputs,
                j.outputs,
                j.reset,
                j.timeout_s,
                j.layers,
                j.section,
                j.strict,
                j.devices,
                j.section_clean,
            )
            for j in jobs
        ]
        todo = Work(
            self.board,
            self.specs,
            orders,
            self.watchdog_cycles,
            self._glue(),
            progress,
            check,
            self.timeline,
            self.model,
        )
        (work / TO_SESSION).write_bytes(pickle.dumps(todo))
        env = process.environment(
            "axiloom_tb",
            "axiloom.cosim.session",
            work / "results.xml",
            sim=self.sim,
            libraries=core.library_folders(),
            seed=self.seed,
            log_level="ERROR",
        )
        env["COCOTB_REWRITE_ASSERTION_FILES"] = ""  # the session asserts nothing; the hook costs 0.7 s
        assert self._command is not None
        ended = process.run(
            [*self._command, *self._arguments()],
            env,
            work,
            sum(j.timeout_s + _GRACE_S for j in jobs),
            pass_stderr=progress,
        )
        finished = [
            pickle.loads(file.read_bytes())
            for i in range(len(jobs))
            if (file := work / FROM_SESSION.format(i)).exists()
        ]
        if len(finished) == len(jobs) or (check and finished and finished[-1].failed):
            if (
                ended.returncode < 0 and not ended.timed_out
            ):  # killed after its last answer: is that one sound?
                raise DriverError(f"after the last job: the simulator {ended.describe()}")
            return finished
        place = f"job {len(finished) + 1} of {len(jobs)} ({Path(jobs[len(finished)].elf).name})"
        if ended.timed_out:
            limit = jobs[len(finished)].timeout_s
            raise HangError(f"{place}: the simulator did not answer for {limit:g} s and was stopped")
        if (work / ERROR_FILE).exists():
            raise pickle.loads((work / ERROR_FILE).read_bytes())
        raise DriverError(f"{place}: the simulator {ended.describe()}")

    def _defines(self) -> tuple[tuple[str, str], ...]:
        """Macros of the wrapper: what the SoC's ports are."""
        made = {"AXL_WIDTH": str(self.spec.stream_width)}
        if self.spec.dma.scatter_gather:
            made["AXL_SG"] = "1"
        if len(self.specs) > 1:
            pages = [f"16'h{spec.dma.address >> 16:x}" for spec in reversed(self.specs)]
            made |= {"AXL_DMAS": str(len(self.specs)), "AXL_PAGES": f"{{{','.join(pages)}}}"}
        return tuple(made.items())

    def _glue(self) -> Path | None:
        return None if self.sim == "verilator" else icarus.glue(core.library()) / icarus.MODULE

    def _arguments(self) -> list[str]:
        arguments = [f"+axl_period_ps={round(1e12 / self.board.fabric_hz)}"]
        if self.trace:
            self.trace.parent.mkdir(parents=True, exist_ok=True)
            arguments.append(f"+axl_trace={self.trace}")
            if self.trace_window:
                begin, end = self.trace_window
                arguments += [f"+axl_trace_begin={begin}", f"+axl_trace_end={end}"]
        return arguments


def _trace_format(trace: Path | None, sim: str) -> str | None:
    if trace is None:
        return None
    accepted = {"verilator": (".fst", ".vcd"), "icarus": (".vcd",)}[sim]
    if trace.suffix not in accepted:
        raise UsageError(f"a trace on {sim} must end in {' or '.join(accepted)}, not {trace.name!r}")
    return trace.suffix[1:]


def _result(finished: Finished) -> RunResult:
    return RunResult(
        outputs=finished.outputs,
        exit_code=finished.exit_code,
        counters=finished.counters,
        events=finished.events,
        fabric=finished.fabric,
        simulation=finished.simulation,
        profile=finished.profile,
        accelerators=finished.accelerators,
        stale=finished.stale,
        laps=finished.laps,
        section_cycles=finished.section_cycles,
        section_stack=finished.section_stack,
        console=finished.console,
        hang=finished.hang,
        fault=finished.fault,
    )


def _raise_failure(result: RunResult) -> None:
    if result.hang:
        raise HangError(result.hang)
    if result.fault:
        raise DriverError(result.fault)
