"""A run's timeline for Perfetto and chrome://tracing: the Trace Event Format, as JSON.

Format: "Trace Event Format", Google, the object form with complete events (``"ph": "X"``).
Times are microseconds of simulated time; the same run gives the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from axiloom.base.files import write_whole
from axiloom.cosim.profile import TRACKS, Interval, Timeline

TITLES = {
    "cpu": "CPU",
    "mm2s": "MM2S",
    "s2mm": "S2MM",
    "stream": "stream in",
    "load": "load",
    "compute": "compute",
    "store": "store",
}
"""Track to its name for people."""

DOES = {
    "startup": "start and end",
    "code": "code",
    "pack": "packs",
    "unpack": "unpacks",
    "maintenance": "cache maintenance",
    "access": "register access",
    "poll": "polls",
    "sleep": "sleeps (WFI)",
}
"""What the CPU does, in words."""

_PROCESS = 1


def events(timeline: Timeline, title: str) -> dict[str, Any]:
    """The trace as an object: metadata, then one complete event (``"ph": "X"``) an interval."""
    trace = [_metadata("process_name", 0, name=title)]
    for thread, track in enumerate(TRACKS, 1):
        trace.append(_metadata("thread_name", thread, name=TITLES[track]))
        trace.append(_metadata("thread_sort_index", thread, sort_index=thread))
    trace += [_event(interval) for interval in timeline.intervals()]
    return {
        "traceEvents": trace,
        "displayTimeUnit": "ns",
        "otherData": {"fabric_cycles": timeline.cycles, "resolution_cycles": timeline.resolution},
    }


def write(timeline: Timeline, title: str, path: Path) -> None:
    """Write the trace whole or not at all."""
    write_whole(path, json.dumps(events(timeline, title), separators=(",", ":")) + "\n")


def _metadata(what: str, thread: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "pid": _PROCESS, "tid": thread, "name": what, "args": args}


def _event(interval: Interval) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": TRACKS.index(interval.track) + 1,
        "name": label(interval),
        "cat": interval.kind,
        "ts": round(interval.begin / 1000, 6),
        "dur": round((interval.end - interval.begin) / 1000, 6),
        "args": _args(interval),
    }


def label(interval: Interval) -> str:
    """What an interval is called."""
    if interval.track == "cpu":
        return interval.name if interval.kind == "code" else DOES[interval.kind]
    if interval.track in ("mm2s", "s2mm"):
        return f"{interval.bytes:,} B"
    if interval.track in ("load", "store"):
        again = ", again" if interval.kind == "again" else ""
        return f"{interval.name.partition(' ')[2] or interval.track}{again}"
    return interval.name or interval.kind


def _args(interval: Interval) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if interval.track == "cpu":
        args["function"] = interval.name
    elif interval.track in ("load", "store"):
        opcode, _, operand = interval.name.partition(" ")
        args |= {"opcode": opcode, "operand": operand}
    elif interval.track == "compute" and interval.name:
        args["opcode"] = interval.name
    if interval.bytes:
        args["bytes"] = interval.bytes
    if interval.track in ("mm2s", "s2mm") and interval.address:
        args["address"] = f"0x{interval.address:08X}"
    if interval.count > 1:
        args["merged"] = interval.count
    return args
