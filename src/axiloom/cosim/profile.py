"""Where the time of a run went: what the core counted (``native/axl_profile.h``), as Python values.

A :class:`Profile` comes with every run on the SoC, a :class:`Timeline` where it was asked for. The rules
by which cycles are put into classes are in ``docs/report.md``.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, c_uint8, c_uint32, c_uint64
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from axiloom.cosim import protocol

if TYPE_CHECKING:
    from axiloom.boards import Board
    from axiloom.cosim.elf import Program
    from axiloom.isa import AcceleratorSpec

INTERVALS = 200_000
"""Intervals that a timeline holds at most; beyond, short neighbours are merged."""

HARDWARE = (
    *("compute", "load_new", "load_again", "load_head", "store"),
    *("in_stalled", "in_starved", "receiving", "quiet"),
)
"""What the hardware does in a fabric cycle (AXL_HW_*), the first that applies."""

CPU = ("startup", "code", "pack", "unpack", "maintenance", "access", "poll", "sleep")
"""What the CPU does meanwhile (AXL_CPU_*)."""

TRACKS = ("cpu", "mm2s", "s2mm", "stream", "load", "compute", "store")
STREAM = ("active", "stalled", "starved")
Channel = Literal["mm2s", "s2mm"]
CHANNELS: tuple[Channel, ...] = ("mm2s", "s2mm")
NO_FUNCTION = "(no symbol)"


class _Function(ctypes.Structure):
    _fields_ = [("cycles", c_uint64), ("waiting", c_uint64)]


class _Transfer(ctypes.Structure):
    _fields_ = [("channel", c_uint32), ("bytes", c_uint32), ("count", c_uint64), ("cycles", c_uint64)]


class _Interval(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("begin", "end", "bytes")),
        *((name, c_uint32) for name in ("track", "kind", "name", "address", "count", "unused")),
    ]


class RawProfile(ctypes.Structure):
    """``axl_profile_t``."""

    _fields_ = [
        ("cells", c_uint64 * len(CPU) * len(HARDWARE)),
        ("resolution", c_uint64),
        ("functions", POINTER(_Function)),
        ("transfers", POINTER(_Transfer)),
        ("intervals", POINTER(_Interval)),
        ("n_transfers", c_uint64),
        ("n_intervals", c_uint64),
    ]


FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "axl_functions": (None, [POINTER(c_uint32), c_uint32, c_uint32, c_uint32]),
    "axl_own_functions": (None, [POINTER(c_uint8)]),
    "axl_windows": (None, [c_uint32] * 5),
    "axl_timeline": (None, [c_uint32]),
    "axl_profile": (POINTER(RawProfile), [c_uint64]),
}
"""The part of the core's interface that belongs to this module, for :func:`axiloom.cosim.native.bind`."""


@dataclass(frozen=True)
class Function:
    """CPU cycles inside a function, without what it calls; `waiting` of them for the fabric."""

    name: str
    cycles: int
    waiting: int


@dataclass(frozen=True)
class Transfers:
    """All transfers of one size over one channel; fabric `cycles` from start to end."""

    channel: Channel
    bytes: int
    count: int
    cycles: int


@dataclass(frozen=True)
class Interval:
    """Something that lasted. `begin` and `end` are nanoseconds of simulated time."""

    track: str
    begin: float
    end: float
    kind: str
    """CPU: one of :data:`CPU`; stream: one of :data:`STREAM`; load: "new" or "again"; else the track."""
    name: str
    """CPU: the function; load and store: ``opcode operand``; compute: the opcode, where it is known; else
    empty."""
    bytes: int
    address: int
    count: int
    """Intervals that were merged into this one."""


@dataclass(frozen=True)
class Timeline:
    """Every interval of a run, by track (:data:`TRACKS`) and time. Those of a track do not overlap."""

    cpu_hz: int
    fabric_hz: int
    cycles: int
    """Of the fabric: the whole run."""
    resolution: int
    """Fabric cycles; 0: nothing was merged. Else intervals may stand for several up to this length."""
    functions: tuple[str, ...]
    payloads: Mapping[int, str]
    computing: tuple[str, ...]
    """Opcodes at which the array multiplies."""
    raw: np.ndarray[Any, Any]
    """Fields of ``axl_interval_t``."""

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def nanoseconds(self) -> float:
        return self.cycles * 1e9 / self.fabric_hz

    def intervals(self, track: str | None = None) -> Iterator[Interval]:
        rows = self.raw if track is None else self.raw[self.raw["track"] == TRACKS.index(track)]
        for row in rows:
            yield self._interval(row)

    @cached_property
    def _loads(self) -> tuple[list[int], list[str]]:
        """Fabric cycles at which opcodes that compute begin to load, and these opcodes."""
        rows = self.raw[self.raw["track"] == TRACKS.index("load")]
        named = [(int(row["begin"]), self.payloads.get(int(row["name"]), "").split(" ")[0]) for row in rows]
        kept = [event for event in named if event[1] in self.computing]
        return [begin for begin, _ in kept], [name for _, name in kept]

    def _opcode(self, begin: int) -> str:
        """The opcode that computes from this fabric cycle on: the only one that does, or the last one that
        loaded. Empty where one of several loads nothing: the timeline does not tell it from the others."""
        if len(self.computing) < 2:
            return "".join(self.computing)
        if not set(self.computing) <= {name.split(" ")[0] for name in self.payloads.values()}:
            return ""
        begins, names = self._loads
        before = bisect_right(begins, begin)
        return names[before - 1] if before else ""

    def _interval(self, row: Any) -> Interval:
        track = TRACKS[row["track"]]
        tick = 1e9 / (self.cpu_hz if track == "cpu" else self.fabric_hz)
        kind, name = track, ""
        if track == "cpu":
            kind, name = CPU[row["kind"]], self.functions[row["name"]]
        elif track == "stream":
            kind = STREAM[row["kind"]]
        elif track in ("load", "store"):
            kind = "store" if track == "store" else ("new", "again")[row["kind"]]
            name = self.payloads.get(int(row["name"]), "")
        elif track == "compute":
            name = self._opcode(int(row["begin"]))
        return Interval(
            track,
            round(int(row["begin"]) * tick, 3),
            round(int(row["end"]) * tick, 3),
            kind,
            name,
            int(row["bytes"]),
            int(row["address"]),
            int(row["count"]),
        )


