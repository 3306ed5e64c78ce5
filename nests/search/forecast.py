"""A design in closed form: cycles and resources of nests with their lanes, in microseconds.

Cycles and DSP slices are what the design needs at least: iterations are products of rounded steps, and
nests of one pipe share all they can. LUTs are a forecast, for the order of points and for the limit; the
exact figure comes from the circuit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from axiloom.nests.program import Program, Role
from axiloom.nests.resources import Amount
from axiloom.nests.resources.pieces import choice
from axiloom.nests.search.shapes import Kinds, Lanes, Shape, cost

WORD = 32
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


def units(chosen: Iterable[Chosen]) -> dict[tuple[int, Kinds], int]:
    """Operators in hardware: of nests that take turns, the most of each kind."""
    found: dict[tuple[int, Kinds], int] = {}
    for each in chosen:
        for kinds, count in each.lanes.units.items():
            key = (each.pipe, kinds)
            found[key] = max(found.get(key, 0), count)
    return found


def dsp(chosen: Iterable[Chosen]) -> int:
    return sum(cost(kinds).dsp * count for (_, kinds), count in units(chosen).items())


def cycles(chosen: Sequence[Chosen]) -> int:
    """Pipes run at the same time; nests of a pipe in turns, at the interval of the slowest."""
    most = 0
    for pipe in {each.pipe for each in chosen}:
        mine = [each.lanes for each in chosen if each.pipe == pipe]
        interval = max(each.interval for each in mine)
        most = max(most, (sum(e.iterations for e in mine) - 1) * interval + 1 + max(e.path for e in mine))
    return most


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
        joint = prod(map(max, zip(*groups, strict=True))) if groups else 0  # type: ignore[arg-type]
        if len(groups) > 1 and joint > max(prod(each) for each in groups):
            found += [(array.name, each) for each in list(groups.values())[1:]]
    return found


def forecast(chosen: Sequence[Chosen], program: Program) -> Forecast:
    of_units = units(chosen)
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
    return Forecast(cycles(chosen), total)


def _banks(array: str, users: Sequence[Chosen]) -> int:
    """LUTs of choices: which bank an access takes, which access a bank takes."""
    banks = tuple(map(max, zip(*(each.lanes.banks[array] for each in users), strict=True)))
    lut = 0
    reads = writes = 0
    count = prod(banks)
    for each in users:
        lanes = dict(zip(each.shape.loops, each.lanes.factors, strict=True))
        for touch in each.shape.touches:
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
    return lut + count * choice(ADDRESS + WORD, writes, coded=False)


def as_dict(amount: Amount) -> Mapping[str, float]:
    return {"dsp": amount.dsp, "lut": amount.lut, "ff": amount.ff, "bram36": amount.bram36}
