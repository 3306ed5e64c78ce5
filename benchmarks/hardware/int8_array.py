"""256 multiply-adds of int8 a cycle: what they take of a XC7Z020, and how many of them are used.

The engine alone, under Verilator, with operands resident (one tile is computed again and again) and through
a stream that is always valid; then whole runs on the SoC, as ``axiloom run`` makes them without an option:
512^3 and the eleven convolutions of ResNet18. Every result is compared with NumPy's. A multiply-add is two
operations, so 512 a cycle are the most. Aims: 500 resident, 460 through a stream of 64 bits; what the XC7Z020
has. ``AXILOOM_INT8`` names a part to run alone: resources, engines or runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from axiloom import isa
from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import XC7Z020, synthesise, table
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.words import pack
from axiloom.sweep import points
from benchmarks.drivers.defaults import without_options
from benchmarks.hardware.engine_utilisation import Use, head, program, run
from benchmarks.paper.fig16 import LAYERS

MACS = 256
COMPUTES = 64
RESIDENT, STREAMED = 500, 460
"""Operations a cycle that are aimed at."""
WIDE = {"C": 8192}
"""Tiles of 64 x 128: at 64 bits, loading two operands takes three quarters of the time of computing."""
DESIGNS = (
    ("v4_16", 64, False, False),
    ("v4_16", 64, True, True),
    ("v4_16", 128, True, True),
    ("conv_v4", 64, True, True),
    ("conv_v4", 128, True, True),
)
"""Accelerator, stream width, scatter-gather, post-processing."""


def specification(
    name: str, width: int, *, scatter_gather: bool = True, post: bool = False, **buffers: int
) -> AcceleratorSpec:
    spec = isa.builtin(name, data_type="int8", post=post)
    dma = replace(spec.link.dma, scatter_gather=scatter_gather)
    return isa.revise(spec, macs=MACS, stream_width=width, dma=dma, buffers={**spec.buffers, **buffers})


def resources() -> bool:
    """Prints them; do all designs fit?"""
    rows = {}
    for name, width, scatter_gather, post in DESIGNS:
        spec = specification(name, width, scatter_gather=scatter_gather, post=post)
        label = f"{name}{'+post' if post else ''} {'sg' if scatter_gather else 'simple'} {width}"
        rows[label] = synthesise(verilog.emit(spec), "axiloom_soc", cached_build)
    print(table(rows, XC7Z020, "XC7Z020"))
    return all(used.fits(XC7Z020) for used in rows.values())


def resident(spec: AcceleratorSpec, seed: int = 0) -> Use:
    """`COMPUTES` computes of one tile, the middle ones measured; RuntimeError where C is not NumPy's."""
    m, n, k = spec.tile.size
    random = np.random.default_rng(seed)
    a, b = (random.integers(-128, 128, shape, np.int8) for shape in ((m, k), (k, n)))
    loads = [head(spec, "sA"), pack(a, spec.data_type), head(spec, "sB"), pack(b, spec.data_type)]
    computes = [head(spec, "cC")] * COMPUTES
    first = sum(map(len, loads)) // spec.link.beat_words
    stream = np.concatenate([*loads, *computes, head(spec, "rC")])
    with tempfile.TemporaryDirectory() as folder:
        sent, result = Path(folder) / "words", Path(folder) / "result"
        sent.write_bytes(stream.astype("<u4").tobytes())
        done = subprocess.run(
            [program(spec), sent, result, str(first + COMPUTES // 4), str(first + COMPUTES * 3 // 4)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{spec.name}: {done.stderr.strip()}")
        got = np.frombuffer(result.read_bytes(), "<i4").reshape(m, n)
    if not np.array_equal(got, COMPUTES * (a.astype(np.int32) @ b.astype(np.int32))):
        raise RuntimeError(f"{spec.name}, {COMPUTES} computes of a tile: the result is not NumPy's")
    return Use(*map(int, done.stdout.split()))


def engines() -> list[str]:
    """Prints operations a cycle of the engine alone; which miss their aim."""
    missed = []
    print(f"{'v4_16, the engine alone':<40}{'ops/cycle':>10}{'aim':>6}")
    for text, aim, use in uses():
        operations = 2 * MACS * use.computing / use.cycles
        print(f"{text:<40}{operations:>10.1f}{aim:>6}", flush=True)
        if operations < aim:
            missed.append(text)
    return missed


def uses() -> Iterator[tuple[str, int, Use]]:
    yield "operands resident", RESIDENT, resident(specification("v4_16", 64))
    spec = specification("v4_16", 64, **WIDE)
    for sizes, tiles in (((64, 64, 64), (3, 3, 8)), ((64, 128, 128), (3, 3, 4))):
        revised = isa.revise(spec, tile=replace(spec.tile, size=sizes))
        yield f"64-bit stream, tiles of {'x'.join(map(str, sizes))}", STREAMED, run(revised, tiles)


def runs() -> None:
    """Prints how far whole runs are above their limits, and the layers' average.

    MismatchError for a result that is not NumPy's.
    """
    title = "whole run on the SoC, no option"
    print(f"{title:<34}{'bits':>5}{'ops/cycle':>10}{'cycles':>11}{'limit':>7}  set by")
    ratio(*without_options("v4_16", "matmul:512x512x512:int8"))
    layers = [ratio(*without_options("conv_v4", f"conv:{layer}:int8")) for layer in LAYERS]
    print(f"{'the layers on average':<60}{sum(layers) / len(layers):>7.2f}")


def ratio(spec: AcceleratorSpec, point: points.Point) -> float:
    """Cycles of the whole run over the least possible; printed with what sets it."""
    [report] = points.simulate([point])
    bound, cycles = report["limit"], report["fabric"]["cycles"]
    operations = 2 * (bound["multiply_adds"] or 0) / cycles
    text = f"{point['problem']:<34}{spec.link.stream_width:>5}{operations:>10.1f}{cycles:>11,}"
    print(f"{text}{bound['ratio']:>7.2f}  {bound['by']}", flush=True)
    return float(bound["ratio"] or 0)


def main() -> None:
    part = os.environ.get("AXILOOM_INT8", "")
    fits = resources() if part in ("", "resources") else True
    missed = engines() if part in ("", "engines") else []
    if part in ("", "runs"):
        runs()
    if missed or not fits:
        sys.exit(
            "; ".join([*(f"misses its aim: {aim}" for aim in missed), *([] if fits else ["does not fit"])])
        )


if __name__ == "__main__":
    main()
