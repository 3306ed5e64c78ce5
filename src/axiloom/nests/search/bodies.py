"""Nests that are not perfect: a stencil in a loop over time, statements beside an inner loop.

Their statements stand in bodies: those with the same loops. The loops that a body has for itself are
unrolled, from the innermost on, in all bodies of a nest by as many lanes.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from operator import mul

from axiloom.nests.schedule import Nest, Placed, Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.search.choices import CHAIN, factors
from axiloom.nests.search.shapes import carries
from axiloom.nests.search.structures import extents, is_perfect


def ladder(schedule: Schedule) -> list[str]:
    """Lines of schedules, each with more lanes than the one before; empty if all nests are perfect."""
    nests = [nest for nest in schedule.nests if not is_perfect(nest)]
    bodies = [body for nest in nests for body in _bodies(schedule, nest)]
    whole = {lanes for body in bodies for lanes in body.whole}
    powers = {1 << n for n in range(1, max(whole, default=1).bit_length())}
    steps: dict[str, None] = {}
    for lanes in sorted(whole | powers):
        lines = [line for body in bodies for line in body.unrolled(min(lanes, body.most))]
        steps["".join(f"{line}\n" for line in lines)] = None
    steps.pop("", None)
    return list(steps)


class _Body:
    """`own`: loops that no other statement stands in, the innermost first, with their extents."""

    def __init__(self, statements: list[Placed], own: list[tuple[str, int]]) -> None:
        self.statement, self.own = statements[0].statement.name, own
        sums = any(carries(placed, dict.fromkeys(placed.loops, 2)) > 1 for placed in statements)
        self.most = CHAIN if sums else prod(extent for _, extent in own)
        self.whole = list(accumulate((extent for _, extent in own), mul))
        """Lanes of which all loops are unrolled whole or not at all."""

    def unrolled(self, lanes: int) -> list[str]:
        """By at least `lanes` if the loops go that far; a loop only once those in it are whole."""
        lines = []
        for name, extent in self.own:
            if lanes <= 1:
                break
            factor = next((lower for lower in factors(extent, extent) if lower >= lanes), extent)
            if factor > 1:
                lines.append(f"unroll {self.statement} {name}{f' {factor}' if factor < extent else ''}")
            if factor < extent:
                break
            lanes = -(-lanes // extent)
        return lines


def _bodies(schedule: Schedule, nest: Nest) -> list[_Body]:
    bodies, statements = [], nest.statements
    for loops in dict.fromkeys(placed.loops for placed in statements):
        here = [placed for placed in statements if placed.loops == loops]
        shared = {name for placed in statements if placed.loops != loops for name in placed.loops}
        spans, own = extents(here[0]), list[tuple[str, int]]()
        for name in reversed(loops):
            if name in shared or not _opens(schedule, here[0].statement.name, name, spans[name]):
                break
            own.append((name, spans[name]))
        if own:
            bodies.append(_Body(here, own))
    return bodies


def _opens(schedule: Schedule, statement: str, name: str, extent: int) -> bool:
    try:
        schedule.unroll(statement, name, min(2, extent))
    except ScheduleError:
        return False
    return True
