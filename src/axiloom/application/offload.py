"""Which operation goes to which unit: the first unit that takes it, accelerators in the order given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from axiloom.application.units.unit import Operator, Unit
from axiloom.base.accelerators import parts
from axiloom.base.errors import UsageError
from axiloom.graph.graph import Graph


@dataclass(frozen=True)
class Offloaded:
    """`operators` in the graph's order; `kept`: operations that a unit knows and does not take, and why."""

    operators: tuple[Operator, ...]
    kept: tuple[tuple[str, str], ...]


def units(accelerators: Sequence[str]) -> list[Unit]:
    """Of names of accelerators (all their units) and of units (``ACCELERATOR.UNIT``). Raises UsageError."""
    of_accelerators: Mapping[str, tuple[Unit, ...]] = parts("units")
    by_name = {unit.name: (unit,) for of in of_accelerators.values() for unit in of}
    known = {**of_accelerators, **by_name}
    chosen: list[Unit] = []
    for name in accelerators:
        if name not in known:
            raise UsageError(f"--accel {name}: no units of it; there are {', '.join(known)}")
        if any(unit in chosen for unit in known[name]):
            raise UsageError(f"--accel {','.join(accelerators)}: {name} is named twice")
        chosen += known[name]
    return chosen


def offload(graph: Graph, accelerators: Sequence[str]) -> Offloaded:
    """Raises UsageError where no unit takes anything."""
    chosen = units(accelerators)
    nodes = list(graph.nodes())
    uses = Counter(id(operand) for node in nodes for operand in node.operands)
    uses.update(id(result) for result in graph.results)
    operators: list[Operator] = []
    kept: list[tuple[str, str]] = []
    inside: set[int] = set()
    # From the end: a bias belongs to the product before it.
    for node in reversed(nodes):
        if id(node) in inside:
            continue
        reasons = []
        for unit in chosen:
            operator = unit.take(node, uses)
            if isinstance(operator, Operator):
                operators.append(operator)
                inside |= {id(part) for part in operator.inside}
                break
            if operator:
                reasons.append(f"{unit.name}: {operator}")
        else:
            if reasons:
                kept.append((node.place or node.op, "; ".join(reasons)))
    if not operators:
        why = f" ({kept[0][0]}: {kept[0][1]})" if kept else ""
        raise UsageError(f"{graph.name}: {', '.join(accelerators)} takes none of its operations{why}")
    return Offloaded(numbered(reversed(operators)), tuple(reversed(kept)))


def numbered(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Each with a name of its own: ``NAME``, ``NAME#2`` ..."""
    names: Counter[str] = Counter()
    numbered_ = []
    for operator in operators:
        name = operator.name.removesuffix(".default") or operator.node.op
        names[name] += 1
        numbered_.append(replace(operator, name=name if names[name] == 1 else f"{name}#{names[name]}"))
    return tuple(numbered_)
