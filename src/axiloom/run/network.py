"""A whole network on the simulated SoC: `Run` for functions with many ops, its report with a row a layer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import boards, drivergen, sw
from axiloom.cosim import core
from axiloom.cosim.build import toolchain
from axiloom.cosim.build.cache import content_hash
from axiloom.cosim.soc import Job, RunResult, Soc
from axiloom.drivergen.c.driver import Driver
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.drivergen.nest.locality import Caches
from axiloom.drivergen.network import HowTo, NetworkDriver, compile_network
from axiloom.drivergen.network.estimate import Clocks
from axiloom.drivergen.network.inputs import index_bounds
from axiloom.drivergen.network.passes.fold_constants import weight_names
from axiloom.errors import MismatchError, UsageError
from axiloom.files import read_arrays
from axiloom.isa import AcceleratorSpec, dumps
from axiloom.isa.wording.names import number as bounded
from axiloom.isa.wording.names import shortened
from axiloom.report import network as network_report
from axiloom.report.build import Report, build, without_claims
from axiloom.run.choice import BEST, ranks, resolve
from axiloom.run.compare import Arrays, compare
from axiloom.run.problem import Run, folder_or_temporary, rtl_name

MARKS, STOP = "axl_marks", "axl_stop_after"
WEIGHTS = ("streamed", "embedded")
"""Where a network's weights come from: the simulator puts them into memory, or they are in the program."""


