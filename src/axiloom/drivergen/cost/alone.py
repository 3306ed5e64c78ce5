"""What the device needs for a call if nobody is late: beats and multiply-adds that wait for each other."""

from __future__ import annotations

from math import prod

from axiloom.drivergen.cost.leaving import leaving_of
from axiloom.drivergen.cost.products import computes, tile_of
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan, Receive, Send
from axiloom.plan.figures import in_order

MOST = 20_000
"""Tiles that are gone through. Where there are more, what cannot overlap does not count."""
HALVES = 2
"""Each operand and each result has two buffers."""


def device_cycles(spec: AcceleratorSpec, plan: Plan) -> float | None:
    """Fabric cycles from the first beat that comes in to the last one that goes out.

    A load waits until no multiply-add reads its buffer, a multiply-add for its operands and for a free buffer
    of results, a result for the one before it and for its last multiply-adds, behind which it leaves. None
    beyond `MOST` tiles.
    """
    if prod(plan.trips) > MOST:
        return None
    tile = tile_of(spec, plan)
    cycles, leaving = prod(tile.values()) // spec.macs, leaving_of(spec, tile)
    stream = begun = array = sender = 0.0
    half = dict.fromkeys(spec.data, 0)
    in_use = {operand: [0.0] * HALVES for operand in spec.data}
    left = [0.0] * HALVES  # when each buffer of results is free
    result = 0
    for command in in_order(plan):
        for move in command.moves:
            if isinstance(move, Send):
                operand = str(move.region.array)
                half[operand] ^= 1
                stream = max(stream, in_use[operand][half[operand]])
            if not isinstance(move, Receive):
                stream += move.words / spec.link.beat_words
        if computes(spec, command):
            begun = max(array, stream, left[result])
            array = begun + cycles
            for operand, which in half.items():
                in_use[operand][which] = array
        for move in command.moves:
            if isinstance(move, Receive):
                beats = move.words / spec.link.beat_words
                first = begun + leaving.first(array - begun, beats)
                sender = max(max(sender, first, stream) + beats, array + leaving.behind(beats))
                left[result] = sender
                result ^= 1
    return sender
