"""Random programs under random schedules, as circuits, some of them in RTL."""

from __future__ import annotations

import argparse
import sys
import time

from tests.nests.fuzz.run import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs, each with up to nine lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtl", type=int, default=0, help="so many circuits go through RTL, too")
    parser.add_argument("--only", type=int, help="the program of this number alone")
    parser.add_argument("--keep-going", action="store_true", help="print faults, go on")
    asked = parser.parse_args()
    started = time.monotonic()
    numbers = range(asked.count) if asked.only is None else [asked.only]
    counts = run(numbers, asked.seed, asked.rtl, asked.keep_going)
    for what, number in sorted(counts.items()):
        print(f"{number:7d} {what}")
    faults, seconds = counts["FAULTS"], time.monotonic() - started
    print(f"{len(numbers)} programs, seed {asked.seed}: {seconds:.0f} s, {faults or 'no'} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
