"""Loads, computing and stores at the same time: what is stored is the text's, in the cycles foretold, and a
device that does not wait for its tokens stores something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import Bench, Command, Generator, text_of

from axiloom.accelerators.vta.rtl.meanings import machine
from axiloom.base.errors import SpecError
from axiloom.isa.instructions.read import parse

BENCH = Bench(3, 8, 64, divided=32, overlaps=True)
OTHER = Bench(2, 4, 32, divided=64, overlaps=True)
WHOLE = Bench(2, 16, 64, overlaps=True)


def _random(bench: Bench, seed: int, count: int = 150) -> list[Command]:
    return Generator(bench, np.random.default_rng(seed)).commands(count)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bench",
    [BENCH, *(pytest.param(one, marks=pytest.mark.slow) for one in (OTHER, WHOLE))],
    ids=str,
)
def test_random_programs(bench: Bench) -> None:
    for seed in range(3):
        assert bench.agrees(_random(bench, seed), seed=seed)
        assert bench.agrees(_random(bench, seed), seed=seed, pauses=100)


def test_that_they_overlap() -> None:
    """Fewer cycles than one after the other, of the same commands."""
    simulator = BENCH.simulator()
    commands = [*Generator(BENCH, np.random.default_rng(0)).filled(), *_random(BENCH, 0)]
    with_tokens = BENCH.tokened(commands, simulator)
    serial = replace(BENCH, overlaps=False)
    assert BENCH.foretold(with_tokens) < serial.foretold(commands)


@pytest.mark.slow
def test_who_does_not_wait() -> None:
    broken = BENCH.mutant(r"assign tokens_ready = .*;", "assign tokens_ready = 1'b1;")
    assert not all(BENCH.agrees(_random(BENCH, seed), broken, seed) for seed in range(3))


def test_tokens_of_a_text() -> None:
    """In all instructions, in the same bits."""
    text = text_of(overlaps=True)
    for wrong, message in (
        (
            text.replace("    tokens = word[3:7]\n", "", 1),
            "8 of 9 instructions have tokens; all have",
        ),
        (text.replace("tokens = word[3:7]", "tokens = word[3:8]"), "tokens are 4 bits without a sign"),
    ):
        with pytest.raises(SpecError, match=message):
            machine(parse(wrong, "vta.isa", "vta", {"M": 3, "A": 3, "DRAM": 1 << 16}))
