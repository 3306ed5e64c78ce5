"""What the driver of a candidate will do, as numbers: loops, packets or a queue, what each opcode stages.

A plan is enough to go through the driver step by step (`axiloom.cosim.replay`): it is made from sizes, by the
rules of the passes, for many candidates at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from axiloom.drivergen.cost.cache_blocks import MATRICES, Nest, chosen, packets_of
from axiloom.drivergen.cost.leaving import Leaving, leaving_of
from axiloom.drivergen.cost.packets import Packets
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.cost.selection import sizes as sizes_of
from axiloom.drivergen.cost.traffic import Use, head_words, resident, uses
from axiloom.drivergen.dialects.table import MOST
from axiloom.drivergen.nest.results import Results
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS

BUFFERS = 2
"""Places that packets take turns in: the pass accel-double-buffer."""
MATRICES_AT = {False: 0x108080, True: 0x1084C0}
"""Where the arrays of a bare-metal program begin; with scatter-gather behind the queue's."""
LINE = 32
RESULT = "C"
ADDED, COPIED, WRITTEN = range(3)
"""The CPU adds a tile to its place, or copies it there; or the DMA writes it there."""


@dataclass(frozen=True)
class Operand:
    """A matrix, and how tiles of it are moved.

    Strides in elements, `element` in bytes, `base` an address; `row_step`, `col_step`: by how many tiles an
    iteration of each loop moves it; `words`: of a tile on the stream. `overlap_rows`, `overlap_cols`: a tile
    that hangs over that edge begins earlier. `taken`: how a tile of results gets there (`ADDED` and so on).
    """

    base: int
    element: int
    row_stride: int
    col_stride: int
    rows: int
    cols: int
    tile_rows: int
    tile_cols: int
    row_step: tuple[int, ...]
    col_step: tuple[int, ...]
    words: int
    overlap_rows: bool = False
    overlap_cols: bool = False
    taken: int = 0


@dataclass(frozen=True)
class Stage:
    """What an opcode stages for one tile: words of a head, the tile; cycles it computes; what comes back.

    Operands are numbers, -1 for none. Bit l of `moved_by`: loop l changes the tile. `leaving` is of a result.
    """

    level: int
    behind: bool
    head: int
    operand: int
    compute: int
    receives: int
    moved_by: int
    leaving: Leaving


@dataclass(frozen=True)
class Plan:
    """Loops from outside in. Packets as :class:`axiloom.drivergen.cost.packets.Packets`; none with
    `queued`."""

    trips: tuple[int, ...]
    queued: bool
    level: int
    count: int
    chunks: int
    apart: bool
    copies: int
    parts: int
    operands: tuple[Operand, ...]
    stages: tuple[Stage, ...]
    tabled: bool = False
    """The queue is a table of descriptors."""


def plans(
    spec: AcceleratorSpec,
    problem: Problem,
    among: Iterable[Candidate],
    *,
    queued: bool,
    tables: bool = True,
) -> dict[Candidate, Plan]:
    """Those of the candidates whose transfers overlap; `queued`: with zero copy, else with packets.

    `tables`: a queue that can be a table of descriptors is one. In a network's driver it is none.
    """
    if set(spec.data) != set(MATRICES):
        return {}
    groups: dict[tuple[str, tuple[str, ...]], list[Candidate]] = {}
    for one in among:
        groups.setdefault((one.flow, one.order), []).append(one)
    named = dict(zip(spec.dims, sizes_of(spec, problem), strict=True))
    found: dict[Candidate, Plan] = {}
    for (flow, order), group in groups.items():
        nest = Nest.of(spec, named, uses(spec, flow), order, [one.tile for one in group])
        for one, plan in zip(group, _plans(nest, queued, problem.results), strict=True):
            if plan:
                found[one] = plan if tables else replace(plan, tabled=False)
    return found


def _plans(nest: Nest, queued: bool, results: Results) -> list[Plan | None]:
    """Of each tile; those that cache tiling leaves alone together, the others one by one."""
    found: list[Plan | None] = [None] * len(nest.tiles)
    blocks = [None] * len(nest.tiles) if queued else chosen(nest, buffers=BUFFERS)
    plain = [i for i, block in enumerate(blocks) if block is None]
    some = replace(
        nest,
        tiles=[nest.tiles[i] for i in plain],
        trips=tuple(n[plain] for n in nest.trips),
        steps=tuple(n[plain] for n in nest.steps),
    )
    parts = [(plain, some)] if plain else []
    for i, block in enumerate(blocks):
        if block is None:
            continue
        if block.iterations == 1:
            order = (nest.order[block.loop], *(d for d in nest.order if d != nest.order[block.loop]))
            parts.append(([i], Nest.of(nest.spec, nest.sizes, nest.uses, order, [nest.tiles[i]])))
        else:
            parts.append(([i], nest.blocked(block.loop, [i], np.array([float(block.iterations)]))))
    for which, one in parts:
        final = replace(one, uses=resident(one.uses, one.order, one.spec))
        packets = Packets.steps(final.trips) if queued else packets_of(final, buffers=BUFFERS)
        for number, i in enumerate(which):
            if queued or packets.found[number]:
                found[i] = _plan(final, number, packets, queued, results)
    return found


