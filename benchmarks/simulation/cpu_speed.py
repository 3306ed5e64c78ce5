"""Speed of the simulated CPU with the full model: caches, branch predictor, checkers (aim 60 MIPS).

An int32 matmul of 128x128x128 in plain loops, compiled -O3. CPU time of this process, best of 5: a machine
that others use too would else be measured instead.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from axiloom import boards
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core

AIM = 60.0
N = 128


def mips() -> float:
    """Million instructions a second of CPU time."""
    board = boards.load(boards.DEFAULT)
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-(2**31), 2**31, (N, N), np.int64).astype(np.int32) for _ in range(2))
    core = Core(board)
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        elf = compile_bare(
            [Path(__file__).with_name("matmul_cpu.c")], Path(folder) / "matmul.elf", board=board
        )
        for _ in range(5):
            core.begin(elf, {"A": a, "B": b})
            begin = time.process_time()
            core.run()
            best = min(best, time.process_time() - begin)
            if not np.array_equal(core.read("C", (N, N), "int32"), a @ b):
                raise AssertionError("the simulated matmul is wrong")
    return core.counters()["instructions"] / best / 1e6


def main() -> None:
    speed = mips()
    print(f"simulated CPU, full cache model: {speed:.1f} MIPS (aim {AIM:.0f}, ratio {speed / AIM:.2f})")


if __name__ == "__main__":
    main()
