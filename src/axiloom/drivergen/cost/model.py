"""How long a run will take: the cost model behind ``axiloom explore`` and ``--flow best``.

What is moved comes from :mod:`axiloom.drivergen.cost.traffic`, latencies and cache sizes from the board,
and what
the driver's own code costs from `CONSTANTS`, fitted to simulations by ``python -m benchmarks cost_fit``
(counts times constants: calls, transfers, rows and words copied).

The CPU's time is the sum of these and of the cache misses; the fabric's is the busiest of the stream in, the
stream out and the array. A pipeline with blocking transfers takes the sum of both, one that overlaps them the
larger, and what cannot overlap: packing the first packet, taking the last tile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
from axiloom.drivergen.cost.leaving import leaving_of
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.cost.selection import sizes as sizes_of
from axiloom.drivergen.cost.traffic import LINE, Copies, Schedule, Traffic
from axiloom.drivergen.cost.traffic import traffic as traffic_of
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Num, Packets, Plan, Send
from axiloom.plan.numbers import pick
from axiloom.plan.packets import Which, choices, innermost, sequence, visits
from axiloom.plan.tree import Item

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
    """A word of a tile that hangs over the edge of its matrix, besides that."""
    pad_in: float = 0.0
    """A zero beside it."""
    row_out: float = 0.0
    word_out: float = 0.0
    edge_out: float = 0.0
    miss_in: float = 0.0
    """Factor on the latency of a miss: how much of it the CPU waits for."""
    miss_window: float = 0.0
    """The same for lines of the window that packets are written to."""
    miss_out: float = 0.0
    slot_out: float = 0.0
    """A word of a slot for tiles that is used for the first time."""
    gap: float = 0.0
    """Fabric cycles between transfers that overlap with the CPU's work."""
    in_place: bool = False
    """A and B are read where they are; `row_in` and `word_in` are for rows and cache lines that are cleaned.
    What cannot be read so is `edge_in`."""
    coalesced: bool = False
    """Sends that follow each other are one transfer."""
    residency: bool = False
    """Tiles that stay in the device are not sent again."""
    packets: bool = False
    """Iterations are packets, kept and packed in turns; where none fits the window, transfers block."""


SLOT_WORDS, SLOTS = 2048, 32
"""Of all tiles on their way to the CPU, where there is a queue."""
COPIED = 0.5
"""Of what adding a word costs: to copy it, by two accesses in place of three and a sum."""
CLEAN = 2.8
"""Of what it costs to pack a word: its share of cleaning a line, which a coherent port makes needless."""
SERIES = 256
"""Packets that are followed one by one."""

CPU = (
    *("start", "opcode", "transfer_in", "transfer_out", "row_in", "word_in", "edge_in", "pad_in"),
    *("row_out", "word_out", "edge_out", "miss_in", "miss_window", "miss_out", "slot_out"),
)
PACK = ("row_in", "word_in", "edge_in", "pad_in", "miss_in", "miss_window")
TAKE = ("row_out", "word_out", "edge_out", "miss_out", "slot_out")

CONSTANTS = Path(__file__).with_name("constants.json")
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
"""Places that packets take turns in."""


@dataclass(frozen=True)
class Series:
    """The first packets of runs, in their order: arrays (packets, runs), zero where a run has no more."""

    sent: Array
    """Fabric cycles of the stream in."""
    packed: Array
    """Share of each row of `Work.packing`: (rows, packets, runs)."""
    taken: Array
    """Tiles that come back."""
    transfers: Array


@dataclass(frozen=True)
class Work:
    """What the CPU and the fabric have to do in some runs: everything but what it costs.

    Streams and array in fabric cycles.
    """

    counts: dict[str, Array]
    """How often each constant of `CPU` is paid; misses in cycles of latency."""
    packing: dict[str, Array]
    """Of these, those of `PACK`, in parts that come at times of their own: (parts, runs)."""
    stream_in: Array
    stream_out: Array
    array: Array
    last_array: Array
    """Part of `array` that blocking receives wait for."""
    ahead: Array
    """Of the stream out, what leaves while its tile is computed."""
    overlaps: npt.NDArray[np.bool_]
    """Whether transfers go on beside the CPU."""
    words: Array
    series: Series | None
    """Where transfers overlap."""
    slots: Array
    """Tiles that may come back before the CPU has taken the first; 0 where packets do that."""

    @property
    def limit(self) -> Array:
        """Fabric cycles that the words on the busier stream, or the multiply-adds, take at least."""
        return np.maximum(np.maximum(self.stream_in, self.stream_out), self.array)


