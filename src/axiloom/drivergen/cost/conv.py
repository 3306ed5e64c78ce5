"""How long a convolution takes on a device of images (conv_v4), whose DMA works on the tensors themselves.

The device loads, computes and sends at the same time, as all its buffers have two halves; the CPU queues
descriptors and maintains its caches meanwhile. `Model.estimate` takes the largest of these four and what
cannot overlap, for thousands of tiles; `Model.steps` goes through the tiles one by one.

The limit of a convolution counts whole blocks of the array. 7 pixels take as long as 8. The pixels of a
1x1 convolution at stride 1 without padding could be one long row, so only the end of that row is rounded
up.

A convolution's loads stand behind the third request for a result. The device takes its stream in order
and keeps two results. So the model (``Model.steps`` in ``drivergen/cost/conv.py``) lets no load begin
before the result three tiles ago has left. With that, and without waits of a CPU that does nothing but
queue, it is within 2 % of the call for 25 tiles of seven layers of ResNet18, all of them in place. Tiles
that the CPU copies are foretold by up to a third too low, or twice too high; they are not chosen there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import gcd, prod

from axiloom.drivergen.cost.leaving import Leaving
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS, Recv, Send
from axiloom.isa.kernels.forms import extent

COPIED_WORD = 1.7
"""Fabric cycles in which the CPU packs a word or takes one out: 11 of its own (`layout.WORD_CYCLES`)."""
UNPACKED_WORD = 2.5
"""... that a word of a result costs besides, which lies in the window until the CPU has taken it out: rows
are short there, and the device waits for room."""
MAINTAINED_WORD = 0.55
"""... in which it cleans or invalidates a word: 28 of its own a line."""
SHORTEST_BLOCK = 4
"""... of a block at least: `MIN_BLOCK_CYCLES` of the hardware."""
LINE_BYTES = 32
EMPTIED = 128 << 10
"""Bytes from which the caches are cleaned or emptied as a whole instead (sw/arm/platform.c) ..."""
EMPTYING = 1650
"""... in so many cycles, while nothing moves; with it what a call begins and ends with."""
ROUNDING = 1e-9
"""How far apart floats are at most that are added in two orders, as a part of them."""
PIECE = 3000
"""... that each piece of a convolution costs whose tiles do not divide it: its queue is closed and opened."""
QUEUED = 110
"""... in which it queues an opcode, and the device takes its words."""
WAITED = 0.04
"""The part of loads and of the CPU's work that something waits for though it might overlap, about."""
QUEUE_WAITED = 1.0
"""... of what queueing a compute takes."""
COPYING_WAITED = 0.5
"""The same where the CPU copies: it stages a packet while one is sent, and each begins behind it."""
STEPS = 4096
"""Tiles that are gone through one by one; more of them are like each other."""


def rows_of_beats(row_bytes: int, stream_width: int) -> int:
    """The least number of rows that are whole beats of a stream."""
    beat = stream_width // 8
    return beat // gcd(row_bytes, beat)


