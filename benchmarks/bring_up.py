"""The bring-up ladder on the simulated SoC, as it should be and with each of the injected faults."""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

from axiloom import bring_up
from axiloom.bring_up_faults import BOARD, FAULTS, SPEC, climb
from axiloom.cosim.soc import Soc


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        elf = bring_up.build(SPEC, Path(folder), BOARD)
        print(f"{SPEC.name} on {BOARD.name}: {bring_up.run(elf, Soc(SPEC, board=BOARD))}")
    for name, fault in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            ladder = climb(fault, Path(folder))
        right = ladder.step == fault.step and any(part in ladder.why for part in fault.why.split("|"))
        print(f"{name}{'' if right else ' (NOT as expected)'}")
        print(textwrap.fill(str(ladder), 110, initial_indent="    ", subsequent_indent="    "))
