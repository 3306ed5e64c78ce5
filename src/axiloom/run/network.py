"""A network on a system: compiled, its weights and data, and a report with a row a layer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.func import FuncOp

from axiloom import drivergen, sw
from axiloom.base.cache import content_hash
from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import read_arrays
from axiloom.base.wording.names import number as bounded
from axiloom.base.wording.names import shortened
from axiloom.cosim import cpu_store
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.c.driver import Arg
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.drivergen.network import NetworkDriver, compile_network
from axiloom.drivergen.network.estimate import Clocks
from axiloom.drivergen.network.inputs import index_bounds
from axiloom.drivergen.network.offers import Choose
from axiloom.drivergen.network.passes.fold_constants import weight_names
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule
from axiloom.isa import AcceleratorSpec, dumps
from axiloom.plan.caches import Caches
from axiloom.read.context.referee import READING, Referee, agreement
from axiloom.report import hang
from axiloom.report import network as network_report
from axiloom.report.build import build, without_claims
from axiloom.report.types import Choice, Kernel, NetworkAlone, OnCpu, Outcome, Report, Setup
from axiloom.run import scales as scaling
from axiloom.run.cached_layers import Layers
from axiloom.run.choice import ranks
from axiloom.run.compare import Arrays, compare
from axiloom.run.resolve import BEST, resolve
from axiloom.run.run import folder_or_temporary

if TYPE_CHECKING:
    from axiloom.run.selected_network import Select
    from axiloom.run.text_layers import TextLayers

MARKS, STOP = "axl_marks", "axl_stop_after"
WEIGHTS = ("streamed", "embedded")
"""Where a network's weights come from: the simulator puts them into memory, or they are in the program."""
ALL, CHANGED, AGAIN = LAYERS = ("all", "changed", "again")
"""Which layers are simulated."""


@dataclass(frozen=True, eq=False)  # arrays have no one answer to whether they are equal
class Network:
    """A function with many ops, its weights, and the data that it runs on."""

    name: str
    """As the user named it: a file."""
    mlir: str
    weights: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    """By the names in `axiloom.weight`."""
    given: Path | Arrays | None = None
    """An .npz with the inputs, or these themselves by name; random ones from `seed` without."""
    seed: int = 0
    referee: Referee | None = None
    """Who says what the network means, where its MLIR was made of another's file."""

    def arrays(self) -> Arrays:
        """What was given."""
        if self.given is None:
            return {}
        return read_arrays(self.given) if isinstance(self.given, Path) else self.given