def _plan(nest: Nest, number: int, packets: Packets, queued: bool, results: Results) -> Plan:
    # Copying drivers are taken to add: they are hardly ever chosen where results are fresh.
    if not queued or not _once(nest, number):
        results = replace(results, fresh=False)
    names = list(nest.spec.data)
    tile = dict(zip(nest.spec.dims, nest.tiles[number], strict=True))
    plan = Plan(
        tuple(int(n[number]) for n in nest.trips),
        queued,
        int(packets.level[number]),
        int(packets.count[number]),
        int(packets.chunks[number]),
        bool(packets.apart[number]),
        int(packets.copies[number]),
        int(packets.parts[number]),
        _operands(nest, number, tile, results),
        tuple(stage for use in nest.uses for stage in _stages(nest, use, tile, names)),
    )
    return replace(plan, tabled=_is_table(nest.spec, plan))


def _once(nest: Nest, number: int) -> bool:
    """Does each result come back once?"""
    return all(
        nest.trips[loop][number] == 1
        for use in nest.uses
        for operand in use.opcode.receives
        for loop, dim in enumerate(nest.order[: use.depth])
        if dim not in nest.spec.data[operand]
    )


def _operands(nest: Nest, number: int, tile: Mapping[str, int], results: Results) -> tuple[Operand, ...]:
    spec, sizes = nest.spec, nest.sizes
    base = MATRICES_AT[spec.dma.scatter_gather]
    found = []
    for operand, (outer, inner) in spec.data.items():
        rows, cols = MATRICES[operand]
        output = operand in spec.outputs
        bits = (results.bits if output else None) or spec.operand_type(operand).bits
        overlaps = {
            dim: results.fresh and dim in spec.data[RESULT] and sizes[dim] >= tile[dim]
            for dim in (outer, inner)
        }
        across = (outer, inner) == (rows, cols)
        steps = [(dim, int(step[number])) for dim, step in zip(nest.order, nest.steps, strict=True)]
        found.append(
            Operand(
                base,
                bits // 8,
                sizes[cols] if across else 1,
                1 if across else sizes[cols],
                sizes[outer],
                sizes[inner],
                tile[outer],
                tile[inner],
                tuple(step if dim == outer else 0 for dim, step in steps),
                tuple(step if dim == inner else 0 for dim, step in steps),
                tile[outer] * tile[inner] * bits // WORD_BITS,
                overlaps[outer],
                overlaps[inner],
                _taken(sizes[cols] * bits, spec.stream_width) if output and results.fresh else ADDED,
            )
        )
        base += -(-sizes[rows] * sizes[cols] * bits // 8 // LINE) * LINE
    return tuple(found)


def _taken(row_bits: int, stream_width: int) -> int:
    """The DMA writes rows of whole beats."""
    return COPIED if row_bits % stream_width else WRITTEN


def _stages(nest: Nest, use: Use, tile: Mapping[str, int], names: Sequence[str]) -> list[Stage]:
    spec, opcode = nest.spec, use.opcode
    found = []
    sends = opcode.sends or (None,)
    for number, operand in enumerate(sends):
        last = number == len(sends) - 1
        computes = last and any(str(action) == "compute" for action in opcode.device)
        moved = spec.data[operand] if operand else ()
        found.append(
            Stage(
                use.depth - 1,
                use.behind,
                0 if number else head_words(spec, opcode),
                names.index(operand) if operand else -1,
                tile["m"] * tile["n"] * tile["k"] // spec.macs if computes else 0,
                names.index(opcode.receives[0]) if last and opcode.receives else -1,
                sum(1 << i for i, dim in enumerate(nest.order[: use.depth]) if dim in moved),
                leaving_of(spec, tile),
            )
        )
    return found


def in_order(plan: Plan) -> Iterator[Stage]:
    """As the driver stages them: a loop's own in front of its inner loops, and behind them."""
    loops = len(plan.trips)
    ends = [tuple(n - 1 for n in plan.trips[level + 1 :]) for level in range(loops)]
    for now in product(*(range(n) for n in plan.trips)):
        for level in range(loops):
            if not any(now[level + 1 :]):
                yield from (stage for stage in plan.stages if stage.level == level and not stage.behind)
        for level in reversed(range(loops)):
            if now[level + 1 :] == ends[level]:
                yield from (stage for stage in plan.stages if stage.level == level and stage.behind)


def _is_table(spec: AcceleratorSpec, plan: Plan) -> bool:
    """Whether the queue becomes a table of descriptors, as the pass accel-to-table has it."""
    if not (plan.queued and spec.dma.coherent) or prod(plan.trips) > MOST:
        return False
    sent = {stage.operand for stage in plan.stages if stage.operand >= 0}
    if not all(_whole(operand) for number, operand in enumerate(plan.operands) if number in sent):
        return False
    sends = receives = 0
    words = False
    for stage in in_order(plan):
        words = words or stage.head > 0
        receives += stage.receives >= 0
        if stage.operand >= 0:
            sends += 1 + words
            words = False
    return sends + words <= MOST and 0 < receives <= MOST


def _whole(operand: Operand) -> bool:
    """Are all its tiles whole, so that none is packed?"""
    return (operand.overlap_rows or operand.rows % operand.tile_rows == 0) and (
        operand.overlap_cols or operand.cols % operand.tile_cols == 0
    )
