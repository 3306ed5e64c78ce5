"""POM's products of matrices and vectors. What POM leaves without contents begins as zeros here."""

from __future__ import annotations

from axiloom.nests.program import Program
from axiloom.nests.program.builder import ArrayOf, Builder


def _zero(p: Builder, array: ArrayOf) -> None:
    rows, columns = array.array.shape
    with p.loop("i", 0, rows) as i, p.loop("j", 0, columns) as j:
        array[i, j] = 0.0


def _product(p: Builder, C: ArrayOf, A: ArrayOf, B: ArrayOf, alpha: ArrayOf | None = None) -> None:
    """C += (alpha*A)*B."""
    (rows, inner), columns = A.array.shape, B.array.shape[1]
    with p.loop("i", 0, rows) as i, p.loop("j", 0, columns) as j, p.loop("k", 0, inner) as k:
        C[i, j] += (A[i, k] if alpha is None else alpha * A[i, k]) * B[k, j]


def _scale(p: Builder, array: ArrayOf, by: ArrayOf) -> None:
    rows, columns = array.array.shape
    with p.loop("i", 0, rows) as i, p.loop("j", 0, columns) as j:
        array[i, j] *= by


def gemm(n: int = 4096) -> Program:
    p = Builder("gemm")
    alpha, beta = p.input("alpha"), p.input("beta")
    A, B, C = p.input("A", (n, n)), p.input("B", (n, n)), p.inout("C", (n, n))
    _scale(p, C, beta)
    _product(p, C, A, B, alpha)
    return p.program()


def bicg(n: int = 4096) -> Program:
    p = Builder("bicg")
    A, r, x = p.input("A", (n, n)), p.input("r", (n,)), p.input("p", (n,))
    s, q = p.output("s", (n,)), p.output("q", (n,))
    with p.loop("i", 0, n) as i:
        s[i] = 0.0
        q[i] = 0.0
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j:
        s[j] += A[i, j] * r[i]
        q[i] += A[i, j] * x[j]
    return p.program()


def gesummv(n: int = 4096) -> Program:
    p = Builder("gesummv")
    alpha, beta = p.input("alpha"), p.input("beta")
    A, B, x = p.input("A", (n, n)), p.input("B", (n, n)), p.input("x", (n,))
    temp, y = p.local("temp", (n,)), p.output("y", (n,))
    with p.loop("i", 0, n) as i:
        temp[i] = 0.0
        y[i] = 0.0
    with p.loop("i", 0, n) as i, p.loop("j", 0, n) as j:
        temp[i] += A[i, j] * x[j]
        y[i] += B[i, j] * x[j]
    with p.loop("i", 0, n) as i:
        y[i] = alpha * temp[i] + beta * y[i]
    return p.program()


def two_mm(n: int = 4096) -> Program:
    """POM begins `temp` with a constant that its host never sets: zeros here."""
    p = Builder("two_mm")
    alpha, beta = p.input("alpha"), p.input("beta")
    A, B, C = (p.input(name, (n, n)) for name in "ABC")
    D, temp = p.inout("D", (n, n)), p.local("temp", (n, n))
    _zero(p, temp)
    _product(p, temp, A, B, alpha)
    _scale(p, D, beta)
    _product(p, D, temp, C)
    return p.program()


def three_mm(n: int = 4096) -> Program:
    p = Builder("three_mm")
    A, B, C, D = (p.input(name, (n, n)) for name in "ABCD")
    E, F, G = p.local("E", (n, n)), p.local("F", (n, n)), p.output("G", (n, n))
    for target, left, right in ((E, A, B), (F, C, D), (G, E, F)):
        _zero(p, target)
        _product(p, target, left, right)
    return p.program()