def cycles(work: Work, c: Constants, ratio: float) -> Array:
    """CPU cycles of runs; a fabric cycle is `ratio` of them."""
    cost = {name: getattr(c, name) * counts for name, counts in work.counts.items()}
    cpu = _sum(cost, *CPU)
    blocking = cpu + (work.stream_in + work.stream_out + work.last_array - work.ahead) * ratio
    if not work.overlaps.any():
        return blocking
    tiles = np.maximum(work.counts["transfer_out"], 1)
    tail = (work.stream_out + work.last_array - work.ahead) / tiles * ratio
    take = (_sum(cost, *TAKE) + cost["transfer_out"]) / tiles
    follow = _queue if c.in_place else _packets
    return np.where(work.overlaps, c.start + follow(work, c, ratio, tail, take), blocking)


def _packets(work: Work, c: Constants, ratio: float, tail: Array, take: Array) -> Array:
    """CPU cycles from the first packet to the last tile, packet by packet.

    While a packet is sent the CPU packs the next one, which then waits for its turn, and takes the tiles of
    the last but one. `tail`: from the last word of a packet to its tile; `take`: to take a tile.
    """
    series, sent, pack = _each(work, c, ratio)
    now = begun = ended = tiles = np.zeros_like(tail)
    for number, transfers in enumerate(series.transfers):
        exists = transfers > 0
        ready = np.maximum(now, begun) + pack[number]
        # There are two slots for tiles: the device waits with the third until the CPU has taken the first.
        late = ready + np.maximum(tiles - 2, 0) / np.maximum(tiles, 1) * (ended - begun)
        free = np.where(tiles > 2, np.maximum(ended, late), ended)
        taken = np.maximum(ready + tiles * take, free + tail + take)
        now = np.where(exists, np.where(tiles > 0, taken, ready), now)
        begun = np.where(exists, np.maximum(ready, free), begun)
        ended = np.where(exists, begun + sent[number], ended)
        tiles = np.where(exists, series.taken[number], tiles)
    finish = np.where(tiles > 0, np.maximum(now + tiles * take, ended + tail + take), np.maximum(now, ended))
    return finish + _rest(work, c, ratio, sent, pack, take)


def _queue(work: Work, c: Constants, ratio: float, tail: Array, take: Array) -> Array:
    """The same where the CPU queues what is in memory and runs ahead, until there is no slot for a tile."""
    series, sent, pack = _each(work, c, ratio)
    runs = np.arange(len(tail))
    now = ended = np.zeros_like(tail)
    posted = np.zeros(len(tail), int)
    slots = work.slots.astype(int)
    back = np.zeros((int(series.taken.sum(axis=0).max()) + 1, len(tail)))
    for number, tiles in enumerate(series.taken):
        exists = series.transfers[number] > 0
        now = now + pack[number]
        full = (tiles > 0) & (posted >= slots)
        oldest = back[np.maximum(posted - slots, 0), runs]
        now = np.where(full, np.maximum(now, oldest) + take, now)
        ended = np.where(exists, np.maximum(ended, now) + sent[number], ended)
        back[posted, runs] = np.where(tiles > 0, ended + tail, back[posted, runs])
        posted += tiles > 0
    for waiting in range(int(slots.max()), 0, -1):
        left = (waiting <= slots) & (posted >= waiting)
        now = np.where(left, np.maximum(now, back[np.maximum(posted - waiting, 0), runs]) + take, now)
    return np.maximum(now, ended) + _rest(work, c, ratio, sent, pack, take)


def _each(work: Work, c: Constants, ratio: float) -> tuple[Series, Array, Array]:
    """CPU cycles for which each packet is sent, and those to pack it."""
    series = work.series
    assert series is not None
    packing = sum((getattr(c, name) * counts for name, counts in work.packing.items()), start=np.zeros(1))
    share = series.sent / work.stream_in
    sent = share * np.maximum(work.stream_in, work.array) * ratio + c.gap * series.transfers
    pack = np.einsum("spr,sr->pr", series.packed, packing) + c.transfer_in * series.transfers
    return series, sent, pack + share * c.opcode * work.counts["opcode"]


