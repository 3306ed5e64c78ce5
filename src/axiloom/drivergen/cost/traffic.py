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

from axiloom.drivergen.cost.packets import Staged
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.framing import sent_words
from axiloom.isa.contract.types import WORD_BITS, Load, Opcode, Scope, Send, SetDims, Skip

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LINE = 32
"""Bytes of a cache line of the boards' CPUs."""


@dataclass(frozen=True)
class Use:
    """One opcode of a flow: `depth` loops are around it, `run` is the number of its run of sends."""

    opcode: Opcode
    depth: int
    run: int
    behind: bool = False
    """Behind an inner loop of its scope."""


def only_loads(opcode: Opcode) -> bool:
    """Sent once more or less with the same tile, it makes no difference to the device."""
    return bool(opcode.sends) and all(isinstance(a, Load | SetDims | Skip) for a in opcode.device)


def resident(uses: Sequence[Use], order: Sequence[str], spec: AcceleratorSpec) -> list[Use]:
    """The uses after the pass `accel-residency`: loads in front of loops that do not move their tile."""
    moved = list(uses)
    for depth in range(len(order), 1, -1):
        for number, use in enumerate(moved):
            if use.depth != depth or use.behind:
                continue
            if not only_loads(use.opcode):
                break
            same = any(order[depth - 1] in spec.data[operand] for operand in use.opcode.sends)
            others = (o for i, o in enumerate(moved) if i != number and o.depth >= depth)
            if not same and not any(set(o.opcode.sends) & set(use.opcode.sends) for o in others):
                moved[number] = Use(use.opcode, depth - 1, use.run)
        moved.sort(key=lambda use: (use.behind, -use.depth if use.behind else use.depth))
    runs: list[Use] = []
    for use in moved:
        last = runs[-1] if runs else None
        joined = last and last.depth == use.depth and last.behind == use.behind and not last.opcode.receives
        run = last.run if last and joined else (last.run + 1 if last else 0)
        runs.append(Use(use.opcode, use.depth, run, use.behind))
    return runs


def uses(spec: AcceleratorSpec, flow: str) -> list[Use]:
    """The opcodes of a flow in their order. What follows each other without an answer or a loop is a run."""
    found: list[Use] = []
    loops = len(spec.dims)
    outer = loops - spec.flows[flow].depth
    run = 0

    def visit(scope: Scope, depth: int) -> None:
        nonlocal run
        behind = False
        for item in scope.items:
            if isinstance(item, Scope):
                run += 1
                visit(item, depth + 1)
                run += 1
                behind = True
                continue
            opcode = spec.opcodes[item]
            found.append(Use(opcode, depth, run, behind))
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
    own_between: Array
    """Of these, those of its own matrix."""
    edge: Array
    """Of the words, those in tiles that hang over the edge of their matrix."""
    padding: Array
    """Zeros beside them, in words of the stream."""
    whole_beats: bool
    """Rows of the matrix are whole beats of the stream: its tiles can be read where they are."""
    once: Mask
    """Results take the place of what was there."""


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


def head_words(spec: AcceleratorSpec, opcode: Opcode) -> int:
    """Words of an instruction besides its tiles."""
    return sent_words(spec, opcode) - sum(spec.operand_words(o) for o in opcode.sends)


def tile_words(spec: AcceleratorSpec, operand: str, tiles: Sequence[tuple[int, ...]]) -> Array:
    """`AcceleratorSpec.operand_words` of many tiles."""
    table = np.asarray(tiles, float).reshape(len(tiles), len(spec.dims))
    own = [spec.dims.index(dim) for dim in spec.data[operand]]
    return np.asarray(table[:, own].prod(axis=1) / spec.operand_type(operand).per_word)


