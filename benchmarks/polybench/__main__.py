"""PolyBench on resident arrays: cycles, bound, what is published (``python -m benchmarks.polybench``).

Each design runs in Verilator; its results are compared bit for bit with NumPy (`reference.py`). ``--all
--size mini`` takes every kernel there is, as it is written; the exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

from axiloom.base.errors import CompileError
from axiloom.boards.synthesis.resources import XC7Z020
from benchmarks.polybench import sizes
from benchmarks.polybench.measure import Row, has_schedule, measure
from benchmarks.polybench.measure import units as units  # others count operators too
from benchmarks.polybench.published import ALLO, POM, STREAM_HLS

PUBLISHED = {"Stream-HLS": STREAM_HLS, "POM": POM, "Allo": ALLO}


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(prog="python -m benchmarks.polybench", description=__doc__)
    words.add_argument("kernel", nargs="*", help="default: all seven of Stream-HLS")
    words.add_argument("--all", action="store_true", help="every kernel")
    words.add_argument("--size", choices=("mini", "medium"), default="medium")
    how = words.add_mutually_exclusive_group()
    how.add_argument("--written", action="store_true", help="loops as C has them (default with --all)")
    how.add_argument("--scheduled", action="store_true", help="by schedules/*.sched, where there is one")
    words.add_argument("--synth", action="store_true", help="resources by Yosys too: minutes a kernel")
    return words


def head(size: str, synth: bool) -> str:
    text = f"{'kernel':14} {'order':9} {'lanes':>5} {'II':>3} {'bound':>9} {'predicted':>9} {'simulated':>9}"
    text += f" {'ratio':>5} {'equal':5}"
    if size == "medium":
        text += "".join(f" {name:>11}" for name in PUBLISHED)
    return text + ("   DSP    LUT     FF  BRAM36" if synth else "")


def line(row: Row, size: str) -> str:
    text = f"{row.kernel:14} {'schedule' if row.scheduled else 'written':9} {row.lanes:5} {row.interval:3}"
    text += f" {'-' if row.bound is None else f'{row.bound:,}':>9} {row.predicted:9,} {row.simulated:9,}"
    ratio = "-" if row.bound is None else f"{row.simulated / row.bound:.3f}"
    text += f" {ratio:>5} {'yes' if row.equal else 'NO':5}"
    if size == "medium":
        for cycles in PUBLISHED.values():
            times = f"{cycles[row.kernel] / row.simulated:.2f}x" if row.kernel in cycles else "-"
            text += f" {times:>11}"
    if taken := row.resources:
        text += f" {taken.dsp:5} {taken.lut:6,} {taken.ff:6,} {taken.bram36:5}"
        text += "" if taken.fits(XC7Z020) else "  does not fit"
    return text


def means(rows: Sequence[Row]) -> Iterator[str]:
    """Against each of those who published, over the kernels that are scheduled."""
    for name, cycles in PUBLISHED.items():
        ratios = [math.log(cycles[row.kernel] / row.simulated) for row in rows if row.kernel in cycles]
        if len(ratios) > 1:
            mean = math.exp(sum(ratios) / len(ratios))
            yield f"against {name}: {mean:.2f} times fewer cycles, geometric mean of {len(ratios)}"


def main(words: list[str]) -> int:
    asked = parser().parse_args(words)
    kernels = list(sizes.MINI) if asked.all else asked.kernel or list(STREAM_HLS)
    for name in kernels:
        if name.partition(".")[0] not in sizes.MINI:
            parser().error(f"no kernel {name}: there are {', '.join(sizes.MINI)}")
    rows, refused = [], 0
    print(head(asked.size, asked.synth))
    for kernel in kernels:
        written = asked.written or (asked.all and not asked.scheduled) or not has_schedule(kernel)
        try:
            row = measure(kernel, asked.size, written, asked.synth)
        except CompileError as fault:
            print(f"{kernel:14} refused: {fault}", flush=True)
            refused += 1
            continue
        rows.append(row)
        print(line(row, asked.size), flush=True)
    if asked.size == "medium":
        print(*means(rows), sep="\n")
    wrong = [row.kernel for row in rows if not row.right]
    print(f"{len(rows) - len(wrong)} of {len(kernels)} kernels: equal, in as many cycles as predicted")
    return 1 if wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
