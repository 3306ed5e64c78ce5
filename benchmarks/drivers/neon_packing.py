"""What the NEON matmul gains if a constant B is packed before the run, as the weights of our drivers are.

Products of examples/networks/tinybert.py whose B is a weight, int8, on the simulated Cortex-A9: the kernel
that the experiments compare with, which packs B within the run, and the same with B packed before (-DPACKED).
Every result is checked against NumPy. The last line is for all of them, as often as the network has them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import boards, sw
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import run_cpu

Array = np.ndarray[Any, Any]

LAYERS = {
    "queries, keys, values, outputs, head": ((256, 128, 128), 9),
    "feed forward, up": ((256, 512, 128), 2),
    "feed forward, down": ((256, 128, 512), 2),
    "decoder": ((256, 30522, 128), 1),
}
"""M, N, K, and how many of them."""
COLS, STEP = 8, 4
DEPTH = 32768 // 4 // (32 * 2)
"""As sw/baselines/cpu_neon.c has them for int8."""


def panels(b: Array) -> Array:
    """B (K, N) as the kernel packs it: blocks of DEPTH rows, of each eight columns after eight columns."""
    k_whole, n_whole = b.shape[0] // STEP * STEP, b.shape[1] // COLS * COLS
    wide = b[:k_whole, :n_whole].astype(np.int16)
    blocks = [wide[k : k + DEPTH] for k in range(0, k_whole, DEPTH)]
    return np.concatenate(
        [block.reshape(len(block), -1, COLS).transpose(1, 0, 2).ravel() for block in blocks]
    )


def cycles(shape: tuple[int, int, int], *, packed: bool) -> int:
    """CPU cycles of a run, its result checked."""
    M, N, K = shape
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, form, np.int8) for form in ((M, K), (K, N)))
    arrays = {"A": a, "B": b} | ({"P": panels(b)} if packed else {})
    board = boards.load(boards.DEFAULT)
    with tempfile.TemporaryDirectory() as folder:
        macros = {"M": M, "N": N, "K": K, "BITS": 8} | ({"PACKED": 1} if packed else {})
        source = sw.BASELINES / "cpu_neon.c"
        elf = compile_bare([source], Path(folder) / "neon.elf", board=board, defines=macros)
        run = run_cpu(elf, arrays, {"C": ((M, N), "int32")}, board)
    if not np.array_equal(run.outputs["C"], a.astype(np.int32) @ b.astype(np.int32)):
        raise AssertionError(f"the product {M}x{N}x{K} is wrong")
    return run.counters["cpu-cycles"]


def main() -> None:
    ms = 1e3 / boards.load(boards.DEFAULT).cpu_hz
    print(
        f"{'':38}{'M x N x K':>16}{'times':>6}{'within, ms':>12}{'before, ms':>12}{'factor':>8}", flush=True
    )
    sums = [0, 0]
    for name, (shape, count) in LAYERS.items():
        ran = [cycles(shape, packed=packed) for packed in (False, True)]
        sums = [total + count * taken for total, taken in zip(sums, ran, strict=True)]
        print(f"{name:38}{' x '.join(map(str, shape)):>16}{count:6}{_times(ran, ms)}", flush=True)
    print(f"{'all':60}{_times(sums, ms)}")


def _times(ran: Sequence[int], ms: float) -> str:
    within, before = ran
    return f"{within * ms:12.3f}{before * ms:12.3f}{within / before:8.3f}"


if __name__ == "__main__":
    main()
