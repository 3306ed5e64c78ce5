"""How long a run will take: the cost model behind ``axiloom explore`` and ``--flow best``.

What is moved comes from :mod:`axiloom.drivergen.traffic`, latencies and cache sizes from the board, and what
the driver's own code costs from `CONSTANTS`, fitted to simulations by ``python -m benchmarks cost_fit``
(counts times constants: calls, transfers, rows and words copied).

The CPU's time is the sum of these and of the cache misses; the fabric's is the busiest of the stream in, the
stream out and the array. A pipeline with blocking transfers takes the sum of both, one that overlaps them the
larger, and what cannot overlap: packing the first packet, taking the last tile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.drivergen.problem import Problem
from axiloom.drivergen.selection import Candidate, candidates
from axiloom.drivergen.selection import sizes as sizes_of
from axiloom.drivergen.traffic import LINE, Copies, Schedule
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """What the model needs to know of a board. Latencies in CPU cycles, sizes in bytes."""

    cpu_hz: float
    fabric_hz: float
    l1_bytes: float
    l2_bytes: float
    l2_hit: float
    ddr: float

    @property
    def ratio(self) -> float:
        """CPU cycles a fabric cycle."""
        return self.cpu_hz / self.fabric_hz


@dataclass(frozen=True)
class Constants:
    """What a pipeline's code costs, in CPU cycles apiece."""

    start: float = 0.0
    """A run without work: start-up, initialisation, the last clean of the caches."""
    opcode: float = 0.0
    transfer_in: float = 0.0
    """Registers and polls, latency of the stream included where transfers block."""
    transfer_out: float = 0.0
    row_in: float = 0.0
    word_in: float = 0.0
    edge_in: float = 0.0
    """A stream word of a tile that hangs over the edge of its matrix, besides the others."""
    row_out: float = 0.0
    word_out: float = 0.0
    edge_out: float = 0.0
    miss_in: float = 0.0
    """Factor on the latency of a miss: how much of it the CPU waits for."""
    miss_out: float = 0.0
    gap: float = 0.0
    """Fabric cycles between transfers that overlap with the CPU's work."""
    in_place: bool = False
    """A and B are read where they are: cleaned once a line, described once a tile. `word_in` is a line then,
    `row_in` a tile of a descriptor of its own."""
    coalesced: bool = False
    """Sends that follow each other are one transfer."""
    residency: bool = False
    """Tiles that stay in the device are not sent again."""
    packets: bool = False
    """Iterations are packets, kept and packed in turns; where none fits the window, transfers block."""


CPU = (
    *("start", "opcode", "transfer_in", "transfer_out", "row_in", "word_in", "edge_in"),
    *("row_out", "word_out", "edge_out", "miss_in", "miss_out"),
)
PACK = ("row_in", "word_in", "edge_in", "miss_in")
TAKE = ("row_out", "word_out", "edge_out", "miss_out")

CONSTANTS = Path(__file__).with_name("cost_constants.json")
"""Of each pipeline: ``constants``, and ``error`` of the fit. ``python -m benchmarks cost_fit`` writes it."""

FORMS: dict[str, dict[str, bool]] = {
    "published": {},
    "coalesced": {"coalesced": True},
    "copying": {"coalesced": True, "residency": True, "packets": True},
    "all": {"residency": True, "in_place": True},
}
"""What the drivers of a pipeline do, by the fields of `Constants`."""


@cache
def fitted() -> dict[str, dict[str, dict[str, float]]]:
    """The contents of `CONSTANTS`."""
    loaded: dict[str, Any] = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    return loaded


def constants_of(pipeline: str) -> Constants:
    """The fitted constants of a pipeline; UsageError for one that the model does not know."""
    if pipeline not in fitted():
        known = ", ".join(fitted())
        raise UsageError(f"the cost model does not know the pipeline `{pipeline}`; it knows {known}")
    values: dict[str, Any] = fitted()[pipeline]["constants"]
    return replace(Constants(**FORMS[pipeline]), **values)


BUFFERS = 2
"""Places that packets take turns in: the pass accel-double-buffer."""


