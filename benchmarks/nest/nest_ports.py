"""PolyBench's kernels through one 64-bit AXI4-Stream port each way: cycles beside what bounds them.

``python -m benchmarks.nest.nest_ports [KERNEL ...] [--model]``: at Medium, by the schedules in
``polybench/schedules/ports``. Words are of 32 bits, two pass in a cycle. Each design runs in Verilator, and
its results are compared bit for bit with NumPy (``polybench/reference.py``); ``--model`` predicts only.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom.nest.run import run
from axiloom.nests.ports import compile_ports
from axiloom.nests.resources import estimate
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import cycles
from benchmarks.polybench.measure import program, same, units
from benchmarks.polybench.published import MULTIPLY_ADDS
from benchmarks.polybench.reference import REFERENCE, inputs

SCHEDULES = Path(__file__).parents[1] / "polybench" / "schedules" / "ports"


@dataclass(frozen=True)
class Row:
    """`simulated` and `equal` are None where only the model was asked."""

    kernel: str
    words: tuple[int, int]
    """In and out."""
    port: int
    compute: int
    lanes: int
    predicted: int
    bram36: float
    simulated: int | None
    equal: bool | None

    @property
    def ratio(self) -> float:
        return (self.simulated or self.predicted) / max(self.port, self.compute)


def _file(kernel: str) -> Path:
    """The schedule; some kernels have none for ports."""
    return SCHEDULES / f"{kernel}.sched"


def measure(kernel: str, model: bool) -> Row:
    source, sizes = program(kernel, "medium")
    file = _file(kernel)
    compiled = compile_ports(replay(source, file.read_text(encoding="utf-8"), file.name))
    circuit = compiled.circuit
    lanes = units(circuit, "add")
    predicted = cycles(circuit).cycles
    simulated = equal = None
    if not model:
        shapes = {array.name: (array.shape, array.number) for array in source.arrays if array.role.is_given}
        arrays = inputs(kernel, shapes)
        count = compiled.sent.parts[0].lanes
        words = compiled.sent.pack(arrays).reshape(-1, count)
        ran = run(circuit, {}, {f"s{lane}": words[:, lane].astype(np.uint64) for lane in range(count)})
        columns = [ran.outputs[f"m{lane}"].astype(np.uint32) for lane in range(count)]
        results = compiled.received.unpack(np.stack(columns, 1).reshape(-1))
        simulated = ran.cycles
        equal = same(results, REFERENCE[kernel](sizes, arrays))
    return Row(
        kernel,
        (compiled.sent.words, compiled.received.words),
        max(compiled.sent.beats, compiled.received.beats),
        math.ceil(MULTIPLY_ADDS[kernel](sizes) / lanes),
        lanes,
        predicted,
        estimate(circuit).total.bram36,
        simulated,
        equal,
    )


def line(row: Row) -> str:
    simulated = "-" if row.simulated is None else f"{row.simulated:,}"
    equal = {None: "-", True: "yes", False: "NO"}[row.equal]
    return (
        f"{row.kernel:8} {row.words[0]:>8,} {row.words[1]:>7,} {row.port:>8,} {row.lanes:>5} "
        f"{row.compute:>9,} {row.predicted:>9,} {simulated:>9} {row.ratio:>6.3f}  {equal:5} {row.bram36:>6}"
    )


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nest.nest_ports", description=__doc__)
    parser.add_argument("kernel", nargs="*", help="default: all seven")
    parser.add_argument("--model", action="store_true", help="predict, do not simulate")
    options = parser.parse_args(words or [])
    there = [kernel for kernel in MULTIPLY_ADDS if _file(kernel).exists()]
    for kernel in options.kernel:
        if kernel not in there:
            parser.error(f"no schedule for ports of {kernel}; there are {', '.join(there)}")
    print(
        "kernel   words in     out     port lanes   compute predicted simulated  ratio  equal BRAM36\n"
        "                            bound           bound",
        flush=True,
    )
    rows = []
    for kernel in options.kernel or there:
        rows.append(measure(kernel, options.model))
        print(line(rows[-1]), flush=True)
    right = all(row.equal is not False and row.simulated in (None, row.predicted) for row in rows)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
