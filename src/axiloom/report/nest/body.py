"""`body`: what one iteration of each pipe does, slot by slot, as plain data."""

from __future__ import annotations

from collections import Counter
from typing import Any

from axiloom.hw.nest.circuit import Circuit, Node, Operate, Pipe, Pop, Push, Read, Write

Group = tuple[int, str, str, int]
_ORDER = ("pop", "read", "operate", "write", "push")


def body(circuit: Circuit) -> list[dict[str, Any]]:
    """For each pipe ``{"name", "interval", "slots", "groups"}``, and for each group, by slot, ``{"slot",
    "kind", "what", "cycles", "count"}``. A group are nodes of one kind in one slot; `cycles` pass until the
    value is there."""
    return [_pipe(circuit, pipe) for pipe in circuit.pipes]


def _pipe(circuit: Circuit, pipe: Pipe) -> dict[str, Any]:
    found = Counter(group for node in pipe.nodes if (group := _group(circuit, node)) is not None)
    ordered = sorted(found.items(), key=lambda each: (each[0][0], _ORDER.index(each[0][1]), each[0][2:]))
    return {
        "name": pipe.name,
        "interval": pipe.interval,
        "slots": pipe.last_slot + 1,
        "groups": [
            {"slot": slot, "kind": kind, "what": what, "cycles": cycles, "count": count}
            for (slot, kind, what, cycles), count in ordered
        ],
    }


def _group(circuit: Circuit, node: Node) -> Group | None:
    """None for what takes neither time nor a port."""
    match node:
        case Read():
            return node.slot, "read", f"read {node.memory}", circuit.memory(node.memory).latency
        case Write():
            return node.slot, "write", f"write {node.memory}", 0
        case Operate():
            return node.slot, "operate", f"{node.operator} {node.number}", node.latency
        case Pop():
            return node.slot, "pop", f"pop {node.fifo}", 0
        case Push():
            return node.slot, "push", f"push {node.fifo}", 0
        case _:
            return None
