"""Which port each access takes, once slots are known.

Modulo scheduling counts places: in each turn of a bank the accesses fall into at most as many groups as there
are ports, and accesses of a group never need the bank for two addresses at once. Hardware that sees a pipe's
conditions and addresses cannot always tell that again, so the groups go with the circuit.
"""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.base.errors import CompileError
from axiloom.nests.lower.slots.modulo import Resource

_MOST_STEPS = 100_000


def found_ports(resources: Sequence[Resource], slots: Sequence[int], interval: int) -> dict[int, int]:
    """The port of each user, from 0. Raises CompileError where the slots leave some without one."""
    ports: dict[int, int] = {}
    for resource in resources:
        turns: dict[int, list[int]] = {}
        for user in resource.users:
            turns.setdefault(slots[user] % interval, []).append(user)
        for users in turns.values():
            groups = _first_fit(resource, slots, users)
            if len(groups) > resource.count:
                groups = _fewest(resource, slots, users)
            ports |= {user: port for port, group in enumerate(groups) for user in group}
    return ports


def _share(resource: Resource, slots: Sequence[int], user: int, group: Sequence[int]) -> bool:
    """Accesses of one slot belong to one iteration, and only of that it is known what is never together."""
    return all(slots[user] == slots[member] and resource.together(user, member) for member in group)


def _first_fit(resource: Resource, slots: Sequence[int], users: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for user in users:
        for group in groups:
            if _share(resource, slots, user, group):
                group.append(user)
                break
        else:
            groups.append([user])
    return groups


def _fewest(resource: Resource, slots: Sequence[int], users: Sequence[int]) -> list[list[int]]:
    """At most as many groups as there are places, by trying."""
    groups: list[list[int]] = []
    steps = 0

    def fits(at: int) -> bool:
        nonlocal steps
        steps += 1
        if at == len(users) or steps > _MOST_STEPS:
            return at == len(users)
        user = users[at]
        for group in groups:
            if _share(resource, slots, user, group):
                group.append(user)
                if fits(at + 1):
                    return True
                group.pop()
        if len(groups) < resource.count:
            groups.append([user])
            if fits(at + 1):
                return True
            groups.pop()
        return False

    if not fits(0):
        raise CompileError(f"{resource.name}: no port for each of {len(users)} accesses in a turn")
    return groups