def _rest(work: Work, c: Constants, ratio: float, sent: Array, pack: Array, take: Array) -> Array:
    """CPU cycles of what comes behind the series; it overlaps as well as can be."""
    assert work.series is not None
    done = pack.sum(axis=0) + work.series.taken.sum(axis=0) * take
    cost = {name: getattr(c, name) * work.counts[name] for name in CPU}
    every = _sum(cost, *PACK, "opcode", "transfer_in")
    every = every + take * work.counts["transfer_out"]
    fabric = np.maximum(work.stream_in, work.array) * ratio - sent.sum(axis=0)
    return np.asarray(np.maximum(np.maximum(every - done, fabric), 0))


def _sum(cost: Mapping[str, Array], *names: str) -> Array:
    return np.asarray(sum(cost[name] for name in names))


def _written(traffic: Traffic) -> npt.NDArray[np.bool_]:
    """Does the DMA write all results to their places?"""
    written = np.full(len(traffic.words_out), bool(traffic.receives))
    for copies in traffic.receives:
        written &= copies.once & copies.whole_beats
    return written


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
        if spec.link.dma.coherent and not constants.in_place:  # no cache is cleaned
            word_in, pad_in = (max(x - CLEAN, 0.0) for x in (constants.word_in, constants.pad_in))
            constants = replace(constants, word_in=word_in, pad_in=pad_in)
        self.constants = constants

    def schedule(
        self, flow: str, order: Sequence[str], sizes: Mapping[str, int], results: Results = ACCUMULATED
    ) -> Schedule:
        # Copying drivers send tiles at an edge as they are, and take results as the model knows them.
        known = results if self.constants.in_place else replace(results, fresh=False)
        return Schedule(self.spec, flow, tuple(order), sizes, self.constants.residency, known)

    def work(self, schedule: Schedule, tiles: Sequence[tuple[int, ...]]) -> Work:
        """What runs with these tiles have to do."""
        c = self.constants
        plan = schedule.family(tiles)
        traffic = traffic_of(self.spec, plan, coalesced=c.coalesced)
        zero = np.zeros(len(tiles))
        transfers_in, overlaps = traffic.transfers_in, np.full(len(tiles), c.in_place)
        series, slots = None, zero
        shares = [zero + 1] * len(traffic.sends)
        window = zero
        if c.packets or c.in_place:
            sent = _Sent.of(
                plan, choices(plan, self.spec.link.dma, buffers=BUFFERS, keep=True) if c.packets else ()
            )
            if c.packets:
                overlaps = sent.fits
                transfers_in = np.where(overlaps, sent.each(Packets.number), transfers_in)
                window = np.where(overlaps, sent.each(lambda packets, _: packets.window), 0)
            both = zip(sent.visits(), traffic.sends, strict=True)
            shares = [np.where(overlaps, np.minimum(n / copies.tiles, 1), 1) for n, copies in both]
            series = self._series(sent, overlaps)
        counts = dict.fromkeys(CPU, zero) | {
            "start": zero + 1,
            "opcode": traffic.opcodes,
            "transfer_in": transfers_in,
            "transfer_out": traffic.transfers_out,
        }
        moved = 4 * traffic.words_in / np.maximum(transfers_in, 1)
        if c.in_place:
            slots = self._slots(traffic)
            tile = traffic.words_out / np.maximum(traffic.transfers_out, 1)
            if not self.spec.link.dma.coherent:
                # Lines that the DMA writes leave the caches too, of large results all at once.
                own = np.minimum(traffic.words_out, self.machine.l2_bytes / 4)
                through = np.minimum(slots, traffic.transfers_out) * tile
                counts["slot_out"] = np.where(_written(traffic), own, through)
            parts = [self._cleaned(send) for send in traffic.sends] + [
                self._queued(send, moved) for send in traffic.sends
            ]
        else:
            parts = [
                self._copied(send, moved, share) for send, share in zip(traffic.sends, shares, strict=True)
            ]
            words = sum((part["word_in"] for part in parts), start=zero)
            misses = self._window(words, window)
            for part in parts:
                part["miss_window"] = misses * part["word_in"] / np.maximum(words, 1)
        packing = {name: np.stack([part.get(name, zero) for part in parts]) for name in PACK}
        counts |= {name: values.sum(axis=0) for name, values in packing.items()}
        for copies in traffic.receives:
            for name, count in self._received(copies, moved).items():
                counts[name] = counts[name] + count
        per_cycle = self.spec.link.stream_width / 32
        return Work(
            counts,
            packing,
            traffic.words_in / per_cycle,
            traffic.words_out / per_cycle,
            traffic.macs,
            traffic.last_macs,
            np.minimum(traffic.words_out / per_cycle, traffic.last_macs) * self._overlapped(tiles),
            overlaps,
            traffic.words_in + traffic.words_out,
            series,
            slots,
        )

    def _overlapped(self, tiles: Sequence[tuple[int, ...]]) -> Array:
        """Of a tile's multiply-adds or of its result, whichever takes less, the share during which both go
        on: rows of blocks leave behind each other."""
        bands = [leaving_of(self.spec, dict(zip(self.spec.dims, tile, strict=True))).bands for tile in tiles]
        return 1 - 1 / np.array(bands, float)

    def _series(self, sent: _Sent, overlaps: npt.NDArray[np.bool_]) -> Series:
        parts = sent.each(lambda packets, _: max(1, len(packets.parts)))
        count = sent.each(Packets.number) / parts
        length = int(min(SERIES, np.where(overlaps, count, 1).max()))
        in_place = self.constants.in_place
        present, packed = sent.sequence(length, lasts=in_place)
        trips, items = sent.plan.trips, sent.plan.items
        words = taken = np.zeros_like(present[0])
        for item, times in zip(items, present, strict=True):
            if item.is_sent:
                words = words + times * item.move.words
            else:
                taken = taken + times
        tiles = [at for at, item in enumerate(items) if isinstance(item.move, Send)]
        if in_place:
            rows = [packed[at] / np.maximum(prod(trips[loop] for loop in items[at].moved), 1) for at in tiles]
            rows += [present[at] / np.maximum(prod(trips[: items[at].level + 1]), 1) for at in tiles]
        else:
            rows = [packed[at] / np.maximum(n, 1) for at, n in zip(tiles, sent.visits(), strict=True)]
        exists = np.arange(length)[:, None] < count
        beats = words / (self.spec.link.stream_width / 32)
        return Series(beats, np.stack(rows), taken, np.where(exists, parts, 0))

    def _slots(self, traffic: Traffic) -> Array:
        """How many tiles may be on their way, by sw/src/dma_queue.c: about 2048 words, a power of two.

        What the DMA writes to its place needs no slot.
        """
        words = traffic.words_out / np.maximum(traffic.transfers_out, 1)
        slots = 2 ** np.floor(np.log2(np.clip(SLOT_WORDS // np.maximum(words, 1), 2, SLOTS)))
        return np.where(_written(traffic), SLOTS, slots)

    def _cleaned(self, copies: Copies) -> dict[str, Array]:
        """What is done once for a part of a matrix that is read in place."""
        if not copies.whole_beats or self.spec.link.dma.coherent:
            return {}
        return {"row_in": copies.rows * copies.distinct / copies.lines, "word_in": copies.distinct}

    def _queued(self, copies: Copies, moved: Array) -> dict[str, Array]:
        """What goes through the window, each time that it is sent."""
        edge = copies.edge if copies.whole_beats else copies.words
        window = self.spec.link.dma.input_buffer_size / 4
        return {
            "edge_in": edge,
            "pad_in": copies.padding,
            "miss_in": self._misses(copies, copies.between + moved) * edge / copies.words,
            "miss_window": self._window(edge + copies.padding, np.full_like(edge, window)),
        }

    def _copied(self, copies: Copies, moved: Array, share: Array) -> dict[str, Array]:
        return {
            "row_in": copies.rows * share,
            "word_in": copies.words * share,
            "edge_in": copies.edge * share,
            "pad_in": copies.padding * share,
            "miss_in": self._misses(copies, copies.between + moved, share),
        }

    def _received(self, copies: Copies, moved: Array) -> dict[str, Array]:
        if self.constants.in_place:  # tiles come to on-chip memory, and nothing but C goes through the caches
            through = ~(copies.once & copies.whole_beats)
            # What is only copied is not read before, and waits for no line.
            words = copies.words * np.where(copies.once, COPIED, 1)
            return {
                "row_out": copies.rows * through,
                "word_out": words * through,
                "edge_out": copies.edge * through,
                "miss_out": self._misses(copies, copies.own_between) * (through & ~copies.once),
            }
        # What the DMA wrote is in no cache, or in L2 by a coherent port. C is read, added to, written back.
        far = 0.0 if self.spec.link.dma.coherent else self.machine.ddr
        fresh = copies.words * 4 / LINE * (self.machine.l2_hit + far)
        misses = self._misses(copies, copies.between + moved) + fresh
        return {
            "row_out": copies.rows,
            "word_out": copies.words,
            "edge_out": copies.edge,
            "miss_out": misses,
        }

    def _misses(self, copies: Copies, touched: Array, share: Array | float = 1.0) -> Array:
        """Cycles of latency for the lines of a matrix, if `share` of its tiles are copied at all.

        `touched`: bytes between two copies of a tile.
        """
        again = np.maximum(copies.lines * share - copies.distinct, 0.0)
        machine = self.machine
        in_l1 = _hits(2 * touched, machine.l1_bytes)
        in_l2 = _hits(touched, machine.l2_bytes)
        far = copies.distinct + again * (1 - in_l2)
        return again * (1 - in_l1) * machine.l2_hit + far * (machine.l2_hit + machine.ddr)

    def _window(self, words: Array, window: Array) -> Array:
        """Cycles of latency for packing `words` into packets that take turns in `window` words."""
        machine = self.machine
        cold = np.minimum(window, words) * 4 / LINE
        again = words * 4 / LINE - cold
        in_l1 = _hits(2 * 4 * window, machine.l1_bytes)
        cycles = cold * (machine.l2_hit + machine.ddr) + again * (1 - in_l1) * machine.l2_hit
        return np.where(window > 0, cycles, 0)

    def cycles(self, work: Work) -> Array:
        """CPU cycles of the runs."""
        return cycles(work, self.constants, self.machine.ratio)


@dataclass(frozen=True)
class _Sent:
    """A family as it is sent: numbers of candidates, their packets, and the trips of their loops."""

    plan: Plan
    groups: list[tuple[Which, Packets, list[Num]]]
    fits: npt.NDArray[np.bool_]
    """Into packets; the others are sent tile by tile."""

    @classmethod
    def of(cls, plan: Plan, chosen: Sequence[tuple[Which, Packets | None]]) -> _Sent:
        fits = np.zeros(plan.count or 1, bool)
        groups = []
        for which, packets in chosen or [(np.arange(len(fits)), None)]:
            fits[which] = packets is not None
            trips = [pick(n, which) for n in plan.trips]
            groups.append((which, packets or innermost(trips), trips))
        return cls(plan, groups, fits)

    def each(self, figure: Callable[[Packets, list[Num]], Num]) -> Array:
        """A figure of each candidate's packets."""
        values = np.zeros(len(self.fits))
        for which, packets, trips in self.groups:
            values[which] = figure(packets, trips)
        return values

    def visits(self) -> list[Array]:
        """How often each tile that is sent is packed."""

        def of(item: Item) -> Array:
            return self.each(lambda p, trips: visits(p, trips, item.level, item.moved, single=False))

        return [of(item) for item in self.plan.items if isinstance(item.move, Send)]

    def sequence(self, length: int, *, lasts: bool) -> tuple[Array, Array]:
        """How often each item is in the first packets, and how often packed: (items, packets, candidates)."""
        present, packed = (np.zeros((len(self.plan.items), length, len(self.fits))) for _ in range(2))
        for which, packets, trips in self.groups:
            some = sequence(packets, trips, self.plan.items, length, lasts=lasts)
            present[:, :, which], packed[:, :, which] = map(np.stack, some)
        return present, packed


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
    among: Sequence[Candidate],
) -> list[Choice]:
    """Candidates, the fastest first by the model; of equals the one that moves fewer words."""
    groups: dict[tuple[str, tuple[str, ...]], list[Candidate]] = {}
    for candidate in among:
        groups.setdefault((candidate.flow, candidate.order), []).append(candidate)
    named = dict(zip(spec.dims, sizes_of(spec, problem), strict=True))
    choices = []
    known: dict[Any, Work] = {}
    for (flow, order), group in groups.items():
        schedule = model.schedule(flow, order, named, problem.results)
        tiles = tuple(candidate.tile for candidate in group)
        # With residency several flows come to the same.
        same = schedule.plan(tiles[0]), tiles
        if same not in known:
            known[same] = model.work(schedule, tiles)
        work = known[same]
        seconds = model.cycles(work) / model.machine.cpu_hz
        ratios = seconds * model.machine.fabric_hz / work.limit
        choices += [
            Choice(candidate, pipeline, float(s), int(w), float(r))
            for candidate, s, w, r in zip(group, seconds, work.words, ratios, strict=True)
        ]
    return sorted(choices, key=lambda choice: (choice.seconds, choice.words, str(choice.candidate)))