@dataclass(frozen=True)
class NetworkRun:
    """One network on one accelerator or several: a :class:`axiloom.run.run.Run`."""

    workload: Network
    system: System
    asked: Schedule = DEFAULTS
    """For every layer; with flow ``best`` the cost model's choice for each, where it has one."""
    keep_weights: str = WEIGHTS[0]
    stop_after: str | None = None
    """Number or name of the last layer that runs."""
    least: int = 0
    """Multiply-adds from which on a product goes to an accelerator: small ones are faster on the CPU."""
    auto: bool = False
    """Products that are faster on the CPU by an estimate stay there."""
    selecting: bool = False
    """Accelerators and the CPU are chosen for all products at once (:mod:`axiloom.selection.partition`)."""
    or_matching: bool = False
    """... and where that cannot be done, by matching; without it, that is an error."""
    because: str = ""
    """Why they are not, where nobody asked for matching."""
    choice: Choice | None = None
    """What was chosen by default, for the report."""
    simulated: str = ALL
    """``all``: each layer is simulated, nothing is kept. ``changed``: those that are not kept as they are.
    ``again``: each is simulated, and its time compared with the kept one."""
    layers: TextLayers | None = None
    """Who makes the layers, where the accelerator is an instruction set with a text."""

    def __post_init__(self) -> None:
        for spec in self.system.specs:
            kind = spec.data_type
            if not kind.associative:
                raise UsageError(
                    f"{self.workload.name}: layers are compared bit by bit, and {spec.name} rounds its sums "
                    f"of {kind}; networks run on accelerators with integer sums"
                )

    @property
    def program(self) -> str:
        return "network"

    @cached_property
    def driver(self) -> NetworkDriver:
        return self._compile(accelerated=True)

    @cached_property
    def chooser(self) -> Select:
        """Who chooses, and afterwards what was chosen."""
        from axiloom.run.selected_network import Select  # solvers, for those who ask for it

        return Select(self.system, all_of_them=not self.auto)

    @property
    def why_matching(self) -> str:
        """Why products were matched although nobody asked for that, if they were."""
        return self.because or (self.chooser.failed if self.selecting else "")

    def _compile(self, *, accelerated: bool, neon: bool = False) -> NetworkDriver:
        if not (self.selecting and accelerated):
            return self._compiled(accelerated=accelerated, neon=neon)
        from axiloom.selection.egraph.saturated import SaturationError  # as the solvers

        try:
            return self._compiled(accelerated=True, choose=self.chooser)
        except SaturationError as error:
            if not self.or_matching:
                raise
            self.chooser.failed = str(error)
            return self._compiled(accelerated=True)

    def _compiled(
        self, *, accelerated: bool, neon: bool = False, choose: Choose | None = None
    ) -> NetworkDriver:
        on = self.system.profile
        return compile_network(
            self.workload.mlir,
            self.system.devices if accelerated else None,
            self.workload.weights,
            schedule=self._schedule,
            name=self.workload.name,
            caches=Caches(*on.last_cache, on.line_bytes),
            embed=self.keep_weights == "embedded",
            least=self.least,
            # What stays on the CPU beside an accelerator is done as well as it can be.
            neon=sw.BASELINES if neon or (accelerated and "neon" in on.host.kernels) else None,
            clocks=Clocks(on.cpu_hz, on.fabric_hz) if self.auto else None,
            choose=choose,
            makers={0: self.layers} if self.layers is not None and accelerated else None,
        )

    def _schedule(self, spec: AcceleratorSpec, layer: str, name: str) -> Schedule:
        """As the options say; with flow ``best`` the cost model's choice for this layer, where it has one."""
        known = self.asked.flow != BEST or ranks(spec)
        asked = self.asked if known else replace(self.asked, flow=None)
        schedule = resolve(layer, spec, asked, board=self.system.profile, name=name)
        # The compiler knows better than the model what it can read and write in place.
        return replace(schedule, pipeline=self.asked.pipeline or drivergen.default_pipeline(spec))

    @cached_property
    def inputs(self) -> Arrays:
        """By symbol: from the file, or random ones (integers that index only as far as their tables go)."""
        args = [arg for arg in self.driver.args if arg.kind == "in"]
        if self.workload.given is not None:
            borders = scaling.of(self._function(), "input", len(args))
            return _stored(args, borders, self.workload.arrays(), self._source)
        function = self._function()
        bounds = iter(
            bound
            for bound, name in zip(index_bounds(function), weight_names(function), strict=True)
            if name is None
        )
        rng = np.random.default_rng(self.workload.seed)
        return {arg.symbol: _random(rng, arg.shape, arg.dtype, next(bounds)) for arg in args}

    @property
    def _source(self) -> str:
        """Where the inputs come from, for messages."""
        return str(self.workload.given) if isinstance(self.workload.given, Path) else self.workload.name

    def results(self, result: Result) -> Arrays:
        """What the network returned, by name or ``output0``, ...: floats where its results have a scale."""
        return self._named(result.outputs)

    def _named(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
        args = [arg for arg in self.driver.args if arg.kind != "in"]
        borders = scaling.of(self._function(), "output", len(args))
        return {
            arg.name or f"output{number}": border.out(outputs[arg.symbol])
            for number, (arg, border) in enumerate(zip(args, borders, strict=True))
        }

    @cached_property
    def outside(self) -> str:
        """What somebody else's reading of the model says, in a line; empty where there is nobody, or no
        result.

        Raises MismatchError where it differs from what NumPy makes of our reading on the same inputs.
        """
        referee = self.workload.referee
        if referee is None or self.stop_after is not None:
            return scaling.compared(self._function()) if referee is None else ""
        args = [arg for arg in self.driver.args if arg.kind == "in"]
        borders = scaling.of(self._function(), "input", len(args))
        inputs = [border.out(self.inputs[arg.symbol]) for arg, border in zip(args, borders, strict=True)]
        agreed = agreement(list(self._named(self.expected).values()), referee.run(inputs))
        agreed.check(READING, f"{self.workload.name}: what is read of it", referee)
        return f"the model itself by {referee.name} on the same inputs: {agreed}"

    def _function(self) -> FuncOp:
        return only_function(parse(self.workload.mlir, self.workload.name), self.workload.name)

    @cached_property
    def expected(self) -> Arrays:
        """The results by NumPy, from the MLIR itself; none if the run stops before its end."""
        if self.stop_after is not None:
            return {}
        function = self._function()
        rest = iter(self.inputs.values())
        names = weight_names(function)
        arrays = [next(rest) if name is None else self.workload.weights[name] for name in names]
        results = [arg for arg in self.driver.args if arg.kind != "in"]
        return {arg.symbol: result for arg, result in zip(results, evaluate(function, arrays), strict=True)}

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

    def build(self, folder: Path) -> Path:
        """The program of `driver`, with its sources beside it."""
        return self.build_elf(self.driver, folder)

    def build_elf(self, driver: NetworkDriver, folder: Path, name: str = "network") -> Path:
        """Write all sources to `folder` and compile them for the board's CPU."""
        folder.mkdir(parents=True, exist_ok=True)
        sources = {**driver.sources, "main.c": driver.harness}
        for file, text in {**sources, driver.header_name: driver.header}.items():
            (folder / file).write_text(text, encoding="utf-8")
        if driver.embedded:
            (folder / "weights").mkdir(exist_ok=True)
            for symbol, array in driver.weights.items():
                (folder / "weights" / f"{symbol}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
        return self.system.compile(
            [folder / file for file in sources], folder / f"{name}.elf", include=[folder]
        )

    def _arrays(self, driver: NetworkDriver) -> Arrays:
        """What is put into memory before the network runs."""
        weights = {} if driver.embedded else driver.weights
        return {**self.inputs, **weights}

    def _results(self, driver: NetworkDriver) -> dict[str, tuple[tuple[int, ...], str]]:
        results = {arg.symbol: (arg.shape, arg.dtype) for arg in driver.args if arg.kind != "in"}
        return {**results, MARKS: ((len(driver.layers) + 1,), "uint64")}

    def explain(self, folder: Path) -> None:
        """Write the MLIR, the specifications, the memory's map, and the network before and after the cut."""
        (folder / "input.mlir").write_text(self.workload.mlir, encoding="utf-8")
        (folder / "accelerator.json").write_text(dumps(*self.system.devices), encoding="utf-8")
        (folder / "memory.txt").write_text(network_report.memory_map(self.driver), encoding="utf-8")
        for stage in ("network", "layers"):
            (folder / f"stage-{stage}.mlir").write_text(self.driver.stages[stage], encoding="utf-8")

    def job(self, elf: Path) -> Job:
        """One run of the program, up to the last layer wanted."""
        links = self.system.devices
        shares = [(layer.name, network_report.weight_of(layer, links)) for layer in self.driver.layers]
        inputs = {**self._arrays(self.driver), STOP: np.array([self.last_layer], np.int32)}
        return Job(elf, inputs, self._results(self.driver), layers=shares)

    @cached_property
    def store(self) -> Layers:
        """The layers that are kept, and those that are not."""
        return Layers(self.system, self.driver, self._arrays(self.driver), self.simulated == AGAIN)

    def run_on(self, soc: Soc, elf: Path, *, live: bool) -> Result:
        """:meth:`job`, simulated as far as it is not kept."""
        job = self.job(elf)
        if self.simulated == ALL or self.stop_after is not None:
            return soc.run_many([job], progress=live)[0]
        return self.store.run(soc, job, live)

    def _outcome(self, result: Result) -> Outcome:
        """Against NumPy: the whole network, or the layers that were simulated."""
        if "store" not in vars(self) or self.store.kept is None or not self.store.kept["kept"]:
            return compare(result, self.expected)
        assert self.store.outcome is not None
        return self.store.checked_cut(self.workload.mlir, lambda: self.expected)

    def on_cpu(self, kernel: Kernel, keep: Path | None) -> NetworkAlone:
        """The whole network on the simulated CPU alone, checked as well.

        `kernel`: ``loops``, or ``neon``: products by the kernels in sw/baselines where there is one. Its
        sources have the names of those in `keep`, so they are not kept.
        """
        board = self.system.profile
        with folder_or_temporary(None) as folder:
            driver = self._compile(accelerated=False, neon=kernel == "neon")
            elf = self.build_elf(driver, folder, "cpu")
            kept = cpu_store.run_cpu(elf, self._arrays(driver), self._results(driver), board)
        run = kept.run
        result = compare(run, self.expected)
        if self.expected and not result["matches"]:
            raise MismatchError(f"the network on the CPU is wrong: {result['first']}")
        layers = network_report.rows(driver.layers, run.outputs[MARKS], board, ())
        return {
            "kernel": kernel,
            "counters": run.counters,
            "result": result,
            "layers": layers,
            "kept": kept.known,
        }

    def config(self) -> Setup:
        system = self.system
        weights = hashlib.sha256()
        for symbol, array in sorted(self.driver.weights.items()):
            weights.update(symbol.encode() + array.tobytes())
        setup: Setup = {
            "problem": self.workload.name,
            "accelerator": " and ".join(link.name for link in system.devices),
            "spec_hash": content_hash(dumps(*system.devices)),
            "wait": system.wait,
            "data_type": self.driver.args[-1].dtype,
            "driver_hash": content_hash(*self.driver.sources.values()),
            "offload": "auto" if self.auto else "all",
            "offload_from": self.least,
            "select": "egraph" if self.layers is not None or self._is_selected else "matching",
            "weights": self.keep_weights,
            "weights_hash": weights.hexdigest()[:16],
        }
        for spec in system.specs[:1]:
            setup["flow"] = self.asked.flow or spec.selected_flow
            setup["pipeline"] = self.asked.pipeline or drivergen.default_pipeline(spec)
            setup["data_type"] = spec.data_type.value
        if self.why_matching:
            setup["select_because"] = self.why_matching
        return setup

    @property
    def _is_selected(self) -> bool:
        return self.selecting and not self.why_matching

    def _ended(self, result: Result) -> int:
        """How many layers came to their end, or were not simulated: each writes the time when it begins."""
        begun = np.flatnonzero(result.outputs[MARKS])
        return int(begun[-1]) if len(begun) else 0

    def _at(self, ended: int) -> str:
        """The layer that hung, as the page names it."""
        layers = self.driver.layers
        if ended >= len(layers):
            return f"all {len(layers)} had ended"
        layer = layers[ended]
        source = f", {layer.location}" if layer.location else ""
        return f"{layer.name} of {len(layers)}, on the {layer.place}{source}"

    def checked(self, result: Result, cpu: NetworkAlone | None = None) -> Report:
        """The report of `result`, compared with the reference, with a row for each layer."""
        alone: OnCpu | None = None
        if cpu is not None:
            alone = {"kernel": cpu["kernel"], "counters": cpu["counters"], "result": cpu["result"]}
            alone["kept"] = cpu.get("kept", False)
        outcome, ended = compare(result, {}) if result.stopped else self._outcome(result), None
        if self.outside:
            outcome["outside"] = self.outside
        if result.stopped is not None:
            ended = self._ended(result)
            setting = hang.Setting(self.config().get("pipeline"), self.system.user_rtl is not None)
            outcome["hang"] = hang.of(result.hang or "", result.stopped, setting)
            outcome["hang"]["facts"].insert(0, ["layer", self._at(ended)])
        report = build(
            self.system,
            result,
            config=self.config(),
            seed=self.workload.seed,
            result=outcome,
            multiply_adds=self.multiply_adds,
            cpu=alone,
            choice=self.choice,
        )
        report["network"] = network_report.section(
            self.driver,
            result.outputs[MARKS],
            self.system.profile,
            self.system.devices,
            self.last_layer,
            cpu["layers"] if cpu else None,
            result.laps,
            ended,
            begins=[counts["fabric|cycles"] for counts in result.until],
        )
        if "store" in vars(self) and self.store.kept is not None:
            report["network"]["kept"] = self.store.kept
        if self._is_selected:
            report["network"]["selection"] = self.chooser.rows()
        layers = report["network"]["layers"]
        report["limit"] = network_report.limit(report["limit"], layers, result.fabric["cycles"])
        return without_claims(report)


def _stored(args: Sequence[Arg], borders: Sequence[scaling.Border], stored: Arrays, source: str) -> Arrays:
    """By symbol, as the network takes them; UsageError names every array that is missing or does not fit."""
    arrays: Arrays = {}
    faults = []
    for number, (arg, border) in enumerate(zip(args, borders, strict=True)):
        names = [name for name in (arg.name, arg.symbol, f"input{number}") if name in stored]
        if not names:
            faults.append(f"no array `{arg.name or f'input{number}'}`; it has {', '.join(stored) or 'none'}")
            continue
        try:
            arrays[arg.symbol] = border.given(stored[names[0]], names[0], arg.shape, arg.dtype)
        except UsageError as error:
            faults.append(str(error))
    if faults:
        raise UsageError(f"{source}: {'; '.join(faults)}")
    return arrays


def _random(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, bound: int | None
) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(kind)
    info = np.iinfo(kind)
    if bound is not None:
        return rng.integers(0, min(bound - 1, info.max), shape, kind, endpoint=True)
    return rng.integers(info.min, info.max, shape, kind, endpoint=True)
