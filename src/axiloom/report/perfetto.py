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
    made = [_metadata("process_name", 0, name=title)]
    for thread, track in enumerate(TRACKS, 1):
        made.append(_metadata("thread_name", thread, name=TITLES[track]))
        made.append(_metadata("thread_sort_index", thread, sort_index=thread))
    made += [_event(one) for one in timeline.intervals()]
    return {
        "traceEvents": made,
        "displayTimeUnit": "ns",
        "otherData": {"fabric_cycles": timeline.cycles, "resolution_cycles": timeline.resolution},
    }


def write(timeline: Timeline, title: str, path: Path) -> None:
    """Write the trace whole or not at all."""
    write_whole(path, json.dumps(events(timeline, title), separators=(",", ":")) + "\n")


def _metadata(what: str, thread: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "pid": _PROCESS, "tid": thread, "name": what, "args": args}


def _event(one: Interval) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": TRACKS.index(one.track) + 1,
        "name": label(one),
        "cat": one.kind,
        "ts": round(one.begin / 1000, 6),
        "dur": round((one.end - one.begin) / 1000, 6),
        "args": _args(one),
    }


def label(one: Interval) -> str:
    """What an interval is called."""
    if one.track == "cpu":
        return one.name if one.kind == "code" else DOES[one.kind]
    if one.track in ("mm2s", "s2mm"):
        return f"{one.bytes:,} B"
    if one.track in ("load", "store"):
        return f"{one.name.partition(' ')[2] or one.track}{', again' if one.kind == 'again' else ''}"
    return one.name or one.kind


def _args(one: Interval) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if one.track == "cpu":
        args["function"] = one.name
    elif one.track in ("load", "store"):
        opcode, _, operand = one.name.partition(" ")
        args |= {"opcode": opcode, "operand": operand}
    elif one.track == "compute" and one.name:
        args["opcode"] = one.name
    if one.bytes:
        args["bytes"] = one.bytes
    if one.track in ("mm2s", "s2mm") and one.address:
        args["address"] = f"0x{one.address:08X}"
    if one.count > 1:
        args["merged"] = one.count
    return args
