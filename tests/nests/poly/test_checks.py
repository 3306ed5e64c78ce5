"""Faults of programs: each is found, with its first instance; those that others published are among them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests.poly.checks import check, faults, warnings
from axiloom.nests.program import Array, Load, Op, Program, Role
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.values import max_
from axiloom.nests.read.c import parse


def of_c(text: str) -> Program:
    return parse(text, "f.c").program


# --- published by others ------------------------------------------------------------------------------


def test_vgg_without_padding_reads_out_of_bounds() -> None:
    """POM's VGG-16: a window of 3x3 over a feature map that has no border."""
    p = Builder("vgg")
    X, W, Y = p.input("X", (2, 8, 8)), p.input("W", (2, 2, 3, 3)), p.inout("Y", (2, 8, 8))
    with (
        p.loop("o", 0, 2) as o,
        p.loop("y", 0, 8) as y,
        p.loop("x", 0, 8) as x,
        p.loop("i", 0, 2) as i,
        p.loop("p", 0, 3) as a,
        p.loop("q", 0, 3) as b,
    ):
        Y[o, y, x] += X[i, y + a, x + b] * W[o, i, a, b]
    (found,) = faults(p.program())
    assert found.endswith(
        "S0 reads X[0][0][8] at o=0, y=0, x=6, i=0, p=0, q=2, out of bounds: it is X[2][8][8] (so 540 times)"
    )


def test_uninitialised_projection_of_resnet() -> None:
    """POM's ResNet-18: the shortcut's sums begin with what is in memory."""
    p = Builder("resnet")
    X, W, Y = p.input("X", (4, 8, 8)), p.input("W", (3, 4)), p.local("Y", (3, 4, 4))
    Z = p.output("Z", (3, 4, 4))
    with p.loop("o", 0, 3) as o, p.loop("y", 0, 4) as y, p.loop("x", 0, 4) as x:
        with p.loop("i", 0, 4) as i:
            Y[o, y, x] += X[i, 2 * y, 2 * x] * W[o, i]
        Z[o, y, x] = Y[o, y, x]
    (found,) = faults(p.program())
    assert "S0 reads Y[0][0][0] at o=0, y=0, x=0, i=0, which nothing has written; `Y` is local" in found


def test_uninitialised_accumulator_of_atax() -> None:
    """HeteroCL's atax adds to a local array that it never clears."""
    text = """void atax(float A[4][5], float x[5], float y[5]) {
      float tmp[4];
      for (int i = 0; i < 5; i++) y[i] = 0.0f;
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 5; j++) tmp[i] += A[i][j] * x[j];
        for (int j = 0; j < 5; j++) y[j] += A[i][j] * tmp[i];
      }
    }"""
    assert faults(of_c(text)) == [
        "f.c:5: S1 reads tmp[0] at i=0, j=0, which nothing has written; `tmp` is local: write it first, or "
        "make it in or inout"
    ]
    cleared = text.replace("for (int j = 0; j < 5; j++) tmp", "tmp[i] = 0; for (int j = 0; j < 5; j++) tmp")
    assert faults(of_c(cleared)) == []


def test_iterator_of_another_loop_reads_out_of_bounds() -> None:
    """POM's 2mm: the second product runs k to the first one's 7 instead of 5 (names of iterators are global
    there)."""
    text = """void k(float tmp[3][5], float C[5][4], float D[3][4]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 7; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }"""
    assert [each.split("(")[0].strip() for each in faults(of_c(text))] == [
        "f.c:3: S0 reads tmp[0][5] at i=0, j=0, k=5, out of bounds: it is tmp[3][5]",
        "f.c:3: S0 reads C[5][0] at i=0, j=0, k=5, out of bounds: it is C[5][4]",
    ]


def test_offset_of_a_window() -> None:
    """Allo's jacobi-2d of PLDI'24 writes B[i - 2][j - 2] instead of B[i - 1][j - 1]."""
    text = """void jacobi(float A[8][8], float B[6][6]) {
      for (int i = 1; i < 7; i++) for (int j = 1; j < 7; j++)
        B[i - 2][j - 2] = A[i][j] + A[i - 1][j] + A[i + 1][j];
    }"""
    assert (
        "S0 writes B[-1][-1] at i=1, j=1, out of bounds: it is B[6][6] (so 11 times)" in faults(of_c(text))[0]
    )
    assert faults(of_c(text.replace("- 2", "- 1"))) == []


def test_pool_that_keeps_the_last_and_sums_that_are_dropped() -> None:
    """POM's pool overwrites 8 of 9 candidates; ScaleHLS's gesummv drops odd columns. No fault, a warning."""
    p = Builder("pool")
    X, Y = p.input("X", (5, 5)), p.output("Y", (2, 2))
    with p.loop("y", 0, 2) as y, p.loop("x", 0, 2) as x, p.loop("p", 0, 3) as a, p.loop("q", 0, 3) as b:
        Y[y, x] = X[2 * y + a, 2 * x + b]
    assert faults(p.program()) == []
    (found,) = warnings(p.program())
    assert found.endswith(
        "S0 writes Y[0][0] at y=0, x=0, p=0, q=0, which is overwritten by S0 before it is read (so 32 times)"
    )
    dropped = """void g(float A[4], float y[1]) {
      float s[2];
      y[0] = 0;
      for (int j = 0; j < 4; j++) s[0] = A[j];
      y[0] += s[0];
    }"""
    assert [each.partition(", which")[0] for each in warnings(of_c(dropped))] == [
        "f.c:4: S1 writes s[0] at j=0"
    ]


