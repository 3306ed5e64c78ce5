"""What the driver of a candidate will do: the plan of its product, in packets or in a queue.

A plan is enough to go through the driver step by step (`axiloom.cosim.replay`): it is made from sizes, by the
rules of the passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import prod

from axiloom.drivergen.cost.products import MATRICES, family, product
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.cost.selection import sizes as sizes_of
from axiloom.drivergen.dialects.table import MOST
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import DmaConfig
from axiloom.plan import Plan, Queue, Receive, Send, Window
from axiloom.plan.blocks import best
from axiloom.plan.caches import ZYNQ_7000, nest_cost
from axiloom.plan.figures import in_order
from axiloom.plan.packets import choose
from axiloom.plan.rewrite import resident, tiled

BUFFERS = 2
"""Places that packets take turns in."""


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
    for candidate in among:
        groups.setdefault((candidate.flow, candidate.order), []).append(candidate)
    sizes = dict(zip(spec.dims, sizes_of(spec, problem), strict=True))
    # Copying drivers are taken to add: they are hardly ever chosen where results are fresh.
    results = problem.results if queued else replace(problem.results, fresh=False)
    cost = partial(nest_cost, dma=spec.link.dma, caches=ZYNQ_7000, buffers=BUFFERS, keep=True)
    found: dict[Candidate, Plan] = {}
    for (flow, order), group in groups.items():
        every = product(spec, flow, order, sizes, family([candidate.tile for candidate in group]))
        blocks = [None] * len(group) if queued else best(every, cost)
        for candidate, block in zip(group, blocks, strict=True):
            plan = product(spec, flow, order, sizes, candidate.tile, results)
            plan = resident(tiled(plan, *block) if block else plan)
            sent = _queued(plan, spec.link.dma, tables=tables) if queued else _packed(plan, spec.link.dma)
            if sent:
                found[candidate] = sent
    return found


def _packed(plan: Plan, dma: DmaConfig) -> Plan | None:
    """None where not even one iteration fits the window: then transfers block."""
    packets = choose(plan, dma, buffers=BUFFERS, keep=True)
    return plan.through(lambda body: Window(body, packets, keep=True, late=True)) if packets else None


def _queued(plan: Plan, dma: DmaConfig, *, tables: bool) -> Plan:
    table = tables and dma.coherent and _is_table(plan)
    return plan.through(lambda body: Queue(body, table))


def _is_table(plan: Plan) -> bool:
    """Whether the queue becomes a table of descriptors, as drivers have it."""
    if prod(plan.trips) > MOST:
        return False
    sends = receives = 0
    words = False
    for command in in_order(plan):
        for move in command.moves:
            if isinstance(move, Receive):
                receives += 1
            elif isinstance(move, Send):
                if any(span.size % span.tile and not span.shift for span in move.region.spans):
                    return False  # a tile that is not whole is packed
                sends += 1 + words
                words = False
            else:
                words = True
    return sends + words <= MOST and 0 < receives <= MOST
