"""What was counted until a moment of a run, as a flat table: parts of runs are differences, and add up.

A key is a kind and names with bars between them: ``counter|cache-misses``, ``cell|compute|poll``,
``function|main|cycles``, ``transfer|mm2s|4096|count``, ``words|v4_16|in``.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from ctypes import POINTER, c_int, c_uint64
from typing import Any

from axiloom.cosim import native
from axiloom.cosim.profile import CHANNELS, CPU, HARDWARE, Function, Profile, RawProfile, Transfers

Tally = dict[str, int]
Words = Sequence[tuple[int, int]]
"""In and out, of each accelerator."""


class _Lap(ctypes.Structure):
    _fields_ = [
        ("counters", native.Counters),
        ("classes", c_uint64 * len(native.COST_CLASSES)),
        ("profile", RawProfile),
    ]


FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"axl_lap_counts": (POINTER(_Lap), [c_int])}
"""The part of the core's interface that belongs to this module, for :func:`axiloom.cosim.native.bind`."""

_LOADS = ("load_new", "load_again", "load_head")
_WAITS = ("in_stalled", "in_starved", "receiving")


def at_lap(library: Any, lap: int, names: Sequence[str], words: Words, accelerators: Sequence[str]) -> Tally:
    """Until the lap with this number; after the run's profile was read. `names`: of the functions."""
    raw = library.axl_lap_counts(lap).contents
    tally = {f"counter|{name}": getattr(raw.counters, field) for name, field in native.PERF_NAMES.items()}
    events = {name: getattr(raw.counters, name) for name in native.ACTIVITY}
    events |= {f"executed_{name}": raw.classes[i] for i, name in enumerate(native.COST_CLASSES)}
    tally |= {f"event|{name}": value for name, value in events.items()}
    profile = raw.profile
    cells = {hw: dict(zip(CPU, profile.cells[i], strict=True)) for i, hw in enumerate(HARDWARE)}
    functions = [Function(n, f.cycles, f.waiting) for n, f in zip(names, profile.functions, strict=False)]
    transfers = [
        Transfers(CHANNELS[t.channel], t.bytes, t.count, t.cycles)
        for t in profile.transfers[: profile.n_transfers]
    ]
    tally |= _profile(cells, functions, transfers)
    row = {hw: sum(cells[hw].values()) for hw in HARDWARE}
    fabric = {
        "cycles": sum(row.values()),
        "compute": row["compute"],
        "load": sum(row[hw] for hw in _LOADS),
        "store": row["store"],
        "dma_wait": sum(row[hw] for hw in _WAITS),
        "idle": row["quiet"],
        "words_in": sum(taken for taken, _ in words),
        "words_out": sum(sent for _, sent in words),
        "transfers_in": sum(t.count for t in transfers if t.channel == "mm2s"),
        "transfers_out": sum(t.count for t in transfers if t.channel == "s2mm"),
        "mmio_reads": raw.counters.mmio_reads,
        "mmio_writes": raw.counters.mmio_writes,
        "polls": raw.counters.polls,
    }
    tally |= {f"fabric|{name}": value for name, value in fabric.items()}
    return tally | of_words(words, accelerators)


def at_end(
    counters: Mapping[str, int],
    events: Mapping[str, int],
    fabric: Mapping[str, int],
    profile: Profile,
    words: Words,
    accelerators: Sequence[str],
) -> Tally:
    """Of a whole run."""
    tally = {f"counter|{name}": value for name, value in counters.items()}
    tally |= {f"event|{name}": value for name, value in events.items()}
    tally |= {f"fabric|{name}": value for name, value in fabric.items()}
    return (
        tally | _profile(profile.cells, profile.functions, profile.transfers) | of_words(words, accelerators)
    )


def _profile(
    cells: Mapping[str, Mapping[str, int]], functions: Iterable[Function], transfers: Iterable[Transfers]
) -> Tally:
    tally = {f"cell|{hw}|{cpu}": value for hw, row in cells.items() for cpu, value in row.items()}
    for function in functions:
        if function.cycles:
            tally |= {
                f"function|{function.name}|cycles": function.cycles,
                f"function|{function.name}|waiting": function.waiting,
            }
    for t in transfers:
        name = f"transfer|{t.channel}|{t.bytes}"
        tally |= {f"{name}|count": t.count, f"{name}|cycles": t.cycles}
    return tally


def of_words(words: Words, accelerators: Sequence[str]) -> Tally:
    """What each accelerator's streams have moved."""
    tally: Tally = {}
    for name, (went_in, came_out) in zip(accelerators, words, strict=False):
        tally |= {f"words|{name}|in": went_in, f"words|{name}|out": came_out}
    return tally


def minus(until: Tally, before: Tally) -> Tally:
    """What was counted between two moments of one run."""
    differences = {name: value - before.get(name, 0) for name, value in until.items()}
    return {name: value for name, value in differences.items() if value}


def total(parts: Iterable[Tally]) -> Tally:
    """Parts one after another."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part)
    return dict(sums)


def table(tally: Tally, kind: str, names: Iterable[str]) -> dict[str, int]:
    """Of one kind, those of these names; 0 where nothing was counted."""
    return {name: tally.get(f"{kind}|{name}", 0) for name in names}


def profile_of(tally: Tally, stack_bytes: int | None, code_bytes: Mapping[str, int]) -> Profile:
    """The profile of a run that is made of parts."""
    functions = [
        Function(name, cycles, waiting) for (name,), (cycles, waiting) in _pairs(tally, "function", "waiting")
    ]
    transfers = [
        Transfers(next(c for c in CHANNELS if c == channel), int(size), count, cycles)
        for (channel, size), (cycles, count) in _pairs(tally, "transfer", "count")
    ]
    return Profile(
        cells={hw: {cpu: tally.get(f"cell|{hw}|{cpu}", 0) for cpu in CPU} for hw in HARDWARE},
        functions=tuple(sorted(functions, key=lambda f: (-f.cycles, f.name))),
        transfers=tuple(sorted(transfers, key=lambda t: (CHANNELS.index(t.channel), t.bytes))),
        stack_bytes=stack_bytes,
        code_bytes=code_bytes,
    )


def _pairs(tally: Tally, kind: str, second: str) -> Iterable[tuple[tuple[str, ...], tuple[int, int]]]:
    """Names, with their cycles and what stands beside."""
    for name in sorted({tuple(key.split("|")[1:-1]) for key in tally if key.startswith(f"{kind}|")}):
        begin = "|".join((kind, *name))
        yield name, (tally.get(f"{begin}|cycles", 0), tally.get(f"{begin}|{second}", 0))
