"""Random programs in C, read and compared with the host's compiler, as circuits, some in RTL."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.nests.c_fuzz.run import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nests.c_fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtl", type=int, default=0, help="so many circuits go through RTL, too")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="write the text of each fault there, and go on"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after the program that ends then")
    asked = parser.parse_args()
    started = time.process_time(), time.monotonic()
    numbers = range(asked.first, asked.first + asked.count)
    counts = run(numbers, asked.seed, asked.rtl, asked.keep, asked.seconds)
    for what, number in sorted(counts.items()):
        print(f"{number:7d} {what}")
    faults = counts["FAULTS"]
    print(
        f"{counts['programs']} programs from {asked.first}, seed {asked.seed}: "
        f"{time.monotonic() - started[1]:.0f} s, {time.process_time() - started[0]:.0f} s of them of this "
        f"process; {faults or 'no'} faults"
    )
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
