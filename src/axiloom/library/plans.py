"""Plans: a problem, a network or loops on a device, compiled and costed, not yet run."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from axiloom import boards
from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.base.files import make_folder, read_arrays
from axiloom.boards.ulx3s_design import NAME as SERIAL
from axiloom.cosim.system import System
from axiloom.drivergen import Driver
from axiloom.explore import chosen
from axiloom.explore.asked import Asked
from axiloom.explore.chosen import Task
from axiloom.isa import AcceleratorSpec
from axiloom.library.runs import Run, execute
from axiloom.library.works import Work
from axiloom.run import selection
from axiloom.run.choice import ranks
from axiloom.run.compare import Arrays
from axiloom.run.network import ALL, WEIGHTS, Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.resolve import BEST

if TYPE_CHECKING:
    from axiloom.nest.accelerator import Accelerator
    from axiloom.nests.schedule import Schedule as NestSchedule

Array = np.ndarray[Any, Any]
Job = Any
"""A :class:`axiloom.run.run.Run`."""
COMPILED = ("schedule", "plan", "driver", "chooser")
"""What a job works out once, whatever its inputs are."""
Given: TypeAlias = Arrays | Path | None
"""Inputs by name, an ``.npz`` with them, or random ones."""


@dataclass(frozen=True)
class Simulated:
    """What stands around the accelerators, and watches them: fields of :class:`System`."""

    board: str = boards.DEFAULT
    sim: str = "verilator"
    wait: str = "poll"
    os: str = "none"
    stall: range | str | None = None
    seed: int = 0
    """Of random inputs."""
    trace: Path | None = None
    trace_window: tuple[int, int] | None = None
    watchdog_cycles: int | None = None
    ip: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raises UsageError for what does not go together, or with the board."""
        if self.board == SERIAL:
            raise UsageError(
                f"--board {SERIAL}: this is not for a board on a serial line, where `axiloom serial run` "
                "runs one op and `axiloom serial simulate` a driver in C"
            )
        if self.os == "linux":
            if self.wait == "irq":
                raise UsageError("--wait: --os linux polls the DMA: leave it out")
            boards.load(self.board).host.check_linux()
        if self.trace is not None and isinstance(self.stall, range):
            raise UsageError("--stall: makes a second run, and a trace is of one: leave one of them out")

    def system(self, links: Sequence[AcceleratorSpec], asked: Asked) -> System:
        """With `links`, and the RTL that is asked for in their place."""
        fields = {name: value for name, value in vars(self).items() if value is not None and name != "stall"}
        stall = asked.stall(self.stall, traced=self.trace is not None)
        return System(links, **asked.stands_in(*links), stall=stall, **fields)


@dataclass(frozen=True)
class Layers:
    """How a network runs: which layers, and where."""

    weights: str = WEIGHTS[0]
    """Put into memory by the simulator, or a part of the program."""
    stop_after: str | None = None
    """Number or name of the last layer."""
    offload_from: int | None = None
    """Products of fewer multiply-adds stay on the CPU."""
    offload: str = "auto"
    """``auto``: what is faster on the CPU by an estimate stays there; ``all``: nothing does."""
    layers: str | None = None
    """Which are simulated: one of :data:`axiloom.run.network.LAYERS`."""
    select: str | None = None
    """``matching`` or ``egraph``."""

    @property
    def fields(self) -> dict[str, Any]:
        """Of :class:`NetworkRun`."""
        return {
            "keep_weights": self.weights,
            "stop_after": self.stop_after,
            "least": self.offload_from or 0,
            "auto": self.offload == "auto",
            "simulated": self.layers or ALL,
        }


