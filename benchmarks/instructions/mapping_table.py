"""Seconds to prove mappings: FlexASR's max-pooling beside what 3LA publishes (table 3), then the others.

Published: z3 on an i7-5500U, by bounded model checking (BMC) and by Horn clauses (CHC).
"""

from __future__ import annotations

import time

from axiloom.isa.instructions import library
from axiloom.prove import mapping

PUBLISHED = {
    (2, 16): ("443", "38"),
    (4, 16): ("1976", "37"),
    (4, 32): ("7954", "146"),
    (8, 64): ("> 3 h", "1831"),
    (16, 64): ("> 3 h", "5177"),
}
"""Time steps and elements of one, to seconds."""


def main() -> None:
    print(f"{'max-pool':<12}{'s':>8}{'CPU s':>8}  {'verdict':<12}{'BMC':>8}{'CHC':>8}")
    for (steps, elements), (bmc, chc) in PUBLISHED.items():
        seconds, cpu, verdict = proved("flexasr_maxpool", {"T": steps, "V": elements // 16})
        print(
            f"{f'{steps} x {elements}':<12}{seconds:8.1f}{cpu:8.1f}  {verdict:<12}{bmc:>8}{chc:>8}",
            flush=True,
        )
    for name in library.mappings():
        if name != "flexasr_maxpool":
            seconds, cpu, verdict = proved(name, {})
            sizes = mapping.sizes_of(mapping.read(name, {}))
            print(f"{name:<18} {sizes:<28}{seconds:8.1f}{cpu:8.1f}  {verdict}", flush=True)


def proved(name: str, sizes: dict[str, int]) -> tuple[float, float, str]:
    """Wall and CPU seconds from the text to the last verdict, and whether all hold."""
    begun, cpu = time.perf_counter(), time.process_time()
    verdicts = list(mapping.prove(mapping.read(name, sizes), 60))
    good = all(verdict.good for verdict in verdicts)
    return time.perf_counter() - begun, time.process_time() - cpu, "holds" if good else "DOES NOT HOLD"
