"""The tile of a convolution and the order of its loops: as few words as the device's buffers allow.

A tile's words cross the stream again for each iteration of the loops that move it; they stay on the device
over the loops inside those, where accel-residency finds that (or the flow says so).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from axiloom import isa
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels import IMAGE, WINDOW, extent
from axiloom.isa.types import Recv, Scope, Send

INSTRUCTION_CYCLES = 100
"""Fabric cycles that an instruction costs beside its words, about: its packet, and the CPU's part of it."""


@dataclass(frozen=True)
class Choice:
    """`tile` in the order of the accelerator's dims; `order` of the host's loops, outermost first."""

    tile: tuple[int, ...]
    order: tuple[str, ...]


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
) -> Choice:
    """The tile and order that cost least for a convolution of `problem` (sizes by dim).

    What is given is kept. Raises NoTileError where even the smallest tile does not fit.
    """
    orders = [tuple(order)] if order else isa.loop_orders(spec, flow)
    candidates = [tuple(tile)] if tile else list(_tiles(spec, problem, settings))
    costs = [
        (_cost(spec, dict(zip(spec.dims, one, strict=True)), problem, settings, flow, loops), number, place)
        for number, one in enumerate(candidates)
        for place, loops in enumerate(orders)
    ]
    for _, number, place in sorted(costs):
        if tile or _fits(spec, candidates[number], settings):
            return Choice(candidates[number], orders[place])
    raise NoTileError(_why(spec, problem, settings))


def array(spec: AcceleratorSpec) -> tuple[int, int]:
    """Output channels and pixels that the device of an image works on at once."""
    rows = 1 << ((spec.macs.bit_length() - 1) // 2)
    return rows, spec.macs // rows


def _tiles(
    spec: AcceleratorSpec, problem: Mapping[str, int], settings: Mapping[str, int]
) -> Iterator[tuple[int, ...]]:
    taps = problem["fh"], problem["fw"]
    channels = sorted(_divisors(problem["ic"]), reverse=True)
    if spec.form is WINDOW:
        yield from ((1, 1, 1, ic, *taps) for ic in channels)
        return
    rows, _ = array(spec)

    def fits(oc: int, oh: int, ow: int, ic: int) -> bool:
        tile = dict(zip(spec.dims, (oc, oh, ow, ic, *taps), strict=True))
        return _fits_buffers(spec, tile, settings)

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


def _fits(spec: AcceleratorSpec, tile: tuple[int, ...], settings: Mapping[str, int]) -> bool:
    # Padding would only make an image smaller; in the middle there is none.
    inner = {**settings, "pt": 0, "pl": 0} if spec.form is IMAGE else {}
    return not isa.check_tile(spec, tile, settings=inner)


def _fits_buffers(spec: AcceleratorSpec, tile: Mapping[str, int], settings: Mapping[str, int]) -> bool:
    """Do the operands fit their buffers? Filters and sums take whole rows and columns of the array."""
    rows, cols = array(spec)
    oc, ow = -(-tile["oc"] // rows) * rows, -(-tile["ow"] // cols) * cols
    image = _image(tile, settings)
    return (
        spec.words_of("F", (oc, tile["ic"], tile["fh"], tile["fw"])) <= spec.buffers["F"]
        and oc * tile["oh"] * ow <= spec.buffers["O"]
        and spec.words_of("I", (tile["ic"], image["ih"], image["iw"])) <= spec.buffers["I"]
    )


def _image(tile: Mapping[str, int], settings: Mapping[str, int]) -> dict[str, int]:
    """Rows and columns of the image under a tile, where there is no padding."""
    return {
        "ih": extent(tile["oh"], tile["fh"], settings.get("sh", 1), settings.get("dh", 1)),
        "iw": extent(tile["ow"], tile["fw"], settings.get("sw", 1), settings.get("dw", 1)),
    }


def _cost(
    spec: AcceleratorSpec,
    tile: Mapping[str, int],
    problem: Mapping[str, int],
    settings: Mapping[str, int],
    flow: str,
    order: Sequence[str],
) -> float:
    """Fabric cycles, about: words in and out, multiply-adds, and the instructions."""
    trips = {dim: -(-problem[dim] // tile[dim]) for dim in order}
    values = {**tile, **settings, **_image(tile, settings)}
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
    return words + instructions * INSTRUCTION_CYCLES + _compute(spec, tile, trips)


def _placed(scope: Scope, level: int) -> Iterator[tuple[str, int]]:
    for name, depth in scope.opcodes():
        yield name, level + depth - 1


def _compute(spec: AcceleratorSpec, tile: Mapping[str, int], trips: Mapping[str, int]) -> float:
    products = tile["ic"] * tile["fh"] * tile["fw"]
    if spec.form is not IMAGE:
        return prod(trips.values()) * products / spec.macs
    rows, cols = array(spec)
    blocks = -(-tile["oc"] // rows) * tile["oh"] * -(-tile["ow"] // cols)
    return float(prod(trips.values()) * blocks * products)


def _why(spec: AcceleratorSpec, problem: Mapping[str, int], settings: Mapping[str, int]) -> str:
    unit = {"oc": 1, "oh": 1, "ow": 1, "ic": 1, "fh": problem["fh"], "fw": problem["fw"]}
    faults = isa.check_tile(spec, tuple(unit[d] for d in spec.dims), "its smallest tile")
    return "; ".join(faults) or "no tile fits the device's buffers"
