"""Convolutional blocks from PyTorch: cycles, bound, what is published (``python -m benchmarks.streamhls``).
Arrays are resident.

Each design runs in Verilator; its results are compared bit for bit with torch (`reference.py`) and with the
interpreter.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import XC7Z020, synthesise
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.operators import operator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nest import loops
from axiloom.nest.resident import resident
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.dataflow import plan
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.resources import estimate
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from axiloom.read.pytorch import linalg as pytorch
from benchmarks.polybench.measure import units
from benchmarks.streamhls import models, reference

SCHEDULES = Path(__file__).with_name("schedules")
PUBLISHED = {"residual_block": (2_092_531, 300), "dws_conv": (134_541, 572)}
"""Cycles and DSP of Stream-HLS's designs (FPGA 2025)."""
SMALL: Mapping[str, tuple[int, int]] = {"residual_block": (4, 8), "dws_conv": (2, 16)}
"""Channels and size."""


@dataclass(frozen=True)
class Block:
    """A block as torch has it, and what the front end reads of it."""

    name: str
    loaded: Loaded
    arrays: dict[str, reference.F]
    expected: reference.F
    multiply_adds: int

    @property
    def schedule(self) -> Schedule:
        file = SCHEDULES / f"{self.name}.sched"
        return replay(self.loaded.program, file.read_text(encoding="utf-8"), file.name)


def block(name: str, small: bool) -> Block:
    module, (x,) = getattr(models, name)(*(SMALL[name] if small else ()))
    loaded = loops.of_model(pytorch.import_module(module, (x,), f"models.py:{name}"))
    size = x.shape[-1] ** 2
    count = sum(child.weight.numel() * size for child in module.children())
    arrays = {**loaded.contents, "arg0": x.numpy()}
    return Block(name, loaded, arrays, reference.outputs(module, x), count)


@dataclass(frozen=True)
class Row:
    circuit: Circuit
    lanes: int
    bound: int
    predicted: int
    simulated: int
    equal: bool


def measure(block: Block) -> Row:
    schedule = block.schedule
    ran = resident(schedule, block.arrays, plan(schedule))
    (result,) = (array.name for array in block.loaded.program.arrays if array.role.is_result)
    results = [ran.results[result], interpret(block.loaded.program, block.arrays)[result]]
    wanted = block.expected.view(np.uint32)
    equal = all(np.array_equal(array.view(np.uint32), wanted) for array in results)
    circuit = ran.lowered.circuit
    lanes = units(circuit, "mul")
    bound = math.ceil(block.multiply_adds / lanes)
    return Row(circuit, lanes, bound, ran.predicted, ran.simulated, equal)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streamhls", description=__doc__)
    parser.add_argument("block", nargs="*", choices=[*PUBLISHED, []], help="default: both")
    parser.add_argument("--small", action="store_true", help="few channels and pixels")
    parser.add_argument("--synth", action="store_true", help="resources by Yosys too: minutes a block")
    options = parser.parse_args(words)
    print("block          lanes   bound predicted simulated ratio equal  published (DSP)         fewer"
          "   DSP    LUT     FF  BRAM36")  # fmt: skip
    good = True
    for name in options.block or PUBLISHED:
        row = measure(block(name, options.small))
        good = good and row.equal and row.predicted == row.simulated
        cycles, dsp = PUBLISHED[name]
        text = f"{name:14} {row.lanes:5} {row.bound:7,} {row.predicted:9,} {row.simulated:9,} "
        text += f"{row.simulated / row.bound:5.3f} {'yes' if row.equal else 'NO':5}  "
        fewer = "-" if options.small else f"{cycles / row.simulated:.2f}x"
        text += f"{cycles:9,} ({dsp}) {fewer:>12}"
        total = estimate(row.circuit).total
        predicted = f"{total.dsp:6} {total.lut:6,} {total.ff:6,} {total.bram36:7g}"
        print(f"{text} {predicted}  predicted", flush=True)
        if options.synth:
            verilog = emit_nest(row.circuit, operator)
            taken = synthesise(verilog.text, verilog.top, cached_build)
            fits = "fits" if taken.fits(XC7Z020) else "does not fit"
            shown = f"{taken.dsp:6} {taken.lut:6,} {taken.ff:6,} {taken.bram36:7g}"
            print(f"{'':{len(text)}} {shown}  by Yosys: {fits} an XC7Z020", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
