"""What is decided about a program before its transfers are placed: which passes run, and the order of loops.

The answers are computed from the traits and the indexing maps of the annotated ops
(:mod:`axiloom.drivergen.nest.flow`); no pass runs for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import gcd, prod

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, Operation, SSAValue

from axiloom import isa
from axiloom.drivergen.dialects import queue
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.dialects.views import VIEWS, array_of, zero_fill
from axiloom.drivergen.match.trait import Trait, is_annotated
from axiloom.drivergen.nest.flow import Operand, Placed, Placement, received_once
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes
from axiloom.drivergen.nest.tile import Tile, begins_on
from axiloom.drivergen.passes.frontend.interchange import in_order
from axiloom.drivergen.passes.frontend.split import Part, View, parts
from axiloom.drivergen.passes.transfers.cache_tiling import CacheTiling
from axiloom.drivergen.passes.transfers.coalesce_loops import CoalesceLoops
from axiloom.drivergen.passes.transfers.pack_constants import LARGEST, begin_is_known
from axiloom.drivergen.passes.transfers.residency import Residency
from axiloom.drivergen.pipeline.pipelines import ORDERED, packets, transfer_passes
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Plan, Receive, Send, Span
from axiloom.plan.caches import Caches, nest_cost, queue_cost
from axiloom.plan.rewrite import resident, tiled
from axiloom.plan.tree import Move

Order = tuple[str, ...]

NOT_IN_PLACE = "no zero-copy: an operand cannot be read where it is"
SMALL = 4
"""A part of so many of all words."""


@dataclass(frozen=True)
class Decisions:
    """What the passes on transfers are told."""

    passes: tuple[str, ...]
    """Those of OPTIMISATIONS that run."""
    order: Order | None = None
    """Loops of every op, outermost first; None: each op keeps its own."""
    note: str | None = None
    """Why a pass that was asked for does not run."""


def decide(
    module: ModuleOp,
    spec: AcceleratorSpec | None,
    chosen: Sequence[str],
    caches: Caches,
    *,
    flow: str | None = None,
    ordered: bool = False,
) -> Decisions:
    """For the annotated ops of `module`. `flow` is the one asked for; `ordered`: so is the order of loops."""
    ops = [op for op in module.walk() if isinstance(op, linalg.GenericOp) and is_annotated(op)]
    passes, note = tuple(chosen), None
    if any(Trait.of(op).flow.depth > len(Trait.of(op).order) for op in ops):
        return Decisions(passes)  # accel-place-flow refuses it, and says why
    able = spec is None or spec.dma.scatter_gather  # if not, zero-copy itself says so
    width = spec.stream_width if spec else WORD_BITS
    if able and {"zero-copy", "coalesce"} <= set(passes) and not reads_in_place(ops, passes, width):
        passes, note = tuple(name for name in passes if name not in ("zero-copy", "tables")), NOT_IN_PLACE
    order = None
    if spec is not None and not ordered and any(name in passes for name in ORDERED):
        order = cheapest_order(ops, spec, flow or spec.selected_flow, passes, caches)
    return Decisions(passes, order, note)


# --- the order of loops -----------------------------------------------------------------------------


def cheapest_order(
    ops: Sequence[linalg.GenericOp], spec: AcceleratorSpec, flow: str, chosen: Sequence[str], caches: Caches
) -> Order | None:
    """The order of loops that costs least in packing and misses; the flow's first one among equals.

    None where there is no choice, or where the order was chosen with the tile: that of tiles without gaps.
    """
    orders = [
        loop_order
        for loop_order in isa.loop_orders(spec, flow)
        if all(_is_legal(op, spec, loop_order) for op in ops)
    ]
    if len(orders) < 2 or not spec.form.of_matrices or spec.in_place or spec.others:
        return None
    return min(orders, key=lambda order: sum(_cost(op, order, spec, chosen, caches) for op in ops))


def _is_legal(op: linalg.GenericOp, spec: AcceleratorSpec, order: Order) -> bool:
    """Does the op's own flow, which may be another one that rounds, compute a right result in that order?"""
    names = [name for name, flow in spec.flows.items() if flow == Trait.of(op).flow]
    return all(order in isa.loop_orders(spec, name) for name in names[:1])


