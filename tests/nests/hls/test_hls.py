"""HLS C++ of schedules: golden text, and the same results as the interpreter when a host compiler runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.polybench.lines import lines_of_c
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nests.affine import programs
from tests.nests.affine.same import same
from tests.nests.affine.text import from_text
from tests.nests.hls.host import run

from axiloom.nests.affine.build import build, to_text
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.hls import hls
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Plan, Stream
from axiloom.nests.schedule.replay import replay

NUMBERS = {
    "gemm_tiled": "float32",
    "trmm_interchanged": "fixed<16,8>",
    "jacobi_skewed": "int12",
    "pair_fused": "uint16",
}


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_text(name: str, golden: Callable[[str, str], None]) -> None:
    golden(hls(programs.scheduled(name, NUMBERS[name])), f"{name}.cpp")


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_equals_the_interpreter(name: str) -> None:
    schedule = programs.scheduled(name, NUMBERS[name])
    arrays = random_arrays(schedule.program, np.random.default_rng(2))
    assert same(run(schedule, arrays), interpret(schedule.program, arrays, by="python"))


def test_from_text_of_ir() -> None:
    schedule = programs.scheduled("gemm_tiled")
    assert hls(from_text(to_text(build(schedule)))) == hls(schedule)


def chain(*lines: str) -> Schedule:
    """T = X + X, then Y = T * T, by two nests."""
    p, shape, number = Builder("chain"), (4, 6), "int32"
    X, T, Y = p.input("X", shape, number), p.local("T", shape, number), p.output("Y", shape, number)
    with p.loop("i", 0, 4) as i, p.loop("j", 0, 6) as j:
        T.set((i, j), X[i, j] + X[i, j], "S1")
    with p.loop("i", 0, 4) as i, p.loop("j", 0, 6) as j:
        Y.set((i, j), T[i, j] * T[i, j], "S2")
    return replay(p.program(), "\n".join((*lines, "stream T")))


def test_a_stream_where_the_orders_agree(golden: Callable[[str, str], None]) -> None:
    schedule, plan = chain(), Plan(streams=(Stream("T", 3, 0, 1),))
    golden(hls(schedule, plan), "chain.cpp")
    arrays = random_arrays(schedule.program, np.random.default_rng(2))
    assert same(run(schedule, arrays, plan), interpret(schedule.program, arrays, by="python"))


def test_an_array_where_they_do_not() -> None:
    schedule = chain("interchange S2 i j")
    text = hls(schedule)
    assert "#pragma HLS dataflow" in text
    assert "hls::stream" not in text
    arrays = random_arrays(schedule.program, np.random.default_rng(2))
    assert same(run(schedule, arrays), interpret(schedule.program, arrays, by="python"))


def test_no_dataflow_where_an_array_has_two_producers() -> None:
    schedule = programs.scheduled("gemm_tiled")
    schedule = replace(schedule, streams=frozenset({"C"}))
    text = hls(schedule)
    assert "// nests run one after the other: C has several producers or consumers" in text
    assert "#pragma HLS dataflow" not in text


def test_dependences_are_said_to_be_absent_only_where_isl_proves_it() -> None:
    """gemm with k innermost carries C through k; with j innermost, it does not."""

    def text(*order: str) -> str:
        schedule = Schedule.of(programs.gemm()).fission("S2", "i").reorder("S2", *order)
        return hls(schedule).partition("k = 0")[2]

    assert "dependence variable=C type=inter false" in text("k", "i", "j1")
    assert "dependence" not in text("i", "j1", "k")


def test_lines_are_counted_without_comments() -> None:
    assert lines_of_c("// one\n\nint a; // two\n/* three\nfour */\n#pragma HLS unroll\n  }\n") == 3


def compare(program: Program, seed: int) -> None:
    arrays = random_arrays(program, np.random.default_rng(seed))
    assert same(run(program, arrays), interpret(program, arrays, by="python"))


# Always the same two: GCC 12 computes some of the others wrongly (docs/nests.md).
@settings(max_examples=2, derandomize=True)
@given(programs.elementwise(count=8, tame=True), st.integers(0, 1 << 32))
def test_all_operators_and_formats(program: Program, seed: int) -> None:
    compare(program, seed)


@pytest.mark.slow
@settings(max_examples=25)
@given(programs.elementwise(count=8, tame=True), st.integers(0, 1 << 32))
def test_all_operators_and_formats_at_length(program: Program, seed: int) -> None:
    compare(program, seed)
