"""A matrix product of int8 in blocks: ``y = requantise(a . b)``.

a is (M, K) and y (M, N), row major; b lies in blocks (N / 16, K / 16, 16, 16), output lane first
(:func:`axiloom.selection.program.matmul.blocks`); the bias is (N,) int32.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from axiloom.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.blocks.epilogue import Requantise
from axiloom.selection.blocks.host import Host
from axiloom.selection.blocks.sizes import Sizes, blocks_of, divisors
from axiloom.selection.program.program import Program


@dataclass(frozen=True)
class Tile:
    """`rows` of a, blocks of columns of b, blocks of what is summed."""

    rows: int
    columns: int
    depth: int


def lowered(m: int, n: int, k: int, isa: InstructionSet, requantise: Requantise | None = None) -> Program:
    """Raises CompileError for sizes that are no blocks."""
    sizes, requantise = Sizes.of(isa), requantise or Requantise()
    columns, depth = blocks_of("n", n, sizes.block), blocks_of("k", k, sizes.block)
    if m <= 0 or columns >= sizes.accs:
        raise CompileError(f"a product of {m} x {n} x {k}: m is positive, n below {sizes.accs * sizes.block}")
    tile = min(_tiles(m, columns, depth, sizes), key=lambda one: _cost(m, columns, depth, one, sizes))
    host, block = Host(sizes), sizes.block
    a = host.array("a", "in", (m, k), "int8") // block
    b = host.array("b", "in", (columns, depth, block, block), "int8") // block**2
    bias = host.array("bias", "in", (n,), "int32") // (4 * block) if requantise.bias else None
    y = host.array("y", "out", (m, n), "int8") // block
    pairs = itertools.product(range(tile.columns), range(tile.depth))
    steps = host.micro_ops([(column, step, column * tile.depth + step) for column, step in pairs])
    # The last accumulators are the bias, one for each block of columns.
    biases = sizes.accs - columns
    if bias is not None:
        host.add("load_acc", sram=biases, base=bias, rows=1, count=columns)
    for left in range(0, columns, tile.columns):
        sums = host.micro_ops([(one, biases + left + one, 0) for one in range(tile.columns)])

        def weights(first: int, left: int = left) -> None:
            base = b + left * depth + first
            host.add("load_wgt", sram=0, base=base, rows=tile.columns, count=tile.depth, stride=depth)

        if tile.depth == depth:
            weights(0)
        for top in range(0, m, tile.rows):
            rows = min(tile.rows, m - top)
            loops = {"outer": rows, "inner": 1, "dst_outer": tile.columns}
            host.add("gemm", **sums, **loops, reset=1)
            for first in range(0, depth, tile.depth):
                base = a + top * depth + first
                host.add("load_inp", sram=0, base=base, rows=rows, count=tile.depth, stride=depth)
                if tile.depth != depth:
                    weights(first)
                host.add("gemm", **steps, **loops, src_outer=tile.depth)
            requantise.emit(host, sums, loops)
            to = y + top * columns + left
            host.add("store", sram=0, base=to, rows=rows, count=tile.columns, stride=columns)
    return host.program(isa.name, f"matmul_{m}_{n}_{k}")


def _tiles(m: int, columns: int, depth: int, sizes: Sizes) -> Iterator[Tile]:
    for across, deep in itertools.product(divisors(columns), divisors(depth)):
        rows = min(m, (sizes.accs - columns) // across, sizes.inps // deep)
        if across * deep <= min(sizes.wgts, sizes.uops - columns) and rows > 0:
            yield Tile(rows, across, deep)


def _cost(m: int, columns: int, depth: int, tile: Tile, sizes: Sizes) -> tuple[int, int]:
    """Bytes that are loaded, then commands; steps are the same for all tiles."""
    down, across, deep = -(-m // tile.rows), columns // tile.columns, depth // tile.depth
    inputs = across * m * depth * sizes.block
    weights = (down if deep > 1 else 1) * across * deep * tile.columns * tile.depth * sizes.block**2
    return inputs + weights, across * down * deep
