"""What is decided about a program before its transfers are placed: which passes run, and the order of loops.

The answers are computed from the traits and the indexing maps of the annotated ops
(:mod:`axiloom.drivergen.nest.flow`); no pass runs for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg

from axiloom import isa
from axiloom.drivergen.dialects import queue
from axiloom.drivergen.match.trait import Trait, is_annotated
from axiloom.drivergen.nest.annotated import operand, part_of, placement, source_of
from axiloom.drivergen.nest.constants import in_rows, is_constant, packable
from axiloom.drivergen.nest.flow import placed
from axiloom.drivergen.passes.frontend.interchange import in_order
from axiloom.drivergen.passes.frontend.split import Part, parts
from axiloom.drivergen.pipeline.pipelines import ORDERED, placing
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Plan, Receive, Send
from axiloom.plan.caches import Caches, nest_cost, queue_cost
from axiloom.plan.rewrite import resident

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
    traits = [Trait.of(op) for op in ops]
    passes, note = tuple(chosen), None
    if any(trait.flow.depth > len(trait.order) for trait in traits):
        return Decisions(passes)  # accel-place refuses it, and says why
    able = all(trait.dma.scatter_gather for trait in traits)  # if not, accel-place says so
    if able and {"zero-copy", "coalesce"} <= set(passes) and not reads_in_place(ops, passes):
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
    if len(orders) < 2 or not spec.form.of_matrices or spec.in_place or len(spec.parts) > 1:
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
        return queue_cost(plan, spec.link.stream_width // WORD_BITS)
    how = placing(chosen)
    memory = caches if "cache-tiling" in chosen else None
    return float(nest_cost(plan, trait.dma, memory, buffers=how.buffers, keep=how.keep, loops=how.loops))


def in_loops(op: linalg.GenericOp, trait: Trait, chosen: Sequence[str], caches: Caches) -> Plan:
    """What an op moves with that trait, behind the passes that place its loops and loads."""
    (part,) = parts(op)
    return placing(chosen, caches).changed(_plan(op, replace(part, trait=trait)), trait.dma)


# --- in place ---------------------------------------------------------------------------------------


def reads_in_place(ops: Sequence[linalg.GenericOp], chosen: Sequence[str]) -> bool:
    """Does the DMA read all operands where they are, but for tiles at an edge?

    What is packed anyway is better kept in packets. Beside a constant, whose packing costs nothing now, the
    others may be a quarter of what is sent: the one row of a product with weights.
    """
    every = [(op, number, part) for op in ops for number, part in enumerate(parts(op))]
    plans = [_plan(op, part, number, overlap=True) for op, number, part in every]
    beats = [part.trait.stream_width // 8 for _, _, part in every]
    for array in packable(ops, plans):
        plans = in_rows(array, plans)
    if "residency" in chosen:
        plans = [resident(plan, outermost=True) for plan in plans]
    sent, copied = [], []
    for beat, times, move in _transfers(plans, beats):
        tile = placed(move).flat
        if isinstance(move, Receive):
            if tile.dense is not None:
                return False
            continue
        if tile.dense is not None and times is None:
            continue  # copied in front of all loops, since no descriptor expresses it
        sent.append((tile.words * (times or 1), move))
        if tile.way(beat) == queue.THROUGH_WINDOW:
            if tile.dense is not None:
                return False
            copied.append(tile.words * (times or 1))
    constants = any(is_constant(source_of(move.region).array) for _, move in sent)
    return sum(copied) <= (sum(words for words, _ in sent) // SMALL if constants else 0)


def _transfers(
    plans: Sequence[Plan], beats: Sequence[int]
) -> Iterator[tuple[int, int | None, Send | Receive]]:
    """Every tile, with bytes of a beat, and how often it is sent; None: once, in front of the loops."""
    for plan, beat in zip(plans, beats, strict=True):
        before = ((None, move) for command in plan.before for move in command.moves)
        inside = ((prod(plan.trips[: item.level + 1]), item.move) for item in plan.items)
        yield from (
            (beat, times, move) for times, move in chain(before, inside) if isinstance(move, Send | Receive)
        )


# --- ops as plans -----------------------------------------------------------------------------------


def _plan(op: linalg.GenericOp, part: Part, number: int = 0, *, overlap: bool = False) -> Plan:
    """What part number `number` of an op moves."""
    operands = [
        operand(value)
        if view is None
        else part_of(operand(value), view.starts, view.lengths, (view, number, index))
        for index, (value, view) in enumerate(zip(op.operands, part.views, strict=True))
    ]
    return placement(
        op, part.trait, overlap=overlap, lengths=part.sizes, operands=operands, first=part.first
    ).plan()
