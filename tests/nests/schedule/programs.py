"""Programs that the tests schedule, and what they compute."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from axiloom.isa.numerics.formats import format_of
from axiloom.nests.affine import oracle
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule

NUMBER = "int32"


def results(schedule: Schedule) -> dict[str, Any]:
    """The caller's arrays after the run, of the same inputs each time."""
    given = {
        each.name: np.random.default_rng(crc32(each.name.encode()))
        .integers(0, 1000, each.shape)
        .astype(format_of(each.number).numpy)
        for each in schedule.program.arrays
        if each.role.is_given
    }
    return {name: found.tolist() for name, found in oracle.execute(schedule, given).items()}


def gemm(rows: int = 7, columns: int = 7, depth: int = 7, number: str = NUMBER) -> Program:
    p = Builder("gemm")
    A, B = p.input("A", (rows, depth), number), p.input("B", (depth, columns), number)
    C = p.inout("C", (rows, columns), number)
    with p.loop("i", 0, rows) as i, p.loop("j", 0, columns) as j:
        C.set((i, j), C[i, j] * 3, "S1")
    with p.loop("i", 0, rows) as i, p.loop("j", 0, columns) as j, p.loop("k", 0, depth) as k:
        C.set((i, j), C[i, j] + A[i, k] * B[k, j], "S2")
    return p.program()


def two_mm(n: int = 200) -> Program:
    p = Builder("2mm")
    A, B, C = (p.input(name, (n, n), NUMBER) for name in "ABC")
    T, D = p.local("T", (n, n), NUMBER), p.inout("D", (n, n), NUMBER)
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j:
        T.set((i, j), 0, "S1")
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j, p.loop("k", 0, n) as k:
        T.set((i, j), T[i, j] + A[i, k] * B[k, j], "S2")
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j:
        D.set((i, j), D[i, j] * 3, "S3")
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j, p.loop("k", 0, n) as k:
        D.set((i, j), D[i, j] + T[i, k] * C[k, j], "S4")
    return p.program()


def seidel(steps: int = 4096, size: int = 4094) -> Program:
    p = Builder("seidel")
    A = p.inout("A", (size + 2, size + 2), NUMBER)
    with p.loop("t", 0, steps), p.loop("i", 0, size) as i, p.loop("j", 0, size) as j:
        total = A[i, j]
        for a in range(3):
            for b in range(3):
                total = total + A[i + a, j + b]
        A.set((i + 1, j + 1), total, "S1")
    return p.program()


def jacobi(steps: int = 4, size: int = 9) -> Program:
    p = Builder("jacobi")
    A, B = p.inout("A", (size + 2,), NUMBER), p.inout("B", (size + 2,), NUMBER)
    with p.loop("t", 0, steps):
        with p.loop("i", 0, size) as i:
            A.set((i + 1,), B[i] + B[i + 1] + B[i + 2], "S1")
        with p.loop("i", 0, size) as i:
            B.set((i + 1,), A[i] + A[i + 1] + A[i + 2], "S2")
    return p.program()


def stencil(rows: int = 7, columns: int = 9, cross: bool = False) -> Program:
    """A weighted sum over 3x3 elements, or over a cross of five."""
    p = Builder("stencil")
    A, B = p.input("A", (rows, columns), NUMBER), p.output("B", (rows - 2, columns - 2), NUMBER)
    places = [(a, b) for a in range(3) for b in range(3) if not cross or 1 in (a, b)]
    with p.loop("i", 0, rows - 2) as i, p.loop("j", 0, columns - 2) as j:
        total = A[i + places[0][0], j + places[0][1]] * 1
        for weight, (a, b) in enumerate(places[1:], 2):
            total = total + A[i + a, j + b] * weight
        B.set((i, j), total, "S1")
    return p.program()


def conv(stride: int = 1) -> Program:
    outs, ins, rows, columns, kernel = 2, 3, 4, 5, 3
    p = Builder("conv")
    size = stride * (rows - 1) + kernel, stride * (columns - 1) + kernel
    X, F = p.input("X", (ins, *size), NUMBER), p.input("F", (outs, ins, kernel, kernel), NUMBER)
    Y = p.inout("Y", (outs, rows, columns), NUMBER)
    with (
        p.loop("i", 0, ins) as i, p.loop("y", 0, rows) as y, p.loop("x", 0, columns) as x,
        p.loop("o", 0, outs) as o, p.loop("p", 0, kernel) as a, p.loop("q", 0, kernel) as b,
    ):  # fmt: skip
        Y.set((o, y, x), Y[o, y, x] + X[i, y * stride + a, x * stride + b] * F[o, i, a, b], "S1")
    return p.program()


def pair(first: int, second: int, size: int = 16, kind: str = "WAR") -> Program:
    """Two nests over i of which the first touches A[i + first] and the second A[i + second], with only a WAR,
    WAW or RAW dependence between them."""
    p = Builder(f"{kind} pair")
    A = p.inout("A", (size + 4,), NUMBER)
    B, C = p.inout("B", (size,), NUMBER), p.input("C", (size,), NUMBER)
    with p.loop("i", 0, size) as i:
        if kind == "WAR":
            B.set((i,), A[i + first], "S1")
        else:
            A.set((i + first,), C[i], "S1")
    with p.loop("i", 0, size) as i:
        if kind == "RAW":
            B.set((i,), A[i + second], "S2")
        else:
            A.set((i + second,), C[i] * 2, "S2")
    return p.program()
