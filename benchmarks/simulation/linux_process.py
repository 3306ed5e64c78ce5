"""The driver as a Linux process beside the same driver on bare metal: see :mod:`axiloom.run.linux_process`.

Ends with 1 if a result is wrong, or the two differ by a cycle.
"""

from __future__ import annotations

import sys

from axiloom import isa
from axiloom.run.linux_process import lines

CASES = (
    ("matmul:64x64x64", isa.builtin("v3", 16), "Cs"),
    ("conv:16_32_3_16_1", isa.builtin("conv_v3"), None),
)


def main() -> None:
    same = True
    for problem, spec, flow in CASES:
        print(f"{problem} on {spec.name}{f' flow {flow}' if flow else ''}")
        print(
            "  build       machine       result   cycles of call  compute  words in  words out  system calls"
        )
        rows = lines(problem, spec, flow)
        for row in rows:
            print(
                f"  {row.build:<11} {row.machine:<13} {'right' if row.right else 'WRONG':<6} "
                f"{row.cycles:>16,} "
                f"{row.fabric['compute']:>8,} {row.fabric['words_in']:>9,} {row.fabric['words_out']:>10,} "
                f"{row.system_calls:>13,}",
                flush=True,
            )
        for bare, process in zip(rows[::2], rows[1::2], strict=True):
            equal = bare.cycles == process.cycles and bare.work == process.work
            same &= equal and bare.right and process.right
            print(f"  {bare.machine}: {'the same cycles' if equal else 'NOT the same cycles'}")
    if not same:
        sys.exit(1)
