"""The tile of a convolution and the order of its loops: as few words as the device's buffers allow.

A tile's words cross the stream again for each iteration of the loops that move it; they stay on the device
over the loops inside those, where residency finds that (or the flow says so).

Tiles of convolutions come from what overlaps. conv_v4's buffers have two halves, so a run takes the
largest of loads, computes, results and the CPU's work, plus its beginning and its end. The model ranks
all tiles in a closed form and follows the best 48 tile by tile. Descriptors need whole rows and beats. So
a tile may get rows and columns that it does not need, if the DMA can then read the image itself. Parts of
one convolution (first, middle, last rows) share a queue. When each part closed the queue, the device
waited each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from axiloom import isa
from axiloom.drivergen.cost.conv import COPIED_WORD, COPYING_WAITED, QUEUED, Model, image_under
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import Recv, Scope, Send

FOLLOWED = 48
"""Tiles and orders that are followed step by step."""
KEPT = 512
"""Convolutions whose tiles stay known."""
IMAGE_WORD = 3.8
"""Fabric cycles in which the CPU packs a word of an image's tile or takes one out, its caches' part with it:
rows are short. Of four layers of `examples/networks/patches.py` on the SoC, within 16 % of each."""
INSTRUCTION_CYCLES = 100
"""Fabric cycles that an instruction costs beside its words, about: its packet, and the CPU's part of it."""


@dataclass(frozen=True)
class Choice:
    """`tile` in the order of the accelerator's dims; `order` of the host's loops, outermost first.

    `image`: rows and columns of the image that are sent for a tile where no padding is; empty for windows.
    """

    tile: tuple[int, ...]
    order: tuple[str, ...]
    image: Mapping[str, int] = field(default_factory=dict)
    cycles: float = 0.0
    """Of the fabric, as far as the model knows."""
    published: float = 0.0
    """The same with blocking transfers, which the CPU copies: nothing overlaps."""


class NoTileError(Exception):
    """Why no tile will do, for the end of a sentence."""


def choose(
    spec: AcceleratorSpec,
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    flow: str,
    *,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    image: Mapping[str, int] | None = None,
    result_bytes: int = 4,
) -> Choice:
    """The tile and order that cost least for a convolution of `problem` (sizes by dim).

    What is given is kept. With `image`, its rows and columns without padding, and scatter-gather in the DMA,
    :mod:`axiloom.drivergen.cost.conv` says what costs least. Raises NoTileError where even the smallest tile
    does not fit.
    """
    return ranked(
        spec, problem, settings, flow, order=order, tile=tile, image=image, result_bytes=result_bytes
    )[0]


def ranked(
    spec: AcceleratorSpec,
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    flow: str,
    *,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    image: Mapping[str, int] | None = None,
    result_bytes: int = 4,
    count: int = 1,
) -> list[Choice]:
    """The first `count` of them, or as many as there are."""
    orders = [tuple(order)] if order else isa.loop_orders(spec, flow)
    if image is not None and spec.form.walks and spec.link.dma.scatter_gather:
        sizes = (tuple(sorted(extents.items())) for extents in (problem, settings, image))
        shape = *sizes, flow, result_bytes, tuple(orders), tuple(tile) if tile else None
        return list(_in_place(_Asked(isa.dumps(spec), shape, spec))[:count])
    candidates = [tuple(tile)] if tile else list(_tiles(spec, problem, settings, None))
    named = [dict(zip(spec.dims, candidate, strict=True)) for candidate in candidates]
    counts = {
        (number, place): _counts(spec, candidate, problem, settings, flow, loops)
        for number, candidate in enumerate(named)
        for place, loops in enumerate(orders)
    }
    choices = []
    for number, place in sorted(counts, key=lambda pair: (counts[pair].least, pair)):
        if tile or _fits(spec, candidates[number], settings, _image(candidates[number], spec, settings)):
            counted = counts[number, place]
            choices.append(Choice(candidates[number], orders[place], {}, counted.copied, counted.published))
            if len(choices) == count:
                break
    if not choices:
        raise NoTileError(_why(spec, problem, settings))
    return choices


@dataclass(frozen=True)
class _Asked:
    """A convolution on a device: equal where the device's text and `shape` are."""

    text: str
    shape: tuple[Any, ...]
    spec: AcceleratorSpec = field(compare=False)


