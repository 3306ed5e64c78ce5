"""What the SoC (DMA and accelerator) takes of a XC7Z020, by mode of its DMA and stream width; all must fit.

Cells are counted by Yosys.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from axiloom import isa
from axiloom.cosim.cache import cached_build
from axiloom.hw import verilog
from axiloom.hw.resources import XC7Z020, synthesise, table
from axiloom.isa import AcceleratorSpec

ACCELERATORS = ("v3_16", "v4_16")
DMAS = ((False, 32), (True, 32), (True, 64), (True, 128))
"""Scatter-gather or direct register mode, stream width."""


def specification(name: str, scatter_gather: bool, width: int) -> AcceleratorSpec:
    spec = isa.builtin(name)
    return isa.revise(spec, stream_width=width, dma=replace(spec.dma, scatter_gather=scatter_gather))


def main() -> None:
    rows = {
        f"{name} {'sg' if sg else 'simple'} {width}": synthesise(
            verilog.emit(specification(name, sg, width)), "axiloom_soc", cached_build
        )
        for name in ACCELERATORS
        for sg, width in DMAS
    }
    print(table(rows, XC7Z020, "XC7Z020"))
    if not all(used.fits(XC7Z020) for used in rows.values()):
        sys.exit("does not fit")


if __name__ == "__main__":
    main()
