"""What the SoC (DMA and accelerator) takes of a XC7Z020, by Yosys' synth_xilinx. Both must fit."""

from __future__ import annotations

import sys

from axiloom import isa
from axiloom.cosim.cache import cached_build
from axiloom.hw import verilog
from axiloom.hw.resources import XC7Z020, synthesise, table

ACCELERATORS = ("v3_16", "v4_16")


def main() -> None:
    rows = {
        name: synthesise(verilog.emit(isa.builtin(name)), "axiloom_soc", cached_build)
        for name in ACCELERATORS
    }
    print(table(rows, XC7Z020, "XC7Z020"))
    if not all(used.fits(XC7Z020) for used in rows.values()):
        sys.exit("does not fit")


if __name__ == "__main__":
    main()
