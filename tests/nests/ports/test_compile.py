"""Schedules behind ports: what comes out of the last stream is what the interpreter computes, and the cycles
are near those of the port."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.nests.lower.programs import operation

from axiloom.errors import CompileError
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.ports import Compiled, compile_ports
from axiloom.nests.program import Program
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import cycles
from axiloom.nests.timing.execute import execute

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
    kinds = {"int32": np.int32, "int16": np.int16}
    return {
        array.name: np.asarray(random.integers(-9, 9, array.shape)).astype(kinds[array.number])
        for array in program.arrays
        if array.role.is_given
    }


def run(made: Compiled, program: Program) -> dict[str, np.ndarray]:
    """Through the streams, cycle by cycle."""
    raw = made.sent.parts[0]
    lanes = raw.lanes
    kind = np.dtype(f"uint{raw.bits}")
    words = made.sent.pack(given(program)).view(kind).reshape(-1, lanes)

    done = execute(made.circuit, {}, operation, {f"s{k}": words[:, k].tolist() for k in range(lanes)})
    assert done.cycles == cycles(made.circuit).cycles
    columns = [done.outputs[f"m{k}"] for k in range(made.received.parts[0].lanes)]
    out = np.stack(columns, 1).astype(f"uint{made.received.parts[0].bits}")
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


def test_elements_of_several_sizes() -> None:
    text = "void f(int a[4], short b[4], int c[4]) { for (int i = 0; i < 4; i++) c[i] = a[i] + b[i]; }"
    message = (
        "f: a of int32 and b of int16: all that is given passes one port, and must have elements of as many"
    )
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_ports(schedule(text))