@lru_cache(maxsize=KEPT)
def _in_place(asked: _Asked) -> tuple[Choice, ...]:
    """The same where the DMA reads and writes the tensors themselves. Networks ask of a layer many times."""
    problem, settings, image, flow, result_bytes, orders, tile = asked.shape
    model = Model(asked.spec, dict(problem), dict(settings), flow, dict(image), result_bytes)
    spec = model.spec
    tiles = [tile] if tile else list(_tiles(spec, model.problem, model.settings, model.image))
    named = [dict(zip(spec.dims, sizes, strict=True)) for sizes in tiles]
    # The first `FOLLOWED` estimates, the least bound of a tile first: most tiles are never looked at.
    first: list[tuple[float, int, int]] = []
    for least, number in sorted(
        (model.least(candidate, orders[0]), number) for number, candidate in enumerate(named)
    ):
        if len(first) == FOLLOWED and least > first[-1][0]:
            break
        under = image_under(spec, named[number], model.problem, model.settings, model.image)
        if tile is None and not _fits(spec, tiles[number], model.settings, under):
            continue
        own = ((model.estimate(named[number], loops), number, place) for place, loops in enumerate(orders))
        first = sorted([*first, *own])[:FOLLOWED]
    if not first:
        raise NoTileError(_why(spec, model.problem, model.settings))
    best = [(model.steps(named[number], orders[place]), number, place) for _, number, place in first]
    return tuple(
        Choice(tiles[number], orders[place], _sent(model, tiles[number]), cycles)
        for cycles, number, place in sorted(best)
    )


def _sent(model: Model, tile: tuple[int, ...]) -> Mapping[str, int]:
    """Rows and columns of the image; of a tile that is given, none beyond those that it needs."""
    named = dict(zip(model.spec.dims, tile, strict=True))
    under = image_under(model.spec, named, model.problem, model.settings, model.image)
    return under if _fits(model.spec, tile, model.settings, under) else {}


def _tiles(
    spec: AcceleratorSpec,
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    image: Mapping[str, int] | None,
) -> Iterator[tuple[int, ...]]:
    taps = problem["fh"], problem["fw"]
    channels = sorted(_divisors(problem["ic"]), reverse=True)
    if spec.form.saves:
        yield from ((1, 1, 1, ic, *taps) for ic in channels)
        return
    rows, _ = spec.array

    def fits(oc: int, oh: int, ow: int, ic: int) -> bool:
        tile = dict(zip(spec.dims, (oc, oh, ow, ic, *taps), strict=True))
        return _fits_buffers(spec, tile, image_under(spec, tile, problem, settings, image))

    widths = [problem["ow"]]
    if not any(fits(1, 1, problem["ow"], ic) for ic in channels):
        widths = _parts(problem["ow"], 1)
    for ic, oc, ow in product(channels, _parts(problem["oc"], rows), widths):
        for oh in _parts(problem["oh"], 1):
            if fits(oc, oh, ow, ic):
                yield (oc, oh, ow, ic, *taps)


def _divisors(size: int) -> list[int]:
    return [n for n in range(1, size + 1) if size % n == 0]


