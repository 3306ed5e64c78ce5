"""Slots and the interval: modulo scheduling under ports and recurrences.

Accesses that may share a port only in the same iteration (they exclude each other, or have the same address)
are tied to one slot where there are more of them than the port has turns. Everything else is Rau's iterative
scheme; without conflicts it is the longest path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby

from axiloom.base.errors import CompileError

MOST_INTERVAL = 4096


@dataclass(frozen=True)
class Edge:
    """``slot[after] + interval * distance >= slot[before] + delay``. `name` for people."""

    before: int
    after: int
    delay: int
    distance: int = 0
    name: str = ""


@dataclass(frozen=True)
class Resource:
    """`users` take one of `count` places each, in their slot modulo the interval. In one slot, users that are
    `together` take one place."""

    name: str
    users: tuple[int, ...]
    count: int
    together: Callable[[int, int], bool]

    @property
    def binds(self) -> bool:
        """There are more users than places."""
        return len(self.users) > self.count


@dataclass(frozen=True)
class Timing:
    """`why`: what kept the interval from being smaller, for people."""

    interval: int
    slots: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Claim:
    """A resource, whose users are units: `of` has the vertices of each."""

    resource: Resource
    of: dict[int, list[int]]

    def together(self, unit: int, other: int) -> bool:
        """Whether two units take one place if they have the same slot."""
        return all(self.resource.together(a, b) for a in self.of[unit] for b in self.of[other])

    def shared(
        self, groups: Sequence[list[int]], unit: int, slot: int, slots: Sequence[int | None]
    ) -> list[int] | None:
        """The first of `groups`, each of one slot and iteration, whose place `unit` takes in `slot`, too."""
        for group in groups:
            if slots[group[0]] == slot and all(self.together(unit, member) for member in group):
                return group
        return None

    def groups(self, units: Sequence[int], slots: Sequence[int | None]) -> list[list[int]]:
        """A group for each place that these units take, which have the same slot modulo the interval."""
        groups: list[list[int]] = []
        for unit in units:
            self.join(groups, unit, slots)
        return groups

    def join(self, groups: list[list[int]], unit: int, slots: Sequence[int | None]) -> None:
        """Adds `unit`, which has its slot, to its group."""
        slot = slots[unit]
        assert slot is not None
        if (group := self.shared(groups, unit, slot, slots)) is not None:
            group.append(unit)
        else:
            groups.append([unit])


@dataclass
class Tied:
    """Vertices in units that have one slot each."""

    unit: list[int]
    units: int
    edges: list[Edge]
    resources: list[Claim]


def schedule(
    nodes: int, edges: Sequence[Edge], resources: Sequence[Resource], first: Sequence[int], wanted: int
) -> Timing:
    """Slots for `nodes`, those in `first` at slot 0, with the least interval from `wanted` on."""

    def fits(interval: int) -> tuple[Tied, list[int]] | str:
        tied = tie(nodes, edges, resources, first, interval)
        if isinstance(tied, str):
            return tied
        early = longest(tied, interval)
        return early if isinstance(early, str) else (tied, early)

    # Whether ports and recurrences fit, each for itself, is monotone: by bisection.
    why = f"as asked for ({wanted})" if wanted > 1 else ""
    interval, outcome = wanted, fits(wanted)
    if isinstance(outcome, str):
        low, why = wanted, outcome
        while isinstance(outcome, str):
            low, interval = interval, 2 * interval
            if low > MOST_INTERVAL:
                raise CompileError(f"no schedule with an interval of at most {MOST_INTERVAL}: {outcome}")
            why, outcome = outcome, fits(interval)
        while interval - low > 1:
            middle = (low + interval) // 2
            attempt = fits(middle)
            if isinstance(attempt, str):
                low, why = middle, attempt
            else:
                interval, outcome = middle, attempt
    while interval <= 2 * MOST_INTERVAL:
        if not isinstance(outcome, str):
            slots = place(*outcome, interval)
            if slots is not None:
                unit = outcome[0].unit
                return Timing(interval, tuple(slots[unit[node]] for node in range(nodes)), why)
            why = "ports and recurrences together"
        interval += 1 + interval // 16
        outcome = fits(interval)
    raise CompileError(f"no schedule with an interval of at most {MOST_INTERVAL}: {why}")


def tie(
    nodes: int, edges: Sequence[Edge], resources: Sequence[Resource], first: Sequence[int], interval: int
) -> Tied | str:
    """Units, or why there are too many users of a resource. Unit 0 is slot 0."""
    parent = list(range(nodes + 1))  # the last one is slot 0

    def find(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for node in first:
        parent[find(node)] = find(nodes)
    for resource in resources:
        if len(resource.users) <= resource.count * interval:
            continue
        groups: list[list[int]] = []
        for user in resource.users:
            for group in groups:
                if all(resource.together(user, other) for other in group):
                    group.append(user)
                    break
            else:
                groups.append([user])
        if len(groups) > resource.count * interval:
            return f"{resource.name}: {len(groups)} accesses, {resource.count} a cycle"
        for group in groups:
            for user in group[1:]:
                parent[find(user)] = find(group[0])
    roots = {find(nodes): 0}
    for node in range(nodes):
        roots.setdefault(find(node), len(roots))
    unit = [roots[find(node)] for node in range(nodes)]
    # Parallel edges: only the tightest one for each distance.
    tightest: dict[tuple[int, int, int], Edge] = {}
    for edge in edges:
        key = (unit[edge.before], unit[edge.after], edge.distance)
        if key not in tightest or tightest[key].delay < edge.delay:
            tightest[key] = Edge(*key[:2], edge.delay, edge.distance, edge.name)
    kept = list(tightest.values())
    kept += [Edge(0, root, 0) for root in range(1, len(roots))]
    claims = []
    for resource in resources:
        of: dict[int, list[int]] = {}
        for user in resource.users:
            of.setdefault(unit[user], []).append(user)
        if len(of) > resource.count:
            claims.append(Claim(resource, of))
    return Tied(unit, len(roots), kept, claims)


def longest(tied: Tied, interval: int) -> list[int] | str:
    """The earliest slots, or the recurrence that does not fit."""
    slots = [0] * tied.units
    cause: list[Edge | None] = [None] * tied.units
    last = -1
    edges = [(edge.before, edge.after, edge.delay - interval * edge.distance, edge) for edge in tied.edges]
    for _ in range(tied.units + 1):
        last = -1
        for before, after, weight, edge in edges:
            slot = slots[before] + weight
            if slot > slots[after]:
                slots[after], cause[after], last = slot, edge, after
        if last < 0:
            break
        if slots[0] > 0:
            break
    if last < 0:
        return slots
    return _recurrence(cause, last, tied.units)


def _recurrence(cause: list[Edge | None], start: int, units: int) -> str:
    """The cycle of edges behind `start`, for people."""
    at = start
    for _ in range(units):
        edge = cause[at]
        if edge is None:
            return "what is popped at slot 0"
        at = edge.before
    cycle: list[Edge] = []
    end = at
    while True:
        edge = cause[at]
        if edge is None:
            return "what is popped at slot 0"
        cycle.append(edge)
        at = edge.before
        if at == end:
            break
    delay = sum(edge.delay for edge in cycle)
    distance = sum(edge.distance for edge in cycle)
    names = [edge.name for edge in reversed(cycle) if edge.name]
    first = next((n for n, name in enumerate(names) if name.startswith("read")), 0)
    runs = [(name, len(list(same))) for name, same in groupby(names[first:] + names[:first])]
    steps = [name if count == 1 else f"{count} x {name}" for name, count in runs]
    over = "1 iteration" if distance == 1 else f"{distance} iterations"
    return f"recurrence of {delay} cycles over {over}: {' -> '.join(steps)}"


def place(tied: Tied, early: list[int], interval: int) -> list[int] | None:
    """Slots in which no resource has too many users; None if the budget ends first."""
    if not tied.resources:
        return early
    into: list[list[Edge]] = [[] for _ in range(tied.units)]
    out: list[list[Edge]] = [[] for _ in range(tied.units)]
    for edge in tied.edges:
        into[edge.after].append(edge)
        out[edge.before].append(edge)
    claims: list[list[int]] = [[] for _ in range(tied.units)]
    for number, claim in enumerate(tied.resources):
        for user in claim.of:
            claims[user].append(number)
    height = _heights(tied, interval)
    used: dict[tuple[int, int], list[int]] = {}
    grouped: dict[tuple[int, int], list[list[int]]] = {}  # of those in `used`, until they change
    slots: list[int | None] = [None] * tied.units
    tried = [-1] * tied.units
    height[0] = max(height) + 1  # slot 0 before all
    waiting = sorted((-height[unit], unit) for unit in range(tied.units))  # the longest path first

    def remove(unit: int) -> None:
        slot = slots[unit]
        assert slot is not None
        for number in claims[unit]:
            used[number, slot % interval].remove(unit)
            grouped.pop((number, slot % interval), None)
        slots[unit] = None
        heappush(waiting, (-height[unit], unit))

    def full(unit: int, slot: int) -> list[int]:
        crowded = []
        for number in claims[unit]:
            place, claim = (number, slot % interval), tied.resources[number]
            if len(there := used.get(place, [])) >= claim.resource.count:
                if place not in grouped:
                    grouped[place] = claim.groups(there, slots)
                groups = grouped[place]
                if len(groups) >= claim.resource.count + (
                    claim.shared(groups, unit, slot, slots) is not None
                ):
                    crowded.append(number)
        return crowded

    for _ in range(20 * tied.units + 100):
        if not waiting:
            return [slot or 0 for slot in slots]
        _, unit = heappop(waiting)
        start = 0
        for edge in into[unit]:
            before = slots[edge.before]
            if before is not None and edge.before != unit:
                start = max(start, before + edge.delay - interval * edge.distance)
        if unit == 0:
            slot = 0
        else:
            free = (slot for slot in range(start, start + interval) if not full(unit, slot))
            slot = next(free, -1)
            if slot < 0:
                slot = max(start, tried[unit] + 1)
        while claimed := full(unit, slot):
            remove(used[claimed[0], slot % interval][0])
        slots[unit] = slot
        tried[unit] = max(slot, tried[unit])
        for number in claims[unit]:
            place, claim = (number, slot % interval), tied.resources[number]
            used.setdefault(place, []).append(unit)
            if place in grouped:
                claim.join(grouped[place], unit, slots)
        for edge in out[unit]:
            after = slots[edge.after]
            if (
                edge.after != unit
                and after is not None
                and after < slot + edge.delay - interval * edge.distance
            ):
                if edge.after == 0:
                    return None
                remove(edge.after)
    return None


def _heights(tied: Tied, interval: int) -> list[int]:
    """The longest path from each unit."""
    height = [0] * tied.units
    for _ in range(tied.units):
        changed = False
        for edge in reversed(tied.edges):
            value = height[edge.after] + edge.delay - interval * edge.distance
            if value > height[edge.before]:
                height[edge.before], changed = value, True
        if not changed:
            break
    return height
