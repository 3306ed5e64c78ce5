"""GEMM and ALU on accumulators that follow each other: every distance between a step and the next one on the
same accumulator, all operations, and what happens without each of the ways past the memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import ADD, MAX, MIN, MUL, SHR, Bench, Command, Generator

BENCH = Bench(3, 8, 64, divided=32)


def _close(seed: int) -> list[Command]:
    """Steps whose accumulators are few, so that each of them is written and read again within three steps."""
    generator = Generator(BENCH, np.random.default_rng(seed))
    found = []
    for op, immediate, dst, src in itertools.product((MIN, MAX, ADD, SHR, MUL), (0, 1), (0, 1, 3), (0, 1)):
        loops = {"first": 0, "last": 6, "outer": 2, "inner": 3, "dst_inner": dst, "src_inner": src}
        fields = {**loops, "op": op, "immediate": immediate, "constant": generator.below(1 << 16)}
        found.append(generator.computed("alu", fields))
    for reset, dst, src in itertools.product((0, 1), (0, 1, 3), (0, 1)):
        loops = {"first": 0, "last": 6, "outer": 2, "inner": 3, "dst_inner": dst, "src_inner": src}
        found.append(generator.computed("gemm", {**loops, "reset": reset, "wgt_inner": src}))
    order = generator.rng.permutation(len(found))
    return [found[int(place)] for place in order]


@pytest.mark.parametrize("seed", range(4))
def test_steps_on_the_same_accumulators(seed: int) -> None:
    assert BENCH.agrees(_close(seed), seed=seed)


MUTANTS = {
    "not past the memory": (r"vector_from_result \? vector_result :", "1'b0 ? vector_result :"),
    "not past the memory, a cycle later": (r"vector_from_older \? vector_older :", "1'b0 ? vector_older :"),
    "not past what was read": (r"vector_again \? vector_result :", "1'b0 ? vector_result :"),
    "MUL waits no longer": (r"vector_multiplies \? 3'h4", "vector_multiplies ? 3'h2"),
    "reset leaves the accumulator": (r"(assign vector_reset\w* =) .*;", r"\1 1'b0;"),
    "GEMM does not add": (r"(vector_code = \w*is_gemm) \? 3'h2", r"\1 ? 3'h1"),
    "the second operand is the first": (r"(assign vector_address = \(.*\) \?) loops_src", r"\1 loops_dst"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str) -> None:
    assert not all(BENCH.agrees(_close(seed), BENCH.mutant(*MUTANTS[name]), seed) for seed in range(4))
