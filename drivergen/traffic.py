"""What a way to use the accelerator moves: words, transfers, tiles and cache lines, for many tiles at once.

All figures are arrays of float64, one value a tile. Words, transfers and calls are exact for the
`published` and `coalesced` pipelines (a test holds them against simulations); lines and misses are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.isa import AcceleratorSpec
from axiloom.isa.framing import sent_words
from axiloom.isa.types import Opcode, Scope, Send

Array = npt.NDArray[np.float64]

LINE = 32
"""Bytes of a cache line of the boards' CPUs."""


@dataclass(frozen=True)
class Use:
    """One opcode of a flow: `depth` loops are around it, `run` is the number of its run of sends."""

    opcode: Opcode
    depth: int
    run: int


def uses(spec: AcceleratorSpec, flow: str) -> list[Use]:
    """The opcodes of a flow in their order. What follows each other without an answer or a loop is a run."""
    found: list[Use] = []
    loops = len(spec.dims)
    outer = loops - spec.flows[flow].depth
    run = 0

    def visit(scope: Scope, depth: int) -> None:
        nonlocal run
        for item in scope.items:
            if isinstance(item, Scope):
                run += 1
                visit(item, depth + 1)
                run += 1
                continue
            opcode = spec.opcodes[item]
            found.append(Use(opcode, depth, run))
            run += bool(opcode.receives)

    visit(spec.flows[flow], outer + 1)
    return found


@dataclass(frozen=True)
class Copies:
    """An operand's tiles between its matrix and the device; `loops` are around the opcode that moves it."""

    operand: str
    element: int
    """Bytes."""
    tiles: Array
    words: Array
    """Of the matrix, without padding; those of the stream are in `Traffic`."""
    rows: Array
    """Pieces of memory that are copied one by one."""
    lines: Array
    """Cache lines that hold them."""
    distinct: Array
    """Of these, the ones that are not touched for a second time."""
    between: Array
    """Bytes touched between two copies of one tile."""


@dataclass(frozen=True)
class Traffic:
    """Totals of a run."""

    words_in: Array
    words_out: Array
    opcodes: Array
    transfers_in: Array
    transfers_out: Array
    sends: tuple[Copies, ...]
    receives: tuple[Copies, ...]
    macs: Array
    """Cycles of the array, padding included."""
    last_macs: Array
    """Of these, cycles that a receive waits for: the compute before it has just begun."""