def _cost(
    op: linalg.GenericOp, order: Order, spec: AcceleratorSpec, chosen: Sequence[str], caches: Caches
) -> float:
    trait = in_order(Trait.of(op), order)
    plan = in_loops(op, trait, chosen, caches)
    if "zero-copy" in chosen:
        return queue_cost(plan, spec.stream_width // WORD_BITS)
    how = packets(chosen) or CoalesceLoops(buffers=0)
    memory = caches if "cache-tiling" in chosen else None
    return float(nest_cost(plan, trait.dma, memory, buffers=how.buffers, keep=how.keep, loops=how.loops))


def in_loops(op: linalg.GenericOp, trait: Trait, chosen: Sequence[str], caches: Caches) -> Plan:
    """What an op moves with that trait, behind the passes that place its loops and loads."""
    (part,) = parts(op)
    plan = _plan(op, replace(part, trait=trait))
    for step in transfer_passes(chosen, caches=caches):
        if isinstance(step, CacheTiling) and (block := step.best(plan, trait.dma)):
            plan = tiled(plan, *block)
        if isinstance(step, Residency):
            plan = resident(plan, outermost=step.outermost)
    return plan


# --- in place ---------------------------------------------------------------------------------------


def reads_in_place(ops: Sequence[linalg.GenericOp], chosen: Sequence[str], stream_width: int) -> bool:
    """Does the DMA read all operands where they are, but for tiles at an edge?

    What is packed anyway is better kept in packets. Beside a constant, whose packing costs nothing now, the
    others may be a quarter of what is sent: the one row of a product with weights.
    """
    plans = [_plan(op, part, number, overlap=True) for op in ops for number, part in enumerate(parts(op))]
    plans = _with_packed_constants(ops, plans)
    if "residency" in chosen:
        plans = [resident(plan, outermost=True) for plan in plans]
    sent, copied = [], []
    for times, move in _transfers(plans):
        tile = _tile(move).flat()
        if isinstance(move, Receive):
            if tile.dense is not None:
                return False
            continue
        if tile.dense is not None and times is None:
            continue  # copied in front of all loops, since no descriptor expresses it
        sent.append((tile.words * (times or 1), move))
        if tile.way(stream_width // 8) == queue.THROUGH_WINDOW:
            if tile.dense is not None:
                return False
            copied.append(tile.words * (times or 1))
    constants = any(_is_constant(move.region.array) for _, move in sent)
    return sum(copied) <= (sum(words for words, _ in sent) // SMALL if constants else 0)


def _transfers(plans: Sequence[Plan]) -> Iterator[tuple[int | None, Send | Receive]]:
    """Every tile, and how often it is sent; None: once, in front of the loops."""
    for plan in plans:
        before = ((None, move) for command in plan.before for move in command.moves)
        inside = ((prod(plan.trips[: item.level + 1]), item.move) for item in plan.items)
        yield from (
            (times, move) for times, move in chain(before, inside) if isinstance(move, Send | Receive)
        )


def _tile(move: Send | Receive) -> Tile:
    assert isinstance(move.region, Placed)
    return move.region.tile


# --- constants --------------------------------------------------------------------------------------


def _with_packed_constants(ops: Sequence[linalg.GenericOp], plans: Sequence[Plan]) -> list[Plan]:
    """As accel-pack-constants leaves them: a tile of a packed array is one row."""
    packed = {array for array in _constants(ops) if _is_packed(array, plans)}

    def now(move: Move, trips: Mapping[str, int]) -> Move:
        if not isinstance(move, Send) or _array(move.region.array) not in packed:
            return move
        size = move.words * WORD_BITS // 8
        row = Tile((1, size), (0, 1), None, (1, size), (size, 1), 8, 0)
        moving = tuple((loop, size) for loop in sorted(move.loops) if trips[loop] > 1)
        array = _array(move.region.array)
        spans = Span(1, 1, (), size), Span(size, size, moving, 1)
        return Send(move.words, Placed(_Source(array, array), spans, (0, 1), 8, tile=row))

    trips = [{level.name: level.trips for level in plan.levels} for plan in plans]
    return [plan.each(partial(now, trips=own)) for plan, own in zip(plans, trips, strict=True)]


def _is_packed(array: SSAValue, plans: Sequence[Plan]) -> bool:
    """Is anything gained by packing, and is known now where each of its tiles is?"""
    sent = [
        (move, prod(level.trips for level in plan.levels if level.name in move.loops))
        for plan in plans
        for _, move in _transfers([plan])
        if isinstance(move, Send) and _array(move.region.array) is array
    ]
    tiles = [_tile(move) for move, _ in sent]
    if all(tile.is_one_piece for tile in tiles):
        return False
    known = all(tile.strides is not None and None not in tile.strides for tile in tiles)
    sources = [move.region.array for move, _ in sent]
    begins = all(begin_is_known(source.value) for source in sources if isinstance(source, _Source))
    return known and begins and all(trips <= LARGEST for _, trips in sent)


def _constants(ops: Sequence[linalg.GenericOp]) -> Iterator[SSAValue]:
    """Constant arguments that nothing but inputs of these ops uses."""
    arrays = {array_of(value) for op in ops for value in op.operands}
    for array in arrays:
        if _is_constant(_Source(array, array)) and all(
            op in ops and number < len(op.operands) - 1 for op, number in _users(array)
        ):
            yield array


def _users(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    """Of an array and of views of it."""
    for use in value.uses:
        if isinstance(use.operation, VIEWS):
            yield from _users(use.operation.results[0])
        else:
            yield use.operation, use.index


def _is_constant(source: object) -> bool:
    array = _array(source)
    function = array.owner.parent_op() if isinstance(array, BlockArgument) else None
    return (
        isinstance(array, BlockArgument)
        and isinstance(function, func.FuncOp)
        and CONSTANT in argument_attributes(function)[array.index]
    )


# --- ops as plans -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """Where the tiles of an operand come from."""

    array: SSAValue
    value: SSAValue
    """The operand, perhaps a view of the array; the array itself where that is packed."""
    part: tuple[View, int, int] | None = None
    """Of an operand that is cut: which part, of which one."""


def _array(source: object) -> SSAValue:
    assert isinstance(source, _Source)
    return source.array


def _plan(op: linalg.GenericOp, part: Part, number: int = 0, *, overlap: bool = False) -> Plan:
    """What part number `number` of an op moves."""
    maps = [attribute.data for attribute in op.indexing_maps]
    trips = [-(-size // tile) for size, tile in zip(part.sizes, part.trait.tile, strict=True)]
    overwrites = (
        part.trait.overwrites
        or requantises(op) is not None
        or (
            part.first
            and zero_fill(op, op.outputs[0]) is not None
            and received_once(part.trait, maps[-1], trips.__getitem__)
        )
    )
    operands = [
        _operand(value, view, (number, index))
        for index, (value, view) in enumerate(zip(op.operands, part.views, strict=True))
    ]
    return Placement(part.trait, maps, part.sizes, operands, overwrites=overwrites, overlap=overlap).plan()


def _operand(value: SSAValue, view: View | None, place: tuple[int, int]) -> Operand:
    kind = value.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    bits, begin = element_bits(kind), begins_on(value)
    if view is not None and strides is not None:
        starts = zip(view.starts, strides, strict=True)
        begin = gcd(begin, *(start * (stride or 1) * bits // 8 for start, stride in starts))
    return Operand(
        _Source(array_of(value), value, None if view is None else (view, *place)),
        tuple(kind.get_shape() if view is None else view.lengths),
        None if strides is None else tuple(strides),
        bits,
        begin,
    )
