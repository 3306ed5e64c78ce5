"""HLS C++ of schedules: golden text, and the same results as the interpreter when a host compiler runs it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.nests.affine.build import build
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.affine.text import from_text, to_text
from axiloom.nests.hls import hls
from axiloom.nests.hls.run import run
from axiloom.nests.program import Program
from tests.nests.affine import programs
from tests.nests.affine.same import same

NUMBERS = {
    "gemm_tiled": "float32",
    "trmm_interchanged": "fixed<16,8>",
    "jacobi_skewed": "int12",
    "pair_fused": "uint16",
}


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_text(name: str, golden: Callable[[str, str], None]) -> None:
    golden(hls(programs.SCHEDULES[name](NUMBERS[name])), f"{name}.cpp")


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_equals_the_interpreter(name: str) -> None:
    schedule = programs.SCHEDULES[name](NUMBERS[name])
    arrays = random_arrays(schedule.program, np.random.default_rng(2))
    assert same(run(schedule, arrays), interpret(schedule.program, arrays, by="python"))


def test_from_text_of_ir() -> None:
    schedule = programs.gemm_tiled()
    assert hls(from_text(to_text(build(schedule)))) == hls(schedule)


def compare(program: Program, seed: int) -> None:
    arrays = random_arrays(program, np.random.default_rng(seed))
    assert same(run(program, arrays), interpret(program, arrays, by="python"))


@settings(max_examples=2)
@given(programs.elementwise(count=8, tame=True), st.integers(0, 1 << 32))
def test_all_operators_and_formats(program: Program, seed: int) -> None:
    compare(program, seed)


@pytest.mark.slow
@settings(max_examples=150)
@given(programs.elementwise(count=8, tame=True), st.integers(0, 1 << 32))
def test_all_operators_and_formats_at_length(program: Program, seed: int) -> None:
    compare(program, seed)