@dataclass(frozen=True)
class Profile:
    """Where the time of a run went."""

    cells: Mapping[str, Mapping[str, int]]
    """Fabric cycles by what the hardware did (:data:`HARDWARE`) and what the CPU did meanwhile (:data:`CPU`).
    Every cycle of the run is in one of them."""
    functions: tuple[Function, ...]
    """The longest first; those that never ran are not there."""
    transfers: tuple[Transfers, ...]
    stack_bytes: int | None
    """Peak of the stack: from its top to the lowest byte that was written (it is painted before the run)."""
    code_bytes: Mapping[str, int]
    """Size of the program: ``text``, ``rodata``, ``data``, ``bss``."""
    timeline: Timeline | None = None


def teach_program(library: Any, program: Program) -> tuple[str, ...]:
    """Tell the core where functions begin; returns their names by index, and one for what none covers."""
    functions = program.functions
    addresses = [f.address for f in functions]
    names = [f.name for f in functions]
    entry = next((i for i, f in reversed([*enumerate(functions)]) if f.address <= program.entry), len(names))
    main = names.index("main") if "main" in names else len(names)
    library.axl_functions((c_uint32 * len(addresses))(*addresses), len(addresses), entry, main)
    return (*names, NO_FUNCTION)


def teach_windows(library: Any, spec: AcceleratorSpec | None) -> None:
    """Tell the core what it is to take for packing and unpacking."""
    if spec is None:
        library.axl_windows(0, 0, 0, 0, 1)
        return
    dma = spec.link.dma
    library.axl_windows(
        dma.input_address,
        dma.input_buffer_size,
        dma.output_address,
        dma.output_buffer_size,
        spec.link.stream_width // 32,
    )


def read(
    library: Any,
    board: Board,
    spec: AcceleratorSpec | None,
    cycles: int,
    names: tuple[str, ...],
    stack_bytes: int | None,
    code_bytes: Mapping[str, int],
    timeline: bool,
) -> Profile:
    """The profile of the run that has just ended after `cycles` fabric cycles."""
    raw = library.axl_profile(cycles).contents
    functions = [
        Function(name, raw.functions[i].cycles, raw.functions[i].waiting) for i, name in enumerate(names)
    ]
    transfers = [raw.transfers[i] for i in range(raw.n_transfers)]
    return Profile(
        cells={hw: dict(zip(CPU, raw.cells[i], strict=True)) for i, hw in enumerate(HARDWARE)},
        functions=tuple(sorted((f for f in functions if f.cycles), key=lambda f: (-f.cycles, f.name))),
        transfers=tuple(Transfers(CHANNELS[t.channel], t.bytes, t.count, t.cycles) for t in transfers),
        stack_bytes=stack_bytes,
        code_bytes=code_bytes,
        timeline=_timeline(raw, board, spec, cycles, names) if timeline else None,
    )


def _timeline(
    raw: Any, board: Board, spec: AcceleratorSpec | None, cycles: int, names: tuple[str, ...]
) -> Timeline:
    kind = np.dtype(_Interval)
    known = protocol.instructions(spec) if spec else []
    count = raw.n_intervals
    rows = np.zeros(0, kind)
    if count:
        rows = np.ctypeslib.as_array(raw.intervals, shape=(count,)).view(kind).reshape(count).copy()
    return Timeline(
        cpu_hz=board.cpu_hz,
        fabric_hz=board.fabric_hz,
        cycles=cycles,
        resolution=raw.resolution,
        functions=names,
        payloads=_payloads(known),
        computing=tuple(row.name for row in known if row.computes),
        raw=rows,
    )


def _payloads(known: Sequence[protocol.Instruction]) -> dict[int, str]:
    """``opcode operand`` by the number that the core gives it: the action's place in the monitor's table."""
    return {
        index << 8 | place: f"{row.name} {action.operand.decode()}"
        for index, row in enumerate(known)
        for place, action in enumerate(row.actions)
        if action.operand
    }
