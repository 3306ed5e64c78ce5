"""Schedules that the tool finds beside those made by hand, at Medium: cycles by the model.

Limits: a XC7Z020 with 140 DSP slices. ``python -m benchmarks nest_search --multipliers 32 --budget
lut=25000`` has others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from axiloom.nests.search import Limits, SearchResult, auto
from axiloom.nests.search.exact import Exact, exact
from benchmarks.polybench.measure import SCHEDULES, program
from benchmarks.polybench.published import MULTIPLY_ADDS
from benchmarks.polybench.sizes import MEDIUM

HAND = tuple(MULTIPLY_ADDS)
HEAD = "kernel            auto     by hand ratio  DSP    LUT  II     declared  looked at exact seconds cpu ok"


def row(kernel: str, size: str, limits: Limits) -> str:
    """One kernel; the schedule by hand is made exact outside of the time of the search."""
    source, _ = program(kernel, size)
    start = time.process_time()
    result = auto(source, limits)
    cpu = time.process_time() - start
    file = SCHEDULES / f"{kernel}.sched"
    hand = exact(source, file.read_text(encoding="utf-8") if file.exists() else "")
    return line(kernel, result, hand, cpu)


def line(kernel: str, result: SearchResult, hand: Exact, cpu: float) -> str:
    best = result.best
    ratio = f"{best.cycles / hand.cycles:.3f}" if best.cycles and hand.cycles else "    -"
    text = f"{kernel:12} {_number(best.cycles):>9} {_number(hand.cycles):>11} {ratio}"
    text += f" {best.amount.dsp:4} {best.amount.lut:6,} {','.join(map(str, best.intervals)):6}"
    text += (
        f" {result.space:9,} {result.searched:10,} {len(result.points):5} {result.seconds:7.1f} {cpu:3.0f}"
    )
    proven = "yes" if result.proven else f"no, at least {result.bound:,}"
    return "  ".join([f"{text} {proven}", *result.notes])


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def main(words: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks nest_search", description=__doc__)
    parser.add_argument("kernel", nargs="*", help=f"default: {', '.join(HAND)}; all: every kernel there is")
    parser.add_argument("--size", choices=("mini", "medium"), default="medium")
    parser.add_argument("--budget", default="dsp=140")
    parser.add_argument("--multipliers", type=int)
    options = parser.parse_args(list(words))
    limits = Limits.of("xc7z020", options.budget, options.multipliers)
    print(f"limits: {limits}; by hand: benchmarks/polybench/schedules, or as written")
    print(HEAD)
    for kernel in MEDIUM if options.kernel == ["all"] else options.kernel or HAND:
        print(row(kernel, options.size, limits), flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
