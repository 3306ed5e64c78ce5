"""Schedules behind ports: what comes out of the last stream is what the interpreter computes, and the cycles
are near those of the port."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.nests.lower.programs import operation

from axiloom.base.errors import CompileError
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.ports import Compiled, compile_ports
from axiloom.nests.program import Program
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import cycles
from axiloom.nests.timing.execute import ExecutionError, execute

ATAX = """
void atax(int A[M][N], int x[N], int y[N]) {
  int tmp[M];
  for (int i = 0; i < N; i++) y[i] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++) y[j] = y[j] + A[i][j] * tmp[i];
  }
}
"""
ROWS = """
fission S2 i
fission S3 i
split S2 i 4
split S3 i 4
reorder S2 io j ii
unroll S2 ii 2
unroll S3 ii2 2
unroll S3 j1 2
"""
GEMM = """
void gemm(short alpha, short C[4][5], short A[4][3], short B[3][5]) {
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 5; j++) C[i][j] += alpha * A[i][k] * B[k][j];
}
"""


def schedule(text: str, lines: str = "", **sizes: int) -> Schedule:
    program = c.parse(text, "test.c", "", {name: str(size) for name, size in sizes.items()}).program
    return replay(program, lines)


def given(program: Program) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    kinds = {"int32": np.int32, "int16": np.int16, "int8": np.int8}
    return {
        array.name: np.asarray(random.integers(-9, 9, array.shape)).astype(kinds[array.number])
        for array in program.arrays
        if array.role.is_given
    }


def run(made: Compiled, program: Program) -> dict[str, np.ndarray]:
    """Through the streams, cycle by cycle."""
    into, back = (
        (np.dtype(f"uint{made.circuit.fifo(ports[0].fifo).bits}"), len(ports))
        for ports in (made.circuit.inputs, made.circuit.outputs)
    )
    kind, lanes = into
    words = made.sent.pack(given(program)).view(kind).reshape(-1, lanes)

    done = execute(made.circuit, {}, operation, {f"s{k}": words[:, k].tolist() for k in range(lanes)})
    assert done.cycles == cycles(made.circuit).cycles
    kind, lanes = back
    out = np.stack([done.outputs[f"m{k}"] for k in range(lanes)], 1).astype(kind)
    return made.received.unpack(out.reshape(-1).view(np.uint32))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(("rows", "columns", "width"), [(8, 6, 64), (16, 6, 32), (10, 5, 64)])
def test_atax(rows: int, columns: int, width: int, plain: bool) -> None:
    """16 rows are four blocks, and there is room for three; the last block of 10 rows is not whole; rows of 5
    are no whole beats."""
    found = schedule(ATAX, ROWS, M=rows, N=columns)
    made = compile_ports(found, width, plain=plain)
    results = run(made, found.program)
    assert np.array_equal(results["y"], interpret(found.program, given(found.program))["y"])
    if not plain:
        assert made.overlap is not None
        assert dict(made.overlap.blocks) == {"A": 4}
        assert made.circuit.memory("A").depth * made.circuit.memory("A").banks <= 3 * 4 * (columns + 1)


def test_overlap_is_worth_it() -> None:
    found = schedule(ATAX, ROWS, M=40, N=10)
    plain, fast = (cycles(compile_ports(found, plain=each).circuit).cycles for each in (True, False))
    beats = compile_ports(found).sent.beats
    assert fast < 1.4 * beats < 1.9 * beats < plain


@pytest.mark.parametrize("plain", [True, False])
def test_results_that_are_given_too(plain: bool) -> None:
    """Four elements of 16 bits in a beat, and a scalar."""
    found = schedule(GEMM)
    results = run(compile_ports(found, plain=plain), found.program)
    assert np.array_equal(results["C"], interpret(found.program, given(found.program))["C"])


def test_a_block_that_comes_too_early_is_found() -> None:
    """The mutant: no token says that a block's place is free. One lane is slower than the port."""
    found = schedule(ATAX, ROWS.partition("unroll")[0], M=24, N=6)
    made = compile_ports(found)
    mutant = replace(
        made.circuit,
        fifos=tuple(replace(f, initial=6) if "_free_" in f.name else f for f in made.circuit.fifos),
    )
    right = interpret(found.program, given(found.program))["y"]
    assert np.array_equal(run(made, found.program)["y"], right)
    assert not np.array_equal(run(replace(made, circuit=mutant), found.program)["y"], right)


