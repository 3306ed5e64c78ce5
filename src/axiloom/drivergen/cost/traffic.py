"""What a way to use the accelerator moves: words, transfers, tiles and cache lines, for many tiles at once.

All figures are arrays, one value a tile, of a plan that is a family. Words, transfers and calls are exact for
the `published` and `coalesced` pipelines (a test holds them against simulations); lines and misses are
estimates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from axiloom.drivergen.cost.products import computes, family, product, regions, tile_of
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.framing import sent_words
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Plan, Receive, Region, Send, figures
from axiloom.plan.figures import commands
from axiloom.plan.numbers import Num, ceil_div, least, where
from axiloom.plan.rewrite import resident
from axiloom.plan.tree import Item

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LINE = 32
"""Bytes of a cache line of the boards' CPUs."""


@dataclass(frozen=True)
class Copies:
    """An operand's tiles between its matrix and the device."""

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


@dataclass(frozen=True)
class Schedule:
    """A flow in an order of the loops, for a problem of `sizes` (by dim); `residency` as the pass."""

    spec: AcceleratorSpec
    flow: str
    order: tuple[str, ...]
    sizes: Mapping[str, int]
    residency: bool = False
    results: Results = ACCUMULATED

    def plan(self, tile: Sequence[Num]) -> Plan:
        plan = product(self.spec, self.flow, self.order, self.sizes, tile, self.results)
        return resident(plan) if self.residency else plan

    def family(self, tiles: Sequence[tuple[int, ...]]) -> Plan:
        return self.plan(family(tiles))


def traffic(spec: AcceleratorSpec, plan: Plan, *, coalesced: bool = False) -> Traffic:
    """What the runs of a family move; `coalesced`: a run of sends is one transfer where it fits."""
    moved = figures(plan)
    init = [spec.opcodes[name] for name in spec.init_opcodes]
    number = moved.commands + len(init)
    cycles = prod(tile_of(spec, plan).values()) / spec.macs
    sends = (_copies(spec, plan, item, item.move) for item in plan.items if isinstance(item.move, Send))
    receives = (_copies(spec, plan, item, item.move) for item in plan.items if isinstance(item.move, Receive))
    return Traffic(
        moved.sent + sum(sent_words(spec, opcode) for opcode in init),
        moved.received,
        number,
        _transfers(spec, plan) if coalesced else number,
        moved.tiles,
        tuple(sends),
        tuple(receives),
        cycles * sum(times for command, times in commands(plan) if computes(spec, command)),
        cycles * moved.tiles,
    )


def _transfers(spec: AcceleratorSpec, plan: Plan) -> Num:
    """MM2S transfers with the sends of a run joined as long as window and LENGTH hold them.

    Commands that follow each other without an answer or a loop are a run.
    """
    room = min(spec.link.dma.input_buffer_size, (1 << spec.link.dma.length_width) - 1) // 4
    total: Num = int(bool(spec.init_opcodes))
    for number, level in enumerate(plan.levels):
        times = prod(plan.trips[: number + 1])
        for run in (level.pre, level.post):
            filled: Num | None = None
            for command in run:
                if not all(isinstance(move, Receive) for move in command.moves):
                    words = command.sent_words
                    begins = True if filled is None else filled + words > room
                    total = total + where(begins, times, 0)
                    filled = words if filled is None else where(begins, words, filled + words)
                if any(isinstance(move, Receive) for move in command.moves):
                    filled = None
    return total


def _copies(spec: AcceleratorSpec, plan: Plan, item: Item, move: Send | Receive) -> Copies:
    trips, region = plan.trips, move.region
    others = [loop for loop in range(item.level + 1) if loop not in item.moved]
    repeats = prod(trips[loop] for loop in others)
    outer, inner = region.spans[region.order[0]], region.spans[region.order[-1]]
    element = region.bits // 8
    count = repeats * prod(ceil_div(span.size, span.tile) for span in region.spans)
    rows = outer.size * ceil_div(inner.size, inner.tile) * repeats
    length = least(inner.tile, inner.size) * element
    aligned = (length % LINE == 0) & (inner.size * element % LINE == 0)
    lines = rows * np.where(aligned, length / LINE, length / LINE + 1 - 4 / LINE)
    inside = {level.name for level in plan.levels[others[-1] + 1 :]} if others else None

    def wide(value: Num) -> Array:
        return np.broadcast_to(value, plan.count or 1)

    return Copies(
        wide(count),
        wide(outer.size * inner.size * repeats * element / 4),
        wide(rows),
        wide(lines),
        wide(np.minimum(lines, lines / repeats)),
        wide(_between(regions(plan).values(), inside)),
        wide(_between([region], inside)),
        wide(repeats * _edge_words(region)),
        wide(count * _padding(region, move.words)),
        inner.size * region.bits % spec.link.stream_width == 0,
        np.broadcast_to(isinstance(move, Receive) and np.logical_not(move.add), plan.count or 1),
    )


def _edge_words(region: Region) -> Num:
    """Words of an array in tiles that hang over its edge."""
    whole = prod(where(span.shift, span.size, span.size // span.tile * span.tile) for span in region.spans)
    return (prod(span.size for span in region.spans) - whole) * region.bits / WORD_BITS


def _padding(region: Region, words: Num) -> Num:
    """Zeros beside what a tile holds, in words, on average."""
    held = (
        where(span.shift, 1.0, span.size / (ceil_div(span.size, span.tile) * span.tile))
        for span in region.spans
    )
    return words * (1 - prod(held))


def _between(some: Iterable[Region], inside: Collection[str] | None) -> Num:
    """Bytes of some arrays that the loops `inside` go through; None: no loop repeats a tile."""
    if inside is None:
        return 0
    return sum(
        prod(
            span.size if any(name in inside for name, _ in span.loops) else span.tile for span in region.spans
        )
        * region.bits
        / 8
        for region in some
    )