class Plan:
    """How a device computes a work: made by :func:`plan`. Call it with arrays, and it runs on the SoC."""

    def __init__(self, work: Work, text: str, system: System, job: Callable[[Given], Job]) -> None:
        """`job`: the run on inputs by name, random ones for None."""
        self.work, self._text, self.system, self._jobs = work, text, system, job
        self.last: Run | None = None
        """Of the last call."""
        self._latest: Job | None = None
        self.again: Callable[[], Plan] | None = None
        """Makes it once more, where a pickled one comes."""

    def __getstate__(self) -> dict[str, Any]:
        """What it says of itself, and how it is made: what is compiled stays behind."""
        if self.again is None:
            raise TypeError(f"{self!r}: only what `ax.plan` has made is pickled")
        return {name: self.__dict__[name] for name in ("work", "_text", "system", "again")}

    def __getattr__(self, name: str) -> Any:
        """What a pickled one did not bring is made when it is asked for."""
        again = self.__dict__.get("again")
        if name.startswith("__") or again is None:
            raise AttributeError(f"a plan has no `{name}`")
        self.__dict__ |= {**vars(again()), **self.__dict__}
        return self.__dict__[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and (self._text, self.devices) == (other._text, other.devices)

    def __hash__(self) -> int:
        return hash(self._text)

    @cached_property
    def _job(self) -> Job:
        """On random inputs."""
        return self._jobs(None)

    @property
    def devices(self) -> tuple[AcceleratorSpec, ...]:
        """The accelerators, as they were chosen."""
        return tuple(self.system.devices)

    @property
    def driver(self) -> Driver:
        if self._latest is not None:
            _share(self._latest, self._job)
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

    def job(self, arrays: Mapping[str, Array] | Path | None = None) -> Job:
        """The run, on these inputs, or those of an ``.npz``, in place of random ones. Raises UsageError for
        what does not fit."""
        if not arrays:
            return self._job
        given: Given = arrays if isinstance(arrays, Path) else dict(arrays)
        if isinstance(given, dict):
            given = {name: np.asarray(array) for name, array in given.items()}
        before, self._latest = self._latest, self._jobs(given)
        _share(before or self._job, self._latest)
        return self._latest

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


def _share(job: Job, other: Job) -> None:
    """`other` has what `job` has compiled."""
    other.__dict__.update({name: value for name, value in vars(job).items() if name in COMPILED})


def of_problem(work: Work, text: str, around: Simulated, task: Task) -> Plan:
    """Of one op."""
    taken = chosen.of_problem(task)
    system = around.system(taken.specs, task.asked)

    def job(arrays: Given) -> ProblemRun:
        inputs = read_arrays(arrays) if isinstance(arrays, Path) else arrays
        workload = Workload(work.name, work.mlir, around.seed, inputs)
        return ProblemRun(workload, system, taken.schedule, choice=taken.choice, calls=task.calls)

    return Plan(work, text, system, job)


def of_network(work: Work, text: str, around: Simulated, task: Task, layers: Layers = Layers()) -> Plan:
    """Of many ops."""
    model = work.model
    assert model is not None
    if around.os == "linux":
        raise UsageError(f"{work.name}: --os linux is for functions with one op, not for networks")
    taken = chosen.of_network(replace(task, weights=dict(model.weights)))
    stands_in = bool(task.asked.rtl)
    how = selection.of_network(taken.specs, layers.select, layers.offload_from, stands_in=stands_in)
    if task.schedule.flow == BEST and not any(ranks(spec) for spec in taken.specs):
        first = taken.spec
        raise UsageError(
            f"--flow best: in a network the cost model chooses for matmuls, and {first.name} does none; "
            f"give one of {', '.join(first.flows)}, or leave --flow out"
        )
    system = around.system(taken.specs, task.asked)

    def job(arrays: Given) -> NetworkRun:
        return NetworkRun(
            Network(work.name, model.mlir, model.weights, arrays, around.seed, model.referee),
            system,
            taken.schedule,
            selecting=how.egraph,
            or_matching=not how.asked,
            because=how.because,
            choice=taken.choice,
            **layers.fields,
        )

    return Plan(work, text, system, job)


def of_loops(
    work: Work,
    text: str,
    around: Simulated,
    schedule: str | Path | NestSchedule | None = None,
    built: Accelerator | None = None,
    keep: Path | None = None,
) -> Plan:
    """Of loops, by primitives, or as they are written. The RTL of their accelerator, which may be `built`
    already, goes to `keep`."""
    from axiloom.library.works import scheduled
    from axiloom.nest.accelerator import accelerator
    from axiloom.nest.values import values_of
    from axiloom.run.nest import NestRun

    loaded = work.loops
    assert loaded is not None
    nest = schedule
    if nest is None or isinstance(nest, (str, Path)):
        nest = scheduled(loaded.program, None if nest is None else Path(nest))
    built, place = built or accelerator(nest), ExitStack()
    folder = Path(keep or place.enter_context(processes.scratch()))
    make_folder(folder)
    system = replace(around.system([AcceleratorSpec(built.link)], Asked()), user_rtl=built.rtl(folder))

    def job(arrays: Given) -> NestRun:
        inputs, where = (read_arrays(arrays), arrays) if isinstance(arrays, Path) else (arrays, work.name)
        values = values_of(loaded, inputs, around.seed, str(where))
        return NestRun.of(loaded, nest, built, system, values, around.seed)

    compiled = Plan(work, text, system, job)
    weakref.finalize(compiled, place.close)
    return compiled
