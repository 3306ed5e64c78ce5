"""Units: operations in different slots of the interval take turns on one piece of hardware.

The port of each read is part of the circuit. Which reads never meet in a bank is known where slots are
chosen: by isl, over the points that a pipe reaches. The hardware sees conditions and addresses only, so
it took some for meeting and ran out of ports, and of pipes that run at once it did not know which do. 3
of 500 random programs in RTL failed by it; the timing model has no ports and saw nothing. Hardware may
still put reads of several ports on one where it sees that they never meet: that saves block RAM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from axiloom.hw.nest.circuit import Operate
from axiloom.nests.lower.iteration.graph import Vertex
from axiloom.nests.lower.iteration.share import Worth
from axiloom.nests.lower.slots.modulo import Resource


def families(vertices: Sequence[Vertex], worth: Worth) -> dict[str, list[int]]:
    """Operations that one unit could do, by a name."""
    by_name: dict[str, list[int]] = {}
    for number, vertex in enumerate(vertices):
        what = vertex.what
        if isinstance(what, Operate) and worth(what):
            name = f"{what.operator} {what.number} {what.result} {what.latency}"
            by_name.setdefault(name, []).append(number)
    return {name: users for name, users in by_name.items() if len(users) > 1}


def units(vertices: Sequence[Vertex], worth: Worth, interval: int) -> list[Resource]:
    """As few units as the interval allows."""
    return [
        Resource(f"units of {name}", tuple(users), -(-len(users) // interval), lambda a, b: False)
        for name, users in families(vertices, worth).items()
    ]


def bound(vertices: Sequence[Vertex], worth: Worth, slots: Sequence[int], interval: int) -> Mapping[int, str]:
    """The unit of each operation that shares one."""
    units: dict[int, str] = {}
    if interval == 1:
        return units
    for name, users in families(vertices, worth).items():
        turns: dict[int, int] = {}
        for user in users:
            turn = slots[user] % interval
            units[user] = f"{name} {turns.get(turn, 0)}"
            turns[turn] = turns.get(turn, 0) + 1
    uses = Counter(units.values())
    return {user: unit for user, unit in units.items() if uses[unit] > 1}
