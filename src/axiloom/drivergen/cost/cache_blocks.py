"""Which blocks the pass `accel-cache-tiling` will make, from sizes alone: no IR, for many tiles at once.

The rule is the pass's own (:mod:`axiloom.drivergen.passes.transfers.cache_tiling`,
:mod:`axiloom.drivergen.nest.locality`),
on arrays instead of a nest of ops; a test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np

from axiloom.drivergen.cost.packets import Packets, Staged, packets
from axiloom.drivergen.cost.selection import Tile
from axiloom.drivergen.cost.traffic import Array, Use, staged_of, tile_words
from axiloom.drivergen.nest import layout as packing
from axiloom.drivergen.nest.locality import MISS_CYCLES, WORTHWHILE, ZYNQ_7000, Caches, lines_brought
from axiloom.drivergen.nest.matrix import Matrix
from axiloom.isa import AcceleratorSpec

MATRICES = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Dims of rows and columns of the matrices in memory; operands may have them the other way round."""


@dataclass(frozen=True)
class Nest:
    """The loops of one flow, from outside in, for one tile or more (`tiles`; trips are arrays).

    `steps`: by how many tiles an iteration of a loop moves the dim in `order`.
    """

    spec: AcceleratorSpec
    sizes: Mapping[str, int]
    uses: Sequence[Use]
    order: tuple[str, ...]
    tiles: Sequence[Tile]
    trips: tuple[Array, ...]
    steps: tuple[Array, ...]

    @staticmethod
    def of(
        spec: AcceleratorSpec,
        sizes: Mapping[str, int],
        uses: Sequence[Use],
        order: Sequence[str],
        tiles: Sequence[Tile],
    ) -> Nest:
        by_dim = np.asarray(tiles, float).reshape(len(tiles), len(spec.dims))
        trips = tuple(np.ceil(sizes[dim] / by_dim[:, spec.dims.index(dim)]) for dim in order)
        return Nest(spec, sizes, uses, tuple(order), tiles, trips, tuple(np.ones_like(n) for n in trips))

    def blocked(self, loop: int, which: Sequence[int], counts: Array) -> Nest:
        """Of the tiles `which`: `loop` in blocks of `counts` iterations, which go round outside."""
        trips, steps = [n[which] for n in self.trips], [n[which] for n in self.steps]
        outer = trips[loop] / counts
        trips[loop] = counts
        return replace(
            self,
            uses=[replace(use, depth=use.depth + 1) for use in self.uses],
            order=(self.order[loop], *self.order),
            tiles=[self.tiles[i] for i in which],
            trips=(outer, *trips),
            steps=(counts, *steps),
        )

    def staged(self) -> list[Staged]:
        return staged_of(self.spec, self.uses, self.order, self.tiles)


class Block(NamedTuple):
    """Blocks of so many iterations of a loop; of one: it becomes the outermost."""

    loop: int
    iterations: int


def chosen(nest: Nest, *, buffers: int, caches: Caches = ZYNQ_7000) -> list[Block | None]:
    """The pass' change to each tile's nest if packets follow; None: no change. `nest`: before residency."""
    least = WORTHWHILE * _costs(nest, buffers, caches)
    best: list[Block | None] = [None] * len(nest.tiles)
    for loop, trips in enumerate(nest.trips):
        if loop:
            variants = [(i, count) for i, n in enumerate(trips) for count in _blocks(int(n))]
            if variants:
                which, counts = [i for i, _ in variants], np.array([float(count) for _, count in variants])
                costs = _costs(nest.blocked(loop, which, counts), buffers, caches)
                for (i, count), cost in zip(variants, costs, strict=True):
                    if cost < least[i]:
                        least[i], best[i] = cost, Block(loop, count)
        if any(use.depth == loop + 1 for use in nest.uses):
            break
    return best


def _blocks(trips: int) -> list[int]:
    return [count for count in range(1, trips) if trips % count == 0]


def _costs(nest: Nest, buffers: int, caches: Caches) -> Array:
    """As `locality.nest_cost` of each."""
    staged = nest.staged()
    found = packets(nest.trips, staged, nest.spec.dma, buffers=buffers)
    packed = sum((prod(nest.trips[: s.level + 1]) * s.words for s in staged), start=np.zeros(1))
    costs = np.where(found.found, found.cost(nest.trips, staged), packed * packing.WORD_CYCLES)
    alone = np.max([s.tile for s in staged], axis=0)
    window = np.where(found.found, found.window, alone) + 2 * _received(nest)
    moved = _moved(nest)
    for i in range(len(nest.tiles)):
        layout = _Layout(int(found.level[i]), bool(found.apart[i])) if found.found[i] else None
        trips = [int(n[i]) for n in nest.trips]
        lines = lines_brought(_matrices(nest, i, moved), trips, int(window[i]) * 4, caches, layout)
        costs[i] += MISS_CYCLES * lines
    return np.asarray(costs)


class _Layout(NamedTuple):
    level: int
    apart: bool


def _received(nest: Nest) -> Array:
    operands = [operand for use in nest.uses for operand in use.opcode.receives]
    words = [tile_words(nest.spec, operand, nest.tiles) for operand in operands]
    return np.asarray(np.max(words, axis=0)) if words else np.zeros(len(nest.tiles))


class _Moved(NamedTuple):
    """A tile that an opcode moves; the rest as in `Matrix`."""

    operand: str
    element: int
    level: int
    weight: int
    loops: tuple[frozenset[int], frozenset[int]]


def _moved(nest: Nest) -> list[_Moved]:
    found = []
    for use in nest.uses:
        around = list(enumerate(nest.order[: use.depth]))
        for operand in (*use.opcode.sends, *use.opcode.receives):
            rows, cols = (frozenset(i for i, dim in around if dim == own) for own in MATRICES[operand])
            weight = 2 if operand in use.opcode.receives else 1
            element = nest.spec.operand_type(operand).bits // 8
            found.append(_Moved(operand, element, use.depth - 1, weight, (rows, cols)))
    return found


def _matrices(nest: Nest, number: int, moved: Sequence[_Moved]) -> list[Matrix]:
    tile = dict(zip(nest.spec.dims, nest.tiles[number], strict=True))
    found = []
    for operand, size, level, weight, loops in moved:
        rows, cols = MATRICES[operand]
        shape = nest.sizes[rows], nest.sizes[cols]
        found.append(Matrix((tile[rows], tile[cols]), shape, shape[1] * size, size, loops, level, weight))
    return found


def packets_of(nest: Nest, *, buffers: int) -> Packets:
    """Those that accel-coalesce-loops makes of the nest."""
    return packets(nest.trips, nest.staged(), nest.spec.dma, buffers=buffers)
