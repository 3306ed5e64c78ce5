"""POM's stencils. They are in bounds; borders keep the contents that the caller gives."""

from __future__ import annotations

from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.values import Value


def jacobi_1d(n: int = 4096, steps: int = 4096) -> Program:
    p = Builder("jacobi_1d")
    A, B = p.inout("A", (n,)), p.inout("B", (n,))
    with p.loop("t", 0, steps):
        for target, source in ((A, B), (B, A)):
            with p.loop("i", 0, n - 2) as i:
                target[i + 1] = (source[i] + source[i + 1] + source[i + 2]) * 0.33333
    return p.program()


def jacobi_2d(n: int = 4096, steps: int = 4096) -> Program:
    p = Builder("jacobi_2d")
    A, B = p.inout("A", (n, n)), p.inout("B", (n, n))
    with p.loop("t", 0, steps):
        for target, s in ((B, A), (A, B)):
            with p.loop("i", 0, n - 2) as i, p.loop("j", 0, n - 2) as j:
                total = s[i + 1, j + 1] + s[i + 1, j] + s[i + 1, j + 2] + s[i + 2, j + 1] + s[i, j + 1]
                target[i + 1, j + 1] = total * 0.2
    return p.program()


def heat(n: int = 4096, steps: int = 4096) -> Program:
    """As POM has it: the second difference, without the value itself. B is copied from A."""
    p = Builder("heat")
    A, B = p.inout("A", (n,)), p.inout("B", (n,))
    with p.loop("t", 0, steps):
        with p.loop("i", 0, n - 2) as i:
            A[i + 1] = (B[i] - 2.0 * B[i + 1] + B[i + 2]) * 0.125
        with p.loop("i", 0, n - 2) as i:
            B[i + 1] = A[i + 1]
    return p.program()


def seidel(n: int = 4096, steps: int = 4096) -> Program:
    """Nine points, in place, in POM's order of sums. POM's schedule of it is illegal; the program is not."""
    p = Builder("seidel")
    A = p.inout("A", (n, n))
    rest = [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    with p.loop("t", 0, steps), p.loop("i", 0, n - 2) as i, p.loop("j", 0, n - 2) as j:
        total: Value = A[i, j + 1]
        for y, x in rest:
            total = total + A[i + y, j + x]
        A[i + 1, j + 1] = total / 9.0
    return p.program()
