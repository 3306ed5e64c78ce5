"""What the SoC (DMA and accelerator) takes of a XC7Z020, by mode of its DMA and stream width; all must fit.

Cells are counted by Yosys.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from axiloom import isa
from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import XC7Z020, synthesise, table
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec

ACCELERATORS = ("v3_16", "v4_16")
DMAS = ((False, 32), (True, 32), (True, 64), (True, 128))
"""Scatter-gather or direct register mode, stream width."""
POST = (("v3_16", False, 32), ("v4_16", False, 32), ("v4_16", True, 64))
"""With post-processing: four elements a cycle, and eight."""
CONVOLUTIONS = (
    ("conv_v3", "int32", False),
    ("conv_v4", "int8", False),
    ("conv_v4", "int8", True),
    ("conv_v4", "int32", False),
    ("conv_v4", "int32", True),
)
"""Accelerator, data type, post-processing; with the DMA's direct register mode and 32 bits."""


def specification(
    name: str, scatter_gather: bool, width: int, *, data_type: str = "int32", post: bool = False
) -> AcceleratorSpec:
    spec = isa.builtin(name, data_type=data_type, post=post)
    return isa.revise(spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=scatter_gather))


def designs() -> dict[str, AcceleratorSpec]:
    specs = {label(name, *dma): specification(name, *dma) for name in ACCELERATORS for dma in DMAS}
    specs |= {label(f"{name}+post", *dma): specification(name, *dma, post=True) for name, *dma in POST}
    for name, data_type, post in CONVOLUTIONS:
        text = label(f"{name} {data_type}{'+post' if post else ''}", False, 32)
        specs[text] = specification(name, False, 32, data_type=data_type, post=post)
    return specs


def label(name: str, scatter_gather: bool, width: int) -> str:
    return f"{name} {'sg' if scatter_gather else 'simple'} {width}"


def main() -> None:
    rows = {
        name: synthesise(verilog.emit(spec), "axiloom_soc", cached_build) for name, spec in designs().items()
    }
    print(table(rows, XC7Z020, "XC7Z020"))
    if not all(used.fits(XC7Z020) for used in rows.values()):
        sys.exit("does not fit")


if __name__ == "__main__":
    main()