@dataclass(frozen=True)
class Work:
    """What the CPU and the fabric have to do in some runs: everything but what it costs.

    Streams and array in fabric cycles.
    """

    counts: dict[str, Array]
    """How often each constant of `CPU` is paid; misses in cycles of latency."""
    stream_in: Array
    stream_out: Array
    array: Array
    last_array: Array
    """Part of `array` that blocking receives wait for."""
    first: Array
    """Words of the first packet: nothing overlaps with packing them."""
    overlaps: npt.NDArray[np.bool_]
    """Whether transfers go on beside the CPU."""
    words: Array

    @property
    def limit(self) -> Array:
        """Fabric cycles that the words on the busier stream, or the multiply-adds, take at least."""
        return np.maximum(np.maximum(self.stream_in, self.stream_out), self.array)


def cycles(work: Work, c: Constants, per_cycle: Array | float, ratio: float) -> Array:
    """CPU cycles of runs; streams move `per_cycle` words a fabric cycle, which is `ratio` CPU cycles."""
    cost = {name: getattr(c, name) * counts for name, counts in work.counts.items()}
    cpu = _sum(cost, *CPU)
    blocking = cpu + (work.stream_in + work.stream_out + work.last_array) * ratio
    sent = work.stream_in + c.gap * work.counts["transfer_in"]
    fabric = np.maximum(np.maximum(sent, work.stream_out), work.array)
    # What cannot overlap: packing the first packet; its way, the tile that comes back, taking it.
    tiles = np.maximum(work.counts["transfer_out"], 1)
    last = (work.stream_out + work.last_array) / tiles
    pack = _sum(cost, *PACK) * np.minimum(work.first / np.maximum(work.counts["word_in"], 1), 1)
    behind = cpu - c.start + (work.first / per_cycle + last) * ratio
    ahead = pack + (fabric + last) * ratio + _sum(cost, *TAKE) / tiles
    return np.where(work.overlaps, c.start + _larger(behind, ahead), blocking)


def _sum(cost: Mapping[str, Array], *names: str) -> Array:
    return np.asarray(sum(cost[name] for name in names))


def _larger(one: Array, other: Array) -> Array:
    """The larger of two times that share a run; where they are close, each waits for the other at times."""
    return np.asarray((one**8 + other**8) ** (1 / 8))


def _hits(touched: Array, size: float) -> Array:
    """Share of what is read again that is still in a cache of `size` bytes after `touched` other bytes.

    Random replacement: a line survives a miss with probability 1 - 1/lines, and misses are what does not
    hit: h = exp(-(1 - h) touched / size). Up to `size` all survive but those whose set is crowded.
    """
    pressure = np.maximum(touched, 1.0) / size
    hits = np.full_like(pressure, 0.5)
    for _ in range(40):
        hits = np.exp(-(1 - hits) * pressure)
    return np.where(pressure < 1, 1 - 0.1 * pressure**2, np.minimum(hits, 0.9))


