"""A design in closed form: cycles and resources of nests with their lanes, in microseconds.

Cycles and DSP slices are what the design needs at least: iterations are products of rounded steps, and
nests of one pipe share all they can. LUTs are a forecast, for the order of points and for the limit; the
exact figure comes from the circuit.

Where lowering may take quicker operators, cycles are those with the quickest ones: nests of one pipe share
ports and operators, and that joins recurrences in ways which this closed form does not see. With an interval
above one, operations of an iteration take turns on an operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from axiloom.nests.program import Program, Role
from axiloom.nests.resources import Amount
from axiloom.nests.resources.pieces import choice
from axiloom.nests.search.shapes import Kinds, Lanes, Shape, cost

WORD = 32
Intervals = Mapping[int, int]
CONTROL = 200
"""LUTs of counters and control."""
ADDRESS = 12


@dataclass(frozen=True)
class Chosen:
    """A nest with its lanes, in a pipe."""

    shape: Shape
    lanes: Lanes
    pipe: int


@dataclass(frozen=True)
class Forecast:
    cycles: int
    amount: Amount

    def key(self) -> tuple[int, int, int]:
        return (self.cycles, self.amount.lut, self.amount.dsp)


def units(chosen: Sequence[Chosen], intervals: Intervals) -> dict[tuple[int, Kinds], int]:
    """Operators in hardware: of nests that take turns, the most of each kind. Operations of one iteration
    take turns in the cycles of the interval."""
    found: dict[tuple[int, Kinds], int] = {}
    for each in chosen:
        for kinds, count in each.lanes.units.items():
            key = (each.pipe, kinds)
            found[key] = max(found.get(key, 0), ceil(count / intervals[each.pipe]))
    return found


def least_intervals(chosen: Sequence[Chosen]) -> dict[int, int]:
    """Of each pipe: that of its slowest nest."""
    found: dict[int, int] = {}
    for each in chosen:
        found[each.pipe] = max(found.get(each.pipe, 1), each.lanes.interval)
    return found


def cycles(chosen: Sequence[Chosen], intervals: Intervals) -> int:
    """Pipes run at the same time; nests of a pipe in turns."""
    most = 0
    for pipe, interval in intervals.items():
        mine = [each.lanes for each in chosen if each.pipe == pipe]
        most = max(most, (sum(e.iterations for e in mine) - 1) * interval + 1 + _path(mine))
    return most


def _path(lanes: Sequence[Lanes]) -> int:
    """Of the slowest nest. If one nest is hurried, all nests of the pipe may have quicker operators."""
    hurried = len(lanes) > 1 or any(lane.hurried for lane in lanes)
    return max(lane.short if hurried else lane.path for lane in lanes)


def copies(chosen: Sequence[Chosen], program: Program) -> list[tuple[str, list[Chosen]]]:
    """Inputs that nests read in different banks: the array, and the nests that get a copy, a row each. The
    first nest keeps the array."""
    found = []
    for array in program.arrays:
        if array.role is not Role.IN:
            continue
        groups: dict[tuple[int, ...], list[Chosen]] = {}
        for each in chosen:
            if array.name in each.lanes.banks:
                groups.setdefault(each.lanes.banks[array.name], []).append(each)
        joint = prod(max(each) for each in zip(*groups, strict=True))
        if len(groups) > 1 and joint > max(prod(group) for group in groups):
            found += [(array.name, group) for group in list(groups.values())[1:]]
    return found


def forecast(chosen: Sequence[Chosen], program: Program, intervals: Intervals | None = None) -> Forecast:
    """`intervals`, by pipe: those of the circuit, where they are known; else the least that sums allow."""
    intervals = intervals or least_intervals(chosen)
    of_units = units(chosen, intervals)
    total = Amount(lut=CONTROL * len({each.pipe for each in chosen}))
    for (pipe, kinds), count in of_units.items():
        one = cost(kinds)
        total = total + Amount(one.dsp, one.lut, one.ff) * count
        users = sum(each.pipe == pipe and kinds in each.lanes.units for each in chosen)
        if users > 1 and one.lut > WORD:
            total = total + Amount(lut=count * choice(WORD, users, coded=False))
    moved = {(array, each.shape.number): n for n, (array, group) in enumerate(copies(chosen, program), 1)
             for each in group}  # fmt: skip
    ports: dict[tuple[str, int], list[Chosen]] = {}
    for each in chosen:
        for array in each.lanes.banks:
            ports.setdefault((array, moved.get((array, each.shape.number), 0)), []).append(each)
    for (array, _), users_of in ports.items():
        total = total + Amount(lut=_banks(array, users_of))
    return Forecast(cycles(chosen, intervals), total)


def _banks(array: str, users: Sequence[Chosen]) -> int:
    """LUTs of choices: which bank an access takes, which access a bank takes."""
    banks = tuple(max(each) for each in zip(*(each.lanes.banks[array] for each in users), strict=True))
    lut = 0
    reads = writes = 0
    count = prod(banks)
    for user in users:
        lanes = dict(zip(user.shape.loops, user.lanes.factors, strict=True))
        for touch in user.shape.touches:
            if touch.array != array:
                continue
            reach = touch.reach(lanes, banks)
            instances = touch.instances(lanes)
            requests = ceil(instances * reach / count)
            if touch.is_store:
                writes += requests
            else:
                reads += requests
                lut += instances * choice(WORD, reach, coded=True)
    lut += count * choice(ADDRESS, reads, coded=False)
    lut += count * choice(ADDRESS + WORD, writes, coded=False)
    return int(lut)
