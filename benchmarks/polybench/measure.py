"""One kernel on resident arrays: in the order of a schedule or as it is written, compared with NumPy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import Resources, synthesise
from axiloom.hw.nest.circuit import Circuit, Operate
from axiloom.hw.nest.operators import operator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nest.resident import resident
from axiloom.nests.dataflow import plan
from axiloom.nests.program import Program
from axiloom.nests.read.c import read
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from benchmarks.polybench import sizes
from benchmarks.polybench.published import MULTIPLY_ADDS
from benchmarks.polybench.reference import REFERENCE, inputs

SCHEDULES = Path(__file__).with_name("schedules")


@dataclass(frozen=True)
class Row:
    """`lanes`: adders in hardware, or subtractors if there are none. `interval`: cycles between iterations,
    the most of any pipe. `bound`: multiply-adds by lanes, for kernels that consist of them. `equal`: bit for
    bit, all results finite."""

    kernel: str
    scheduled: bool
    lanes: int
    interval: int
    bound: int | None
    predicted: int
    simulated: int
    equal: bool
    resources: Resources | None = None

    @property
    def right(self) -> bool:
        return self.equal and self.predicted == self.simulated


def program(kernel: str, size: str) -> tuple[Program, dict[str, int]]:
    """``gemm.32`` is gemm, by a schedule of that name."""
    kernel = kernel.partition(".")[0]
    values = dict(getattr(sizes, size.upper())[kernel])
    return read(
        sizes.source(kernel), "", {name: str(value) for name, value in values.items()}
    ).program, values


def has_schedule(kernel: str) -> bool:
    return (SCHEDULES / f"{kernel}.sched").is_file()


def scheduled(kernel: str, size: str) -> Schedule:
    file = SCHEDULES / f"{kernel}.sched"
    return replay(program(kernel, size)[0], file.read_text(encoding="utf-8"), file.name)


def units(circuit: Circuit, name: str) -> int:
    """Operators of this name in hardware."""
    counts: Counter[str] = Counter()
    for pipe in circuit.pipes:
        nodes = [node for node in pipe.nodes if isinstance(node, Operate) and node.operator == name]
        counts[pipe.name] = len({node.unit or str(k) for k, node in enumerate(nodes)})
    return sum(counts.values())


def synthesised(circuit: Circuit) -> Resources:
    verilog = emit_nest(circuit, operator)
    return synthesise(verilog.text, verilog.top, cached_build)


def measure(kernel: str, size: str, written: bool = False, synth: bool = False) -> Row:
    """Runs in Verilator. `written`: the loops as C has them. Raises what `resident` raises."""
    source, values = program(kernel, size)
    schedule = Schedule.of(source) if written else scheduled(kernel, size)
    shapes = {array.name: (array.shape, array.number) for array in source.arrays if array.role.is_given}
    arrays = inputs(kernel.partition(".")[0], shapes)
    expected = REFERENCE[kernel.partition(".")[0]](values, arrays)
    ran = resident(schedule, arrays, plan(schedule))
    circuit = ran.lowered.circuit
    lanes = units(circuit, "add") or units(circuit, "sub")
    work = MULTIPLY_ADDS.get(kernel.partition(".")[0])
    return Row(
        kernel,
        not written,
        lanes,
        max(pipe.interval for pipe in circuit.pipes),
        None if work is None else math.ceil(work(values) / lanes),
        ran.predicted,
        ran.simulated,
        same(ran.results, expected),
        synthesised(circuit) if synth else None,
    )


def same(results: Mapping[str, np.ndarray], expected: Mapping[str, object]) -> bool:
    """All bits of all arrays; a number that is not finite would say little."""
    for name, array in expected.items():
        wanted = np.asarray(array, results[name].dtype)
        if results[name].tobytes() != wanted.tobytes() or not np.isfinite(wanted).all():
            return False
    return True
