"""Random programs under random schedules, and PolyBench's kernels: the IR, read back from text, computes what
the program does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from benchmarks.polybench import sizes
from tests.nests.affine.same import same
from tests.nests.affine.text import from_text
from tests.nests.fuzz import programs
from tests.nests.fuzz.lines import order_line
from tests.nests.hls.host import run

from axiloom.nests.affine.build import build, to_text
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.program import Program
from axiloom.nests.read.c import read
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.replay import replay

SCHEDULED = ("2mm", "3mm", "atax", "bicg", "gemm", "gesummv", "mvt")


def scheduled(rng: random.Random, lines: int = 6) -> Schedule:
    schedule = Schedule.of(programs.program(rng))
    for _ in range(lines):
        try:
            schedule = replay(schedule, order_line(rng, schedule))
        except (LegalityError, ScheduleError):
            continue
    return schedule


def compare(seeds: range) -> None:
    for seed in seeds:
        schedule = scheduled(random.Random(seed))
        arrays = random_arrays(schedule.program, np.random.default_rng(seed))
        expected = interpret(schedule.program, arrays, by="python")
        assert same(interpret(schedule, arrays, by="python"), expected), schedule.log
        text = to_text(build(schedule))
        assert same(interpret(from_text(text), arrays), expected), schedule.log


@pytest.mark.slow
def test_random_schedules() -> None:
    compare(range(100))


def loaded(kernel: str, given: dict[str, int]) -> Program:
    return read(sizes.source(kernel), "", {name: str(value) for name, value in given.items()}).program


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "kernel",
    [each if each in ("bicg", "gemm") else pytest.param(each, marks=pytest.mark.slow) for each in SCHEDULED],
)
def test_schedules_of_polybench(kernel: str) -> None:
    """Interpreter and HLS C++ at MINI under the schedules that are measured."""
    program = loaded(kernel, dict(sizes.MINI[kernel]))
    schedule = replay(program, (sizes.FOLDER / "schedules" / f"{kernel}.sched").read_text())
    arrays = random_arrays(program, np.random.default_rng(0))
    expected = interpret(program, arrays, by="python")
    assert same(interpret(schedule, arrays, by="c"), expected)
    assert same(run(schedule, arrays), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", sizes.MINI)
def test_polybench_three_ways(kernel: str) -> None:
    """As written: in Python, by C, by HLS C++. Diagonally dominant, so that no NaN tells compilers apart."""
    program = loaded(kernel, dict(sizes.MINI[kernel]))
    arrays = random_arrays(program, np.random.default_rng(0))
    for name, each in arrays.items():
        if each.dtype == np.float32:
            arrays[name] = np.abs(each) + np.float32(0.5)
        if each.ndim == 2 and each.shape[0] == each.shape[1] and each.dtype == np.float32:
            arrays[name] += np.eye(len(each), dtype=np.float32) * 2 * len(each)
    expected = interpret(program, arrays, by="python")
    assert same(interpret(program, arrays, by="c"), expected)
    assert same(run(program, arrays), expected)
