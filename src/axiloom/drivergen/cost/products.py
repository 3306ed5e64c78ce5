"""Matrix products as plans: flow, order of loops and tile are decided; a transport is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from axiloom.drivergen.nest.flow import sites
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.framing import padded
from axiloom.isa.contract.types import WORD_BITS, Compute, Load, Opcode, Recv, SendIdx, SetDims, Skip
from axiloom.isa.contract.types import Send as SendAction
from axiloom.plan import Command, Level, Num, Plan, Receive, Region, Send, Span, Words
from axiloom.plan.numbers import ceil_div
from axiloom.plan.tree import Move

MATRICES = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Dims of rows and columns of the matrices in memory; operands may have them the other way round."""


def family(tiles: Sequence[tuple[int, ...]]) -> list[Num]:
    """Sizes of many tiles, dim by dim."""
    return list(np.array(tiles).reshape(len(tiles), -1).T)


def product(
    spec: AcceleratorSpec,
    flow: str,
    order: Sequence[str],
    sizes: Mapping[str, int],
    tile: Sequence[Num],
    results: Results = ACCUMULATED,
) -> Plan:
    """`tile` in the order of the specification's dims; loops have the names of dims.

    Where results are fresh, a tile that hangs over an edge begins earlier and is whole.
    """
    size = dict(zip(spec.dims, tile, strict=True))
    trips = {dim: ceil_div(sizes[dim], size[dim]) for dim in spec.dims}
    placed = list(sites(spec.flows[flow], len(order) - spec.flows[flow].depth))
    once: Num = results.fresh
    for site in placed:
        for operand in spec.opcodes[site.name].receives:
            for dim in order[: site.level + 1]:
                if results.fresh and dim not in spec.data[operand]:
                    once = once & (trips[dim] == 1)
    whole = {dim for operand in spec.outputs for dim in spec.data[operand]}

    def span(dim: str, stride: int) -> Span:
        shift = once & (sizes[dim] >= size[dim]) if dim in whole else False
        return Span(size[dim], sizes[dim], ((dim, size[dim]),), stride, shift)

    def region(operand: str) -> Region:
        dims = MATRICES.get(operand, spec.data[operand])
        spans = tuple(span(dim, sizes[dims[-1]] if dim != dims[-1] else 1) for dim in dims)
        rounded = results.bits if operand in spec.outputs else None
        bits = rounded or spec.operand_type(operand).bits
        return Region(operand, spans, tuple(dims.index(dim) for dim in spec.data[operand]), bits)

    def words(part: Region) -> Num:
        elements: Num = 1
        for axis in part.spans:
            elements = elements * axis.tile
        return elements * part.bits // WORD_BITS

    regions = {operand: region(operand) for operand in spec.data}
    moves: dict[str, Send] = {operand: Send(words(part), part) for operand, part in regions.items()}

    def command(name: str) -> Command:
        opcode = spec.opcodes[name]
        own: list[Move] = []
        for action in padded(opcode.host, spec.link.beat_words):
            if isinstance(action, SendAction):
                own.append(moves[action.operand])
            elif isinstance(action, Recv):
                sent = moves[action.operand]
                row = regions[action.operand].spans[-1].size * regions[action.operand].bits
                in_place = once if row % spec.link.stream_width == 0 else False
                own.append(Receive(sent.words, sent.region, True ^ once, in_place))
            else:
                loops = frozenset({action.dim}) if isinstance(action, SendIdx) else frozenset()
                if own and isinstance(own[-1], Words) and own[-1].loops == loops:
                    own[-1] = Words(own[-1].words + 1, loops)
                else:
                    own.append(Words(1, loops))
        return Command(name, tuple(own), _only_loads(opcode))

    levels = (
        Level(
            dim,
            trips[dim],
            tuple(command(site.name) for site in placed if site.level == level and not site.behind),
            tuple(command(site.name) for site in placed if site.level == level and site.behind),
        )
        for level, dim in enumerate(order)
    )
    return Plan.of(list(levels))


def computes(spec: AcceleratorSpec, command: Command) -> bool:
    return Compute() in spec.opcodes[command.opcode].device


def regions(plan: Plan) -> dict[str, Region]:
    """Of each matrix that is moved."""
    moves = (item.move for item in plan.items)
    return {str(move.region.array): move.region for move in moves if isinstance(move, Send | Receive)}


def tile_of(spec: AcceleratorSpec, plan: Plan) -> dict[str, Num]:
    """Sizes of the tile, by dim."""
    return {
        dim: region.spans[axis].tile
        for operand, region in regions(plan).items()
        for dim, axis in zip(spec.data[operand], region.order, strict=True)
    }


def _only_loads(opcode: Opcode) -> bool:
    """Sent once more or less with the same tile, it makes no difference to the device."""
    return bool(opcode.sends) and all(isinstance(action, Load | SetDims | Skip) for action in opcode.device)