def image_under(
    spec: AcceleratorSpec,
    tile: Mapping[str, int],
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    image: Mapping[str, int] | None,
) -> dict[str, int]:
    """Rows and columns of the image that are sent for a tile, where there is no padding.

    Descriptors want whole rows of `image`, its sizes without padding, and whole beats of them; else they are
    those that the tile needs.
    """
    extents = {
        "ih": extent(tile["oh"], tile["fh"], settings.get("sh", 1), settings.get("dh", 1)),
        "iw": extent(tile["ow"], tile["fw"], settings.get("sw", 1), settings.get("dw", 1)),
    }
    if image is None or not spec.link.dma.scatter_gather:
        return extents
    height, width = image["ih"], image["iw"]
    whole_rows = tile["ow"] == problem["ow"]
    if whole_rows:
        extents["iw"] = width
    if tile["oh"] == problem["oh"]:
        extents["ih"] = height
    elif whole_rows:
        unit = rows_of_beats(width * spec.data_type.bits // 8, spec.link.stream_width)
        wide = -(-extents["ih"] // unit) * unit
        extents["ih"] = wide if wide <= height else extents["ih"]
    return extents


@dataclass(frozen=True)
class Work:
    """Fabric cycles: of a load of the image, a load of filters, a compute, the beats of a result, and the
    sending of it."""

    image: float
    filters: float
    compute: float
    result: float
    sent: float
    image_words: int
    """What the CPU cleans or packs of the image, however long the device takes for it."""
    leaving: Leaving


@dataclass(frozen=True)
class Model:
    """One convolution; `problem` and `settings` by name, `image` its rows and columns without padding."""

    spec: AcceleratorSpec
    problem: Mapping[str, int]
    settings: Mapping[str, int]
    flow: str
    image: Mapping[str, int]
    result_bytes: int = 4

    @cached_property
    def _levels(self) -> dict[str, int]:
        """Operand to the scope of the flow, from outside, in which it is moved."""
        levels = {}
        for name, depth in self.spec.flows[self.flow].opcodes():
            for action in self.spec.opcodes[name].host:
                if isinstance(action, Send | Recv) and action.operand in self.spec.data:
                    levels[action.operand] = depth - 1
        return levels

    @cached_property
    def _depth(self) -> int:
        return self.spec.flows[self.flow].depth

    @cached_property
    def _works(self) -> dict[tuple[int, ...], Work]:
        """By the sizes of a tile: orders of the same tile share it."""
        return {}

    def trips(self, tile: Mapping[str, int], order: Sequence[str]) -> list[int]:
        return [-(-self.problem[dim] // tile[dim]) for dim in order]

    def moved(self, tile: Mapping[str, int], order: Sequence[str]) -> dict[str, list[int]]:
        """Operand to the loops (numbers) that bring or take another tile of it."""
        trips = self.trips(tile, order)
        moves = {}
        for operand, scope in self._levels.items():
            dims = self.spec.form.moved[operand]
            around = range(len(order) - self._depth + scope + 1)
            moving = [n for n in around if trips[n] > 1]
            if operand != self.spec.form.output:  # residency
                deepest = max((n for n in moving if order[n] in dims), default=-1)
                moving = [n for n in moving if n <= deepest]
            moves[operand] = moving
        return moves

    def _rows(self, tile: Mapping[str, int]) -> tuple[dict[str, int], int]:
        under = image_under(self.spec, tile, self.problem, self.settings, self.image)
        return under, self.spec.data_type.bits // 8

    def work(self, tile: Mapping[str, int]) -> Work:
        """The work of one tile."""
        sizes = tuple(tile.values())
        if sizes not in self._works:
            self._works[sizes] = self._work(tile)
        return self._works[sizes]

    def _work(self, tile: Mapping[str, int]) -> Work:
        spec = self.spec
        under, _ = self._rows(tile)
        beat = spec.link.stream_width // WORD_BITS
        words = spec.words_of("I", (tile["ic"], under["ih"], under["iw"]))
        elements = tile["ic"] * under["ih"] * under["iw"]
        # The window buffer takes a row of the array in a cycle, also where it leaves out the columns that no
        # tap reads; a half of it where odd columns lie apart from even ones; two elements at other strides.
        stride = self.settings.get("sw", 1)
        rows, cols = spec.array
        at_once = min(cols, spec.link.stream_width // spec.data_type.bits)
        halves = stride == 2 and under["iw"] % 2 == 0
        lanes = at_once if stride == 1 or (halves and tile["fw"] == 1) else 2
        if halves:
            lanes = max(lanes, at_once // 2)
        # What goes out of the array's row in a cycle is a beat, or the end of the row.
        sent_at_once = min(cols, spec.link.stream_width // 8 // self.result_bytes)
        sent = tile["oc"] * tile["oh"] * -(-tile["ow"] // sent_at_once)
        bands, across = -(-tile["oc"] // rows), tile["oh"] * -(-tile["ow"] // cols)
        # A block's rows leave the array one a cycle.
        shortest = max(SHORTEST_BLOCK, min(tile["oc"], rows))
        return Work(
            max(words / beat, elements / lanes),
            spec.words_of("F", (tile["oc"], tile["ic"], tile["fh"], tile["fw"])) / beat,
            float(bands * across * max(tile["ic"] * tile["fh"] * tile["fw"], shortest)),
            tile["oc"] * tile["oh"] * tile["ow"] * self.result_bytes / (spec.link.stream_width // 8),
            float(sent),
            words,
            Leaving(bands, across, tile["oc"]),
        )

    def in_place(
        self, tile: Mapping[str, int], order: Sequence[str], moved: Mapping[str, Sequence[int]] | None = None
    ) -> dict[str, bool]:
        """Operand to whether descriptors can express its tiles. `moved`: where it is known."""
        spec, problem, image = self.spec, self.problem, self.image
        under, size = self._rows(tile)
        beat = spec.link.stream_width // 8
        plane, row = image["ih"] * image["iw"] * size, image["iw"] * size
        start = tile["oh"] * self.settings.get("sh", 1) * row, self.settings.get("pt", 0) * row
        if under["iw"] != image["iw"]:
            whole = False
        elif under["ih"] == image["ih"]:
            whole = tile["ic"] * plane % beat == 0
        else:
            whole = not any(n % beat for n in (under["ih"] * row, plane, *start))
        taps = tile["fh"] * tile["fw"]
        filters = tile["ic"] * taps * size % beat == 0 and problem["ic"] * taps * size % beat == 0
        rows = tile["oh"] * problem["ow"] * self.result_bytes
        result = tile["ow"] == problem["ow"] and (
            tile["oc"] * rows % beat == 0 if tile["oh"] == problem["oh"] else rows % beat == 0
        )
        moved = self.moved(tile, order) if moved is None else moved
        once = {operand for operand, loops in moved.items() if not loops}
        parts = any(order[n] in spec.form.reductions for n in moved["O"])  # the CPU adds them up
        fits = {"I": whole, "F": filters, "O": result and not parts}
        return {operand: fits[operand] or (operand == "F" and operand in once) for operand in fits}

    def least(self, tile: Mapping[str, int], order: Sequence[str]) -> float:
        """No order of the tile's loops is estimated at less."""
        work, computes = self.work(tile), prod(self.trips(tile, order))
        beside = QUEUE_WAITED * QUEUED * computes + PIECE * self._pieces(tile, order)
        alone = computes * work.compute + work.image + work.filters + work.sent
        return (alone + beside) * (1 - ROUNDING)

    def _pieces(self, tile: Mapping[str, int], order: Sequence[str]) -> int:
        """Kinds of tiles that are smaller at an end."""
        return prod(1 + (self.problem[dim] % tile[dim] > 0) for dim in order) - 1

    def estimate(self, tile: Mapping[str, int], order: Sequence[str]) -> float:
        """Fabric cycles, about."""
        trips, moved, work = self.trips(tile, order), self.moved(tile, order), self.work(tile)
        times = {operand: prod(trips[n] for n in loops) for operand, loops in moved.items()}
        computes = prod(trips)
        loads = times["I"] * work.image + times["F"] * work.filters
        in_place = self.in_place(tile, order, moved)
        cpu = self._cpu(tile, order, times, in_place)
        overlapped = max(loads, computes * work.compute, times["O"] * work.sent, cpu)
        beside = self._beside(tile, order, loads, cpu, in_place)
        return overlapped + work.image + work.filters + work.sent + beside

    def _beside(
        self,
        tile: Mapping[str, int],
        order: Sequence[str],
        loads: float,
        cpu: float,
        in_place: Mapping[str, bool],
    ) -> float:
        """What does not overlap: waiting now and then, for who moves much; and pieces."""
        pieces = self._pieces(tile, order)
        waited = WAITED if in_place["I"] and in_place["F"] else COPYING_WAITED
        trips = self.trips(tile, order)
        queued = QUEUE_WAITED * QUEUED * prod(trips)
        unpacked = 0.0
        if not in_place["O"] and in_place["I"] and in_place["F"]:
            results = prod(trips[n] for n in self.moved(tile, order)["O"])
            words = self.work(tile).result * self.spec.link.stream_width / WORD_BITS
            unpacked = UNPACKED_WORD * results * words
        cleaned, emptied = self._at_once(in_place) if waited == WAITED else (False, False)
        whole = EMPTYING * (cleaned + emptied) + PIECE * pieces
        if emptied or (self.spec.link.dma.coherent and all(in_place.values())):
            # The CPU queues and does nothing else: it is far ahead, and nothing waits for it.
            return whole + unpacked
        return waited * (loads + cpu) + queued + unpacked + whole

    def _at_once(self, in_place: Mapping[str, bool]) -> tuple[bool, bool]:
        """Are the caches cleaned as a whole before operands are read; are they emptied for the result?"""
        assert self.image is not None
        if self.spec.link.dma.coherent:
            return False, False
        sizes = {**self.problem, **self.image}
        operands = sum(prod(sizes[dim] for dim in self.spec.form.operands[operand]) for operand in ("I", "F"))
        result = prod(sizes[dim] for dim in self.spec.form.operands["O"]) * self.result_bytes
        emptied = in_place["O"] and result >= EMPTIED
        return emptied or operands * self.spec.data_type.bits // 8 >= EMPTIED, emptied

    def _lines(self, tile: Mapping[str, int]) -> float:
        """Words of the cache's lines that a result lies in, for each word of it."""
        row = tile["oh"] * self.problem["ow"] * self.result_bytes
        plane = self.problem["oh"] * self.problem["ow"] * self.result_bytes
        if row == plane:
            row = plane = tile["oc"] * plane
        shared = row % LINE_BYTES or plane % LINE_BYTES
        return 1 + (LINE_BYTES - 4) / row if shared else 1.0

    def _cpu(
        self,
        tile: Mapping[str, int],
        order: Sequence[str],
        times: Mapping[str, int],
        in_place: Mapping[str, bool],
    ) -> float:
        """What the CPU does: it cleans and invalidates, or copies; and queues."""
        work, beat = self.work(tile), self.spec.link.stream_width // WORD_BITS
        all_trips = self.trips(tile, order)
        computes = prod(all_trips)
        words = {
            "I": times["I"] * work.image_words,
            "F": times["F"] * work.filters * beat,
            "O": times["O"] * work.result * beat,
        }
        trips, moved = dict(zip(order, all_trips, strict=True)), self.spec.form.moved
        first = {"I": work.image_words, "F": work.filters * beat}
        first_use = sum(own * prod(trips[d] for d in moved[operand]) for operand, own in first.items())
        if not (in_place["I"] and in_place["F"]):  # the pipeline `copying`
            return sum(words.values()) * COPIED_WORD + (sum(times.values()) + computes) * QUEUED
        lines = 0.0 if self.spec.link.dma.coherent else 1.0
        cleaned, maintained = (0.0 if whole else lines for whole in self._at_once(in_place))
        results = 2 * MAINTAINED_WORD * maintained * self._lines(tile) if in_place["O"] else COPIED_WORD
        cpu = first_use * cleaned * MAINTAINED_WORD + words["O"] * results
        return cpu + (sum(times.values()) + computes) * QUEUED

    def steps(self, tile: Mapping[str, int], order: Sequence[str]) -> float:
        """The same, tile by tile."""
        trips, moved, work = self.trips(tile, order), self.moved(tile, order), self.work(tile)
        if prod(trips) > STEPS:
            return self.estimate(tile, order)
        times = {operand: prod(trips[n] for n in loops) for operand, loops in moved.items()}
        in_place = self.in_place(tile, order, moved)
        cpu = self._cpu(tile, order, times, in_place)
        sender = self.device(tile, order, cpu / prod(trips), QUEUED / 2)  # the CPU runs ahead
        loads = times["I"] * work.image + times["F"] * work.filters
        at_once = self.spec.link.dma.coherent or self._at_once(in_place)[1]
        left = 0.0 if at_once else MAINTAINED_WORD * work.result
        return max(sender, cpu) + left + self._beside(tile, order, loads, cpu, in_place)

    def device(
        self, tile: Mapping[str, int], order: Sequence[str], queued: float = 0.0, staged: float = 0.0
    ) -> float:
        """Fabric cycles from the first beat in to the last one out. The CPU tells of a tile each `queued`
        cycles, and each load takes `staged` more."""
        trips, moved, work = self.trips(tile, order), self.moved(tile, order), self.work(tile)
        stream = array_free = sender = 0.0
        loaded = {"I": 0.0, "F": 0.0}
        free = {"I": [0.0, 0.0], "F": [0.0, 0.0], "O": [0.0, 0.0]}
        half = {"I": 0, "F": 0, "O": 0}
        cost = {"I": work.image, "F": work.filters}
        before: tuple[int, ...] | None = None
        gone = [0.0, 0.0, 0.0]  # when the last three results had left
        for number, now in enumerate(product(*(range(n) for n in trips))):
            told = number * queued
            # The stream is taken in order. Two requests for a result may wait; loads are behind a third.
            stream = max(stream, gone[0])
            for operand in ("I", "F"):
                if before is None or any(now[n] != before[n] for n in moved[operand]):
                    half[operand] ^= 1
                    begin = max(stream, told, free[operand][half[operand]])
                    stream = loaded[operand] = begin + cost[operand] + staged
            begin = max(array_free, loaded["I"], loaded["F"], free["O"][half["O"]])
            array_free = begin + work.compute
            for operand in ("I", "F"):
                free[operand][half[operand]] = array_free
            last = all(now[n] == trips[n] - 1 for n in range(len(trips)) if n > max(moved["O"], default=-1))
            if last:
                first = begin + work.leaving.first(work.compute, work.sent)
                sender = max(max(sender, first) + work.sent, array_free + work.leaving.behind(work.sent))
                free["O"][half["O"]] = sender
                half["O"] ^= 1
                gone = [*gone[1:], sender]
            before = now
        return sender

    def device_alone(self, tile: Mapping[str, int], order: Sequence[str]) -> float | None:
        """What the device needs if the CPU takes no time; None where that is not exact: beyond `STEPS` tiles,
        with smaller tiles or images at an edge, and where the CPU moves tiles itself."""
        under, _ = self._rows(tile)
        padded = any(self.settings.get(name, 0) for name in ("pt", "pl"))
        parts = under["ih"] != self.image["ih"] or under["iw"] != self.image["iw"]
        in_place = all(self.in_place(tile, order).values())
        if prod(self.trips(tile, order)) > STEPS or self._pieces(tile, order) or (padded and parts):
            return None
        return self.device(tile, order) if in_place else None
