"""Micro-ops: no, one, and more of them than beats, at both ends of the memory; what follows begins with
a beat of its own."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import Bench, Command, Generator

BENCHES = [Bench(3, 8, 64, divided=32), Bench(2, 8, 32, divided=32)]
MUTANT = (r"assign flush = .*;", "assign flush = 1'b0;")


def _loads(bench: Bench) -> list[Command]:
    generator = Generator(bench, np.random.default_rng(6))
    found = []
    for count in (0, 1, 2, 3, 5, 8):
        for sram in (0, 3, bench.machine.depths["uop"] - count):
            found.append(generator.moved("load_uop", sram, count, generator.below(64 - count)))
            first = min(sram, bench.machine.depths["uop"] - 1)
            loops = {"first": first, "last": first + max(count, 1), "outer": 2, "inner": 1, "dst_outer": 1}
            found.append(generator.computed("gemm", {**loops, "src_outer": 1}))
    return found


@pytest.mark.every(6)
@pytest.mark.parametrize("bench", BENCHES, ids=str)
@pytest.mark.parametrize("pauses", [0, 100])
def test_micro_ops(bench: Bench, pauses: int) -> None:
    assert bench.agrees(_loads(bench), pauses=pauses)


@pytest.mark.slow
def test_what_is_left_of_a_beat_is_dropped() -> None:
    bench = BENCHES[0]
    assert not bench.agrees(_loads(bench), bench.mutant(*MUTANT), pauses=1)
