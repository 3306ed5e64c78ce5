"""The whole way of a random program."""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Iterable
from random import Random

from tests.nests.fuzz import circuits, legality, programs, rtl


def one(seed: int | str, number: int, counts: Counter[str], in_rtl: int = 0) -> None:
    """Raises what fails. While fewer than `in_rtl` circuits have been through RTL, this one goes, too."""
    rng = Random(f"{seed}/{number}")
    program = programs.program(rng)
    schedule = legality.check(rng, program, counts)
    schedule = circuits.scheduled(rng, schedule, counts)
    built = circuits.check(rng, program, schedule, number, counts)
    if built is not None and counts["in RTL"] < in_rtl:
        rtl.check(rng, built, counts)


def run(numbers: Iterable[int], seed: int | str, in_rtl: int = 0, keep_going: bool = False) -> Counter[str]:
    """Raises what fails, or, with `keep_going`, prints it and counts it."""
    counts: Counter[str] = Counter()
    for number in numbers:
        try:
            one(seed, number, counts, in_rtl)
        except Exception as fault:
            print(f"fault in program {number} of seed {seed}: {type(fault).__name__}", file=sys.stderr)
            if not keep_going:
                raise
            last = traceback.extract_tb(fault.__traceback__)[-1]
            print(f"  {str(fault)[:300]} ({last.filename.split('/')[-1]}:{last.lineno})", file=sys.stderr)
            counts["FAULTS"] += 1
    return counts
