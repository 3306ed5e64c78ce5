"""What the device needs for a call if nobody is late: beats and multiply-adds that wait for each other."""

from __future__ import annotations

from math import prod

from axiloom.drivergen.cost.plans import Plan, in_order

MOST = 20_000
"""Tiles that are gone through. Where there are more, what cannot overlap does not count."""
HALVES = 2
"""Each operand and each result has two buffers."""


def device_cycles(plan: Plan, beat_words: int) -> float | None:
    """Fabric cycles from the first beat that comes in to the last one that goes out.

    A load waits until no multiply-add reads its buffer, a multiply-add for its operands and for a free buffer
    of results, a result for the one before it and for its last multiply-adds, behind which it leaves. None
    beyond `MOST` tiles.
    """
    if prod(plan.trips) > MOST:
        return None
    stream = begun = array = sender = 0.0
    half = [0] * len(plan.operands)
    in_use = [[0.0] * HALVES for _ in plan.operands]
    left = [0.0] * HALVES  # when each buffer of results is free
    result = 0
    for stage in in_order(plan):
        stream += stage.head / beat_words
        if stage.operand >= 0:
            half[stage.operand] ^= 1
            stream = max(stream, in_use[stage.operand][half[stage.operand]])
            stream += plan.operands[stage.operand].words / beat_words
        if stage.compute:
            begun = max(array, stream, left[result])
            array = begun + stage.compute
            for operand, which in enumerate(half):
                in_use[operand][which] = array
        if stage.receives >= 0:
            beats, leaving = plan.operands[stage.receives].words / beat_words, stage.leaving
            first = begun + leaving.first(array - begun, beats)
            sender = max(max(sender, first, stream) + beats, array + leaving.behind(beats))
            left[result] = sender
            result ^= 1
    return sender
