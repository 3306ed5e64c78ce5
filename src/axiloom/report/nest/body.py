"""`body`: what one iteration of each pipe does, slot by slot, as plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from axiloom.hw.nest.circuit import Circuit, Node, Operate, Pipe, Pop, Push, Read, Write

Group = tuple[int, str, str, int]
_ORDER = ("pop", "read", "operate", "write", "push")


def titles(alike: Mapping[str, str]) -> dict[str, str]:
    """What a FIFO is called: lanes of a stream, which are all `alike` one of them, have one name."""
    lanes = Counter(alike.values())
    return {
        name: name if lanes[lane] == 1 else f"{re.sub(r'_[0-9]+$', '', lane)} × {lanes[lane]}"
        for name, lane in alike.items()
    }


def body(circuit: Circuit, alike: Mapping[str, str]) -> list[dict[str, Any]]:
    """For each pipe ``{"name", "interval", "slots", "groups"}``, and for each group, by slot, ``{"slot",
    "kind", "what", "cycles", "count"}``. A group are nodes of one kind in one slot; `cycles` pass until the
    value is there. `alike` as in a `Timing`."""
    called = {name: title.partition(" ×")[0] for name, title in titles(alike).items()}
    called |= {f"{name}_held": f"{stem}, held" for name, stem in called.items()}
    return [_pipe(circuit, pipe, called) for pipe in circuit.pipes]


def _pipe(circuit: Circuit, pipe: Pipe, called: Mapping[str, str]) -> dict[str, Any]:
    counted = Counter(group for node in pipe.nodes if (group := _group(circuit, node, called)) is not None)
    ordered = sorted(
        counted.items(), key=lambda group: (group[0][0], _ORDER.index(group[0][1]), group[0][2:])
    )
    return {
        "name": pipe.name,
        "interval": pipe.interval,
        "slots": pipe.last_slot + 1,
        "groups": [
            {"slot": slot, "kind": kind, "what": what, "cycles": cycles, "count": count}
            for (slot, kind, what, cycles), count in ordered
        ],
    }


def _group(circuit: Circuit, node: Node, called: Mapping[str, str]) -> Group | None:
    """None for what takes neither time nor a port."""
    match node:
        case Read():
            return (
                node.slot,
                "read",
                f"read {called.get(node.memory, node.memory)}",
                circuit.memory(node.memory).latency,
            )
        case Write():
            return node.slot, "write", f"write {called.get(node.memory, node.memory)}", 0
        case Operate():
            return node.slot, "operate", f"{node.operator} {node.number}", node.latency
        case Pop():
            return node.slot, "pop", f"pop {called[node.fifo]}", 0
        case Push():
            return node.slot, "push", f"push {called[node.fifo]}", 0
        case _:
            return None
