"""Layers of a network, kept: one that has not changed since an earlier run is not simulated again.

The key of a layer is the content of what its cycles depend on: hardware, simulator, board and runtime; the
layer's C, its addresses and its weights; and the same of the layers that its job begins with
(:func:`warm_up`), whose times do not count: they leave caches and branch prediction about as they are in the
whole network. The inputs of the network are in it, too, so that others are computed with. Two things
are not in it, and are what a time from the store may be off by: what layers further ahead left in the caches,
and where the code lies.

What runs computes on the data of this run: inputs of simulated layers come from NumPy
(:mod:`axiloom.drivergen.network.values`), and all that later layers read is compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom import drivergen
from axiloom.base import cache
from axiloom.cosim import core, elf, referee, tally
from axiloom.cosim.build import toolchain
from axiloom.cosim.job import FABRIC, Job, Result, Stalled
from axiloom.cosim.native import ACTIVITY, COST_CLASSES, PERF_NAMES
from axiloom.drivergen.network import Layer, NetworkDriver
from axiloom.drivergen.network.lives import ELEMENT_BYTES, Tensor
from axiloom.drivergen.network.values import CutNetwork
from axiloom.isa import dumps
from axiloom.report.types import KeptLayers, Outcome

if TYPE_CHECKING:
    from axiloom.cosim.soc import Soc
    from axiloom.cosim.system import System

KIND = "layers"
MARKS, FIRST, STOP, ARENA = "axl_marks", "axl_first_layer", "axl_stop_after", "axl_arena"
CUTS = "cuts"
"""Of networks whose cut is right."""
_FORM = 1
"""Of what is kept: another number makes all keys new."""


@dataclass(frozen=True)
class Part:
    """What one layer did: of the first one from reset on, of the last one to the program's end."""

    counts: tally.Tally
    ticks: int
    """Of the timer, from its mark to that of the next."""
    data: str
    """A hash of what it computed with."""
    stack: int
    outside: list[str]
    stale: list[str]


@dataclass(frozen=True)
class Span:
    """Layers that one job simulates: `warm` is simulated before `first`, its time does not count."""

    warm: int
    first: int
    last: int


WARM = 4
"""Layers in front of one, at most, with which its job begins."""


def warm_up(devices: Sequence[int | None], layer: int) -> int:
    """With which layer a job begins that is to measure `layer`.

    It is the one before on the same accelerator, so that the runtime's code is there; on the CPU, or where
    that one is far, the one before.
    """
    device = devices[layer]
    if device is not None:
        for other in range(layer - 1, max(layer - WARM, 0) - 1, -1):
            if devices[other] == device:
                return other
    return max(layer - 1, 0)


def spans(missing: Sequence[int], devices: Sequence[int | None]) -> list[Span]:
    """Neighbours are in one job, and those of which one begins before the other has ended."""
    spans: list[Span] = []
    for layer in missing:
        warm = warm_up(devices, layer)
        if spans and warm <= spans[-1].last + 1:
            spans[-1] = replace(spans[-1], last=layer)
        else:
            spans.append(Span(warm, layer, layer))
    return spans