MIXED = """
typedef signed char int8;
void f(const int8 a[3][6], const int8 b[6][5], const int bias[5], short d[3], int c[3][5], int8 low[3]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 5; j++) {
      c[i][j] = bias[j] + d[i];
      for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j];
    }
    low[i] = c[i][4];
    d[i] += a[i][0];
  }
}
"""


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("width", [32, 128])
def test_elements_of_several_sizes(width: int, plain: bool) -> None:
    """8, 16 and 32 bits come in and go out; no row is whole beats."""
    found = schedule(MIXED)
    made = compile_ports(found, width, plain=plain)
    assert {made.circuit.fifo(port.fifo).bits for port in (*made.circuit.inputs, *made.circuit.outputs)} == {
        8
    }
    results, right = run(made, found.program), interpret(found.program, given(found.program))
    for name in ("c", "d", "low"):
        assert np.array_equal(results[name], right[name])


PRODUCT = """
void gemm(int alpha, int beta, int C[NI][NJ], int A[NI][NK], int B[NK][NJ]) {
  for (int i = 0; i < NI; i++) {
    for (int j = 0; j < NJ; j++) C[i][j] *= beta;
    for (int k = 0; k < NK; k++)
      for (int j = 0; j < NJ; j++) C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
"""
BLOCKS = """
fission S1 i
split S0 i 8
split S1 i 8
reorder S1 io2 k ii2 j1
unroll S1 ii2 2
unroll S1 j1 2
unroll S1 k 2
unroll S0 ii 2
unroll S0 j 2
fuse S1 S0 io
"""


