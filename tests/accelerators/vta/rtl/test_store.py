"""Stores: no, one and many vectors, in rows, to the end of the memory; results that are taken late."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import Bench, Command, Generator

BENCHES = [Bench(3, 8, 64, divided=32), Bench(2, 8, 32, divided=32)]
MUTANTS = {
    "the queue overflows": (r"level < 3'h3", "level < 3'h7"),
    "a row goes on": (r"store_last = store_last_x & ", "store_last = "),
}


def _stores(bench: Bench) -> list[Command]:
    generator, depth = Generator(bench, np.random.default_rng(7)), bench.machine.depths["out"]
    sizes = [(0, 0), (0, 3), (2, 0), (1, 1), (1, depth), (depth, 1), (3, 4), (7, 2)]
    return [
        generator.moved("store", depth - rows * count, count, generator.below(100), rows, count + 1)
        for rows, count in sizes
    ]


@pytest.mark.every(9)
@pytest.mark.parametrize("bench", BENCHES, ids=str)
@pytest.mark.parametrize("pauses", [0, 100, 230])
def test_stores(bench: Bench, pauses: int) -> None:
    assert bench.agrees(_stores(bench), pauses=pauses)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str) -> None:
    bench = BENCHES[0]
    assert not bench.agrees(_stores(bench), bench.mutant(*MUTANTS[name]), pauses=230)
