"""Where on the timeline the rows of a report's tables are: the longest stretch of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from axiloom.cosim.profile import CHANNELS, CPU, HARDWARE, STREAM, TRACKS, Timeline
from axiloom.report.losses import CLASSES

Stretch = list[int]
"""Nanoseconds from the run's start: begin, end."""
Array = np.ndarray[Any, Any]


def of(timeline: Timeline) -> dict[str, dict[str, Stretch]]:
    """By the keys of a report: classes of ``losses``, names of ``functions``, channel and bytes of
    ``transfers``. What is too short for the timeline, which merges neighbours, is not there."""
    edges, classes = _classes(timeline)
    changes = np.flatnonzero(np.diff(classes)) + 1
    first, last = np.concatenate([[0], changes]), np.concatenate([changes, [len(classes)]])
    losses = _longest([CLASSES[kind].key for kind in classes[first]], edges[first], edges[last])
    rows, tick = _track(timeline, "cpu")
    functions = _longest(
        [timeline.functions[name] for name in rows["name"]], rows["begin"] * tick, rows["end"] * tick
    )
    transfers: dict[str, Stretch] = {}
    for channel in CHANNELS:
        rows, tick = _track(timeline, channel)
        names = [f"{channel} {size}" for size in rows["bytes"]]
        transfers |= _longest(names, rows["begin"] * tick, rows["end"] * tick)
    return {"losses": losses, "functions": functions, "transfers": transfers}


def nanoseconds(timeline: Timeline) -> dict[str, float]:
    """Of each class, as the timeline has it: what ``losses`` says, but for intervals that were merged."""
    edges, classes = _classes(timeline)
    spent = np.bincount(classes, np.diff(edges), len(CLASSES))
    return {class_.key: float(time) for class_, time in zip(CLASSES, spent, strict=True)}


def _track(timeline: Timeline, name: str) -> tuple[Array, float]:
    """Its intervals, and nanoseconds a tick."""
    rows = timeline.raw[timeline.raw["track"] == TRACKS.index(name)]
    return rows, 1e9 / (timeline.cpu_hz if name == "cpu" else timeline.fabric_hz)


def _longest(keys: list[str], begins: Array, ends: Array) -> dict[str, Stretch]:
    longest: dict[str, Stretch] = {}
    for key, begin, end in zip(keys, begins.tolist(), ends.tolist(), strict=True):
        held = longest.get(key)
        if held is None or end - begin > held[1] - held[0]:
            longest[key] = [round(begin), round(end)]
    return longest


_CELL = {
    (hardware, cpu): n
    for n, class_ in enumerate(CLASSES)
    for hardware in class_.hardware
    for cpu in class_.cpu
}


def _classes(timeline: Timeline) -> tuple[Array, Array]:
    """Times at which a track changes, and the number of the class between each and the next."""
    tracks = {name: _track(timeline, name) for name in TRACKS}
    times = [rows[side] * tick for rows, tick in tracks.values() for side in ("begin", "end")]
    edges = np.unique(np.concatenate([*times, [0.0, timeline.nanoseconds]]))
    middles = (edges[:-1] + edges[1:]) / 2
    doing = {name: _doing(*track, middles) for name, track in tracks.items()}
    stream = {name: doing["stream"] == kind for kind, name in enumerate(STREAM)}
    # As the core has it (AXL_HW_*): the first that applies.
    applies = {
        "compute": doing["compute"] >= 0,
        "load_new": (doing["load"] == 0) & stream["active"],
        "load_again": (doing["load"] == 1) & stream["active"],
        "load_head": stream["active"],
        "store": doing["store"] >= 0,
        "in_stalled": stream["stalled"],
        "in_starved": stream["starved"],
        "receiving": doing["s2mm"] >= 0,
    }
    numbers = [HARDWARE.index(name) for name in applies]
    hardware = np.select([*applies.values()], numbers, HARDWARE.index("quiet"))
    cpu = np.where(doing["cpu"] < 0, CPU.index("startup"), doing["cpu"])
    cells = np.array([[_CELL[hw, does] for does in CPU] for hw in HARDWARE])
    return edges, cells[hardware, cpu]


def _doing(rows: Array, tick: float, times: Array) -> Array:
    """The kind of the interval that covers each time, -1 where none does."""
    if not len(rows):
        return np.full(len(times), -1)
    at = np.searchsorted(rows["begin"] * tick, times, "right") - 1
    inside = (at >= 0) & (times < rows["end"][at] * tick)
    return np.where(inside, rows["kind"][at].astype(np.int64), -1)
