"""VTA's RTL: what it takes of a XC7Z020 with its DMA, and how busy it is in the layers of ResNet18.

Every layer is lowered to commands (:mod:`axiloom.accelerators.vta.blocks`) and executed by the text's
simulator; its result is compared with NumPy's. Cycles are foretold, of the RTL while its streams do not
pause; the layers
`MEASURED` also run on it, in exactly these cycles. 256 multiply-adds a cycle are the most.

``AXILOOM_VTA_PARTS=layers,device,soc``: which of the table, the device's resources, and those with its DMA.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from axiloom.accelerators.vta.blocks.conv import Convolution, lowered
from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import XC7Z020, synthesise, table
from axiloom.device import programs
from axiloom.device.rtl import device
from axiloom.device.values import random_values
from axiloom.hw.verilog import emit as verilog
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.selection.drive.execute import Values, execute
from benchmarks.paper.fig16 import LAYERS

DRAM = 1 << 23
BLOCK = 16
MEASURED = ("30_128_3_128_1",)
HOW = Requantise(shift=10, low=0)
WIDTHS = (64,)
PARTS = os.environ.get("AXILOOM_VTA_PARTS", "layers,device,soc").split(",")


def layer(name: str) -> Convolution:
    """Channels are filled up to blocks; the picture's padding is in its size."""
    side, channels, taps, filters, stride = map(int, name.split("_"))
    return Convolution(side, side, -(-channels // BLOCK) * BLOCK, filters, taps, stride, pads=0)


def expected(convolution: Convolution, values: Values) -> np.ndarray:
    x = values["x"].transpose(2, 0, 1).astype(np.float64)
    w = (
        values["w"]
        .transpose(0, 4, 1, 5, 2, 3)
        .reshape(convolution.filters, convolution.channels, convolution.taps, convolution.taps)
    )
    sums = (
        np.zeros((convolution.filters, convolution.rows, convolution.columns)) + values["bias"][:, None, None]
    )
    s = convolution.stride
    for p in range(convolution.taps):
        for q in range(convolution.taps):
            part = x[
                :, p : p + s * (convolution.rows - 1) + 1 : s, q : q + s * (convolution.columns - 1) + 1 : s
            ]
            sums += np.tensordot(w[:, :, p, q].astype(np.float64), part, 1)
    y = np.clip(sums.astype(np.int64) >> HOW.shift, HOW.low, HOW.high)
    return y.transpose(1, 2, 0).astype(np.int8)


def resources() -> bool:
    """Prints them; does it fit?"""
    rows = {}
    for width in WIDTHS:
        built = device(read(targets()["vta"]), stream_width=width)
        if "device" in PARTS:
            rows[f"device {width}"] = synthesise(built.verilog, built.top, cached_build)
        if "soc" not in PARTS:
            continue
        with tempfile.TemporaryDirectory() as folder:
            soc = verilog.emit(built.spec, "soc", built.rtl(Path(folder)))
        rows[f"with its DMA {width}"] = synthesise(soc + built.verilog, "axiloom_soc", cached_build)
    print(table(rows, XC7Z020, "XC7Z020"))
    return all(used.fits(XC7Z020) for used in rows.values())


def layers() -> bool:
    """Prints a row for each; is each result NumPy's?"""
    isa = read(targets()["vta"], {"DRAM": DRAM})
    built, right, adds, cycles = device(isa), True, 0, 0
    print(f"{'layer':<16} {'commands':>9} {'cycles':>10} {'of 256':>7}  result")
    for name in LAYERS:
        work = layer(name)
        program = lowered(work, isa, HOW)
        values = random_values(program, 0)
        result = execute(program, isa, values)["y"]
        is_same = np.array_equal(result, expected(work, values))
        foretold = built.foretold(program)
        assert foretold is not None
        said = "NumPy's" if is_same else "DIFFERS"
        if name in MEASURED:
            run = programs.execute(built, program, values)
            is_same = is_same and run.cycles == foretold and np.array_equal(run.results["y"], result)
            said += f"; RTL: {run.cycles:,} cycles, {'the same' if is_same else 'DIFFERS'}"
        right = right and is_same
        adds, cycles = adds + work.multiply_adds, cycles + foretold
        share = work.multiply_adds / BLOCK**2 / foretold
        print(f"{name:<16} {len(program.commands):>9,} {foretold:>10,} {share:>7.1%}  {said}", flush=True)
    print(f"{'all':<16} {'':>9} {cycles:>10,} {adds / BLOCK**2 / cycles:>7.1%}")
    return right


def main() -> None:
    if "layers" in PARTS and not layers():
        sys.exit("a layer is wrong")
    if {"device", "soc"} & {*PARTS} and not resources():
        sys.exit("does not fit")


if __name__ == "__main__":
    main()