def staged_of(
    spec: AcceleratorSpec, uses: Sequence[Use], order: Sequence[str], tiles: Sequence[tuple[int, ...]]
) -> list[Staged]:
    """What the opcodes stage, for :mod:`axiloom.drivergen.cost.packets`: `order` are the dims of the loops.

    The words of an opcode come in one, or in one for each tile that it sends.
    """
    found = []
    for use in uses:
        head, first = head_words(spec, use.opcode), True
        for operand in use.opcode.sends or (None,):
            moved = spec.data[operand] if operand else ()
            depends = frozenset(i for i, dim in enumerate(order[: use.depth]) if dim in moved)
            words = tile_words(spec, operand, tiles) if operand else np.zeros(len(tiles))
            begins = first and operand is not None
            receives = 0 if operand and not first else len(use.opcode.receives)
            found.append(
                Staged(
                    use.depth - 1,
                    use.behind,
                    head if first else 0,
                    words,
                    depends,
                    operand,
                    begins,
                    receives,
                )
            )
            first = False
    return found


class Schedule:
    """A flow in an order of the loops, for a problem of `sizes` (by dim); `residency` as the pass.

    Where results are fresh, a tile that hangs over an edge begins earlier and is whole (accel-overlap-edges).
    """

    def __init__(
        self,
        spec: AcceleratorSpec,
        flow: str,
        order: Sequence[str],
        sizes: Mapping[str, int],
        *,
        residency: bool = False,
        results: Results = ACCUMULATED,
    ) -> None:
        self.spec = spec
        self.results = results
        self.order = tuple(order)
        self.sizes = dict(sizes)
        self.uses = uses(spec, flow)
        if residency:
            self.uses = resident(self.uses, self.order, spec)

    def traffic(self, tiles: Sequence[tuple[int, ...]], *, coalesced: bool = False) -> Traffic:
        """What runs with these tiles move; `coalesced`: a run of sends is one transfer where it fits."""
        spec = self.spec
        tile, trips = self._by_dim(tiles)
        zero = np.zeros(len(tiles))
        words_in = words_out = opcodes = transfers_out = macs = last = zero
        sends, receives = [], []
        for use in self.uses:
            count = prod((trips[dim] for dim in self.order[: use.depth]), start=zero + 1)
            opcodes = opcodes + count
            words_in = words_in + count * self._words(use.opcode, tile)
            cycles = tile["m"] * tile["n"] * tile["k"] / spec.macs
            if any(str(action) == "compute" for action in use.opcode.device):
                macs = macs + count * cycles
            for operand in use.opcode.sends:
                sends.append(self._copies(operand, use.depth, tile, trips))
            for operand in use.opcode.receives:
                copies = self._copies(operand, use.depth, tile, trips)
                receives.append(copies)
                words_out = words_out + copies.tiles * self._operand_words(operand, tile)
                transfers_out = transfers_out + copies.tiles
                last = last + count * cycles
        for name in spec.init_opcodes:
            words_in = words_in + sent_words(spec, spec.opcodes[name])
            opcodes = opcodes + 1
        return Traffic(
            words_in,
            words_out,
            opcodes,
            self._transfers(tile, trips) if coalesced else opcodes,
            transfers_out,
            tuple(sends),
            tuple(receives),
            macs,
            last,
        )

    def _by_dim(self, tiles: Sequence[tuple[int, ...]]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Sizes of the tiles, and their numbers."""
        dims = self.spec.dims
        table = np.asarray(tiles, float).reshape(len(tiles), len(dims))
        tile = {dim: table[:, i] for i, dim in enumerate(dims)}
        return tile, {dim: np.ceil(self.sizes[dim] / tile[dim]) for dim in dims}

    def _operand_words(self, operand: str, tile: Mapping[str, Array]) -> Array:
        """Stream words of a tile: `AcceleratorSpec.operand_words` for many."""
        elements = prod((tile[dim] for dim in self.spec.data[operand]), start=np.ones_like(tile["m"]))
        return np.asarray(elements * self._bits(operand) / WORD_BITS)

    def _bits(self, operand: str) -> int:
        """Of an element in memory and on the stream."""
        rounded = self.results.bits if operand in self.spec.outputs else None
        return rounded or self.spec.operand_type(operand).bits

    def _once(self, tile: Mapping[str, Array], trips: Mapping[str, Array]) -> Mask:
        """Do results take their place, since each of them comes back once?"""
        found = np.full(len(tile["m"]), self.results.fresh)
        for use in self.uses:
            for operand in use.opcode.receives:
                others = (d for d in self.order[: use.depth] if d not in self.spec.data[operand])
                found &= prod((trips[d] for d in others), start=np.ones_like(tile["m"])) == 1
        return found

    def _words(self, opcode: Opcode, tile: Mapping[str, Array]) -> Array:
        """Stream words of an instruction, heads filled up."""
        head = np.full_like(tile["m"], head_words(self.spec, opcode))
        return sum((self._operand_words(operand, tile) for operand in opcode.sends), start=head)

    def staged(self, tiles: Sequence[tuple[int, ...]]) -> tuple[list[Array], list[Staged]]:
        """For :mod:`axiloom.drivergen.cost.packets`: trips of the loops from outside in, and what is
        staged."""
        _, trips = self._by_dim(tiles)
        return [trips[dim] for dim in self.order], staged_of(self.spec, self.uses, self.order, tiles)

    def _transfers(self, tile: Mapping[str, Array], trips: Mapping[str, Array]) -> Array:
        """MM2S transfers with the sends of a run joined as long as window and LENGTH hold them."""
        dma = self.spec.dma
        room = min(dma.input_buffer_size, (1 << dma.length_width) - 1) // 4
        total = np.full_like(tile["m"], bool(self.spec.init_opcodes))
        filled = np.zeros_like(total)
        before: int | None = None
        for use in self.uses:
            if not any(isinstance(a, Send) or str(a).startswith("send") for a in use.opcode.host):
                continue
            words = self._words(use.opcode, tile)
            begins = (filled + words > room) | (use.run != before)
            count = prod((trips[dim] for dim in self.order[: use.depth]), start=np.ones_like(total))
            total += np.where(begins, count, 0)
            filled = np.where(begins, words, filled + words)
            before = use.run
        return total

    def _copies(
        self, operand: str, depth: int, tile: Mapping[str, Array], trips: Mapping[str, Array]
    ) -> Copies:
        spec, order = self.spec, self.order
        dims = spec.data[operand]
        element, once = self._bits(operand) // 8, self._once(tile, trips)
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
            self._between(others, tile, list(spec.data)),
            self._between(others, tile, [operand]),
            repeats * self._edge_words(operand, tile, once),
            count * self._padding(operand, tile, trips, once),
            self.sizes[inner] * self._bits(operand) % spec.stream_width == 0,
            once,
        )

    def _edge_words(self, operand: str, tile: Mapping[str, Array], once: Mask) -> Array:
        dims = self.spec.data[operand]
        unit = np.ones_like(tile["m"])
        whole = prod(
            (
                np.where(self._overlaps(d, tile, once), self.sizes[d], self.sizes[d] // tile[d] * tile[d])
                for d in dims
            ),
            start=unit,
        )
        every = prod((self.sizes[d] for d in dims), start=unit)
        return np.asarray((every - whole) * self._bits(operand) / WORD_BITS)

    def _padding(
        self, operand: str, tile: Mapping[str, Array], trips: Mapping[str, Array], once: Mask
    ) -> Array:
        """Zeros beside what a tile holds, in words, on average."""
        held = prod(
            (
                np.where(self._overlaps(d, tile, once), 1.0, self.sizes[d] / (trips[d] * tile[d]))
                for d in self.spec.data[operand]
            ),
            start=np.ones_like(tile["m"]),
        )
        return np.asarray(self._operand_words(operand, tile) * (1 - held))

    def _overlaps(self, dim: str, tile: Mapping[str, Array], once: Mask) -> Mask:
        """Does a tile at the end of `dim` begin earlier, and lie on the one before it?"""
        result = any(dim in self.spec.data[operand] for operand in self.spec.outputs)
        return np.asarray(once & result & (self.sizes[dim] >= tile[dim]))

    def _between(self, others: Sequence[str], tile: Mapping[str, Array], operands: Sequence[str]) -> Array:
        """Bytes of `operands` that the loops inside the one that repeats a tile go through."""
        if not others:
            return np.zeros_like(tile["m"])
        inside = self.order[self.order.index(others[-1]) + 1 :]
        total = np.zeros_like(tile["m"])
        for operand in operands:
            dims = self.spec.data[operand]
            size = self._bits(operand) / 8
            extent = [np.full_like(tile["m"], self.sizes[d]) if d in inside else tile[d] for d in dims]
            total += prod(extent, start=np.ones_like(tile["m"])) * size
        return total
