"""Nests in a loop over time; a search that is stopped."""

from __future__ import annotations

import signal

import pytest
from benchmarks.polybench.measure import program as polybench

from axiloom.base.processes import EndedError
from axiloom.nests.program import Program
from axiloom.nests.read.c import parse
from axiloom.nests.schedule import Schedule
from axiloom.nests.search import Limits, auto
from axiloom.nests.search.bodies import ladder
from axiloom.nests.search.choices import CHAIN
from axiloom.nests.search.exact import exact

STENCIL = """
void jac(float A[16][16], float B[16][16])
{
    for (int t = 0; t < 4; t++) {
        for (int i = 1; i < 15; i++)
            for (int j = 1; j < 15; j++)
                B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (int i = 1; i < 15; i++)
            for (int j = 1; j < 15; j++)
                A[i][j] = B[i][j];
    }
}
"""
HAND = "unroll S0 j\nunroll S1 j1\n"


@pytest.fixture(scope="module")
def stencil() -> Program:
    return parse(STENCIL, "jac.c").program


def test_a_stencil_is_as_fast_as_by_hand(stencil: Program) -> None:
    result = auto(stencil)
    by_hand = exact(stencil, HAND)
    assert result.best.cycles is not None
    assert by_hand.cycles is not None
    assert result.best.cycles <= by_hand.cycles
    assert result.best.amount.fits(Limits.of().amount)
    assert not result.proven
    assert any("around several nests" in note for note in result.notes)


def test_lanes_rise_from_the_innermost_loop_on(stencil: Program) -> None:
    lines = ladder(Schedule.of(stencil))
    assert lines[0] == "unroll S0 j 2\nunroll S1 j1 2\n"
    assert HAND in lines
    assert lines[-1] == "unroll S0 j\nunroll S0 i\nunroll S1 j1\nunroll S1 i1\n"
    assert ladder(Schedule.of(polybench("gemm", "mini")[0])) != []
    assert (
        ladder(
            Schedule.of(parse("void f(int A[4]) { for (int i = 0; i < 4; i++) A[i] = i; }", "f.c").program)
        )
        == []
    )


def test_a_cycle_has_few_additions_of_integers() -> None:
    """A sum of integers can take no cycle; 64 of them, one after the other, do take time."""
    text = "void f(short a[64], short b[64], int s[1]) { for (int i = 0; i < 64; i++) s[0] += a[i] * b[i]; }"
    program = parse(text, "f.c").program
    result = auto(program)
    assert result.proven
    assert result.text == f"unroll S0 i {CHAIN}\n"


@pytest.mark.parametrize("end", [KeyboardInterrupt(), EndedError(signal.SIGTERM)])
def test_what_was_found_before_a_signal_counts(stencil: Program, end: BaseException) -> None:
    def stop(done: int, total: int, best: str) -> None:
        if done == 3:
            raise end

    result = auto(stencil, progress=stop)
    assert result.stopped == (signal.SIGINT if isinstance(end, KeyboardInterrupt) else signal.SIGTERM)
    assert len(result.points) == 3
    assert result.best.cycles == min(point.cycles or 0 for point in result.points)
    assert not result.proven
    assert "stopped" in result.notes[-1]
