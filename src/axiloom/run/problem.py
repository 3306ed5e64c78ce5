"""One problem on a system: compiled, its data, its kernels by hand, and what a report says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path

from axiloom import drivergen, sw
from axiloom.base.cache import content_hash
from axiloom.base.errors import MismatchError, UsageError
from axiloom.cosim import cpu_store
from axiloom.cosim.build import toolchain
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen import Driver
from axiloom.drivergen.c.driver import harness
from axiloom.drivergen.network.estimate import Clocks, slower
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule
from axiloom.isa import AcceleratorSpec, dumps
from axiloom.plan.caches import Caches
from axiloom.report import hang
from axiloom.report.build import build
from axiloom.report.types import Choice, Kernel, OnCpu, Outcome, Report, Setup
from axiloom.run import diagnosis, wrong_result
from axiloom.run.by_hand import ByHand
from axiloom.run.compare import Arrays, Margins, compare, drawn_inputs, margins
from axiloom.run.resolve import resolve
from axiloom.run.run import folder_or_temporary

ONE_CALL = "one_call"
"""What kernels by hand (``sw/baselines/``) call several times."""


@dataclass(frozen=True)
class Workload:
    """A function with one op, or a few, and the data that it runs on."""

    name: str
    """As the user named it: ``matmul:64x64x64`` or a file."""
    mlir: str
    seed: int = 0
    """Of its random inputs."""
    given: Arrays | None = None
    """Inputs by the names of arguments, in place of random ones."""

    @classmethod
    def of(cls, problem: str, seed: int = 0) -> Workload:
        """``matmul:64x64x64``, ``conv:...``: see :mod:`axiloom.drivergen.problems.kinds`."""
        return cls(problem, drivergen.parse_workload(problem).mlir, seed)


@dataclass(frozen=True)
class ProblemRun:
    """One problem on one accelerator: a :class:`axiloom.run.run.Run`."""

    workload: Workload
    system: System
    asked: Schedule = DEFAULTS
    """With flow ``best`` the cost model's choice: see `schedule`."""
    choice: Choice | None = None
    """What was chosen by default, for the report."""
    calls: int = 1
    """So often the program calls the driver, each time on what the call before has left in its arrays."""

    def __post_init__(self) -> None:
        if len(self.system.specs) > 1:
            names = ", ".join(spec.name for spec in self.system.specs)
            raise UsageError(f"{self.workload.name} runs on one accelerator, not on {names}")
        if self.calls > 1 and self.spec.data_type.margin(1, 0.0) is not None:
            kind = self.spec.data_type
            raise UsageError(
                f"--calls: sums of {kind} are rounded, and no margin is known behind several calls"
            )

    @property
    def program(self) -> str:
        return "driver"

    @property
    def spec(self) -> AcceleratorSpec:
        return self.system.spec

    @cached_property
    def schedule(self) -> Schedule:
        """Flow, order, tile and pipeline, with the cost model's choice if the flow is ``best``."""
        name, mlir = self.workload.name, self.workload.mlir
        return resolve(mlir, self.spec, self.asked, board=self.system.profile, name=name, calls=self.calls)

    @cached_property
    def driver(self) -> Driver:
        board = self.system.profile
        return drivergen.compile_mlir(
            self.workload.mlir,
            self.spec,
            **self.schedule.options(),
            name=self.workload.name,
            caches=Caches(*board.last_cache, board.line_bytes),
        )

    @cached_property
    def inputs(self) -> Arrays:
        return drawn_inputs(self.driver, self.workload.seed, self.workload.given or {}, self.workload.name)

    @cached_property
    def each_expected(self) -> list[Arrays]:
        """The outputs behind each call by NumPy, from the MLIR itself and not from what the compiler made of
        it."""
        arrays: list[Arrays] = []
        for _ in range(self.calls):
            before = arrays[-1] if arrays else {}
            inputs = {symbol: before.get(symbol, array) for symbol, array in self.inputs.items()}
            arrays.append(drivergen.reference(self.workload.mlir, inputs, name=self.workload.name))
        return arrays

    @property
    def expected(self) -> Arrays:
        """What is there at the end."""
        return self.each_expected[-1]

    @cached_property
    def margins(self) -> Margins | None:
        """How far outputs may be off, where sums are rounded; None where all must be equal in every bit."""
        return margins(self.workload.mlir, self.inputs, self.spec.data_type, name=self.workload.name)

    @property
    def outputs(self) -> dict[str, tuple[tuple[int, ...], str]]:
        return {arg.symbol: (arg.shape, arg.dtype) for arg in self.driver.args if arg.kind != "in"}

    @property
    def multiply_adds(self) -> int:
        """What the problem needs, without padding, in all calls."""
        return self.calls * sum(call.multiply_adds for call in self.driver.calls)

    @property
    def array_cycles(self) -> int:
        """The least cycles in which the accelerator's array can do them."""
        return self.calls * sum(call.array_cycles(self.spec) for call in self.driver.calls)

    @property
    def advice(self) -> str | None:
        """That the CPU alone is faster, by an estimate, at a product of a vector or a channel by itself."""
        board = self.system.profile
        if not any(call.lean for call in self.driver.calls):
            return None
        why = slower(self.driver, self.spec, Clocks(board.cpu_hz, board.fabric_hz))
        return None if why is None else f"keep this size on the CPU (an estimate): {why}"

    def build(self, folder: Path) -> Path:
        """The program of `driver`, with its sources beside it."""
        if self.calls == 1:
            return self.build_elf(self.driver, folder)
        function = self.driver.function
        if f"{function}_init(" not in self.driver.header:
            raise UsageError(f"--calls: {self.workload.name} runs on the CPU alone: leave it out")
        banner = f"{function}: {self.calls} calls of the driver of {self.spec.name}."
        main = harness(self.driver, banner, init=f"{function}_init", calls=self.calls)
        return self.build_elf(replace(self.driver, harness=main), folder)

    def build_elf(self, driver: Driver, folder: Path, name: str = "driver") -> Path:
        """Write the driver's sources to `folder` and compile them for the board's CPU."""
        folder.mkdir(parents=True, exist_ok=True)
        sources = {f"{name}.c": driver.c, driver.header_name: driver.header, f"{name}_main.c": driver.harness}
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        c_files = [folder / f"{name}.c", folder / f"{name}_main.c"]
        return self.system.compile(c_files, folder / f"{name}.elf", include=[folder])

    def explain(self, folder: Path) -> None:
        """Write the MLIR, the specification and the compiler's stages."""
        (folder / "input.mlir").write_text(self.workload.mlir, encoding="utf-8")
        (folder / "accelerator.json").write_text(dumps(self.spec), encoding="utf-8")
        for stage, text in self.driver.stages.items():
            (folder / f"stage-{stage}.mlir").write_text(text, encoding="utf-8")

    def run_on(self, soc: Soc, elf: Path, *, live: bool) -> Result:
        """:meth:`job`, simulated."""
        return soc.run_many([self.job(elf)], progress=live)[0]

    def job(self, elf: Path) -> Job:
        """One run of the program on the inputs; the call of the driver is measured."""
        words = self.calls * sum(sum(call.words) for call in self.driver.calls)
        several = self.calls > 1
        section = self.driver.function
        return Job(elf, self.inputs, self.outputs, section=section, section_outputs=several, words=words)

    def on_cpu(self, kernel: Kernel, keep: Path | None) -> OnCpu:
        """The same function at -O3 on the simulated CPU alone, checked as well."""
        with folder_or_temporary(keep) as folder:
            if kernel == "neon":
                conv = self.workload.name.startswith("conv:")
                run = self.run_kernel("cpu_conv_neon" if conv else "cpu_neon", folder)
            else:
                driver = drivergen.compile_cpu(self.workload.mlir, name=self.workload.name)
                section = None
                if self.calls > 1:
                    main = harness(
                        driver, f"{driver.function}: {self.calls} calls.", init=None, calls=self.calls
                    )
                    driver, section = replace(driver, harness=main), driver.function
                elf = self.build_elf(driver, folder, "cpu")
                run = cpu_store.run_cpu(elf, self.inputs, self.outputs, self.system.profile, section)
        result = compare(run.run, self.expected)
        if not result["matches"]:
            raise MismatchError(f"the kernel for the CPU is wrong: {result['first']}")
        alone: OnCpu = {
            "kernel": kernel,
            "counters": run.run.counters,
            "result": result,
            "kept": run.known,
        }
        return {**alone, "calls": run.run.calls} if run.run.calls else alone

    def run_kernel(self, name: str, folder: Path) -> cpu_store.Kept:
        """``sw/baselines/NAME.c`` on the data of this run, its output named as ours.

        Raises UsageError where the problem is no ``matmul:MxNxK`` or ``conv:...`` of int8 or int32.
        """
        elf, hand = self.kernel_elf(name, folder), ByHand.of(self.workload.name)
        ((symbol, _),) = self.outputs.items()
        section = ONE_CALL if self.calls > 1 else None
        kept = cpu_store.run_cpu(elf, hand.given(self.inputs), hand.output, self.system.profile, section)
        return replace(kept, run=replace(kept.run, outputs={symbol: hand.result(kept.run.outputs)}))

    def check_kernel(self, name: str) -> None:
        """Raises UsageError where `run_kernel` would."""
        kind = self.spec.data_type
        if name.endswith("neon"):
            self.system.profile.host.check_kernel("neon")
        if not self.workload.name.startswith(("matmul:", "conv:")) or kind.value not in ("int8", "int32"):
            raise UsageError(
                f"{self.workload.name}: {name} is written for matmul:MxNxK and conv:... of int8 or int32; "
                "for anything else there are plain loops (--against cpu)"
            )

    def kernel_elf(self, name: str, folder: Path) -> Path:
        """The program that `run_kernel` runs, and raises what it does."""
        self.check_kernel(name)
        kind = self.spec.data_type
        calls = {"CALLS": self.calls} if self.calls > 1 else {}
        return toolchain.compile_bare(
            [sw.BASELINES / f"{name}.c"],
            folder / f"{name}.elf",
            board=self.system.profile,
            defines={**ByHand.of(self.workload.name).sizes, "BITS": kind.bits, **calls},
        )

    def config(self) -> Setup:
        call = self.driver.calls[0]
        return {
            "problem": self.workload.name,
            "accelerator": self.spec.name,
            "spec_hash": content_hash(dumps(self.spec)),
            "flow": call.flow,
            "loop_order": ",".join(call.order),
            "tile": "x".join(map(str, call.tile)),
            "pipeline": self.schedule.pipeline or drivergen.default_pipeline(self.spec),
            "wait": self.system.wait,
            "data_type": self.spec.data_type.value,
            "driver_hash": content_hash(self.driver.c),
        }

    def checked(self, result: Result, cpu: OnCpu | None = None) -> Report:
        """The report of `result`, compared with the reference."""
        outcome = self._compared(result)
        if result.stopped is not None:
            setting = hang.Setting(self.config().get("pipeline"), self.system.user_rtl is not None)
            outcome["hang"] = hang.of(result.hang or "", result.stopped, setting)
        if outcome["matches"] is False and self.calls == 1 and (lines := self._diagnosis(result)):
            outcome["diagnosis"] = lines
        return build(
            self.system,
            result,
            config=self.config(),
            seed=self.workload.seed,
            result=outcome,
            multiply_adds=self.multiply_adds,
            array_cycles=self.array_cycles,
            cpu=cpu,
            advice=self.advice,
            choice=self.choice,
            calls=self.calls,
        )

    def _compared(self, result: Result) -> Outcome:
        """Of several calls the first whose outputs are wrong when it returns, else the last."""
        for number, (outputs, expected) in enumerate(
            zip(result.call_outputs, self.each_expected if result.call_outputs else (), strict=False), 1
        ):
            outcome = compare(replace(result, outputs=outputs), expected)
            if not outcome["matches"]:
                return outcome | {"first": f"call {number}: {outcome['first']}"}
        return compare(result, {} if result.stopped else self.expected, self.margins)

    def _diagnosis(self, result: Result) -> list[str]:
        """Where the result is wrong, and the fault that explains it best; of one call alone."""
        call = self.driver.calls[0]
        arrays = [self.inputs[arg.symbol] for arg in self.driver.args if arg.kind != "out"]
        product = diagnosis.of_run(call.sizes, call.tile, call.order, arrays)
        if len(self.driver.calls) > 1:
            return []
        (symbol,) = self.outputs
        if product is None:
            return wrong_result.diagnosis(
                self._computed(symbol), result.outputs[symbol], self.expected[symbol]
            )
        return diagnosis.diagnosis(
            product, result.outputs[symbol], self.expected[symbol], self.spec.data_type.bits
        )

    def _computed(self, symbol: str) -> wrong_result.Computed:
        call, spec = self.driver.calls[0], self.spec.parts[self.driver.calls[0].kernel]
        sizes = dict(zip(spec.dims, call.tile, strict=True))
        names = {arg.symbol: arg.name or arg.symbol for arg in self.driver.args}
        read = {arg.symbol: self.inputs[arg.symbol] for arg in self.driver.args if arg.kind == "in"}
        text, name = self.workload.mlir, self.workload.name
        return wrong_result.Computed(
            inputs=read,
            names=names,
            result=names[symbol],
            tile=prod(sizes.get(dim, 1) for dim in spec.data[spec.form.output]),
            compute=lambda inputs: drivergen.reference(text, {**self.inputs, **inputs}, name=name)[symbol],
        )
