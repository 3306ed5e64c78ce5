"""What devices of rows of bfloat16 (QKV, rows64) and of bytes (FlexASR's units) take of a XC7Z020 without the
DMA, by lanes and rows of a product at once. Cells are counted by Yosys; what does not fit is said.

``AXILOOM_ROW_DEVICES=qkv:16x1,rows64:16x1``: others.
"""

from __future__ import annotations

import os

from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import XC7Z020, synthesise, table
from axiloom.device.rtl import device
from axiloom.isa.instructions.library import target

DEVICES = "qkv:16x1,rows64:16x1,flexasr_units:16x1"


def main() -> None:
    for name in os.environ.get("AXILOOM_ROW_DEVICES", DEVICES).split(","):
        text, _, size = name.partition(":")
        lanes, _, at_once = size.partition("x")
        rtl = device(target(text), int(lanes), rows=int(at_once))
        used = synthesise(rtl.verilog, rtl.top, cached_build)
        print(table({name: used}, XC7Z020, "XC7Z020"), flush=True)
        print("fits" if used.fits(XC7Z020) else "does not fit", flush=True)


if __name__ == "__main__":
    main()
