"""What lowering decided, for people: `explain` as lines, `summary` as plain data for reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from axiloom.hw.nest.circuit import Operate, Read, Write
from axiloom.nests.lower.banks.layouts import is_constant
from axiloom.nests.lower.lower import Lowered
from axiloom.nests.lower.pipe import Built
from axiloom.nests.lower.slots import carried
from axiloom.nests.schedule import Cyclic

Data = dict[str, Any]


def summary(lowered: Lowered) -> Data:
    """``pipes`` and ``memories``: intervals and why, lanes, operators, banks. Counts and cycles are
    integers."""
    return {
        "pipes": [_pipe(built) for built in lowered.built],
        "memories": [_memory(lowered, memory.name) for memory in lowered.circuit.memories],
        "fifos": [
            {"name": fifo.name, "bits": fifo.bits, "depth": fifo.depth} for fifo in lowered.circuit.fifos
        ],
    }


def _pipe(built: Built) -> Data:
    """`waits` are iterations that do nothing. `estimated`: distances of dependences may be larger."""
    pipe, draft = built.pipe, built.draft
    lanes = Counter(lane.statement.name for lane in draft.lanes)
    return {
        "name": pipe.name,
        "nests": list(draft.nests.numbers),
        "counters": [{"name": counter.name, "range": list(counter.range)} for counter in pipe.counters],
        "iterations": pipe.iterations,
        "interval": pipe.interval,
        "why": built.timing.why,
        "estimated": _estimated(built),
        "slots": pipe.last_slot + 1,
        "cycles": built.cycles,
        "lanes": dict(lanes),
        "operators": _operators([node for node in pipe.nodes if isinstance(node, Operate)]),
        "unshared": _operators([x.what for x in draft.unshared if isinstance(x.what, Operate)]),
        "waits": {f"level {level}, phase {rank}": count for (level, rank), count in draft.waits.items()},
    }


def _estimated(built: Built) -> bool:
    """Whether iterations are too many to look at each, and inner loops have bounds that change."""
    bounds = [side for counter in built.pipe.counters for side in (counter.lower, counter.upper)]
    boxes = all(len(side) == 1 and side[0].value.is_constant for side in bounds)
    return built.draft.space.iterations > carried.MOST_POINTS and not boxes


def _operators(nodes: list[Operate]) -> dict[str, int]:
    """Pieces of hardware by what they are. Nodes of one unit are one."""
    alone = [node for node in nodes if not node.unit]
    units = {node.unit: node for node in nodes if node.unit}.values()
    return dict(sorted(Counter(f"{x.operator} {x.number}" for x in (*alone, *units)).items()))


def _memory(lowered: Lowered, name: str) -> Data:
    """`held`: no array, but a register that holds an element of a FIFO."""
    memory = lowered.circuit.memory(name)
    accesses = [
        node
        for pipe in lowered.circuit.pipes
        for node in pipe.nodes
        if isinstance(node, Read | Write) and node.memory == name
    ]
    selected = sum(not is_constant(access.bank) for access in accesses)
    layout = lowered.layouts.get(name)
    return {
        "name": name,
        "banks": memory.banks,
        "depth": memory.depth,
        "bits": memory.bits,
        "storage": str(memory.storage),
        "ports": memory.ports,
        "external": memory.external,
        "partition": "" if layout is None else _partition(layout.partition),
        "reads": sum(isinstance(access, Read) for access in accesses),
        "writes": sum(isinstance(access, Write) for access in accesses),
        "selected": selected,
        "held": layout is None,
    }


def _partition(partition: Any) -> str:
    if not isinstance(partition, Cyclic):
        terms = ", ".join(map(str, partition.coefficients))
        return f"hyperplane ({terms}) mod {partition.banks}"
    parts = [
        "whole" if factor == 1 else f"{'block' if d in partition.block else 'cyclic'} {factor}"
        for d, factor in enumerate(partition.factors)
    ]
    return ", ".join(parts)


def explain(lowered: Lowered) -> str:
    """A paragraph a pipe, a line a memory."""
    data = summary(lowered)
    lines: list[str] = []
    for pipe in data["pipes"]:
        lanes = ", ".join(f"{name} x {count}" for name, count in pipe["lanes"].items())
        nests = ", ".join(map(str, pipe["nests"]))
        every = "cycle" if pipe["interval"] == 1 else f"{pipe['interval']} cycles"
        lines.append(
            f"pipe {pipe['name']} (nest {nests}): {pipe['iterations']:,} iterations, one every {every}, "
            f"{pipe['slots']} slots: {pipe['cycles']:,} cycles alone"
        )
        if pipe["why"]:
            lines.append(f"  interval: {pipe['why']}")
        if pipe["why"].startswith("recurrence") and pipe["estimated"]:
            lines.append("  (distances are lower bounds: too many iterations, in loops whose bounds change)")
        lines.append(f"  lanes: {lanes}")
        if pipe["operators"]:
            units = ", ".join(_units(kind, n, pipe["unshared"]) for kind, n in pipe["operators"].items())
            lines.append(f"  operators: {units}")
        lines += [f"  {count} iterations wait after {where}" for where, count in pipe["waits"].items()]
    held = sum(memory["held"] for memory in data["memories"])
    for memory in data["memories"]:
        if memory["held"]:
            continue
        banks = f"{memory['banks']} banks of" if memory["banks"] > 1 else "1 bank of"
        where = "the caller's" if memory["external"] else memory["storage"]
        text = f"array {memory['name']}: {banks} {memory['depth']} x {memory['bits']} bits ({where})"
        if memory["partition"]:
            text += f", {memory['partition']}"
        text += f"; {memory['reads']} reads, {memory['writes']} writes"
        if memory["selected"]:
            text += f", {memory['selected']} of them select their bank"
        lines.append(text)
    lines += _fifos(data["fifos"])
    lines += [f"{held} registers hold elements of FIFOs that are used again"] if held else []
    return "\n".join(lines)


def _fifos(fifos: list[Data]) -> Iterator[str]:
    """Lanes of a stream are one line."""
    lanes = groupby(fifos, lambda x: (re.sub(r"_\d+$", "", x["name"]), x["depth"], x["bits"]))
    for (stem, depth, bits), alike in lanes:
        same = list(alike)
        size = f"{depth} x {bits} bits" if bits else f"{depth} token{'s' if depth > 1 else ''}"
        if len(same) == 1:
            yield f"FIFO {same[0]['name']}: {size}"
        else:
            yield f"{len(same)} FIFOs {stem}: {size} each"


def _units(kind: str, count: int, unshared: dict[str, int]) -> str:
    before = unshared.get(kind, count)
    return f"{count} {kind}" + (f" (for {before}, shared)" if before > count else "")
