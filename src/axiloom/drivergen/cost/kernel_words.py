"""How a kernel that is data is best cut: flow, order of loops and tile, by the words that travel.

An operand's tile crosses the stream again for each iteration of the loops that move it, and stays on the
device over the loops inside those. The maps of the kernel say which loops move it, and how large its tile is.
Tiles at the edges count as what they are. An instruction costs as much as `INSTRUCTION_CYCLES` beats, and the
array works while words travel. That is all that is known of a device that somebody describes by its kernel.

First a coarse grid of tiles is looked at, for every flow and order. From its best the sizes then go step by
step to where no neighbour is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from axiloom import isa
from axiloom.drivergen.cost.conv_tiles import INSTRUCTION_CYCLES
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import Compute, Opcode, Recv, Send
from axiloom.isa.kernels.language.kernel import WINDOW

GRID = 512
"""Tiles of the grid, about."""


@dataclass(frozen=True)
class Choice:
    """`tile` in the order of the accelerator's dims, `order` of the host's loops, outermost first."""

    flow: str
    order: tuple[str, ...]
    tile: tuple[int, ...]
    words: tuple[int, int]
    """To the accelerator and from it."""
    cycles: float
    """Of the fabric, as far as is known."""


@dataclass(frozen=True)
class Problem:
    """What is to be cut. `whole`: loops whose tiles must divide the size; `repeats`: of the host's loops."""

    sizes: Mapping[str, int]
    settings: Mapping[str, int]
    whole: Sequence[str] = ()
    repeats: int = 1


def choose(
    spec: AcceleratorSpec,
    problem: Problem,
    flows: Sequence[str],
    *,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
) -> Choice | None:
    """The cheapest of all; None where no tile fits. What is given is kept."""
    sizes = _sizes(spec, problem, tile)
    grid = product(*(_coarse(known, len(spec.form.loops)) for known in sizes))
    fitting = [cut for cut in grid if _fits(spec, problem, cut)]
    orders = {flow: isa.loop_orders(spec, flow) for flow in flows}
    choices = [
        _cost(spec, problem, flow, loops, cut)
        for flow, known in orders.items()
        for loops in known
        if order is None or tuple(order) == loops
        for cut in fitting
    ]
    if not choices:
        return None
    return _climbed(spec, problem, min(choices, key=lambda choice: choice.cycles), sizes)


def _climbed(
    spec: AcceleratorSpec, problem: Problem, start: Choice, sizes: Sequence[Sequence[int]]
) -> Choice:
    """The choice from which no step of one size makes it cheaper."""
    now = start
    while True:
        near = []
        for at, known in enumerate(sizes):
            place = known.index(now.tile[at])
            for size in (*known[max(0, place - 1) : place], *known[place + 1 : place + 2]):
                near.append((*now.tile[:at], size, *now.tile[at + 1 :]))
        steps = [_cost(spec, problem, now.flow, now.order, cut) for cut in near if _fits(spec, problem, cut)]
        best = min(steps, key=lambda choice: choice.cycles, default=now)
        if best.cycles >= now.cycles:
            return now
        now = best


def _fits(spec: AcceleratorSpec, problem: Problem, tile: tuple[int, ...]) -> bool:
    shapes = ((o, spec.operand_shape(o, tile, problem.settings)) for o in spec.operands)
    if any(spec.held_words(operand, shape) > spec.buffers[operand] for operand, shape in shapes):
        return False
    return not isa.check_tile(spec, tile, settings=problem.settings)


