"""PolyBench on resident arrays: cycles, bound, what is published (``python -m benchmarks.polybench``).

Each design runs in Verilator; its results are compared bit for bit with NumPy (`reference.py`).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom.boards.synthesis.resources import XC7Z020, Resources, synthesise
from axiloom.cosim.build.cache import cached_build
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
from benchmarks.polybench.reference import REFERENCE, inputs

SCHEDULES = Path(__file__).with_name("schedules")

MULTIPLY_ADDS: Mapping[str, Callable[[Mapping[str, int]], int]] = {
    "gemm": lambda s: s["NI"] * s["NJ"] * s["NK"],
    "2mm": lambda s: s["NI"] * s["NJ"] * s["NK"] + s["NI"] * s["NL"] * s["NJ"],
    "3mm": lambda s: s["NI"] * s["NJ"] * s["NK"] + s["NJ"] * s["NL"] * s["NM"] + s["NI"] * s["NL"] * s["NJ"],
    "atax": lambda s: 2 * s["M"] * s["N"],
    "bicg": lambda s: 2 * s["M"] * s["N"],
    "gesummv": lambda s: 2 * s["N"] ** 2,
    "mvt": lambda s: 2 * s["N"] ** 2,
}
STREAM_HLS = {
    "gemm": 330_053,
    "2mm": 378_254,
    "3mm": 601_511,
    "atax": 15_855,
    "bicg": 8_033,
    "gesummv": 3_177,
    "mvt": 8_041,
}
"""Cycles in RTL simulation with a budget of 220 DSP, at Medium (Stream-HLS's artefact, compare.csv)."""
POM = {"gemm": (1_331_076, 55), "3mm": (2_034_985, 92), "mvt": (40_036, 42)}
"""Cycles and DSP of POM's designs that compute the right thing, from the same file."""


@dataclass(frozen=True)
class Row:
    kernel: str
    lanes: int
    bound: int
    predicted: int
    simulated: int
    equal: bool
    resources: Resources | None

    @property
    def ratio(self) -> float:
        return self.simulated / self.bound


VARIANTS = ("gemm.32", "bicg.one", "atax.one")
"""Other schedules of some: 32 multiply-adds, one copy of A."""


def program(kernel: str, size: str) -> tuple[Program, dict[str, int]]:
    """`kernel` can be one of `VARIANTS`."""
    kernel = kernel.partition(".")[0]
    given = dict(getattr(sizes, size.upper())[kernel])
    return read(sizes.source(kernel), "", {name: str(each) for name, each in given.items()}).program, given


def scheduled(kernel: str, size: str) -> Schedule:
    file = SCHEDULES / f"{kernel}.sched"
    return replay(program(kernel, size)[0], file.read_text(encoding="utf-8"), file.name)


def units(circuit: Circuit, name: str) -> int:
    """Operators of this name in hardware."""
    found: Counter[str] = Counter()
    for pipe in circuit.pipes:
        nodes = [each for each in pipe.nodes if isinstance(each, Operate) and each.operator == name]
        found[pipe.name] = len({each.unit or str(k) for k, each in enumerate(nodes)})
    return sum(found.values())


def synthesised(circuit: Circuit) -> Resources:
    verilog = emit_nest(circuit, operator)
    return synthesise(verilog.text, verilog.top, cached_build)


def measure(kernel: str, size: str, synth: bool) -> Row:
    source, given = program(kernel, size)
    schedule = scheduled(kernel, size)
    kernel = kernel.partition(".")[0]
    shapes = {each.name: (each.shape, each.number) for each in source.arrays if each.role.is_given}
    arrays = inputs(kernel, shapes)
    expected = REFERENCE[kernel](given, arrays)
    ran = resident(schedule, arrays, plan(schedule))
    equal = all(
        np.array_equal(ran.results[name].view(np.uint32), np.asarray(each, np.float32).view(np.uint32))
        for name, each in expected.items()
    )
    lanes = units(ran.lowered.circuit, "add")
    count = MULTIPLY_ADDS[kernel](given)
    taken = synthesised(ran.lowered.circuit) if synth else None
    return Row(kernel, lanes, math.ceil(count / lanes), ran.predicted, ran.simulated, equal, taken)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.polybench", description=__doc__)
    parser.add_argument(
        "kernel", nargs="*", choices=[*MULTIPLY_ADDS, *VARIANTS, []], help="default: all seven"
    )
    parser.add_argument("--size", choices=("mini", "medium"), default="medium")
    parser.add_argument("--synth", action="store_true", help="resources by Yosys too: minutes a kernel")
    options = parser.parse_args(words)
    print(
        "kernel    lanes     bound predicted simulated ratio  equal  Stream-HLS     POM"
        "    DSP    LUT     FF  BRAM36"
    )
    rows = []
    for kernel in options.kernel or MULTIPLY_ADDS:
        row = measure(kernel, options.size, options.synth)
        rows.append(row)
        base = row.kernel
        published = STREAM_HLS[base] / row.simulated if options.size == "medium" else math.nan
        pom = POM[base][0] / row.simulated if base in POM and options.size == "medium" else math.nan
        text = (
            f"{kernel:8} {row.lanes:6,} {row.bound:9,} {row.predicted:9,} {row.simulated:9,} {row.ratio:.3f}"
        )
        text += f"  {'yes' if row.equal else 'NO':5} {published:9.2f}x {pom:6.2f}x"
        if taken := row.resources:
            text += f" {taken.dsp:5} {taken.lut:6,} {taken.ff:6,} {taken.bram36:5}"
            text += "" if taken.fits(XC7Z020) else "  does not fit"
        print(text, flush=True)
    if options.size == "medium":
        mean = math.exp(sum(math.log(STREAM_HLS[each.kernel] / each.simulated) for each in rows) / len(rows))
        print(
            f"against Stream-HLS (cosimulated cycles, 220 DSP): {mean:.2f} times fewer cycles, geometric mean"
        )
    return 0 if all(each.equal and each.predicted == each.simulated for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
