"""Loads of blocks, vectors and accumulators: rows with strides, every side's pads, none of it, ends of
memories, and payload that comes late."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import Bench, Command, Generator

BENCH = Bench(3, 8, 64, divided=32)
MEMORIES = {"load_wgt": "wgt", "load_inp": "inp", "load_acc": "acc", "load_acc_8bit": "acc"}


def _loads() -> list[Command]:
    generator = Generator(BENCH, np.random.default_rng(4))
    found = []
    for name, rows, count in itertools.product(MEMORIES, (0, 1, 2), (0, 1, 3)):
        for sides in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 2, 0, 0), (0, 0, 1, 0), (0, 0, 0, 2), (2, 1, 1, 1)):
            above, below, left, right = sides
            used = (above + rows + below) * (left + count + right)
            depth = BENCH.machine.depths[MEMORIES[name]]
            if used > depth:
                continue
            sram = depth - used if generator.below(2) else generator.below(depth - used + 1)
            base, stride = generator.below(200), generator.below(6)
            pads = {"above": above, "below": below, "left": left, "right": right}
            found.append(generator.moved(name, sram, count, base, rows, stride, **pads))
    # Rows without a vector, more than there are in any memory: legal, and nothing happens.
    found.append(generator.moved("load_inp", 3, 0, 0, 0xFFFF, above=15, below=15))
    # A GEMM behind each few of them tells what inputs and weights are.
    loops = {"last": 4, "outer": 4, "inner": 4, "dst_outer": 5, "dst_inner": 1, "src_outer": 7}
    gemm = generator.computed("gemm", {**loops, "src_inner": 1, "wgt_outer": 3, "wgt_inner": 1})
    return [one for at in range(0, len(found), 8) for one in (*found[at : at + 8], gemm)]


@pytest.mark.parametrize("pauses", [0, 100])
def test_loads(pauses: int) -> None:
    assert BENCH.agrees(_loads(), pauses=pauses)


MUTANTS = {
    "a pad more to the right": (r"load_x < load_ends_x", "load_x <= load_ends_x"),
    "no pads above": (r"load_ends_y <= .*;", "load_ends_y <= 18'h3ffff;"),
    "a pad is what comes": (r"load_pads = ~load_inside", "load_pads = 1'b0"),
    "bytes have no sign": (r"(load_acc_8bit_chunk = \w+ \? )\{ beats_payload\[63\]", r"\1{ 1'b0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str) -> None:
    assert not BENCH.agrees(_loads(), BENCH.mutant(*MUTANTS[name]))
