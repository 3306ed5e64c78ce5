"""Which vertices stand on recurrences: cycles of data and memory."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.nests.lower.iteration.graph import Vertex
from axiloom.nests.lower.slots.carried import Dependence


def cyclic(vertices: Sequence[Vertex], dependences: Sequence[Dependence]) -> set[int]:
    """Vertices on cycles of data and memory."""
    after: list[list[int]] = [[] for _ in vertices]
    before: list[list[int]] = [[] for _ in vertices]
    pairs = [(operand, number) for number, vertex in enumerate(vertices) for operand in vertex.operands]
    pairs += [(dependence.before, dependence.after) for dependence in dependences if dependence.delay]
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
            step = next((vertex for vertex in rest if vertex not in seen), None)
            if step is None:
                order.append(stack.pop()[0])
            else:
                seen.add(step)
                stack.append((step, iter(after[step])))
    in_cycles: set[int] = set()
    placed: set[int] = set()
    for root in reversed(order):
        component, waiting = [], [root] if root not in placed else []
        placed.update(waiting)
        while waiting:
            node = waiting.pop()
            component.append(node)
            new = [vertex for vertex in before[node] if vertex not in placed]
            placed.update(new)
            waiting += new
        if len(component) > 1:
            in_cycles.update(component)
    return in_cycles
