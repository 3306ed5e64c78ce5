"""What a report says of a network: a row for each layer, what stayed on the CPU and why, the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from axiloom.boards import Board
from axiloom.drivergen.network import Layer, NetworkDriver
from axiloom.isa import AcceleratorSpec

Rows = list[dict[str, Any]]

CPU_CYCLES = 4.0
"""Fabric cycles that a multiply-add on the CPU takes, about; for the estimate of the time left alone."""
MAP_CYCLES = 1000.0
"""The same for an element-wise layer: they are short."""


def weight_of(layer: Layer, specs: Sequence[AcceleratorSpec]) -> float:
    """About how long a layer takes to simulate in relation to others, for progress."""
    if not layer.multiply_adds:
        return MAP_CYCLES
    if layer.device is None:
        return layer.multiply_adds * CPU_CYCLES
    return layer.multiply_adds * 8.0 / specs[layer.device].macs


def rows(
    layers: Sequence[Layer],
    marks: np.ndarray[Any, Any],
    board: Board,
    specs: Sequence[AcceleratorSpec],
    last: int = -1,
) -> Rows:
    """A row for each layer that ran: the timer runs at half the CPU's clock."""
    ran = layers if last < 0 else layers[: last + 1]
    ticks = [int(marks[number + 1]) - int(marks[number]) for number in range(len(ran))]
    total = max(sum(ticks), 1)
    return [
        {
            "layer": layer.number,
            "function": layer.function,
            "place": layer.place,
            "accelerator": None if layer.device is None else specs[layer.device].name,
            "location": layer.location,
            "reason": layer.reason,
            "multiply_adds": layer.multiply_adds,
            "ms": round(took * 2 / board.cpu_hz * 1e3, 6),
            "share": round(took / total, 6),
        }
        for layer, took in zip(ran, ticks, strict=True)
    ]


def section(
    driver: NetworkDriver,
    marks: np.ndarray[Any, Any],
    board: Board,
    specs: Sequence[AcceleratorSpec],
    last: int,
    beside: Rows | None,
) -> dict[str, Any]:
    """The report's ``network``; `beside` are the rows of the same network on the CPU alone."""
    found = rows(driver.layers, marks, board, specs, last)
    return {
        "layers": found,
        "cpu_layers": beside,
        "arena": {
            "peak": driver.memory.peak,
            "unshared": driver.memory.total,
            "buffers": [
                {
                    "name": place.buffer.name,
                    "offset": place.offset,
                    "size": place.buffer.size,
                    "first": place.buffer.first,
                    "last": place.buffer.last,
                }
                for place in driver.memory.places
            ],
        },
        "weights": {
            "bytes": sum(array.nbytes for array in driver.weights.values()),
            "arrays": len(driver.weights),
        },
        "stopped_after": None if last < 0 else last,
    }


def memory_map(driver: NetworkDriver) -> str:
    """The arena as text: which layer's result lies where, and how long."""
    lines = [f"arena: {driver.memory.peak:,} bytes, {driver.memory.total:,} if nothing shared memory", ""]
    for place in sorted(driver.memory.places, key=lambda place: (place.offset, place.buffer.first)):
        one = place.buffer
        span = f"layers {one.first} to {one.last}"
        lines.append(f"{place.offset:>10} {one.size:>10}  {span:<18} {one.name}")
    return "\n".join(lines) + "\n"


def lines(report: Mapping[str, Any]) -> list[str]:
    """The network's part of the table in a terminal."""
    network = report["network"]
    beside = {"total": 0.0}
    alone = network["cpu_layers"]
    total = sum(row["ms"] for row in network["layers"])
    on = {place: sum(r["ms"] for r in network["layers"] if r["place"] == place) for place in PLACES}
    head = f"Layers ({total:.3f} ms; accelerator {on['accelerator']:.3f}, CPU {on['cpu']:.3f})"
    if alone:
        beside["total"] = sum(row["ms"] for row in alone)
        head += f"; the CPU alone takes {beside['total']:.3f} ms"
    width = max((len(row["function"]) for row in network["layers"]), default=0)
    found = ["", head]
    for row in network["layers"]:
        where = row["accelerator"] or row["place"]
        found.append(
            f"  {row['layer']:>3}  {row['function']:<{width}}  {where:<11}  {row['ms']:>10.3f} ms"
            f"  {row['share']:>6.1%}"
        )
    stays = [row for row in network["layers"] if row["place"] == "cpu" and row["reason"]]
    if stays:
        found += ["", "On the CPU, although an accelerator might take it:"]
        seen: dict[tuple[str, str], int] = {}
        for row in stays:
            key = row["function"], row["reason"]
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 1:
                found.append(f"  {row['location']}: {row['function']}: {row['reason']}")
    arena, weights = network["arena"], network["weights"]
    found += [
        "",
        f"Tensors between layers: {arena['peak']:,} bytes ({arena['unshared']:,} without sharing); "
        f"weights: {weights['bytes']:,} bytes in {weights['arrays']} arrays",
    ]
    if network["stopped_after"] is not None:
        found.append(f"Stopped after layer {network['stopped_after']}")
    return found


PLACES = ("accelerator", "cpu")
