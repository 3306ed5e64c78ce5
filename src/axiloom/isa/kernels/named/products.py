"""Products: matrices, vectors, batches, and transposed operands."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, REDUCTION, Kernel


def _product(name: str, a: str, b: str, c: str, *titles: str) -> Kernel:
    """`a`, `b`, `c`: the dims of the operands, a letter each, row major."""
    loops = dict.fromkeys([*c, *(d for d in a + b if d not in c)])
    return Kernel(
        name,
        {loop: PARALLEL if loop in c else REDUCTION for loop in loops},
        {operand: {dim: dim for dim in dims} for operand, dims in (("A", a), ("B", b), ("C", c))},
        "C + A * B",
        titles,
    )


KERNELS = (
    _product("linalg.matmul", "mk", "kn", "mn", "matmul"),
    _product("linalg.matmul_transpose_a", "km", "kn", "mn"),
    _product("linalg.matmul_transpose_b", "mk", "nk", "mn"),
    _product("linalg.batch_matmul", "bmk", "bkn", "bmn"),
    _product("linalg.matvec", "mk", "k", "m"),
    _product("linalg.vecmat", "k", "kn", "n"),
    _product("linalg.dot", "k", "k", ""),
)
