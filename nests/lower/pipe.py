"""One pipe of a circuit, from its statements: `Draft` is what one iteration does, `build` gives it slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from axiloom.hw.nest.circuit import (
    Choose,
    Constant,
    Memory,
    Node,
    Operate,
    Pipe,
    Place,
    Position,
    Read,
    Write,
)
from axiloom.isa.affine import Affine
from axiloom.nests.lower import modulo
from axiloom.nests.lower.carried import Carried, Dependence
from axiloom.nests.lower.graph import Access, Graph, Latencies, Vertex
from axiloom.nests.lower.guards import Guards
from axiloom.nests.lower.lanes import Lane, lanes
from axiloom.nests.lower.late import late
from axiloom.nests.lower.layouts import BankLayout, bounds
from axiloom.nests.lower.modulo import Edge, Resource, Timing
from axiloom.nests.lower.space import Space, space
from axiloom.nests.program import Program
from axiloom.nests.schedule import Placed


@dataclass(frozen=True)
class Draft:
    """A pipe without banks and slots. `numbers`: its nests."""

    name: str
    numbers: tuple[int, ...]
    interval: int
    space: Space
    guards: Guards
    lanes: tuple[Lane, ...]
    vertices: tuple[Vertex, ...]

    @property
    def arrays(self) -> list[str]:
        return list(dict.fromkeys(x.what.array for x in self.vertices if isinstance(x.what, Access)))


@dataclass(frozen=True)
class Built:
    """A pipe with its slots. `memory_slot`: the last slot in which it touches a memory."""

    draft: Draft
    pipe: Pipe
    timing: Timing
    dependences: tuple[Dependence, ...]
    memory_slot: int
    slots: Mapping[int, int] = field(default_factory=dict)
    """Of vertices."""


def draft(
    name: str,
    numbers: Sequence[int],
    program: Program,
    statements: Sequence[Placed],
    unrolled: frozenset[str],
    interval: int,
    latencies: Latencies,
) -> Draft:
    """What one iteration of the pipe of `statements` does."""
    where = space(statements, unrolled)
    guards = Guards(where)
    found = lanes(where, guards)
    graph = Graph(program, guards, latencies)
    for lane in found:
        graph.add(lane)
    return Draft(name, tuple(numbers), interval, where, guards, tuple(found), tuple(graph.finish()))


def build(
    draft: Draft,
    program: Program,
    layouts: Mapping[str, BankLayout],
    memories: Mapping[str, Memory],
    turns: Mapping[str, Affine],
    latencies: Latencies,
) -> Built:
    """Slots and places. `turns`: which copy an access goes to, for arrays in several copies."""
    vertices = list(draft.vertices)
    ranges = draft.space.ranges
    places: dict[int, tuple[Place, Place]] = {}
    for number, vertex in enumerate(vertices):
        if isinstance(vertex.what, Access):
            array = vertex.what.array
            places[number] = layouts[array].place(vertex.what.forms, ranges, turns.get(array))
    copies = {array: (form, layouts[array].copies) for array, form in turns.items()}
    carried = Carried(program, draft.space, copies)
    dependences = carried.dependences(vertices, _apart(places, ranges))
    resources = _ports(draft, vertices, places, layouts, memories)
    timing, vertices = _schedule(draft, vertices, dependences, resources, memories, latencies)
    nodes = [
        _node(vertex, timing.slots[number], places.get(number)) for number, vertex in enumerate(vertices)
    ]
    touched = [timing.slots[each] for each in places]
    pipe = Pipe(draft.name, draft.space.counters, timing.interval, draft.space.iterations, tuple(nodes))
    return Built(draft, pipe, timing, tuple(dependences), max(touched, default=0))


def _node(vertex: Vertex, slot: int, place: tuple[Place, Place] | None) -> Node:
    match vertex.what:
        case Access() as access:
            assert place is not None
            bank, address = place
            if access.value is None:
                return Read(access.array, bank, address, vertex.guard, slot)
            return Write(access.array, bank, address, access.value, vertex.guard, slot)
        case Constant() | Position() | Operate() | Choose() as what:
            return replace(what, slot=slot)


# --- constraints -------------------------------------------------------------------------------------


def _apart(
    places: Mapping[int, tuple[Place, Place]], ranges: Mapping[str, tuple[int, int]]
) -> Callable[[int, int], bool]:
    """Whether two accesses never touch the same bank, in whatever iterations."""
    ends = {number: bounds(bank, ranges) for number, (bank, _) in places.items()}

    def apart(a: int, b: int) -> bool:
        return ends[a][1] < ends[b][0] or ends[b][1] < ends[a][0]

    return apart


def _ports(
    draft: Draft,
    vertices: Sequence[Vertex],
    places: Mapping[int, tuple[Place, Place]],
    layouts: Mapping[str, BankLayout],
    memories: Mapping[str, Memory],
) -> list[Resource]:
    """The ports of banks that more accesses use than there are ports."""
    found: list[Resource] = []
    ranges = draft.space.ranges

    def together(a: int, b: int) -> bool:
        one, other = vertices[a].what, vertices[b].what
        assert isinstance(one, Access)
        assert isinstance(other, Access)
        if one.forms == other.forms and not one.is_store:
            return True
        return layouts[one.array].apart(one.forms, other.forms) or draft.guards.excludes(
            vertices[a].guard, vertices[b].guard
        )

    for array in draft.arrays:
        for stores in (False, True):
            users = []
            for number in places:
                what = vertices[number].what
                assert isinstance(what, Access)
                if what.array == array and what.is_store is stores:
                    users.append((*bounds(places[number][0], ranges), number))
            count = 1 if stores else memories[array].ports
            kind = "writes to" if stores else "reads of"
            for low, high, group in _overlapping(users):
                if len(group) > count:
                    banks = f"bank {low}" if low == high else f"banks {low} to {high}"
                    found.append(Resource(f"{kind} {array}, {banks}", tuple(group), count, together))
    return found


def _overlapping(users: list[tuple[int, int, int]]) -> list[tuple[int, int, list[int]]]:
    """Users in groups whose ranges of banks do not meet."""
    found: list[tuple[int, int, list[int]]] = []
    for low, high, number in sorted(users):
        if found and low <= found[-1][1]:
            first, last, group = found[-1]
            found[-1] = (first, max(last, high), [*group, number])
        else:
            found.append((low, high, [number]))
    return [(low, high, sorted(group)) for low, high, group in found]


def _latency(vertex: Vertex, memories: Mapping[str, Memory]) -> int:
    match vertex.what:
        case Operate(latency=latency):
            return latency
        case Access(array=array, value=None):
            return memories[array].latency
        case _:
            return 0


def _name(vertex: Vertex) -> str:
    match vertex.what:
        case Operate(operator=operator, latency=latency):
            return f"{operator} ({latency})"
        case Access(array=array, value=value):
            return f"{'read' if value is None else 'write'} {array}"
        case _:
            return ""


def _schedule(
    draft: Draft,
    vertices: list[Vertex],
    dependences: Sequence[Dependence],
    resources: Sequence[Resource],
    memories: Mapping[str, Memory],
    latencies: Latencies,
) -> tuple[Timing, list[Vertex]]:
    """With the operators' first latencies; with shorter ones in recurrences, if that helps."""

    def attempt(vertices: list[Vertex]) -> Timing:
        edges = [
            Edge(operand, number, _latency(vertices[operand], memories), 0, _name(vertices[operand]))
            for number, vertex in enumerate(vertices)
            for operand in vertex.operands
        ]
        edges += [
            Edge(each.before, each.after, each.delay, each.distance, _name(vertices[each.before]))
            for each in dependences
        ]
        timing = modulo.schedule(len(vertices), edges, resources, [], draft.interval)
        return late(vertices, edges, resources, timing)

    timing = attempt(vertices)
    if timing.interval > draft.interval and timing.why.startswith("recurrence"):
        shorter = list(vertices)
        for number in _cyclic(vertices, dependences):
            what = vertices[number].what
            if isinstance(what, Operate):
                least = min(latencies(what.operator, what.number, what.result))
                if least < what.latency:
                    shorter[number] = replace(vertices[number], what=replace(what, latency=least))
        if shorter != vertices:
            better = attempt(shorter)
            if better.interval < timing.interval:
                return better, shorter
    return timing, vertices


def _cyclic(vertices: Sequence[Vertex], dependences: Sequence[Dependence]) -> set[int]:
    """Vertices on cycles of data and memory."""
    after: list[list[int]] = [[] for _ in vertices]
    before: list[list[int]] = [[] for _ in vertices]
    pairs = [(operand, number) for number, vertex in enumerate(vertices) for operand in vertex.operands]
    pairs += [(each.before, each.after) for each in dependences if each.delay]
    for a, b in pairs:
        after[a].append(b)
        before[b].append(a)
    order: list[int] = []
    seen: set[int] = set()
    for root in range(len(vertices)):
        stack = [(root, iter(after[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            step = next((each for each in rest if each not in seen), None)
            if step is None:
                order.append(stack.pop()[0])
            else:
                seen.add(step)
                stack.append((step, iter(after[step])))
    found: set[int] = set()
    placed: set[int] = set()
    for root in reversed(order):
        component, waiting = [], [root] if root not in placed else []
        placed.update(waiting)
        while waiting:
            node = waiting.pop()
            component.append(node)
            new = [each for each in before[node] if each not in placed]
            placed.update(new)
            waiting += new
        if len(component) > 1:
            found.update(component)
    return found
