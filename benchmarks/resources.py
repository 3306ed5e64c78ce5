"""What the SoC (DMA and accelerator) takes of a XC7Z020 by stream width, by Yosys. All must fit."""

from __future__ import annotations

import sys

from axiloom import isa
from axiloom.cosim.cache import cached_build
from axiloom.hw import verilog
from axiloom.hw.resources import XC7Z020, synthesise, table

ACCELERATORS = ("v3_16", "v4_16")


WIDTHS = (32, 64, 128)


def main() -> None:
    specs = [isa.revise(isa.builtin(name), stream_width=width) for name in ACCELERATORS for width in WIDTHS]
    rows = {
        f"{spec.name}/{spec.stream_width}": synthesise(verilog.emit(spec), "axiloom_soc", cached_build)
        for spec in specs
    }
    print(table(rows, XC7Z020, "XC7Z020"))
    if not all(used.fits(XC7Z020) for used in rows.values()):
        sys.exit("does not fit")


if __name__ == "__main__":
    main()