def test_a_maximum_is_no_lost_value() -> None:
    p = Builder("pool")
    X, Y = p.input("X", (5, 5)), p.output("Y", (2, 2))
    with p.loop("y", 0, 2) as y, p.loop("x", 0, 2) as x:
        Y[y, x] = X[2 * y, 2 * x]
        with p.loop("p", 0, 3) as a, p.loop("q", 0, 3) as b:
            Y[y, x] = max_(Y[y, x], X[2 * y + a, 2 * x + b])
    assert faults(p.program()) == warnings(p.program()) == []


# --- one of each --------------------------------------------------------------------------------------


@pytest.fixture
def program() -> Program:
    p = Builder("copy")
    A, B = p.input("A", (4, 4)), p.output("B", (4, 4))
    with p.loop("i", 0, 4) as i, p.loop("j", 0, 4) as j:
        B[i, j] = A[j, i] + 1.0
    assert faults(p.program()) == []
    return p.program()


def changed(program: Program, **changes: object) -> Program:
    (statement,) = program.statements
    return replace(program, statements=(replace(statement, where="", **changes),))  # type: ignore[arg-type]


def test_names(program: Program) -> None:
    twice = replace(program, arrays=(*program.arrays, Array("A", (1,), "int8", Role.IN)))
    assert faults(twice)[0] == "copy: 2 arrays are called `A`; give each a name of its own"
    again = replace(program, statements=program.statements * 2)
    assert faults(again) == ["copy: 2 statements are called `S0`; give each a name of its own"]
    nested = changed(program, iterators=("i", "i"))
    assert faults(nested)[0] == "S0: `i` is the iterator of 2 loops around it; rename one"
    short = changed(program, place=(0, 0))
    assert faults(short)[0] == "S0 has 2 loops and 2 numbers of its place"


def test_a_name_is_one_loop_of_a_nest(program: Program) -> None:
    (first,) = program.statements
    beside = replace(first, name="S1", where="", place=(0, 1, 0))
    both = replace(program, statements=(first, beside))
    assert faults(both) == ["S1: `j` is another loop of the same nest already; rename one"]
    after = replace(beside, place=(1, 0, 0))
    assert faults(replace(program, statements=(first, after))) == []
    assert faults(replace(program, statements=(after, first))) == [
        "copy: statements do not stand in the order of their places"
    ]


def test_types(program: Program) -> None:
    (statement,) = program.statements
    assert isinstance(statement.value, Op)
    load = statement.value.operands[0]
    assert isinstance(load, Load)
    two = Op("add", (load, load), "int8")
    assert faults(changed(program, value=two)) == [
        "S0: int8 is assigned to float32; convert it",
        "S0: `add` gives float32, not int8",
    ]
    unknown = Op("tan", (load,), "float32")
    assert faults(changed(program, value=unknown))[0].startswith("S0: unknown operator `tan`")
    other = replace(load, array="Z")
    assert faults(changed(program, value=other)) == ["S0: there is no array `Z`; there are `A`, `B`"]
    flat = replace(load, subscripts=load.subscripts[:1])
    assert faults(changed(program, value=flat)) == ["S0: `A` has 2 dimensions, not 1"]
    far = replace(load, subscripts=(Affine.name("i"), Affine.name("k")))
    assert faults(changed(program, value=far)) == [
        "S0: a subscript names `k`, which no loop around it is called"
    ]
    given = changed(program, target=replace(statement.target, array="A"))
    assert faults(given) == ["S0: writes `A`, whose role is in; make it inout"]


def test_loops_without_end(program: Program) -> None:
    (statement,) = program.statements
    endless = changed(program, domain=statement.domain[:-1])
    assert faults(endless) == ["S0: its loops have no end; give each iterator a lower and an upper bound"]


def test_results_are_written_completely(program: Program) -> None:
    (statement,) = program.statements
    part = changed(program, domain=(*statement.domain, Affine.sum({"i": 1, "j": 1}, -1)))
    assert faults(part) == [
        "copy: B[0][0] is never written, and `B` is out; write all of it, or make it inout"
    ]
    with pytest.raises(CompileError, match="is never written"):
        check(part)


def test_order_decides_what_is_initialised() -> None:
    """The same statements, once before and once after the read."""
    text = "void f(float y[4]) { float t[4]; for (int i = 0; i < 4; i++) { LINES } }"
    good = text.replace("LINES", "t[i] = 1; y[i] = t[i];")
    bad = text.replace("LINES", "y[i] = t[i]; t[i] = 1;")
    shifted = text.replace("LINES", "t[i] = 1; y[i] = t[3 - i];")
    assert faults(of_c(good)) == []
    assert "reads t[0] at i=0" in faults(of_c(bad))[0]
    assert "reads t[3] at i=0" in faults(of_c(shifted))[0]