class Model:
    """Estimates for one accelerator on one machine with the drivers of one pipeline."""

    def __init__(self, spec: AcceleratorSpec, machine: Machine, constants: Constants) -> None:
        self.spec = spec
        self.machine = machine
        self.constants = constants

    def schedule(self, flow: str, order: Sequence[str], sizes: Mapping[str, int]) -> Schedule:
        return Schedule(self.spec, flow, order, sizes, residency=self.constants.residency)

    def work(self, schedule: Schedule, tiles: Sequence[tuple[int, ...]]) -> Work:
        """What runs with these tiles have to do."""
        c = self.constants
        traffic = schedule.traffic(tiles, coalesced=c.coalesced)
        zero = np.zeros(len(tiles))
        transfers_in, first, overlaps = traffic.transfers_in, zero, np.full(len(tiles), c.in_place)
        shares: Sequence[Array | float] = [1.0] * len(traffic.sends)
        if c.packets:
            packets = schedule.packets(tiles, buffers=BUFFERS)
            overlaps = packets.found
            transfers_in = np.where(overlaps, packets.count, transfers_in)
            first = np.where(overlaps, packets.longest, 0)
            packed = zip(schedule.uses, packets.tiles, strict=True)
            every = [tiles_packed for use, tiles_packed in packed for _ in use.opcode.sends]
            shares = [np.minimum(n / one.tiles, 1.0) for n, one in zip(every, traffic.sends, strict=True)]
        counts = dict.fromkeys(CPU, zero) | {
            "start": zero + 1,
            "opcode": traffic.opcodes,
            "transfer_in": transfers_in,
            "transfer_out": traffic.transfers_out,
        }
        window = 4 * traffic.words_in / np.maximum(transfers_in, 1)
        for copies, share in zip(traffic.sends, shares, strict=True):
            for name, count in self._sent(copies, window, share).items():
                counts[name] = counts[name] + count
        for copies in traffic.receives:
            for name, count in self._received(copies, window).items():
                counts[name] = counts[name] + count
        per_cycle = self.spec.stream_width / 32
        return Work(
            counts,
            traffic.words_in / per_cycle,
            traffic.words_out / per_cycle,
            traffic.macs,
            traffic.last_macs,
            first,
            overlaps,
            traffic.words_in + traffic.words_out,
        )

    def _sent(self, copies: Copies, window: Array, share: Array | float) -> dict[str, Array]:
        if self.constants.in_place and copies.whole_beats:
            return {"row_in": copies.tiles, "word_in": copies.distinct, "edge_in": copies.edge}
        if self.constants.in_place:
            return {"row_in": copies.tiles, "edge_in": copies.words}
        return {
            "row_in": copies.rows * share,
            "word_in": copies.words * share,
            "edge_in": copies.edge * share,
            "miss_in": self._misses(copies, window, share),
        }

    def _received(self, copies: Copies, window: Array) -> dict[str, Array]:
        # What the DMA wrote was in no cache; C is read, added to and written back.
        fresh = copies.words * 4 / LINE * (self.machine.l2_hit + self.machine.ddr)
        return {
            "row_out": copies.rows,
            "word_out": copies.words,
            "edge_out": copies.edge,
            "miss_out": self._misses(copies, window, 1.0) + fresh,
        }

    def _misses(self, copies: Copies, window: Array, share: Array | float) -> Array:
        """Cycles of latency for the lines of a matrix, if `share` of its tiles are copied at all."""
        again = np.maximum(copies.lines * share - copies.distinct, 0.0)
        touched = copies.between + window
        machine = self.machine
        in_l1 = _hits(2 * touched, machine.l1_bytes)
        in_l2 = _hits(touched, machine.l2_bytes)
        far = copies.distinct + again * (1 - in_l2)
        return again * (1 - in_l1) * machine.l2_hit + far * (machine.l2_hit + machine.ddr)

    def cycles(self, work: Work) -> Array:
        """CPU cycles of the runs."""
        return cycles(work, self.constants, self.spec.stream_width / 32, self.machine.ratio)


@dataclass(frozen=True)
class Choice:
    """A candidate with its estimate. Times in seconds."""

    candidate: Candidate
    pipeline: str
    seconds: float
    words: int
    """On the streams, in and out."""
    limit_ratio: float
    """Predicted fabric cycles over the fewest that this problem's words or multiply-adds can take here."""


def rank(
    spec: AcceleratorSpec,
    problem: Problem,
    model: Model,
    pipeline: str,
    among: Sequence[Candidate] | None = None,
) -> list[Choice]:
    """Candidates (default: all), the fastest first by the model; of equals the one that moves fewer words."""
    groups: dict[tuple[str, tuple[str, ...]], list[Candidate]] = {}
    for candidate in candidates(spec, problem) if among is None else among:
        groups.setdefault((candidate.flow, candidate.order), []).append(candidate)
    named = dict(zip(spec.dims, sizes_of(spec, problem), strict=True))
    found = []
    for (flow, order), group in groups.items():
        work = model.work(model.schedule(flow, order, named), [c.tile for c in group])
        seconds = model.cycles(work) / model.machine.cpu_hz
        ratios = seconds * model.machine.fabric_hz / work.limit
        found += [
            Choice(candidate, pipeline, float(s), int(w), float(r))
            for candidate, s, w, r in zip(group, seconds, work.words, ratios, strict=True)
        ]
    return sorted(found, key=lambda choice: (choice.seconds, choice.words, str(choice.candidate)))