class Schedule:
    """A flow in an order of the loops, for a problem of `sizes` (by dim)."""

    def __init__(
        self, spec: AcceleratorSpec, flow: str, order: Sequence[str], sizes: Mapping[str, int]
    ) -> None:
        self.spec = spec
        self.order = tuple(order)
        self.sizes = dict(sizes)
        self.uses = uses(spec, flow)

    def traffic(self, tiles: Sequence[tuple[int, ...]], *, coalesced: bool = False) -> Traffic:
        """What runs with these tiles move; `coalesced`: a run of sends is one transfer where it fits."""
        spec = self.spec
        table = np.asarray(tiles, float).reshape(len(tiles), len(spec.dims))
        tile = {dim: table[:, i] for i, dim in enumerate(spec.dims)}
        trips = {dim: np.ceil(self.sizes[dim] / tile[dim]) for dim in spec.dims}
        zero = np.zeros(len(table))
        words_in, words_out, opcodes, macs, last = (
            zero.copy(),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            zero.copy(),
        )
        sends, receives = [], []
        transfers_out = zero.copy()
        for use in self.uses:
            count = prod((trips[dim] for dim in self.order[: use.depth]), start=zero + 1)
            opcodes += count
            words_in += count * self.words(use.opcode, tiles)
            cycles = tile["m"] * tile["n"] * tile["k"] / spec.macs
            if any(str(action) == "compute" for action in use.opcode.device):
                macs += count * cycles
            for operand in use.opcode.sends:
                sends.append(self._copies(operand, use.depth, tile, trips))
            for operand in use.opcode.receives:
                copies = self._copies(operand, use.depth, tile, trips)
                receives.append(copies)
                words_out += copies.tiles * prod((tile[d] for d in spec.data[operand]), start=zero + 1)
                transfers_out += copies.tiles
                last += count * cycles
        for name in spec.init_opcodes:
            words_in += sent_words(spec, spec.opcodes[name])
            opcodes += 1
        transfers_in = self._transfers(tiles, trips) if coalesced else opcodes
        return Traffic(
            words_in,
            words_out,
            opcodes,
            transfers_in,
            transfers_out,
            tuple(sends),
            tuple(receives),
            macs,
            last,
        )

    def words(self, opcode: Opcode, tiles: Sequence[tuple[int, ...]]) -> Array:
        """Stream words of one instruction, heads filled up."""
        spec = self.spec
        table = np.asarray(tiles, float).reshape(len(tiles), len(spec.dims))
        column = {dim: i for i, dim in enumerate(spec.dims)}
        heads = sent_words(spec, opcode) - sum(spec.operand_words(o) for o in opcode.sends)
        total = np.full(len(table), float(heads))
        for operand in opcode.sends:
            elements = prod((table[:, column[d]] for d in spec.data[operand]), start=np.ones(len(table)))
            total += elements / spec.operand_type(operand).per_word
        return total

    def _transfers(self, tiles: Sequence[tuple[int, ...]], trips: Mapping[str, Array]) -> Array:
        """MM2S transfers with the sends of a run joined as long as window and LENGTH hold them."""
        dma = self.spec.dma
        room = min(dma.input_buffer_size, (1 << dma.length_width) - 1) // 4
        total = np.full(len(tiles), float(len(self.spec.init_opcodes)))
        if len(self.spec.init_opcodes) > 1:
            total -= len(self.spec.init_opcodes) - 1
        filled = np.zeros(len(tiles))
        before: int | None = None
        for use in self.uses:
            if not any(isinstance(a, Send) or str(a).startswith("send") for a in use.opcode.host):
                continue
            words = self.words(use.opcode, tiles)
            begins = (filled + words > room) | (use.run != before)
            count = prod((trips[dim] for dim in self.order[: use.depth]), start=np.ones(len(tiles)))
            total += np.where(begins, count, 0)
            filled = np.where(begins, words, filled + words)
            before = use.run
        return total

    def _copies(
        self, operand: str, depth: int, tile: Mapping[str, Array], trips: Mapping[str, Array]
    ) -> Copies:
        spec, order = self.spec, self.order
        dims = spec.data[operand]
        element = spec.operand_type(operand).bits // 8
        around = order[:depth]
        others = [d for d in around if d not in dims]
        repeats = prod((trips[d] for d in others), start=np.ones_like(tile["m"]))
        outer, inner = dims[0], dims[-1]
        count = prod((trips[d] for d in dims), start=repeats)
        rows = self.sizes[outer] * trips[inner] * repeats
        elements = self.sizes[outer] * self.sizes[inner] * repeats
        length = np.minimum(tile[inner], self.sizes[inner]) * element
        aligned = (length % LINE == 0) & (self.sizes[inner] * element % LINE == 0)
        per_row = np.where(aligned, length / LINE, length / LINE + 1 - 4 / LINE)
        lines = rows * per_row
        return Copies(
            operand,
            element,
            count,
            elements * element / 4,
            rows,
            lines,
            np.minimum(lines, lines / repeats),
            self._between(others, tile),
        )

    def _between(self, others: Sequence[str], tile: Mapping[str, Array]) -> Array:
        """Bytes of all operands that the loops inside the one that repeats a tile go through."""
        if not others:
            return np.zeros_like(tile["m"])
        inside = self.order[self.order.index(others[-1]) + 1 :]
        total = np.zeros_like(tile["m"])
        for operand, dims in self.spec.data.items():
            size = self.spec.operand_type(operand).bits / 8
            extent = [np.full_like(tile["m"], self.sizes[d]) if d in inside else tile[d] for d in dims]
            total += prod(extent, start=np.ones_like(tile["m"])) * size
        return total
