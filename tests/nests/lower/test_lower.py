"""Circuits of small programs compute what the programs say, in the cycles their pipes say."""

from __future__ import annotations

from pathlib import Path

from tests.nests.lower.programs import check
from tests.nests.schedule.programs import jacobi

from axiloom.hw.nest.operators import latencies
from axiloom.nest import loops
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay


def gemm(ni: int, nj: int, nk: int, number: str = "int32") -> Program:
    p = Builder("gemm")
    A, B = p.input("A", (ni, nk), number), p.input("B", (nk, nj), number)
    C, alpha, beta = p.inout("C", (ni, nj), number), p.input("alpha", (), number), p.input("beta", (), number)
    with p.loop("i", 0, ni) as i, p.loop("j", 0, nj) as j:
        C.set((i, j), C[i, j] * beta, "S0")
    with p.loop("u", 0, ni) as i, p.loop("v", 0, nj) as j, p.loop("w", 0, nk) as k:
        C.set((i, j), C[i, j] + alpha * A[i, k] * B[k, j], "S1")
    return p.program()


def columns_of_tiles() -> Schedule:
    """Seven tiles of four columns, in the order u, w, vo."""
    return replay(gemm(3, 27, 4, "float32"), "unroll S0 j 4\nunroll S1 v 4\nreorder S1 u w vo")


def test_gemm_as_written_is_two_pipes_one_after_the_other() -> None:
    lowered = check(Schedule.of(gemm(3, 4, 5)))
    assert all(each.interval <= 3 for each in lowered.circuit.pipes)


def test_few_tiles_in_flight_wait_for_the_adder() -> None:
    lines = "tile S0 i j 2 4\nunroll S0 ii\nunroll S0 ji\ntile S1 u v 2 4\nunroll S1 ui\nunroll S1 vi\n"
    lowered = check(replay(gemm(6, 10, 5, "float32"), lines + "reorder S1 uo w vo"))
    cycles = min(latencies("add", "float32", "float32")) + 2  # the read of a sum, the sum, its write
    assert lowered.circuit.pipes[1].interval == -(-cycles // 3)
    assert "over 3 iterations: read C -> add" in lowered.built[1].timing.why


def test_gemm_with_seven_tiles_in_flight_is_one_iteration_a_cycle() -> None:
    """An adder of 5 cycles, one read and one write: 7 needed."""
    lowered = check(columns_of_tiles())
    pipe = lowered.circuit.pipes[1]
    assert (pipe.interval, pipe.iterations) == (1, 3 * 4 * 7)
    assert lowered.layouts["C"].banks == 4


def test_triangles_are_counted_exactly() -> None:
    p = Builder("trmm")
    A, B = p.input("A", (9, 9), "int32"), p.inout("B", (9, 5), "int32")
    with p.loop("i", 0, 9) as i, p.loop("j", 0, 5) as j:
        with p.loop("k", i + 1, 9) as k:
            B[i, j] += A[k, i] * B[k, j]
        B[i, j] *= 3
    lowered = check(Schedule.of(p.program()))
    # i = 8 has no k: there S1 alone.
    assert lowered.circuit.pipes[0].iterations == 5 * 36 + 45


def test_halves_of_a_branch_are_stored_in_order(tmp_path: Path) -> None:
    """C[(i + 6) % 8] splits the second branch: its halves overlap the first one's stores, not each other."""
    file = tmp_path / "halves.c"
    file.write_text(
        "void f(signed char C[8], signed char D[8]) {\n"
        "    for (long long i = 0; i < 6; i++) {\n"
        "        long long w;\n"
        "        if ((i * 5 < i + i) & 7) w = i + D[5]; else w = C[(i + 6) % 8u];\n"
        "        D[0] += w;\n    }\n}\n"
    )
    check(Schedule.of(loops.load(f"{file}:f", {}, []).program))


def test_jacobi_is_one_pipe_over_two_inner_nests() -> None:
    lowered = check(Schedule.of(jacobi(3, 12)))
    assert len(lowered.circuit.pipes) == 1
    assert lowered.circuit.pipes[0].iterations == 3 * 2 * 12


def test_atax_has_two_phases_in_one_pipe() -> None:
    p = Builder("atax")
    A, x = p.input("A", (6, 10), "int32"), p.input("x", (10,), "int32")
    y, tmp = p.output("y", (10,), "int32"), p.local("tmp", (6,), "int32")
    with p.loop("j", 0, 10) as j:
        y[j] = 0
    with p.loop("i", 0, 6) as i:
        tmp[i] = 0
        with p.loop("j", 0, 10) as j:
            tmp[i] += A[i, j] * x[j]
        with p.loop("j", 0, 10) as j:
            y[j] += A[i, j] * tmp[i]
    check(Schedule.of(p.program()))
