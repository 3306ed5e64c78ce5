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
    most: dict[tuple[int, Kinds], int] = {}
    for nest in chosen:
        for kinds, count in nest.lanes.units.items():
            key = (nest.pipe, kinds)
            most[key] = max(most.get(key, 0), ceil(count / intervals[nest.pipe]))
    return most


def least_intervals(chosen: Sequence[Chosen]) -> dict[int, int]:
    """Of each pipe: that of its slowest nest."""
    intervals: dict[int, int] = {}
    for nest in chosen:
        intervals[nest.pipe] = max(intervals.get(nest.pipe, 1), nest.lanes.interval)
    return intervals


def cycles(chosen: Sequence[Chosen], intervals: Intervals) -> int:
    """Pipes run at the same time; nests of a pipe in turns."""
    most = 0
    for pipe, interval in intervals.items():
        mine = [nest.lanes for nest in chosen if nest.pipe == pipe]
        most = max(most, (sum(e.iterations for e in mine) - 1) * interval + 1 + _path(mine))
    return most


def _path(lanes: Sequence[Lanes]) -> int:
    """Of the slowest nest. If one nest is hurried, all nests of the pipe may have quicker operators."""
    hurried = len(lanes) > 1 or any(lane.hurried for lane in lanes)
    return max(lane.short if hurried else lane.path for lane in lanes)


def copies(chosen: Sequence[Chosen], program: Program) -> list[tuple[str, list[Chosen]]]:
    """Inputs that nests read in different banks: the array, and the nests that get a copy, a row each. The
    first nest keeps the array."""
    copied = []
    for array in program.arrays:
        if array.role is not Role.IN:
            continue
        groups: dict[tuple[int, ...], list[Chosen]] = {}
        for nest in chosen:
            if array.name in nest.lanes.banks:
                groups.setdefault(nest.lanes.banks[array.name], []).append(nest)
        joint = prod(max(sizes) for sizes in zip(*groups, strict=True))
        if len(groups) > 1 and joint > max(prod(group) for group in groups):
            copied += [(array.name, group) for group in list(groups.values())[1:]]
    return copied


def forecast(chosen: Sequence[Chosen], program: Program, intervals: Intervals | None = None) -> Forecast:
    """`intervals`, by pipe: those of the circuit, where they are known; else the least that sums allow."""
    intervals = intervals or least_intervals(chosen)
    of_units = units(chosen, intervals)
    total = Amount(lut=CONTROL * len({nest.pipe for nest in chosen}))
    for (pipe, kinds), count in of_units.items():
        unit = cost(kinds)
        total = total + Amount(unit.dsp, unit.lut, unit.ff) * count
        users = sum(nest.pipe == pipe and kinds in nest.lanes.units for nest in chosen)
        if users > 1 and unit.lut > WORD:
            total = total + Amount(lut=count * choice(WORD, users, coded=False))
    moved = {(array, nest.shape.number): n for n, (array, group) in enumerate(copies(chosen, program), 1)
             for nest in group}  # fmt: skip
    ports: dict[tuple[str, int], list[Chosen]] = {}
    for nest in chosen:
        for array in nest.lanes.banks:
            ports.setdefault((array, moved.get((array, nest.shape.number), 0)), []).append(nest)
    for (array, _), users_of in ports.items():
        total = total + Amount(lut=_banks(array, users_of))
    return Forecast(cycles(chosen, intervals), total)


def _banks(array: str, users: Sequence[Chosen]) -> int:
    """LUTs of choices: which bank an access takes, which access a bank takes."""
    banks = tuple(max(sizes) for sizes in zip(*(nest.lanes.banks[array] for nest in users), strict=True))
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
