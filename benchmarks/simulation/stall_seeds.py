"""Our own accelerators, DMAs, examples, devices of texts and loop nests under 20 seeds of pauses.

Each row is a run of ``axiloom run`` with ``--stall 1-20``: the result of each seed must be that of the run
without pauses, which equals the reference, and no rule of a bus is broken. Builds are quick
ones of Verilator: seven seconds of CPU a row, where Icarus takes 86.
``python -m benchmarks stall_seeds v4 vta``: rows whose name has one of these words.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from axiloom.accelerators.flexasr import layers
from axiloom.cli import main as axiloom
from axiloom.cosim.build.verilator import QUICK_BUILDS
from axiloom.selection.program import file

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = 20


def _example(folder: str, top: str, problem: str = "") -> str:
    place = EXAMPLES / folder
    sources = " ".join(str(path) for path in sorted(place.glob("*.*v")))
    return f"{problem or place / f'{top}.mlir'} --spec {place / f'{top}.json'} --rtl {sources} --top {top}"


LSTM = f"lstm{file.ENDING}"
"""A step of an LSTM on FlexASR's units, as a file of commands."""
ATTENTION = "attention64.mlir"
"""Of as many columns as QKV has."""
MATMUL, CONV = "matmul:10x12x9", "conv:6_4_3_4_1"
LOOPS, SELECTION = EXAMPLES / "loops", EXAMPLES / "selection"
ROWS: Mapping[str, str] = {
    **{f"{name} int32": f"{MATMUL} --accel {name} --size 4" for name in ("v1", "v2", "v3")},
    "v4 int32": f"{MATMUL} --accel v4",
    "v4 int8, sg, 64 bits": f"{MATMUL}:int8 --accel v4 --dma sg --stream-width 64",
    "v4 int8, simple DMA, plain": f"{MATMUL}:int8 --accel v4 --dma simple --memory-port plain",
    "v4 int8, post, 128 bits": f"{MATMUL}:int8 --accel v4 --post --dma sg --stream-width 128",
    "v3 irq": f"{MATMUL} --accel v3 --size 4 --wait irq",
    "conv_v3": f"{CONV} --accel conv_v3",
    "conv_v4": f"{CONV} --accel conv_v4",
    "conv_v4 int8, sg, 64 bits": f"{CONV}:int8 --accel conv_v4 --dma sg --stream-width 64",
    "identity": "copy:100 --accel identity",
    "vadd_m_axi": _example("hardware/vadd_m_axi", "vadd"),
    "two_streams": _example("hardware/two_streams", "multiply_pairs"),
    "gain16": _example("hardware/gain16", "gain16"),
    "fir16": _example("hardware/fir16", "fir16"),
    "elementwise": _example("elementwise", "add"),
    "pooling": _example("pooling", "maxpool"),
    "rowmul": _example("verilog_accelerator", "rowmul", "matmul:10x12x14"),
    "nest product": f"{LOOPS / 'product.c'} --schedule {LOOPS / 'product.sched'}",
    "nest smooth": f"{LOOPS / 'smooth.c'} --schedule {LOOPS / 'smooth.sched'}",
    "vta": f"{SELECTION / 'layer.mlir'} --select egraph --accel vta",
    "qkv": f"{ATTENTION} --select egraph --accel qkv",
    "rows32": f"{SELECTION / 'attention.mlir'} --select egraph --accel {SELECTION / 'rows32.isa'}",
    "flexasr": LSTM,
}


def run(name: str, count: int = SEEDS) -> str:
    """What is wrong with the runs of a row under so many seeds; empty: nothing. Files are written to the
    current folder."""
    Path(LSTM).write_text(file.write(layers.lstm(1, 16, 16)), encoding="utf-8")
    attention = (SELECTION / "attention.mlir").read_text(encoding="utf-8")
    Path(ATTENTION).write_text(attention.replace("32x", "64x"), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    words = ["run", *ROWS[name].split(), "--stall", f"1-{count}"]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = axiloom(words)
    seeds = ", ".join(str(seed) for seed in range(1, count + 1))
    if code == 0 and f"the same result with seeds {seeds} (" in out.getvalue():
        return ""
    lines = re.findall(
        r"^(?:Pauses|Result|Rule broken|axiloom).*", out.getvalue() + err.getvalue(), re.MULTILINE
    )
    return f"exit code {code}: {'; '.join(lines)}"


def main(words: Sequence[str] = ()) -> None:
    os.environ.setdefault(QUICK_BUILDS, "1")
    chosen = [name for name in ROWS if not words or any(word in name for word in words)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in chosen:
            before = sum(os.times()[:4])
            text = run(name)
            wrong += bool(text)
            print(
                f"{name:28} {text or 'the same'}  ({sum(os.times()[:4]) - before:.0f} s of CPU)", flush=True
            )
    print(f"{len(chosen) - wrong} of {len(chosen)} the same under {SEEDS} seeds")