@pytest.mark.every(3)
@pytest.mark.parametrize(("rows", "columns", "terms"), [(20, 6, 6), (16, 6, 5), (18, 5, 7)])
def test_product_by_blocks(rows: int, columns: int, terms: int) -> None:
    """The last block of 20 rows is half of one; rows of 5 are no whole beats; 5 terms are no whole groups."""
    found = schedule(PRODUCT, BLOCKS, NI=rows, NJ=columns, NK=terms)
    made = compile_ports(found)
    assert made.overlap is not None
    assert dict(made.overlap.blocks) == {"A": 8, "C": 8}
    assert dict(made.overlap.groups) == {"B": (2, "ko")}
    assert made.overlap.results == ("C",)
    assert [part.array.name for part in made.sent.pieces][:6] == ["beta", "alpha", "C", "A", "B", "C"]
    results = run(made, found.program)
    assert np.array_equal(results["C"], interpret(found.program, given(found.program))["C"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["A_nest1", "B_nest1", "C_nest1", "C_give", "C_gone"])
def test_tokens_of_a_product(kind: str) -> None:
    """The mutants: tokens of a kind are there from the beginning. One lane is slower than the port, eight are
    faster."""
    slow = kind in ("C_give", "C_gone")
    columns, terms = (12, 16) if kind == "B_nest1" else (4, 4)
    lines = [line for line in BLOCKS.splitlines() if "unroll" not in line or not slow]
    found = schedule(PRODUCT, "\n".join(lines), NI=48, NJ=columns, NK=terms)
    made = compile_ports(found)
    right = interpret(found.program, given(found.program))["C"]
    assert np.array_equal(run(made, found.program)["C"], right)
    mutant = replace(
        made.circuit,
        fifos=tuple(replace(f, initial=9, depth=20) if f.name == kind else f for f in made.circuit.fifos),
    )
    assert _differs(replace(made, circuit=mutant), found.program, right)


def _differs(made: Compiled, program: Program, right: np.ndarray) -> bool:
    """In what comes out, or as two accesses meet in a bank."""
    try:
        return not np.array_equal(run(made, program)["C"], right)
    except ExecutionError as fault:
        return re.search(r"(writes to|reads of) bank|written", str(fault)) is not None


TWO = """
void two(int A[NI][4], int B[4][4], int C[4][4], int D[NI][4]) {
  int t[NI][4];
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < 4; j++) {
      t[i][j] = 0;
      for (int k = 0; k < 4; k++) t[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < 4; j++) {
      D[i][j] *= 3;
      for (int k = 0; k < 4; k++) D[i][j] += t[i][k] * C[k][j];
    }
}
"""
BOTH = """
fission S1 i
fission S3 i
split S0 i 8
split S1 i 8
split S2 i 8
split S3 i 8
reorder S1 io2 k ii2 j
reorder S3 io4 k ii4 j
unroll S1 k 2
unroll S3 k 2
"""
FUSED = "fuse S1 S0 io\nfuse S2 S1 io\nfuse S3 S2 io"
SHARED = "fuse S1 S0 io\nfuse S3 S2 io3\nshare S0 S2"


@pytest.mark.parametrize("lines", [FUSED, SHARED])
def test_two_products(lines: str) -> None:
    """Through blocks of rows, or one after the other in one pipe, whose arrays come in two sets."""
    found = schedule(TWO, BOTH + lines, NI=20)
    made = compile_ports(found)
    assert made.overlap is not None
    assert set(made.overlap.groups) == {"B", "C"}
    results = run(made, found.program)
    assert np.array_equal(results["D"], interpret(found.program, given(found.program))["D"])
    if lines == SHARED:
        assert made.overlap.sets == (("A", "B"), ("D", "C"))
    else:
        assert dict(made.overlap.private) == {"t": 8}
        memory = made.circuit.memory("t")
        assert memory.banks * memory.depth <= 2 * 8 * 4


COLUMN_SUMS_FIRST = """
void f(int A[6][4], int B[4][4], int C[6][4], int D[6][4], int product[6][4], int rows[6], int scaled[6][4])
{
    int columns[4];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++) {
            product[i][j] = 0;
            for (int k = 0; k < 4; k++)
                product[i][j] += A[i][k] * B[k][j];
        }
    for (int j = 0; j < 4; j++)
        columns[j] = 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++)
            columns[j] += product[i][j];
    for (int i = 0; i < 6; i++) {
        rows[i] = 0;
        for (int j = 0; j < 4; j++)
            rows[i] += C[i][j] * columns[j];
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++)
            scaled[i][j] = D[i][j] * 3;
}
"""
"""C comes in rows beside A, there is room for some of them, and none is taken before all of A has come."""


def test_nests_that_would_wait_forever_run_in_turn() -> None:
    made_of = schedule(COLUMN_SUMS_FIRST)
    made = compile_ports(made_of)
    assert made.deadlock.startswith("deadlock: pipe nest0 waits at iteration ")
    assert made.overlap is None
    assert made.circuit == compile_ports(made_of, plain=True).circuit
    found, expected = run(made, made_of.program), interpret(made_of.program, given(made_of.program))
    for name, values in found.items():
        assert np.array_equal(values.reshape(-1), np.asarray(expected[name]).reshape(-1)), name


def test_nests_that_do_not_wait_forever_overlap() -> None:
    one_by_one = COLUMN_SUMS_FIRST.replace("C[i][j] * columns[j]", "columns[j]").replace("int C[6][4], ", "")
    made = compile_ports(schedule(one_by_one))
    assert made.overlap is not None
    assert not made.deadlock


CONV = """
void conv(float x[64][300][300], float w[64][64][3][3], float y[64][298][298]) {
  for (int k = 0; k < 64; k++)
    for (int i = 0; i < 298; i++)
      for (int j = 0; j < 298; j++)
        for (int c = 0; c < 64; c++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) y[k][i][j] += x[c][i + p][j + q] * w[k][c][p][q];
}
"""


def test_what_is_too_much_to_look_at_is_refused_at_once() -> None:
    with pytest.raises(
        CompileError, match=r"^conv: statement S0 has 3,273,670,656 iterations: .*smaller sizes"
    ):
        compile_ports(schedule(CONV))


def test_bounds_that_change_are_counted() -> None:
    text = """
void sums(int y[SIZE], int x[SIZE]) {
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k <= j; k++) y[k] += x[j];
}
"""
    with pytest.raises(CompileError, match="has 42,473,245 iterations"):
        compile_ports(schedule(text, SIZE=633))
