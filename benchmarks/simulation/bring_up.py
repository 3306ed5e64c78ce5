"""The bring-up ladder on the simulated SoC: with every built-in accelerator, and with each injected fault.

Ends with 1 if one does not pass, or a fault is not found where it should be."""

from __future__ import annotations

import sys
import tempfile
import textwrap
from pathlib import Path

from axiloom import isa
from axiloom.bringup import ladder as bring_up
from axiloom.bringup.faults import BOARD, FAULTS, climb
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

ACCELERATORS = tuple(name for kernel in isa.KERNELS for name in isa.builtins(kernel))


def main() -> None:
    unexpected = []
    for name in ACCELERATORS:
        spec = isa.builtin(name)
        with tempfile.TemporaryDirectory() as folder:
            ladder = bring_up.run(bring_up.build(spec, Path(folder), BOARD), Soc(System(spec, BOARD)))
        print(f"{name} on {BOARD.name}: {ladder}", flush=True)
        if not ladder.passed:
            unexpected.append(name)
    for name, fault in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            ladder = climb(fault, Path(folder))
        right = ladder.step == fault.step and any(part in ladder.why for part in fault.why.split("|"))
        print(f"{name}{'' if right else ' (NOT as expected)'}")
        print(textwrap.fill(str(ladder), 110, initial_indent="    ", subsequent_indent="    "), flush=True)
        if not right:
            unexpected.append(name)
    if unexpected:
        sys.exit(f"not as expected: {', '.join(unexpected)}")
    print("all as expected")
