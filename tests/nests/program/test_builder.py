"""Programs in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import CompileError
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.text import loops
from axiloom.nests.program.values import convert, div, exp, max_, min_, rem, select, sqrt


def test_loops_places_and_names() -> None:
    p = Builder("gemm")
    A, B, C = p.input("A", (4, 6)), p.input("B", (6, 5)), p.inout("C", (4, 5))
    beta = p.input("beta")
    with p.loop("i", 0, 4) as i:
        with p.loop("j", 0, 5) as j:
            C[i, j] *= beta
        with p.loop("k", 0, 6) as k, p.loop("j", 0, 5) as j:
            C[i, j] += 2 * A[i, k] * B[k, j]
    with p.loop("i", 0, 4) as i:
        C.set((i, 0), 0.5, name="corner")
    program = p.program()
    assert loops(program) == [
        "for i 0 .. 3",
        "  for j 0 .. 4",
        "    S0: C[i][j] = C[i][j] * beta",
        "  for k 0 .. 5",
        "    for j1 0 .. 4",
        "      S1: C[i][j1] = C[i][j1] + ((2 * A[i][k]) * B[k][j1])",
        "for i 0 .. 3",
        "  corner: C[i][0] = 0.5",
    ]
    assert [each.place for each in program.statements] == [(0, 0, 0), (0, 1, 0, 0), (1, 0)]
    assert {each.where.partition(":")[0] for each in program.statements} == {Path(__file__).name}
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in
             (("A", (4, 6)), ("B", (6, 5)), ("C", (4, 5)), ("beta", ()))}  # fmt: skip
    expected = given["C"] * given["beta"]
    for k in range(6):
        expected += (np.float32(2) * given["A"][:, k])[:, None] * given["B"][k]
    expected[:, 0] = 0.5
    np.testing.assert_array_equal(interpret(program, given)["C"], expected)


def test_two_builders_share_nothing() -> None:
    programs = []
    for size in (3, 5):
        p = Builder("fill")
        A = p.output("A", (size,))
        with p.loop("i", 0, size) as i:
            A[i] = 1.0
        programs.append(p.program())
    assert [each.statements[0].domain[1].constant for each in programs] == [2, 4]
    assert [each.statements[0].name for each in programs] == ["S0", "S0"]


def test_bounds_steps_and_guards() -> None:
    p = Builder("bounds")
    A = p.inout("A", (12,), "int32")
    with (
        p.loop("i", 9, 0, step=-2) as i,
        p.loop("j", (0, i - 2), (10, i + 2)) as j,
        p.where(i + j < 15, j >= 1),
    ):
        A[j] += i
    found = interpret(p.program(), {"A": np.zeros(12, np.int32)})["A"]
    expected = np.zeros(12, np.int32)
    for i in range(9, 0, -2):
        for j in range(max(0, i - 2), min(10, i + 2)):
            if i + j < 15 and j >= 1:
                expected[j] += i
    np.testing.assert_array_equal(found, expected)


def test_operators_of_integers_and_floats() -> None:
    p = Builder("all")
    A, B = p.input("A", (8,), "int16"), p.input("B", (8,), "int16")
    F, G, H = p.input("F", (8,)), p.output("G", (8,)), p.output("H", (8,), "int16")
    s = p.local("s")
    with p.loop("i", 0, 8) as i:
        s[()] = sqrt(abs(F[i])) + exp(-F[i]) / 3
        G[i] = select((s > 1) & (i < 5), max_(s, F[i]), min_(F[i], 0.25)) - convert(i, "float32") * s
        quotient = div(A[i], select(B[i] == 0, 1, B[i]))
        H[i] = (quotient ^ rem(A[i], 7)) + (A[i] >> 2) - (~B[i] | 3)
    assert faults(p.program()) == []
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-200, 200, 8).astype(np.int16) for _ in range(2))
    b[3] = 0
    f = rng.uniform(-2, 2, 8).astype(np.float32)
    found = interpret(p.program(), {"A": a, "B": b, "F": f})
    total = np.sqrt(np.abs(f)) + np.exp(-f) / np.float32(3)
    wide = np.where((total > 1) & (np.arange(8) < 5), np.maximum(total, f), np.minimum(f, np.float32(0.25)))
    np.testing.assert_array_equal(found["G"], wide - np.arange(8, dtype=np.float32) * total)
    by = np.where(b == 0, 1, b).astype(int)
    truncated = np.trunc(a / by).astype(np.int16)
    np.testing.assert_array_equal(found["H"], (truncated ^ np.fmod(a, np.int16(7))) + (a >> 2) - (~b | 3))


@pytest.fixture
def p() -> Builder:
    return Builder("x")


def refused(message: str) -> pytest.RaisesExc[CompileError]:
    return pytest.raises(CompileError, match=rf"^{Path(__file__).name}:\d+: {message}")


def test_faults_name_the_line(p: Builder) -> None:
    A, K, s = p.input("A", (3, 3)), p.input("K", (3,), "int8"), p.input("s")
    C = p.inout("C", (3, 3))
    with p.loop("i", 0, 3) as i, p.loop("j", 0, 3) as j:
        with refused("`A` has 2 dimensions, not 1"):
            A[i]
        with refused("`mul` of float32 and int32: operands are of one format; convert one of them"):
            A[i, j] * i
        with refused("`add` of float32 and int8"):
            s + K[i]
        with refused(r"\(i\) \* \(j\) is not affine"):
            i * j
        with refused("a subscript is a number that is computed; it is an affine form"):
            A[K[i], j]
        with refused("`C`: int8 is assigned to float32: use convert"):
            C[i, j] = K[i]
        with refused(r"`C`: 1e\+40 is no|`C`: a bool is assigned"):
            C[i, j] = A[i, j] < 1
        with refused("a value of the program is no Python bool; use select"):
            C[i, j] = A[i, j] if A[i, j] > 0 else 1.0
        with refused("`/` of int8: say div"):
            K[i] / 2
        with refused("300 is no int8: it holds -128 to 127"):
            K[i] + 300
        with refused("`A` is an array of"):
            A + 1.0  # type: ignore[operator]
        with refused("`i` is the iterator of a loop around this one already"), p.loop("i", 0, 2):
            pass
        with refused("`where` takes comparisons of iterators"), p.where(A[i, j] > 0):  # type: ignore[arg-type]
            pass
    with refused("there is an array `A` already"):
        p.local("A")
    with refused("array `Z`: unknown number format `float99`"):
        p.local("Z", (2,), "float99")
    with refused("array `Z`: 'maybe' is not a valid Role"):
        p.array("Z", (2,), role="maybe")
