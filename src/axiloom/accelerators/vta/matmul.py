"""A matrix product of int8 on VTA, requantised, written by hand: what lowered programs are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from axiloom.selection.program.program import Command, HostArray, Program

BLOCK = 16
_INPS, _ACCS, _WGTS = 2048, 2048, 1024


def matmul(
    m: int = 64, n: int = 64, k: int = 64, shift: int = 8, *, least: int = -128, half: bool = False
) -> Program:
    """``y = clip((a . b + bias) >> shift, least, 127)``: a is (m, k), y is (m, n), int8 row major; bias is
    (n,) int32; b lies in blocks (see :func:`blocks`), (n / 16, k / 16, 16, 16). `half`: sums are rounded to
    the nearest, not down.

    Everything is in VTA's memories at once. Raises ValueError where it does not fit them.
    """
    columns, depth = n // BLOCK, k // BLOCK
    if n % BLOCK or k % BLOCK or not 0 <= shift < BLOCK:
        raise ValueError(f"n and k must be multiples of {BLOCK}, shift below it, not {n}, {k}, {shift}")
    if m * depth > _INPS or m * columns > _ACCS or columns * depth > _WGTS:
        raise ValueError(f"a product of {m} x {n} x {k} does not fit the memories of VTA")
    arrays, at = [], 0
    for name, role, shape, kind in (
        ("a", "in", (m, k), "int8"),
        ("b", "in", (columns, depth, BLOCK, BLOCK), "int8"),
        ("bias", "in", (n,), "int32"),
        ("uops", "constant", (depth + 1,), "uint32"),
        ("y", "out", (m, n), "int8"),
    ):
        arrays.append(HostArray(name, role, shape, kind, at, "dram"))  # type: ignore[arg-type]
        size = int(np.prod(shape)) * (1 if kind == "int8" else 4)
        at += -(-size // BLOCK**2) * BLOCK**2
    a, b, bias, uops, y = (array.base for array in arrays)
    # A sum's micro-ops: inputs and weights of step k. Behind them one that takes an accumulator as it is.
    steps = np.array([step << 11 | step << 22 for step in range(depth)] + [0], np.uint32)

    rows = {"outer": m, "inner": columns, "dst_outer": columns, "dst_inner": 1}

    def alu(op: int, constant: int) -> Command:
        sums = {"first": depth, "last": depth + 1, **rows}
        return Command("alu", {**sums, "op": op, "immediate": 1, "constant": constant})

    commands = (
        Command("load_uop", {"sram": 0, "base": uops // 4, "rows": 1, "count": depth + 1}),
        Command("load_inp", {"sram": 0, "base": a // BLOCK, "rows": 1, "count": m * depth}),
        Command("load_wgt", {"sram": 0, "base": b // BLOCK**2, "rows": 1, "count": columns * depth}),
        # A stride of 0: each row of sums begins with the same bias.
        Command(
            "load_acc", {"sram": 0, "base": bias // (4 * BLOCK), "rows": m, "count": columns, "stride": 0}
        ),
        Command(
            "gemm",
            {"first": 0, "last": depth, **rows, "src_outer": depth, "wgt_inner": depth},
        ),
        *([alu(2, 1 << shift - 1)] if half and shift else []),
        alu(3, shift),
        alu(0, 127),
        alu(1, least),
        Command("store", {"sram": 0, "base": y // BLOCK, "rows": 1, "count": m * columns}),
        Command("finish", {}),
    )
    return Program("vta", f"matmul_{m}_{n}_{k}", commands, tuple(arrays), {"uops": steps})


def blocks(b: NDArray[np.int8]) -> NDArray[np.int8]:
    """A (k, n) matrix as VTA's weights: blocks of 16 x 16, each with its output lane first."""
    k, n = b.shape
    return b.reshape(k // BLOCK, BLOCK, n // BLOCK, BLOCK).transpose(2, 0, 3, 1).copy()
