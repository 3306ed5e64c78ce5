"""Layers on the SoC by ``--select egraph``: VTA beside conv_v4 and v4_16 with as many multiply-adds (256).

The convolutions of ResNet18, and the products of TinyBERT by a constant matrix (2 x 128 words), each an
application of its own: int8, a bias, a shift, a ReLU or a clip. VTA's programs are found by equality
saturation, validated, and run on the simulated SoC with their generated drivers; every result equals NumPy's.
The others compute int32 sums by the same SoC's best drivers (streams of 64 bits, scatter-gather, all passes).
Channels of the first picture are filled up to 16 for VTA. Cycles are the fabric's; for VTA also those from
the driver's call to its return, and what the device alone takes, as foretold.

    python -m benchmarks vta_soc                 all; or some by name:
    python -m benchmarks vta_soc 9_512_3_512_1 256x128x512

``AXILOOM_VTA_SIDES=vta,others``: which sides run.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.device.rtl import DeviceRtl, device
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.run.program import ProgramRun
from axiloom.run.selected import select
from axiloom.sweep import points
from benchmarks.hardware.int8_array import specification
from benchmarks.paper.fig16 import LAYERS

BLOCK, MACS = 16, 256
DRAM = 1 << 23
PRODUCTS: Mapping[str, int] = {"256x128x128": 8, "256x512x128": 2, "256x128x512": 2}
"""Of TinyBERT: rows, columns and what is summed, and how many there are."""
SIDES = os.environ.get("AXILOOM_VTA_SIDES", "vta,others").split(",")


def _finished(b: Builder, y: Node, bias: Node, shift: int, low: int) -> Node:
    shape = y.type.shape

    def all_(value: int) -> Node:
        return b.op("splat", shape=shape, number="int32", value=str(value))

    y = b.op("add", y, b.op("broadcast_in_dim", bias, shape=shape, dimensions=(len(shape) - 1,)))
    y = b.op("clamp", all_(low), b.op("shift_right_arithmetic", y, all_(shift)), all_(127))
    return b.op("convert", y, number="int8")


def _shift(depth: int) -> int:
    """With which sums of so many products of random bytes spread over a byte."""
    return 10 + round(math.log2(depth / 64) / 2)


def convolution(name: str) -> tuple[Graph, int]:
    """A layer of ResNet18 and its multiply-adds: the picture's padding is in its size."""
    side, channels, taps, filters, stride = map(int, name.split("_"))
    b, deep = Builder(), -(-channels // BLOCK) * BLOCK
    x = b.leaf("parameter", "x", Type((1, side, side, deep), "int8"))
    bias = b.leaf("parameter", "bias", Type((filters,), "int32"))
    w = b.leaf("constant", "w", Type((taps, taps, deep, filters), "int8"))
    y = b.op(
        "convolution", x, w, dims="b01f_01io->b01f", strides=(stride, stride), padding=(0,) * 4,
        lhs_dilation=(1, 1), rhs_dilation=(1, 1), feature_group_count=1, number="int32",
    )  # fmt: skip
    weights = np.random.default_rng(1).integers(-128, 128, w.type.shape).astype(np.int8)
    weights[:, :, channels:] = 0
    result = _finished(b, y, bias, _shift(channels * taps**2), 0)
    return Graph(
        f"conv_{name}", (x, bias), (result,), {"w": weights}
    ), result.type.elements * channels * taps**2


def product(name: str) -> tuple[Graph, int]:
    m, n, k = map(int, name.split("x"))
    b = Builder()
    x, bias = b.leaf("parameter", "x", Type((m, k), "int8")), b.leaf("parameter", "bias", Type((n,), "int32"))
    w = b.leaf("constant", "w", Type((k, n), "int8"))
    y = b.op(
        "dot_general", x, w, lhs_batch=(), rhs_batch=(), lhs_contracting=(1,), rhs_contracting=(0,),
        number="int32",
    )  # fmt: skip
    weights = np.random.default_rng(1).integers(-128, 128, (k, n)).astype(np.int8)
    return Graph(
        f"matmul_{name}", (x, bias), (_finished(b, y, bias, _shift(k), -128),), {"w": weights}
    ), m * n * k


class Vta:
    """The device on the SoC, built once."""

    def __init__(self, folder: Path) -> None:
        self.isa = read(targets()["vta"], {"DRAM": DRAM})
        self.device: DeviceRtl = device(self.isa)
        self.folder = folder
        self.soc = Soc(System([self.device.spec], user_rtl=self.device.rtl(folder)))
        self.soc.build()

    def run(self, graph: Graph) -> tuple[int, int, int]:
        """Cycles of the fabric, of the driver's call, of the device alone. Exits where a result differs."""

        def text(_: Mapping[str, int]) -> InstructionSet:
            return self.isa

        program = select(graph, text, lambda _: self.device, lambda _: None).program
        random = np.random.default_rng(2)
        values = {
            "x": random.integers(-128, 128, graph.parameters[0].type.shape).astype(np.int8),
            "bias": random.integers(-4096, 4096, graph.parameters[1].type.shape).astype(np.int32),
        }
        (expected,) = evaluate(graph, values)
        run = ProgramRun(program, self.device, self.soc.system, values, {"y": expected}, "NumPy")
        (result,) = self.soc.run_many([run.job(run.build(self.folder / graph.name))])
        report = run.checked(result)
        if report["result"]["matches"] is not True or len(np.unique(expected)) < 50:
            sys.exit(f"{graph.name}: {report['result']}")
        foretold = self.device.foretold(program)
        assert foretold is not None
        return report["fabric"]["cycles"], result.section_cycles, foretold


def other(name: str) -> int:
    """Cycles of the fabric on conv_v4, or on v4_16 with the flow and tile that the cost model finds."""
    if name in PRODUCTS:
        from axiloom.drivergen import parse_problem
        from axiloom.run.choice import ranked

        problem, spec = f"matmul:{name}:int8", specification("v4_16", 64)
        best = ranked(parse_problem(problem), spec, pipelines=("all",))[0].candidate
        point = points.point(problem, spec, flow=best.flow, order=best.order, tile=best.tile, pipeline="all")
    else:
        point = points.point(f"conv:{name}:int8", specification("conv_v4", 64), pipeline="all")
    (report,) = points.simulate([point])
    return int(report["fabric"]["cycles"])


def main(names: Sequence[str] = ()) -> None:
    chosen = [*names] or [*LAYERS, *PRODUCTS]
    print(
        f"{'layer':<16}{'VTA, run':>12}{'its call':>12}{'alone':>12}{'of 256':>8}"
        f"{'conv_v4, v4':>13}{'times':>7}"
    )
    total, against = 0, 0
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        vta = Vta(Path(folder)) if "vta" in SIDES else None
        for name in chosen:
            graph, adds = product(name) if name in PRODUCTS else convolution(name)
            line = f"{name:<16}"
            cycles = 0
            if vta is not None:
                cycles, call, alone = vta.run(graph)
                line += f"{cycles:>12,}{call:>12,}{alone:>12,}{adds / MACS / alone:>8.1%}"
            if "others" in SIDES:
                there = other(name)
                line += f"{there:>13,}"
                if cycles:
                    line += f"{there / cycles:>7.2f}"
                    total, against = total + cycles, against + there
            print(line, flush=True)
    if total:
        print(f"{'all':<16}{total:>12,}{'':>32}{against:>13,}{against / total:>7.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