@dataclass
class Layers:
    """The layers of one network on one system, and what is known of each."""

    system: System
    driver: NetworkDriver
    inputs: Mapping[str, np.ndarray[Any, Any]]
    """What is put into memory before the network runs, by symbol: inputs and weights."""
    again: bool = False
    """Simulate all of them, and compare with what is kept."""
    kept: KeptLayers | None = None
    """After `run`: what the report says of it."""
    outcome: Outcome | None = None
    """After `run`: what was simulated, compared with NumPy."""
    _cut: CutNetwork = field(init=False)

    def __post_init__(self) -> None:
        inputs = [self.inputs[arg.symbol] for arg in self.driver.args if arg.kind == "in"]
        self._cut = CutNetwork(self.driver.cut, inputs, self.driver.tensors)

    def run(self, soc: Soc, job: Job, live: bool) -> Result:
        """As one run of `job`, the whole network, would give it.

        It reads and evaluates IR, and makes none: in another thread the network may be compiled for the CPU.
        """
        program = elf.load(job.elf)
        keys = self._keys(program, soc.build_id)
        known = {number: part for number, key in enumerate(keys) if (part := _read(key)) is not None}
        taken = {} if self.again else known
        missing = [layer.number for layer in self.driver.layers if layer.number not in taken]
        todo = spans(missing, self._devices)
        jobs = [self._job(job, program, span) for span in todo]
        results = soc.run_many(jobs, progress=live) if jobs else []
        parts = dict(taken)
        outcomes = []
        for span, result in zip(todo, results, strict=True):
            outcome = self._compared(program, span, result)
            outcomes.append(outcome)
            for number, part in self._parts(span, result).items():
                if number in missing:
                    parts[number] = part
                    if outcome["matches"] and referee.fault(result) is None:
                        _write(keys[number], part)
        self.outcome = _together(outcomes)
        self.kept = self._said(missing, parts, known)
        return self._result(parts, results, program)

    def checked_cut(self, mlir: str, expected: Callable[[], Mapping[str, np.ndarray[Any, Any]]]) -> Outcome:
        """`outcome`, and by the way whether the cut network gives what the MLIR says, as `expected` has it.

        A cut that was right is kept: it is not computed a second time for the same data.
        """
        outcome = self.outcome
        assert outcome is not None
        evaluation = sorted((Path(drivergen.__file__).parent / "evaluate").glob("*.py"))
        weights = [weight.tobytes() for weight in self._cut.weights.values()]
        inputs = [np.ascontiguousarray(array).tobytes() for array in self._cut.inputs]
        key = cache.content_hash(mlir, self.driver.stages["layers"], *evaluation, *weights, *inputs)
        if not outcome["matches"] or cache.has(CUTS, key):
            return outcome
        wrong = self._wrong_in_cut(expected())
        if wrong is not None:
            return {**outcome, "matches": False, "mismatches": 1, "first": wrong}
        cache.keep(CUTS, key, True)
        return outcome

    def _wrong_in_cut(self, expected: Mapping[str, np.ndarray[Any, Any]]) -> str | None:
        places = {
            arg.symbol: Tensor(arg.symbol, 0, arg.dtype) for arg in self.driver.args if arg.kind != "in"
        }
        places |= {arg.symbol: place for arg, place in self.driver.lives.copies}
        last = {
            place: (number, index)  # a layer may have had its result there before: one that adds to it
            for number, step in enumerate(self.driver.lives.steps)
            for index, place in enumerate(step.results)
        }
        for symbol, (number, index) in (
            (symbol, last[place]) for symbol, place in places.items() if place in last
        ):
            (values,) = self._cut.results([number]).values()
            if not np.array_equal(values[index].reshape(-1), expected[symbol].reshape(-1), equal_nan=True):
                return f"{symbol} of the network that was cut into layers is not what the MLIR says"
        return None

    # -- keys --

    def _keys(self, program: elf.Program, build: str) -> list[str]:
        common = self._common(program, build)
        texts = [cache.content_hash(*self._content(program, layer)) for layer in self.driver.layers]
        last = len(texts) - 1
        return [
            cache.content_hash(
                common, [number == 0, number == last], *texts[warm_up(self._devices, number) : number + 1]
            )
            for number in range(len(texts))
        ]

    @property
    def _devices(self) -> list[int | None]:
        return [layer.device for layer in self.driver.layers]

    def _common(self, program: elf.Program, build: str) -> str:
        system = self.system
        runtime = Path(toolchain.__file__).parents[2] / "sw"
        files = sorted(path for path in runtime.rglob("*") if path.suffix in (".c", ".h", ".S", ".ld"))
        return cache.content_hash(
            [_FORM, build, core.library().parent.name, system.wait, system.os, system.sim],
            asdict(system.profile),
            dumps(*system.devices),
            Path(toolchain.__file__),
            *files,
            *(np.ascontiguousarray(array).tobytes() for array in self._cut.inputs),
        )

    def _content(self, program: elf.Program, layer: Layer) -> list[Any]:
        """The layer itself: its C under no name, addresses, weights."""
        step = self.driver.lives.steps[layer.number]
        source = self.driver.sources.get(f"{layer.function}.c")
        text = source if source is not None else function_text(self.driver.sources["cpu.c"], layer.function)
        weights = [layer_weight.tobytes() for layer_weight in self._cut.layer_weights(layer.number)]
        places = [self._address(program, argument) for argument in step.arguments]
        return [text.replace(layer.function, "layer"), [layer.device, places], *weights]

    def _address(self, program: elf.Program, tensor: Tensor) -> int:
        base, offset = self.driver.lives.address(tensor)
        return program.symbol(base).address + offset

    @cached_property
    def _data(self) -> list[str]:
        """Of each layer, a hash of what it computes with, from the network's inputs on."""
        digest = cache.content_hash(*(np.ascontiguousarray(array).tobytes() for array in self._cut.inputs))
        hashes = []
        for layer in self.driver.layers:
            weights = [layer_weight.tobytes() for layer_weight in self._cut.layer_weights(layer.number)]
            digest = cache.content_hash(digest, self._cut.layer_text(layer.number), *weights)
            hashes.append(digest)
        return hashes

    # -- jobs --

    def _job(self, whole: Job, program: elf.Program, span: Span) -> Job:
        last = span.last == len(self.driver.layers) - 1
        shares = [
            share if span.warm <= number <= span.last else (share[0], 0.0)
            for number, share in enumerate(whole.layers)
        ]
        inputs = {
            **whole.inputs,
            **self._before(program, span.warm),
            FIRST: np.array([span.warm], np.int32),
            STOP: np.array([-1 if last else span.last], np.int32),
        }
        results = dict(whole.outputs)
        if self.driver.memory.peak:
            results[ARENA] = ((self.driver.memory.peak,), "uint8")
        return replace(whole, inputs=inputs, outputs=results, layers=shares)

    def _before(self, program: elf.Program, layer: int) -> dict[str, np.ndarray[Any, Any]]:
        """What earlier layers leave for this one and later ones, by NumPy."""
        if layer == 0:
            return {}
        left = [
            number for number in range(layer) if any(r >= layer or r < 0 for r in self._cut.readers(number))
        ]
        values = self._cut.results(left)
        memory: dict[str, np.ndarray[Any, Any]] = {}
        for number in left:
            for place, value in zip(self.driver.lives.steps[number].results, values[number], strict=True):
                base, offset = self.driver.lives.address(place)
                array = memory.setdefault(base, np.zeros(program.symbol(base).size, np.uint8))
                data = np.frombuffer(np.ascontiguousarray(value, place.dtype).tobytes(), np.uint8)
                array[offset : offset + data.size] = data
        return memory

    def _compared(self, program: elf.Program, span: Span, result: Result) -> Outcome:
        """All that layers behind the span read, and results of the network."""
        inside = range(span.warm, span.last + 1)
        checked = [
            number
            for number in inside
            if number == span.last or any(r > span.last or r < 0 for r in self._cut.readers(number))
        ]
        values = self._cut.results(checked)
        wrong = elements = 0
        first: str | None = None
        for number in checked:
            for place, want in zip(self.driver.lives.steps[number].results, values[number], strict=True):
                got = self._in_memory(result, place, want)
                bad = (got != want) & ((got == got) | (want == want))  # NaN is equal to NaN
                wrong += int(bad.sum())
                elements += want.size
                if first is None and bad.any():
                    at = tuple(int(i) for i in np.argwhere(bad)[0])
                    layer = self.driver.layers[number].name
                    first = f"layer {layer} gives {got[at]} at {list(at)}, NumPy says {want[at]}"
        return {
            "matches": wrong == 0,
            "mismatches": wrong,
            "elements": elements,
            "first": first,
            "exit_code": result.exit_code,
        }

    def _in_memory(self, result: Result, place: Tensor, want: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        base, offset = self.driver.lives.address(place)
        size = want.size * ELEMENT_BYTES[place.dtype]
        raw = np.frombuffer(np.ascontiguousarray(result.outputs[base]).tobytes(), np.uint8)
        return raw[offset : offset + size].view(np.dtype(place.dtype)).reshape(want.shape)

    def _parts(self, span: Span, result: Result) -> dict[int, Part]:
        until, marks = result.until, result.outputs[MARKS]
        assert len(until) == span.last - span.warm + 3, (
            "a lap for each layer and behind the last one, and the end"
        )
        parts = {}
        for number in range(span.first, span.last + 1):
            begin = until[number - span.warm] if number else {}
            last = number == len(self.driver.layers) - 1
            end = until[-1] if last else until[number - span.warm + 1]
            parts[number] = Part(
                tally.minus(end, begin),
                int(marks[number + 1]) - int(marks[number]),
                self._data[number],
                result.profile.stack_bytes or 0,
                list(result.outside),
                list(result.stale),
            )
        return parts

    # -- what comes out --

    def _said(
        self, missing: Sequence[int], parts: Mapping[int, Part], known: Mapping[int, Part]
    ) -> KeptLayers:
        kept = [number for number in parts if number not in missing]
        both = [number for number in missing if number in known]
        off = [abs(parts[n].ticks - known[n].ticks) / max(parts[n].ticks, 1) for n in both]
        now, before = sum(parts[n].ticks for n in both), sum(known[n].ticks for n in both)
        return {
            "simulated": len(missing),
            "kept": sorted(kept),
            "other_data": sorted(number for number in kept if parts[number].data != self._data[number]),
            "compared": len(both),
            "off": round(before / now - 1, 6) if now else None,
            "off_most": round(max(off), 6) if off else None,
            "off_layer": both[off.index(max(off))] if off else None,
        }

    def _result(self, parts: Mapping[int, Part], results: Sequence[Result], program: elf.Program) -> Result:
        in_order = [parts[number] for number in range(len(self.driver.layers))]
        if len(results) == 1 and not any(
            number for number in parts if self.kept and number in self.kept["kept"]
        ):
            return results[0]
        total = tally.total(part.counts for part in in_order)
        names = [spec.name for spec in self.system.devices]
        laps = [[(0, 0)] * len(names)]
        for part in in_order:
            moved = [
                tuple(part.counts.get(f"words|{name}|{way}", 0) for way in ("in", "out")) for name in names
            ]
            laps.append([(a + c, b + d) for (a, b), (c, d) in zip(laps[-1], moved, strict=True)])
        marks = np.cumsum([0, *(part.ticks for part in in_order)]).astype(np.uint64)
        events = (*ACTIVITY, *(f"executed_{name}" for name in COST_CLASSES))
        stack = max(part.stack for part in in_order)
        return Result(
            outputs={MARKS: marks},
            exit_code=0,
            counters=tally.table(total, "counter", PERF_NAMES),
            events=tally.table(total, "event", events),
            fabric=tally.table(total, "fabric", ("cycles", *FABRIC)),
            simulation=_simulation([result.simulation for result in results]),
            profile=tally.profile_of(total, stack or None, program.sections),
            stale=list(dict.fromkeys(line for part in in_order for line in part.stale)),
            mistakes=list(dict.fromkeys(line for result in results for line in result.mistakes)),
            outside=list(dict.fromkeys(line for part in in_order for line in part.outside)),
            breaches=list(dict.fromkeys(line for result in results for line in result.breaches)),
            stalled=_stalled([result.stalled for result in results if result.stalled]),
            laps=laps,
        )


def _stalled(stalleds: Sequence[Stalled]) -> Stalled | None:
    """Of several jobs: the first that failed, or was not run to its end."""
    if not stalleds:
        return None
    worst = next(
        (stalled for stalled in stalleds if stalled.fault),
        next((stalled for stalled in stalleds if stalled.stopped), stalleds[0]),
    )
    return replace(worst, cycles=sum(stalled.cycles for stalled in stalleds))


def function_text(source: str, name: str) -> str:
    """The definition of one function in C that :mod:`axiloom.drivergen.c` printed, or all of `source`."""
    begin = source.find(f"void {name}(")
    end = source.find("\n}\n", begin)
    return source[begin:end] if 0 <= begin < end else source


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """Of several jobs: wrong if one of them is."""
    return {
        "matches": all(outcome["matches"] for outcome in outcomes),
        "mismatches": sum(outcome["mismatches"] for outcome in outcomes),
        "elements": sum(outcome["elements"] for outcome in outcomes),
        "first": next((outcome["first"] for outcome in outcomes if outcome["first"]), None),
        "exit_code": 0,
    }


def _simulation(simulations: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several jobs, one after another."""
    wall = sum(simulation["wall_s"] for simulation in simulations)
    cycles = sum(simulation["rtl_cycles"] for simulation in simulations)
    shares = ("cpu_mips", "rtl_share", "cpu_share", "python_share")
    return {
        "wall_s": wall,
        "process_s": sum(simulation["process_s"] for simulation in simulations),
        "rtl_cycles": cycles,
        "rtl_cycles_per_s": cycles / max(wall, 1e-9),
        **{
            name: sum(simulation[name] * simulation["wall_s"] for simulation in simulations) / max(wall, 1e-9)
            for name in shares
        },
    }


def _read(key: str) -> Part | None:
    try:
        return Part(**cache.value(KIND, key))
    except cache.NotCachedError:
        return None


def _write(key: str, part: Part) -> None:
    cache.keep(KIND, key, asdict(part))
