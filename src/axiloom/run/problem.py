"""The main job: a problem goes in, a checked and counted run on the simulated SoC comes out.

`Run` holds what the command line, the ``soc`` fixture and the benchmarks ask for; its methods are
the steps, so that each caller can stop where it wants: `compile`, `build_elf`, `simulate`, `report`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from axiloom import boards, drivergen, sw
from axiloom.cosim import core
from axiloom.cosim.build import toolchain
from axiloom.cosim.build.cache import content_hash
from axiloom.cosim.job import Job, Result
from axiloom.cosim.model_device import MODEL_RTL
from axiloom.cosim.soc import Soc
from axiloom.drivergen import Driver
from axiloom.drivergen.nest.locality import Caches
from axiloom.drivergen.network.estimate import Clocks, slower
from axiloom.errors import MismatchError, UsageError
from axiloom.files import make_folder
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec, dumps
from axiloom.report.build import build
from axiloom.report.types import Alone, Kernel, Report, Setup
from axiloom.run.by_hand import ByHand
from axiloom.run.choice import Schedule, resolve
from axiloom.run.compare import Arrays, Margins, compare, margins, random_inputs

Progress = Callable[[str], None]


def rtl_name(user_rtl: UserRtl | None, *, model: bool) -> str:
    """What a report's ``config`` says of what stood in the accelerator's place."""
    if model:
        return MODEL_RTL
    return user_rtl.top if user_rtl else "generated"


@contextmanager
def folder_or_temporary(keep: Path | None) -> Iterator[Path]:
    """`keep`, or a temporary folder that is removed afterwards."""
    if keep is not None:
        make_folder(keep)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        yield Path(folder)


@dataclass
class Run:
    """One problem on one accelerator on one board. Fields are the options of ``axiloom run``."""

    problem: str
    """As the user named it: ``matmul:64x64x64`` or a file."""
    mlir: str
    spec: AcceleratorSpec
    flow: str | None = None
    """One of the specification's (None: the selected one), or ``best``: see `schedule`."""
    order: tuple[str, ...] | None = None
    """Loops, outermost first; the flow's default where it is None."""
    tile: tuple[int, ...] | None = None
    pipeline: str | None = None
    """A preset or passes with commas between them; None: all that the DMA is able to use."""
    wait: str = "poll"
    """How the driver waits for the DMA: ``poll`` its registers, or asleep until its ``irq``."""
    os: str = "none"
    """``linux``: the driver is a static Linux program, its system calls answered by the simulator."""
    sim: str = "verilator"
    board: str = boards.DEFAULT
    seed: int = 0
    user_rtl: UserRtl | None = None
    model: bool = False
    """The functional model in the accelerator's place, in stated cycles."""
    trace: Path | None = None
    trace_window: tuple[int, int] | None = None
    watchdog_cycles: int | None = None
    keep: Path | None = None
    timeline: bool = False
    """Record one: `Result.profile` has it."""
    progress: Progress = field(default=lambda _line: None)
    live: bool = False
    """Let the simulator say every few seconds, on standard error, how far it is."""

    @cached_property
    def schedule(self) -> Schedule:
        """Flow, order, tile and pipeline, with the cost model's choice if the flow is ``best``."""
        return resolve(
            self.mlir,
            self.spec,
            flow=self.flow,
            order=self.order,
            tile=self.tile,
            pipeline=self.pipeline,
            board=self.board,
            name=self.problem,
        )

    @cached_property
    def driver(self) -> Driver:
        board = boards.load(self.board)
        return drivergen.compile_mlir(
            self.mlir,
            self.spec,
            flow=self.schedule.flow,
            order=self.schedule.order,
            tile=self.schedule.tile,
            pipeline=self.schedule.pipeline,
            name=self.problem,
            caches=Caches(*board.last_cache, board.line_bytes),
        )

    @cached_property
    def inputs(self) -> Arrays:
        return random_inputs(self.driver, self.seed)

    @cached_property
    def expected(self) -> Arrays:
        """The outputs by NumPy, from the MLIR itself and not from what the compiler made of it."""
        return drivergen.reference(self.mlir, self.inputs, name=self.problem)

    @cached_property
    def margins(self) -> Margins | None:
        """How far outputs may be off, where sums are rounded; None where all must be equal in every bit."""
        return margins(self.mlir, self.inputs, self.spec.data_type, name=self.problem)

    @property
    def outputs(self) -> dict[str, tuple[tuple[int, ...], str]]:
        return {arg.symbol: (arg.shape, arg.dtype) for arg in self.driver.args if arg.kind != "in"}

    @property
    def multiply_adds(self) -> int:
        """What the problem needs, without padding."""
        return sum(call.multiply_adds for call in self.driver.calls)

    @property
    def array_cycles(self) -> int:
        """The least cycles in which the accelerator's array can do them."""
        return sum(call.array_cycles(self.spec) for call in self.driver.calls)

    @property
    def advice(self) -> str | None:
        """That the CPU alone is faster, by an estimate, at a product of a vector or a channel by itself."""
        board = boards.load(self.board)
        if not any(call.lean for call in self.driver.calls):
            return None
        why = slower(self.driver, self.spec, Clocks(board.cpu_hz, board.fabric_hz))
        return None if why is None else f"the CPU alone is faster by an estimate: {why}"

    @cached_property
    def soc(self) -> Soc:
        return Soc(
            self.spec,
            board=self.board,
            sim=self.sim,
            user_rtl=self.user_rtl,
            trace=self.trace,
            trace_window=self.trace_window,
            timeline=self.timeline,
            seed=self.seed,
            model=self.model,
            **({} if self.watchdog_cycles is None else {"watchdog_cycles": self.watchdog_cycles}),
        )

    def build_elf(self, driver: Driver, folder: Path, name: str = "driver") -> Path:
        """Write the driver's sources to `folder` and compile them for the board's CPU."""
        folder.mkdir(parents=True, exist_ok=True)
        sources = {f"{name}.c": driver.c, driver.header_name: driver.header, f"{name}_main.c": driver.harness}
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        elf = folder / f"{name}.elf"
        c_files = [folder / f"{name}.c", folder / f"{name}_main.c"]
        if self.os == "linux":
            board = boards.load(self.board)
            return toolchain.compile_linux(c_files, elf, board=board, spec=self.spec, include=[folder])
        toolchain.compile_bare(
            c_files,
            elf,
            board=boards.load(self.board),
            spec=self.spec,
            irq=self.wait == "irq",
            include=[folder],
        )
        return elf

    def simulate(self) -> Result:
        """Compile, build and run; the outputs are in the result, not yet compared."""
        self.progress("compiling the driver")
        with folder_or_temporary(self.keep) as folder:
            elf = self.build_elf(self.driver, folder)
            if self.keep:
                (folder / "input.mlir").write_text(self.mlir, encoding="utf-8")
                (folder / "accelerator.json").write_text(dumps(self.spec), encoding="utf-8")
                for stage, text in self.driver.stages.items():
                    (folder / f"stage-{stage}.mlir").write_text(text, encoding="utf-8")
            self.soc.build(progress=self.progress)
            self.progress("")
            section = self.driver.function if self.os == "linux" else ""
            job = Job(elf, self.inputs, self.outputs, section=section)
            return self.soc.run_many([job], progress=self.live)[0]

    def simulate_cpu(self, kernel: Kernel = "loops") -> Alone:
        """The same function at -O3 on the simulated CPU alone, checked as well: `loops` or `neon`."""
        self.progress("simulating the CPU alone")
        with folder_or_temporary(self.keep) as folder:
            if kernel == "neon":
                conv = self.problem.startswith("conv:")
                run = self.run_kernel("cpu_conv_neon" if conv else "cpu_neon", folder)
            else:
                driver = drivergen.compile_cpu(self.mlir, name=self.problem)
                elf = self.build_elf(driver, folder, "cpu")
                run = core.run_cpu(elf, self.inputs, self.outputs, boards.load(self.board))
        result = compare(run, self.expected)
        if not result["matches"]:
            raise MismatchError(f"the kernel for the CPU is wrong: {result['first']}")
        return {"kernel": kernel, "counters": run.counters, "result": result}

    def run_kernel(self, name: str, folder: Path) -> core.CpuRun:
        """``sw/baselines/NAME.c`` on the data of this run, its output named as ours.

        Raises UsageError where the problem is no ``matmul:MxNxK`` or ``conv:...`` of int8 or int32.
        """
        elf, hand = self.kernel_elf(name, folder), ByHand.of(self.problem)
        ((symbol, _),) = self.outputs.items()
        run = core.run_cpu(elf, hand.given(self.inputs), hand.output, boards.load(self.board))
        return replace(run, outputs={symbol: hand.result(run.outputs)})

    def check_kernel(self, name: str) -> None:
        """Raises UsageError where `run_kernel` would."""
        kind = self.spec.data_type
        if name.endswith("neon"):
            boards.load(self.board).host.check_kernel("neon")
        if not self.problem.startswith(("matmul:", "conv:")) or kind.value not in ("int8", "int32"):
            raise UsageError(
                f"{self.problem}: {name} is written for matmul:MxNxK and conv:... of int8 or int32; "
                "for anything else there are plain loops (--against cpu)"
            )

    def kernel_elf(self, name: str, folder: Path) -> Path:
        """The program that `run_kernel` runs, and raises what it does."""
        self.check_kernel(name)
        kind = self.spec.data_type
        return toolchain.compile_bare(
            [sw.BASELINES / f"{name}.c"],
            folder / f"{name}.elf",
            board=boards.load(self.board),
            defines={**ByHand.of(self.problem).sizes, "BITS": kind.bits},
        )

    def config(self) -> Setup:
        board = boards.load(self.board)
        call = self.driver.calls[0]
        return {
            "problem": self.problem,
            "accelerator": self.spec.name,
            "spec_hash": content_hash(dumps(self.spec)),
            "flow": call.flow,
            "loop_order": ",".join(call.order),
            "tile": "x".join(map(str, call.tile)),
            "pipeline": self.schedule.pipeline,
            "wait": self.wait,
            "data_type": self.spec.data_type.value,
            "driver_hash": content_hash(self.driver.c),
            "rtl": rtl_name(self.user_rtl, model=self.model),
            "sim": self.sim,
            "board": self.board,
            "clocks": {"cpu_hz": board.cpu_hz, "fabric_hz": board.fabric_hz},
        }

    def report(self, *, against_cpu: bool | Kernel = False) -> Report:
        """Run it all, compare with NumPy, and report. A wrong result is in the report, not raised."""
        result = self.simulate()
        kernel = against_cpu if isinstance(against_cpu, str) else "loops"
        return self.checked(result, cpu=self.simulate_cpu(kernel) if against_cpu else None)

    def checked(self, result: Result, cpu: Alone | None = None) -> Report:
        """The report of `result`, compared with the reference."""
        return build(
            self.spec,
            result,
            config=self.config(),
            seed=self.seed,
            result=compare(result, self.expected, self.margins),
            multiply_adds=self.multiply_adds,
            array_cycles=self.array_cycles,
            cpu=cpu,
            advice=self.advice,
        )


def run_batch(runs: Sequence[Run]) -> list[Report]:
    """Reports of several runs on the same hardware, in one simulator process with a reset between them.

    All must agree in what makes the hardware and the simulator (specification, board, simulator, RTL).
    """
    soc = runs[0].soc
    with folder_or_temporary(None) as folder:
        jobs = [
            Job(run.build_elf(run.driver, folder / str(i)), run.inputs, run.outputs)
            for i, run in enumerate(runs)
        ]
        soc.build(progress=runs[0].progress)
        results = soc.run_many(jobs)
    return [run.checked(result) for run, result in zip(runs, results, strict=True)]