def _sizes(spec: AcceleratorSpec, problem: Problem, tile: Sequence[int] | None) -> list[list[int]]:
    """Sizes of a tile that are possible in each dim, the largest first."""
    kernel = spec.form.computes
    assert kernel is not None
    units = spec.tile.granule
    if tile is not None or units is None:
        return [[size] for size in tile or spec.tile.size]
    sizes = []
    for dim, unit in zip(spec.dims, units, strict=True):
        size = problem.sizes[dim]
        if kernel.iterators[dim] == WINDOW:
            sizes.append([size])
            continue
        count = -(-size // unit)
        parts = {-(-count // number) * unit for number in _counts(count)}
        sizes.append(sorted((n for n in parts if dim not in problem.whole or size % n == 0), reverse=True))
    return sizes


def _counts(units: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, ...: into how many tiles so many granules are cut; and each into its own."""
    some = [1, *(n for power in range(units.bit_length()) for n in (2 << power, 3 << power))]
    return [*(count for count in some if count < units), units]


def _coarse(sizes: Sequence[int], loops: int) -> list[int]:
    """So many of them, from the first to the last, that the grid of all loops has about `GRID` tiles."""
    most = max(2, int(GRID ** (1 / max(1, loops))))
    if len(sizes) <= most:
        return [*sizes]
    return [sizes[at * (len(sizes) - 1) // (most - 1)] for at in range(most)]


def _cost(
    spec: AcceleratorSpec, problem: Problem, flow: str, order: tuple[str, ...], tile: tuple[int, ...]
) -> Choice:
    sent = received = instructions = computes = 0
    scope = spec.flows[flow]
    cut = dict(zip(spec.dims, tile, strict=True))
    for name, depth in scope.opcodes():
        around = order[: len(order) - scope.depth + depth]
        opcode = spec.opcodes[name]
        loops = _needed(spec, opcode, around)
        instructions += prod(-(-problem.sizes[loop] // cut[loop]) for loop in loops)
        computes += any(isinstance(action, Compute) and not action.in_place for action in opcode.device)
        for action in opcode.host:
            if isinstance(action, Send):
                sent += _words(spec, problem, cut, action.operand, loops)
            elif isinstance(action, Recv):
                # A rest of a loop that is reduced over is a piece by itself, whose results come back too.
                inside = [loop for loop in spec.form.reductions if loop not in loops]
                pieces = prod(len(_pieces(problem.sizes[loop], cut[loop])) for loop in inside)
                received += pieces * _words(spec, problem, cut, action.operand, loops)
    sent, received = sent * problem.repeats, received * problem.repeats
    array = computes * prod(problem.sizes[dim] for dim in spec.dims) * problem.repeats / spec.macs
    beats = (sent + received) / spec.link.beat_words
    cycles = max(beats, array) + INSTRUCTION_CYCLES * instructions * problem.repeats
    return Choice(flow, order, tile, (sent, received), cycles)


def _needed(spec: AcceleratorSpec, opcode: Opcode, around: tuple[str, ...]) -> tuple[str, ...]:
    """The loops in whose iterations an opcode is sent: one that only loads, where its operands change."""
    if not opcode.sends or opcode.receives or any(isinstance(action, Compute) for action in opcode.device):
        return around
    moving = {loop for operand in opcode.sends for loop in spec.form.moved[operand]}
    last = max((at for at, loop in enumerate(around) if loop in moving), default=-1)
    return around[: last + 1]


def _words(
    spec: AcceleratorSpec,
    problem: Problem,
    cut: Mapping[str, int],
    operand: str,
    loops: Sequence[str],
) -> int:
    """Words of all tiles of an operand that travel in the iterations of `loops`."""
    moved = [loop for loop in loops if loop in spec.form.moved[operand]]
    again = prod(-(-problem.sizes[loop] // cut[loop]) for loop in loops if loop not in moved)
    words = 0
    for pieces in product(*(_pieces(problem.sizes[loop], cut[loop]) for loop in moved)):
        sizes = {**cut, **{loop: size for loop, (size, _) in zip(moved, pieces, strict=True)}}
        shape = spec.operand_shape(operand, tuple(sizes[dim] for dim in spec.dims), problem.settings)
        words += prod(count for _, count in pieces) * spec.words_of(operand, shape)
    return words * again


def _pieces(size: int, cut: int) -> list[tuple[int, int]]:
    """Sizes of tiles, each with how many there are."""
    whole, rest = divmod(size, cut)
    return [piece for piece in ((cut, whole), (rest, 1)) if piece[0] and piece[1]]
