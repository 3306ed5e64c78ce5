"""The driver as a Linux process beside the same driver on bare metal: see :mod:`axiloom.linux_process`."""

from __future__ import annotations

from axiloom import isa
from axiloom.linux_process import lines

CASES = (
    ("matmul:64x64x64", isa.builtin("v3", 16), "Cs"),
    ("conv:16_32_3_16_1", isa.builtin("conv_v3"), None),
)


def main() -> None:
    for problem, spec, flow in CASES:
        print(f"{problem} on {spec.name}{f' flow {flow}' if flow else ''}")
        print(
            "  build          machine   result   cycles of call  compute  words in  words out  system calls"
        )
        for one in lines(problem, spec, flow):
            print(
                f"  {one.build:<14} {one.machine:<9} {'right' if one.right else 'WRONG':<6} "
                f"{one.cycles:>16,} "
                f"{one.fabric['compute']:>8,} {one.fabric['words_in']:>9,} {one.fabric['words_out']:>10,} "
                f"{one.system_calls:>13,}"
            )
