"""FIFOs between nests: bits, depths, and what one place fewer costs, beside what Stream-HLS declares.

``python -m benchmarks.nest.nest_fifos [KERNEL ...]``: PolyBench at Medium, by the schedules beside the C
files. ``2mm.stream`` runs both products at once. Depths are the smallest that cost no cycle, by the
timing model.
"""

from __future__ import annotations

import sys
from pathlib import Path

import axiloom.nests.schedule.primitives  # noqa: F401  (registers them)
from axiloom.nests import timing
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.read.registry import read
from axiloom.nests.schedule.replay import replay

HERE = Path(__file__).parents[1] / "polybench"
DECLARED = {"gemm": 2.82e6, "2mm": 3.63e6, "2mm.stream": 3.63e6, "mvt": 5.15e6}
"""Bits of FIFOs in Stream-HLS's designs at 220 DSP, as its generated C++ declares them."""


def row(name: str) -> str:
    program = read(str(HERE / f"{name.partition('.')[0]}.c")).program
    schedule = replay(program, (HERE / "schedules" / f"{name}.sched").read_text(), name)
    fitted = timing.fit(lower(schedule, plan(schedule)).circuit)
    for fifo in fitted.circuit.fifos:
        if fifo.name in fitted.one_fewer and fitted.largest[fifo.name] != fifo.depth:
            raise AssertionError(f"{fifo.name}: {fitted.largest[fifo.name]} of {fifo.depth} places are used")
    data = [fifo for fifo in fitted.circuit.fifos if fifo.bits]
    sizes = sorted({f"{fifo.depth}x{fifo.bits}" for fifo in data})
    worse = [cycles for cycles in fitted.one_fewer.values() if cycles is not None]
    fewer = "-" if not fitted.one_fewer else f"{min(worse):,}" if worse else "never ends"
    declared = DECLARED[name]
    ratio = f"{declared / fitted.bits:,.0f}" if fitted.bits else "no FIFO"
    return (
        f"{name:11} {fitted.cycles:>9,} {len(data):>6} {' '.join(sizes) or '-':>8} {fitted.bits:>9,} "
        f"{declared:>11,.0f} {ratio:>8} {fewer:>14}"
    )


def main(names: list[str]) -> None:
    print(f"{'kernel':11} {'cycles':>9} {'FIFOs':>6} {'each':>8} {'bits':>9} ", end="")
    print(f"{'Stream-HLS':>11} {'ratio':>8} {'one fewer':>14}")
    for name in names or list(DECLARED):
        print(row(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
