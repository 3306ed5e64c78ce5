"""Random programs under random schedules, as circuits, some of them in RTL."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from random import Random

from tests.nests.fuzz import circuits, legality, programs, rtl


def run(count: int, seed: int, in_rtl: int = 0, only: int | None = None, keep: bool = False) -> Counter[str]:
    """`count` programs; the first `in_rtl` circuits go through RTL. Raises what fails, or, with `keep`,
    prints it and goes on."""
    counts: Counter[str] = Counter()
    for number in range(count) if only is None else [only]:
        rng = Random(f"{seed}/{number}")
        try:
            program = programs.program(rng)
            schedule = legality.check(rng, program, counts)
            schedule = circuits.scheduled(rng, schedule, counts)
            built = circuits.check(rng, program, schedule, number, counts)
            if built is not None and counts["in RTL"] < in_rtl:
                rtl.check(rng, built, counts)
        except Exception as fault:
            print(f"fault in program {number} of seed {seed}: {type(fault).__name__}", file=sys.stderr)
            if not keep:
                raise
            last = traceback.extract_tb(fault.__traceback__)[-1]
            print(f"  {str(fault)[:300]} ({last.filename.split('/')[-1]}:{last.lineno})", file=sys.stderr)
            counts["FAULTS"] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs, each with up to nine lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtl", type=int, default=0, help="so many circuits go through RTL, too")
    parser.add_argument("--only", type=int, help="the program of this number alone")
    parser.add_argument("--keep-going", action="store_true", help="print faults, go on")
    asked = parser.parse_args()
    started = time.monotonic()
    counts = run(asked.count, asked.seed, asked.rtl, asked.only, asked.keep_going)
    for what, number in sorted(counts.items()):
        print(f"{number:7d} {what}")
    faults, seconds = counts["FAULTS"], time.monotonic() - started
    print(f"{asked.count} programs, seed {asked.seed}: {seconds:.0f} s, {faults or 'no'} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
