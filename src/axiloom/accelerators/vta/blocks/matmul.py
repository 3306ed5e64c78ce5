"""A matrix product of int8 in blocks: ``y = requantise(a . b)``.

a is (M, K) and y (M, N), row major; b lies in blocks (N / 16, K / 16, 16, 16), output lane first
(:func:`axiloom.accelerators.vta.matmul.blocks`); the bias is (N,) int32.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.accelerators.vta.blocks.host import Host
from axiloom.accelerators.vta.blocks.prefetch import Halves, prefetched, waited
from axiloom.accelerators.vta.blocks.sizes import Sizes, blocks_of, divisors
from axiloom.base.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.program.program import Program

_COMMAND, _BEGIN = 100, 30
"""Cycles of the driver and the DMA for a command, about; of the device beside its work."""


@dataclass(frozen=True)
class Tile:
    """`rows` of a, blocks of columns of b, blocks of what is summed; how many such tiles there is room for at
    once, of `inputs`, `weights` and `sums`."""

    rows: int
    columns: int
    depth: int
    inputs: int = 1
    weights: int = 1
    sums: int = 1


def lowered(m: int, n: int, k: int, isa: InstructionSet, requantise: Requantise | None = None) -> Program:
    """Raises CompileError for sizes that are no blocks."""
    sizes, requantise = Sizes.of(isa), requantise or Requantise()
    columns, depth = blocks_of("n", n, sizes.block), blocks_of("k", k, sizes.block)
    if m <= 0 or columns >= sizes.accs:
        raise CompileError(f"a product of {m} x {n} x {k}: m is positive, n below {sizes.accs * sizes.block}")
    tile = min(
        _tiles(m, columns, depth, sizes), key=lambda tiling: _cost(m, columns, depth, tiling, requantise)
    )
    host, block = Host(sizes), sizes.block
    a = host.array("a", "in", (m, k), "int8") // block
    b = host.array("b", "in", (columns, depth, block, block), "int8") // block**2
    bias = host.array("bias", "in", (n,), "int32") // (4 * block) if requantise.bias else None
    y = host.array("y", "out", (m, n), "int8") // block
    # The last accumulators are the bias, one for each block of columns.
    biases = sizes.accs - columns
    inputs = Halves(tile.inputs, sizes.inps // tile.inputs)
    blocks = Halves(tile.weights, sizes.wgts // tile.weights)
    sums = Halves(tile.sums, biases // tile.sums)

    @cache
    def steps(to: int, source: int, weight: int) -> dict[str, int]:
        pairs = itertools.product(range(tile.columns), range(tile.depth))
        return host.micro_ops([(to + j, source + i, weight + j * tile.depth + i) for j, i in pairs])

    @cache
    def nothing(to: int) -> dict[str, int]:
        """Sums of 0. What a step reads counts for nothing: the last places, which loads mostly leave."""
        return host.micro_ops([(to + j, sizes.inps - 1, sizes.wgts - 1) for j in range(tile.columns)])

    @cache
    def biased(to: int, left: int) -> dict[str, int]:
        return host.micro_ops([(to + j, biases + left + j, 0) for j in range(tile.columns)])

    def weights(left: int, first: int) -> None:
        base = b + left * depth + first
        host.add("load_wgt", sram=blocks.next(), base=base, rows=tile.columns, count=tile.depth, stride=depth)

    if bias is not None:
        host.add("load_acc", sram=biases, base=bias, rows=1, count=columns)
    for left in range(0, columns, tile.columns):
        if tile.depth == depth:
            weights(left, 0)
        for top in range(0, m, tile.rows):
            rows, to = min(tile.rows, m - top), sums.next()
            loops = {"outer": rows, "inner": 1, "dst_outer": tile.columns}
            host.add("gemm", **nothing(to), **loops, reset=1)
            for first in range(0, depth, tile.depth):
                base = a + top * depth + first
                host.add("load_inp", sram=inputs.next(), base=base, rows=rows, count=tile.depth, stride=depth)
                if tile.depth != depth:
                    weights(left, first)
                host.add("gemm", **steps(to, inputs.now, blocks.now), **loops, src_outer=tile.depth)
            requantise.emit(host, biased(to, left), loops)
            store = y + top * columns + left
            host.add("store", sram=to, base=store, rows=rows, count=tile.columns, stride=columns)
    host.commands = prefetched(host.commands)
    return host.program(isa.name, f"matmul_{m}_{n}_{k}")


def _tiles(m: int, columns: int, depth: int, sizes: Sizes) -> Iterator[Tile]:
    """Of rows also fewer than fit: then there is more than one tile to overlap."""
    for across, deep in itertools.product(divisors(columns), divisors(depth)):
        for inputs, weights, sums in itertools.product((1, 2), repeat=3):
            most = min(m, (sizes.accs - columns) // sums // across, sizes.inps // inputs // deep)
            micro_ops = across * deep * inputs * weights * sums + (columns + across) * sums
            if across * deep > sizes.wgts // weights or micro_ops > sizes.uops or most <= 0:
                continue
            for parts in (1, 2, 4, 8):
                rows = -(-most // parts)
                yield Tile(rows, across, deep, inputs, weights, sums)


def _cost(m: int, columns: int, depth: int, tile: Tile, requantise: Requantise) -> int:
    """Cycles, about: a beat of 8 bytes and a step take one."""
    down, across, deep = -(-m // tile.rows), columns // tile.columns, depth // tile.depth
    inputs, weights = 2 * tile.rows * tile.depth, 32 * tile.columns * tile.depth
    vectors = tile.rows * tile.columns
    behind = vectors * requantise.cycles + (0 if tile.sums > 1 else 2 * vectors)
    loads, waits, hidden = waited((tile.inputs, inputs), *[(tile.weights, weights)] * (deep > 1))
    commands = deep * (loads + 1) + requantise.commands + 2
    turn = max(deep * hidden, deep * vectors * tile.depth + behind, _COMMAND * commands)
    turn += deep * waits + _BEGIN * commands
    # The first tiles are loaded and the last ones stored with nothing beside.
    ends = inputs + (across if deep == 1 and tile.weights == 1 else 1) * weights + 2 * vectors
    micro_ops = tile.columns * tile.depth * tile.inputs * tile.sums
    return across * down * turn + ends + micro_ops