@dataclass
class NetworkRun(Run):
    """One network. Fields beside those of `Run` are its options of ``axiloom run``."""

    weights: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    """By the names in `axiloom.weight`."""
    given: Path | None = None
    """An .npz with the inputs; random ones from `seed` without."""
    keep_weights: str = WEIGHTS[0]
    stop_after: str | None = None
    """Number or name of the last layer that runs."""
    least: int = 0
    """Multiply-adds from which on a product goes to an accelerator: small ones are faster on the CPU."""
    auto: bool = False
    """Products that are faster on the CPU by an estimate stay there."""
    others: tuple[AcceleratorSpec, ...] = ()
    """More accelerators of the same system, beside `spec`: see :func:`axiloom.isa.place`."""

    def __post_init__(self) -> None:
        for spec in self.specs:
            if not spec.data_type.associative:
                raise UsageError(
                    f"{self.problem}: layers are compared bit by bit, and {spec.name} rounds its sums of "
                    f"{spec.data_type}; networks run on accelerators with integer sums"
                )

    @property
    def specs(self) -> tuple[AcceleratorSpec, ...]:
        """All accelerators of the system, by their numbers."""
        return (self.spec, *self.others)

    @cached_property
    def driver(self) -> NetworkDriver:
        return self._compile(accelerated=True)

    def _compile(self, *, accelerated: bool, neon: bool = False) -> NetworkDriver:
        on = boards.load(self.board)
        return compile_network(
            self.mlir,
            self.specs if accelerated else None,
            self.weights,
            schedule=self._how,
            name=self.problem,
            caches=Caches(*on.last_cache, on.line_bytes),
            embed=self.keep_weights == "embedded",
            least=self.least,
            neon=sw.BASELINES if neon else None,
            clocks=Clocks(on.cpu_hz, on.fabric_hz) if self.auto else None,
        )

    def _how(self, spec: AcceleratorSpec, layer: str, name: str) -> HowTo:
        """As the options say; with flow ``best`` the cost model's choice for this layer, where it has one."""
        known = self.flow != BEST or ranks(spec)
        found = resolve(
            layer,
            spec,
            flow=self.flow if known else None,
            order=self.order,
            tile=self.tile,
            pipeline=self.pipeline,
            board=self.board,
            name=name,
        )
        # The compiler knows better than the model what it can read and write in place.
        pipeline = self.pipeline or drivergen.default_pipeline(spec)
        return HowTo(found.flow, found.order, found.tile, pipeline)

    @cached_property
    def inputs(self) -> Arrays:
        """By symbol: from the file, or random ones (integers that index only as far as their tables go)."""
        args = [arg for arg in self.driver.args if arg.kind == "in"]
        if self.given is not None:
            return self._from_file(args, self.given)
        function = only_function(parse(self.mlir, self.problem), self.problem)
        bounds = iter(
            bound
            for bound, name in zip(index_bounds(function), weight_names(function), strict=True)
            if name is None
        )
        rng = np.random.default_rng(self.seed)
        return {arg.symbol: _random(rng, arg.shape, arg.dtype, next(bounds)) for arg in args}

    def _from_file(self, args: Sequence[Any], path: Path) -> Arrays:
        found: Arrays = {}
        stored = read_arrays(path)
        for number, arg in enumerate(args):
            names = [name for name in (arg.name, arg.symbol, f"input{number}") if name in stored]
            if not names:
                have = ", ".join(stored) or "none"
                raise UsageError(f"{path}: no array `{arg.name or f'input{number}'}`; it has {have}")
            array = stored[names[0]]
            if array.shape != arg.shape or array.dtype != np.dtype(arg.dtype):
                raise UsageError(
                    f"{path}: `{names[0]}` is {array.dtype} {array.shape}, "
                    f"the network takes {arg.dtype} {arg.shape}"
                )
            found[arg.symbol] = array
        return found

    @cached_property
    def expected(self) -> Arrays:
        """The results by NumPy, from the MLIR itself; none if the run stops before its end."""
        if self.stop_after is not None:
            return {}
        function = only_function(parse(self.mlir, self.problem), self.problem)
        rest = iter(self.inputs.values())
        names = weight_names(function)
        arrays = [next(rest) if name is None else self.weights[name] for name in names]
        results = [arg for arg in self.driver.args if arg.kind != "in"]
        return {arg.symbol: one for arg, one in zip(results, evaluate(function, arrays), strict=True)}

    @property
    def multiply_adds(self) -> int:
        """Of the layers on the accelerator, without padding."""
        return sum(layer.multiply_adds for layer in self.driver.layers if layer.place == "accelerator")

    @property
    def last_layer(self) -> int:
        """Number of the layer after which to stop, -1 for none."""
        if self.stop_after is None:
            return -1
        layers = self.driver.layers
        if self.stop_after.isdecimal() and bounded(self.stop_after) < len(layers):
            return bounded(self.stop_after)
        for layer in layers:
            if self.stop_after in (layer.function, layer.name):
                return layer.number
        known = ", ".join(layer.name for layer in layers)
        raise UsageError(f"no layer `{shortened(self.stop_after)}` to stop after; there are {known}")

    @cached_property
    def soc(self) -> Soc:
        return Soc(
            self.specs,
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

    def build_elf(self, driver: Driver, folder: Path, name: str = "network") -> Path:
        """Write all sources to `folder` and compile them for the board's CPU."""
        assert isinstance(driver, NetworkDriver)
        folder.mkdir(parents=True, exist_ok=True)
        sources = {**driver.sources, "main.c": driver.harness}
        for file, text in {**sources, driver.header_name: driver.header}.items():
            (folder / file).write_text(text, encoding="utf-8")
        if driver.embedded:
            (folder / "weights").mkdir(exist_ok=True)
            for symbol, array in driver.weights.items():
                (folder / "weights" / f"{symbol}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
        elf = folder / f"{name}.elf"
        toolchain.compile_bare(
            [folder / file for file in sources],
            elf,
            board=boards.load(self.board),
            spec=self.specs,
            irq=self.wait == "irq",
            include=[folder],
        )
        return elf

    def _arrays(self, driver: NetworkDriver) -> Arrays:
        """What is put into memory before the network runs."""
        weights = {} if driver.embedded else driver.weights
        return {**self.inputs, **weights}

    def _results(self, driver: NetworkDriver) -> dict[str, tuple[tuple[int, ...], str]]:
        results = {arg.symbol: (arg.shape, arg.dtype) for arg in driver.args if arg.kind != "in"}
        return {**results, MARKS: ((len(driver.layers) + 1,), "uint64")}

    def simulate(self) -> RunResult:
        """Compile, build and run; the outputs are in the result, not yet compared."""
        self.progress("compiling the network")
        with folder_or_temporary(self.keep) as folder:
            elf = self.build_elf(self.driver, folder)
            if self.keep:
                (folder / "input.mlir").write_text(self.mlir, encoding="utf-8")
                (folder / "accelerator.json").write_text(dumps(*self.specs), encoding="utf-8")
                (folder / "memory.txt").write_text(network_report.memory_map(self.driver), encoding="utf-8")
                for stage in ("network", "layers"):
                    text = self.driver.stages[stage]
                    (folder / f"stage-{stage}.mlir").write_text(text, encoding="utf-8")
            self.soc.build(progress=self.progress)
            self.progress("")
            layers = self.driver.layers
            shares = [(layer.name, network_report.weight_of(layer, self.specs)) for layer in layers]
            given = {**self._arrays(self.driver), STOP: np.array([self.last_layer], np.int32)}
            job = Job(elf, given, self._results(self.driver), layers=shares)
            return self.soc.run_many([job], progress=self.live)[0]

    def simulate_cpu(self, kernel: str = "loops") -> dict[str, Any]:
        """The whole network on the simulated CPU alone, checked as well.

        `kernel`: ``loops``, or ``neon``: products by the kernels in sw/baselines where there is one.
        """
        boards.load(self.board).host.check_kernel(kernel)
        self.progress("simulating the CPU alone")
        with folder_or_temporary(None) as folder:
            driver = self._compile(accelerated=False, neon=kernel == "neon")
            elf = self.build_elf(driver, folder, "cpu")
            run = core.run_cpu(elf, self._arrays(driver), self._results(driver), boards.load(self.board))
        result = compare(run, self.expected)
        if self.expected and not result["matches"]:
            raise MismatchError(f"the network on the CPU is wrong: {result['first']}")
        layers = network_report.rows(driver.layers, run.outputs[MARKS], boards.load(self.board), ())
        return {"kernel": kernel, "counters": run.counters, "result": result, "layers": layers}

    def config(self) -> dict[str, Any]:
        board = boards.load(self.board)
        weights = hashlib.sha256()
        for symbol, array in sorted(self.driver.weights.items()):
            weights.update(symbol.encode() + array.tobytes())
        return {
            "problem": self.problem,
            "accelerator": " and ".join(one.name for one in self.specs),
            "spec_hash": content_hash(dumps(*self.specs)),
            "flow": self.flow or self.spec.selected_flow,
            "pipeline": self.pipeline or drivergen.default_pipeline(self.spec),
            "wait": self.wait,
            "data_type": self.spec.data_type.value,
            "driver_hash": content_hash(*self.driver.sources.values()),
            "offload": "auto" if self.auto else "all",
            "offload_from": self.least,
            "weights": self.keep_weights,
            "weights_hash": weights.hexdigest()[:16],
            "rtl": rtl_name(self.user_rtl, model=self.model),
            "sim": self.sim,
            "board": self.board,
            "clocks": {"cpu_hz": board.cpu_hz, "fabric_hz": board.fabric_hz},
        }

    def checked(self, result: RunResult, cpu: Mapping[str, Any] | None = None) -> Report:
        """The report of `result`, compared with the reference, with a row for each layer."""
        alone = dict(cpu) if cpu is not None else None
        beside = alone.pop("layers") if alone else None
        # What the report says of the hardware as a whole.
        together = self.spec.replace(macs=sum(one.macs for one in self.specs)) if self.others else self.spec
        found = build(
            together,
            result,
            config=self.config(),
            seed=self.seed,
            result=compare(result, self.expected),
            multiply_adds=self.multiply_adds,
            cpu=alone,
        )
        marks = result.outputs[MARKS]
        found["network"] = network_report.section(
            self.driver, marks, boards.load(self.board), self.specs, self.last_layer, beside, result.laps
        )
        found["limit"] |= network_report.limit(found["network"]["layers"], result.fabric["cycles"])
        return without_claims(found)


def _random(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, bound: int | None
) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(kind)
    if bound is not None:
        return rng.integers(0, bound, shape, kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max, shape, kind, endpoint=True)