def _parts(size: int, unit: int) -> list[int]:
    """Tile sizes that cut `size` into 1, 2, 3, ... tiles of about the same size, in multiples of `unit`."""
    units = -(-size // unit)
    return sorted({min(size, -(-units // count) * unit) for count in range(1, units + 1)}, reverse=True)


def _fits(
    spec: AcceleratorSpec, tile: tuple[int, ...], settings: Mapping[str, int], image: Mapping[str, int]
) -> bool:
    # Padding would only make an image smaller; in the middle there is none.
    inner = {**settings, "pt": 0, "pl": 0, **image} if spec.form.walks else {}
    return not isa.check_tile(spec, tile, settings=inner)


def _fits_buffers(spec: AcceleratorSpec, tile: Mapping[str, int], image: Mapping[str, int]) -> bool:
    """Do the operands fit their buffers? Filters and sums take whole rows and columns of the array."""
    rows, cols = spec.array
    oc, ow = -(-tile["oc"] // rows) * rows, -(-tile["ow"] // cols) * cols
    return (
        spec.words_of("F", (oc, tile["ic"], tile["fh"], tile["fw"])) <= spec.buffers["F"]
        and oc * tile["oh"] * ow <= spec.buffers["O"]
        and spec.words_of("I", (tile["ic"], image["ih"], image["iw"])) <= spec.buffers["I"]
    )


def _image(tile: Sequence[int], spec: AcceleratorSpec, settings: Mapping[str, int]) -> Mapping[str, int]:
    if not spec.form.walks:
        return {}
    named = dict(zip(spec.dims, tile, strict=True))
    return image_under(spec, named, named, settings, None)


@dataclass(frozen=True)
class _Counts:
    """What a convolution moves tile by tile: words both ways, instructions, and cycles of the array."""

    words: float
    instructions: float
    compute: float
    tiles: int = 0
    """Of an image; 0 for windows."""

    @property
    def least(self) -> float:
        """Fabric cycles by which tiles and orders are compared."""
        return self.words + self.instructions * INSTRUCTION_CYCLES + self.compute

    @property
    def copied(self) -> float:
        """Fabric cycles where the CPU copies: it packs while the device works, but for about half of it."""
        if not self.tiles:
            cpu = self.words * COPIED_WORD + self.instructions * QUEUED
            return max(cpu, self.words, self.compute) + COPYING_WAITED * min(cpu, self.words + self.compute)
        # The CPU packs the next tile and takes out the last one while a tile is computed: of one, nothing.
        cpu, device = self.words * IMAGE_WORD + self.instructions * QUEUED, self.words + self.compute
        return ((cpu + device) + (self.tiles - 1) * max(cpu, device)) / self.tiles

    @property
    def published(self) -> float:
        """Fabric cycles of blocking transfers: nothing overlaps."""
        return self.least + self.words * COPIED_WORD + self.instructions * QUEUED


def _counts(
    spec: AcceleratorSpec,
    tile: Mapping[str, int],
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    flow: str,
    order: Sequence[str],
) -> _Counts:
    trips = {dim: -(-problem[dim] // tile[dim]) for dim in order}
    values = {**tile, **settings, **image_under(spec, tile, problem, settings, None)}
    depth = len(order) - spec.flows[flow].depth
    words = instructions = 0.0
    for name, level in _placed(spec.flows[flow], depth):
        for action in spec.opcodes[name].host:
            if not isinstance(action, Send | Recv) or action.operand not in spec.data:
                continue
            moved = spec.form.moved[action.operand]
            around = order[: level + 1]
            if isinstance(action, Send):
                deepest = max((n for n, d in enumerate(around) if d in moved and trips[d] > 1), default=-1)
                around = order[: deepest + 1]
            times = prod(trips[d] for d in around)
            whole = prod(trips[d] for d in order[level + 1 :] if d in moved) if spec.form.saves else 1
            shape = tuple(values[d] for d in spec.data[action.operand])
            words += times * whole * spec.words_of(action.operand, shape)
            instructions += times
    tiles = prod(trips.values()) if spec.form.walks else 0
    return _Counts(words, instructions, _compute(spec, tile, trips), tiles)


def _placed(scope: Scope, level: int) -> Iterator[tuple[str, int]]:
    for name, depth in scope.opcodes():
        yield name, level + depth - 1


def _compute(spec: AcceleratorSpec, tile: Mapping[str, int], trips: Mapping[str, int]) -> float:
    products = tile["ic"] * tile["fh"] * tile["fw"]
    if not spec.form.walks:
        return prod(trips.values()) * products / spec.macs
    rows, cols = spec.array
    blocks = -(-tile["oc"] // rows) * tile["oh"] * -(-tile["ow"] // cols)
    return float(prod(trips.values()) * blocks * products)


def _why(spec: AcceleratorSpec, problem: Mapping[str, int], settings: Mapping[str, int]) -> str:
    unit = {"oc": 1, "oh": 1, "ow": 1, "ic": 1, "fh": problem["fh"], "fw": problem["fw"]}
    faults = isa.check_tile(spec, tuple(unit[d] for d in spec.dims), "its smallest tile")
    return "; ".join(faults) or "no tile fits the device's buffers"
