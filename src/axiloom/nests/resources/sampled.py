"""What is equal wherever it counts: addresses at random points. Yosys sweeps a netlist for signals that are
equal, by the same means and a solver, and keeps one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Condition, Place
from axiloom.hw.nest.forms import Range
from axiloom.hw.nest.rotation import Turn

_POINTS = 64

Points = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Asked:
    """Where an access goes, of the counters whose `ranges` are given, and when."""

    bank: Place
    address: Place
    when: Condition
    ranges: Mapping[str, Range]


def needed(asked: Sequence[Asked], bank: int) -> int:
    """Of how many values the address of `bank` is a choice. A chain chooses by who asks for the bank, and the
    last one otherwise: a link of the chain that equals one of the addresses, or another link, is none."""
    places = [place for request in asked for place in (request.bank, request.address)]
    names = {name for place in places for term in place for name in term.value.names}
    names |= {name for request in asked for form in request.when for name in form.names}
    points = _points(names, asked[0].ranges)
    is_issued = np.arange(_POINTS) % 2 == 0
    addresses = np.array([_at(request.address, points) for request in asked])
    known, links, chosen = {address.tobytes() for address in addresses}, set[bytes](), addresses[-1]
    for request, address in [*zip(asked, addresses, strict=True)][-2::-1]:
        here = is_issued & (_at(request.bank, points) == bank)
        for form in request.when:
            here &= form.values(points) >= 0
        chosen = np.where(here, address, chosen)
        links |= {chosen.tobytes()} - known
    return len(links) + 1


def turning(turns: Sequence[Turn], addresses: Sequence[Place], ranges: Mapping[str, Range]) -> int:
    """Banks whose address, turned, is no lane's. Of B elements that follow each other, bank b holds the one
    whose row is that of lane B - 1 - b, so that nothing turns."""
    names = {name for place in addresses for term in place for name in term.value.names}
    points = _points(names | set(turns[0].by.names), ranges)
    count, by = turns[0].count, np.broadcast_to(turns[0].by.values(points), _POINTS)
    lanes, there = np.zeros((count, _POINTS), np.int64), np.zeros(count, np.bool_)
    for turn, place in zip(turns, addresses, strict=True):
        lanes[turn.offset], there[turn.offset] = _at(place, points), True
    turned = 0
    for bank in range(count):
        lane = (bank - by) % count
        alike = (lanes[there] == lanes[lane, np.arange(_POINTS)]) | ~there[lane]
        turned += not alike.all(axis=1).any()
    return turned


def _points(names: Iterable[str], ranges: Mapping[str, Range]) -> Points:
    random = np.random.default_rng(0)
    return {
        name: random.integers(ranges[name][0], ranges[name][1], _POINTS, endpoint=True)
        for name in sorted(names)
    }


def _at(place: Place, points: Points) -> npt.NDArray[np.int64]:
    total = np.zeros(_POINTS, np.int64)
    for term in place:
        value = term.value.values(points) // term.divisor
        total = total + term.factor * (value % term.modulus if term.modulus else value)
    return total
