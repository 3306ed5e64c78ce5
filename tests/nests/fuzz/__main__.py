"""Random programs under random schedules, as circuits, some of them in RTL."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.nests.fuzz.log import Log, code
from tests.nests.fuzz.run import resume, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs, each with up to nine lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtl", type=int, default=0, help="so many circuits go through RTL, too")
    parser.add_argument("--only", type=int, help="the program of this number alone")
    parser.add_argument("--keep-going", action="store_true", help="print faults, go on")
    parser.add_argument("--log", type=Path, help="go on where this file ends, and add to it")
    parser.add_argument("--seconds", type=float, help="with --log: stop after the block that ends then")
    asked = parser.parse_args()
    if asked.log and asked.only is not None:
        parser.error("--only runs one program: without --log")
    if asked.seconds is not None and not asked.log:
        parser.error("--seconds needs --log FILE, so that another run can go on")
    started = time.monotonic()
    if asked.log:
        return _resumed(asked, started)
    numbers = range(asked.count) if asked.only is None else [asked.only]
    counts = run(numbers, asked.seed, asked.rtl, asked.keep_going)
    for what, number in sorted(counts.items()):
        print(f"{number:7d} {what}")
    faults, seconds = counts["FAULTS"], time.monotonic() - started
    print(f"{len(numbers)} programs, seed {asked.seed}: {seconds:.0f} s, {faults or 'no'} faults")
    return int(bool(faults))


def _resumed(asked: argparse.Namespace, started: float) -> int:
    log = Log(asked.log, asked.seed, asked.rtl, code())
    seconds = float("inf") if asked.seconds is None else asked.seconds
    counts = resume(log, asked.count, seconds, asked.keep_going)
    for what, number in sorted(counts.items()):
        print(f"{number:7d} {what}")
    done, faults = counts["programs"], counts["FAULTS"]
    print(
        f"{done} of {asked.count} programs, seed {asked.seed}, code {log.code}: "
        f"{time.monotonic() - started:.0f} s this time, {faults or 'no'} faults"
    )
    return int(bool(faults) or done < asked.count)


if __name__ == "__main__":
    sys.exit(main())
